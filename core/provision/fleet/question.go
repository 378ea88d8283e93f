package fleet

import (
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/provision/claims"
	"tenon/core/provision/search"
	"tenon/core/reason"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// Question asks for other places.
type Question struct {
	// Nodes that would be gone, by number, and the pods of them that need a place.
	Nodes []snapshot.NodeIndex
	Pods  []snapshot.PodIndex
	// Receivers are the nodes that may take pods.
	Receivers []snapshot.NodeIndex
	// Buy allows new nodes.
	Buy bool
	// Instead lets new nodes have what Nodes take of the limits of their pools.
	Instead bool
	// Effort in steps of about a nanosecond.
	Effort int64
}

// Answer is where all pods of a question would go.
type Answer struct {
	Existing []HostPods
	Claims   []plan.Claim // with their Pods
	Price    model.Money  // of the claims
}

// HostPods is pods on an existing node.
type HostPods struct {
	Node snapshot.NodeIndex
	Pods []snapshot.PodIndex
}

// Ask answers a question. Without a place for every pod it says which one has none.
func (f *Fleet) Ask(q Question) (Answer, *Obstacle) {
	tiers := [][]snapshot.PoolIndex(nil)
	if q.Buy {
		tiers = f.fewer(q.Nodes)
	}
	answer, obstacle := f.askAmong(&q, tiers)
	if obstacle != nil && q.Buy && !slices.EqualFunc(tiers, f.tiers, slices.Equal[[]snapshot.PoolIndex]) {
		return f.askAmong(&q, f.tiers)
	}
	return answer, obstacle
}

func (f *Fleet) askAmong(q *Question, tiers [][]snapshot.PoolIndex) (Answer, *Obstacle) {
	d, obstacle := f.searchFor(q, tiers)
	if obstacle != nil {
		return Answer{}, obstacle
	}
	best := d.Best()
	f.effort.spent += d.Steps
	if obstacle := obstacleOf(best); obstacle != nil {
		return Answer{}, obstacle
	}
	return f.answer(d, best)
}

// fewer are the tiers without pools that sell the same as the pool of a node that goes: its pods keep their
// pool.
func (f *Fleet) fewer(nodes []snapshot.NodeIndex) [][]snapshot.PoolIndex {
	own := map[string]bool{}
	for _, n := range nodes {
		own[f.Snapshot.Nodes[n].Pool] = true
	}
	var out [][]snapshot.PoolIndex
	for _, tier := range f.tiers {
		sold := map[string]bool{}
		for _, p := range tier {
			if own[f.Snapshot.Pools[p].Name] {
				sold[f.alike[p]] = true
			}
		}
		out = append(out, slices.DeleteFunc(slices.Clone(tier), func(p snapshot.PoolIndex) bool {
			return f.alike[p] != "" && sold[f.alike[p]] && !own[f.Snapshot.Pools[p].Name]
		}))
	}
	return out
}

// Obstacle is pods without a place: one at least, though others may have found none after it.
type Obstacle struct {
	Pods []Unplaced
	// Short says that nodes would have fewer choices than their pool asks for.
	Short bool
}

// Unplaced is a pod without a place.
type Unplaced struct {
	Pod snapshot.PodIndex
	// Nowhere says that it would have none even alone.
	Nowhere bool
	// Hint is what the packing met, if all rules for a single pod could be met.
	Hint reason.Reason
}

func obstacleOf(a *search.Draft) *Obstacle {
	var out []Unplaced
	for i := range a.Set.Shapes {
		pods := a.Set.Shapes[i].Pods
		for _, p := range pods[len(pods)-a.Left[i]:] {
			out = append(out, Unplaced{Pod: p, Hint: a.Why[i]})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return &Obstacle{Pods: out, Short: a.Short}
}

// searchFor makes the search that answers the question.
func (f *Fleet) searchFor(q *Question, tiers [][]snapshot.PoolIndex) (*search.Search, *Obstacle) {
	d := &search.Search{Snapshot: f.Snapshot, Space: f.among(q), Limits: f.limitsOf(q), Effort: q.Effort, Cache: f.cache, Tiers: tiers}
	at := map[snapshot.TemplateIndex]int{}
	var nowhere []Unplaced
	for _, p := range q.Pods {
		pod := &f.Snapshot.Pods[p]
		first := f.wish(pod.Template)
		if len(pod.Tie.Refused) > 0 || !first.possible {
			nowhere = append(nowhere, Unplaced{Pod: p, Nowhere: true})
			continue
		}
		i, ok := at[pod.Template]
		if !ok {
			i = len(d.Wishes)
			at[pod.Template] = i
			d.Wishes = append(d.Wishes, shape.Wish{Template: pod.Template, Dropped: first.dropped})
		}
		d.Wishes[i].Pods = append(d.Wishes[i].Pods, p)
	}
	if len(nowhere) > 0 {
		return nil, &Obstacle{Pods: nowhere}
	}
	return d, nil
}

// wish is answered for the whole space: what is impossible everywhere is impossible for every question.
func (f *Fleet) wish(template snapshot.TemplateIndex) wishFor {
	if found, ok := f.first[template]; ok {
		return found
	}
	d := &search.Search{Snapshot: f.Snapshot, Space: f.sp}
	w, ok := d.FirstPossible(shape.Wish{Template: template})
	out := wishFor{w.Dropped, ok}
	f.first[template] = out
	return out
}

// among is the space of a question: the receivers, and the nodes that matter to rules between pods.
func (f *Fleet) among(q *Question) *feasible.Space {
	gone, receives := make(map[snapshot.NodeIndex]bool, len(q.Nodes)), make(map[snapshot.NodeIndex]bool, len(q.Receivers))
	moved := make(map[snapshot.PodIndex]bool, len(q.Pods))
	for _, p := range q.Pods {
		moved[p] = true
	}
	var hosts, departing []feasible.Host
	for _, n := range q.Nodes {
		gone[n] = true
		h := *f.hosts[n]
		h.Bound = slices.DeleteFunc(slices.Clone(h.Bound), func(p snapshot.PodIndex) bool { return moved[p] })
		departing = append(departing, h)
	}
	for _, n := range q.Receivers {
		if f.Stays(n) && !gone[n] {
			hosts = append(hosts, *f.hosts[n])
			receives[n] = true
		}
	}
	if slices.ContainsFunc(q.Pods, f.Ruled) {
		matter := map[Component]bool{}
		for _, p := range q.Pods {
			matter[f.component[f.Snapshot.Pods[p].Template]] = true
		}
		for _, n := range f.ruledOn {
			if !f.Stays(n) || gone[n] || receives[n] {
				continue
			}
			if h := f.hosts[n].Full(); f.keepComponents(&h, matter, moved) {
				hosts = append(hosts, h)
			}
		}
		hosts = append(hosts, f.planned...)
		hosts = append(hosts, f.examples(hosts, gone)...)
	}
	return f.sp.Among(hosts, departing)
}

// keepComponents leaves a host the pods that rules of some components may speak about, and
// reports whether there are any. Pods that move are on no host: a virtual pod may be asked about while its node stays.
func (f *Fleet) keepComponents(h *feasible.Host, matter map[Component]bool, moved map[snapshot.PodIndex]bool) bool {
	var kept []snapshot.PodIndex
	for _, p := range h.Bound {
		if moved[p] {
			continue
		}
		if c := f.component[f.Snapshot.Pods[p].Template]; c != NoComponent && matter[c] {
			kept = append(kept, p)
		}
	}
	h.Bound = kept
	return len(kept) > 0
}

// examples are nodes of the classes that are not among some hosts: nodes without a pod that
// matters still make a domain that spreads have to count.
func (f *Fleet) examples(hosts []feasible.Host, gone map[snapshot.NodeIndex]bool) []feasible.Host {
	seen := make([]bool, len(f.sp.HostClasses))
	for i := range hosts {
		seen[hosts[i].Class] = true
	}
	var out []feasible.Host
	for n, h := range f.hosts {
		if h != nil && !gone[snapshot.NodeIndex(n)] && !seen[h.Class] {
			seen[h.Class] = true
			example := h.Full()
			example.Bound = nil
			out = append(out, example)
		}
	}
	return out
}

// answer writes the draft down.
func (f *Fleet) answer(d *search.Search, a *search.Draft) (Answer, *Obstacle) {
	w := claims.New(d, a, f.alike, f.tables)
	if !d.Snapshot.Settings.BestEffortMinimum {
		if w.DropShort(); a.Short {
			return Answer{}, obstacleOf(a)
		}
	}
	if w.DropDear() {
		return Answer{}, obstacleOf(a)
	}
	var out Answer
	for _, n := range a.Result.Hosts {
		out.Existing = append(out.Existing, HostPods{Node: d.Space.Hosts[n.Host].Node, Pods: w.Pods(n)})
	}
	for _, n := range w.InOrder() {
		claim := w.Claim(n)
		out.Claims = append(out.Claims, claim)
		out.Price += claim.Offer.Price
	}
	return out, nil
}
