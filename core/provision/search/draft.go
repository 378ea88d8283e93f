package search

import (
	"cmp"
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/reason"
	"tenon/core/shape"
	"tenon/core/snapshot"
	"tenon/core/topology"
)

// Draft is one way of placing the pods.
type Draft struct {
	d        *Search
	wishes   []shape.Wish
	Set      *shape.Set
	assigner *topology.Assigner
	packer   *pack.Packer
	Portions []topology.Portion // by lot
	// Why is the last reason for which a shape's pods got no domain.
	Why map[int]reason.Reason
	// Result of the packing, and the pods that it leaves without a place, by shape.
	Result pack.Result
	Left   []int
	// Outlooks are the spreads that look at more nodes than their pods may use.
	Outlooks []topology.Outlook
	// Short says that nodes of the packing were given up when claims were written.
	Short bool
}

// Best makes the drafts that are worth making and returns the best. While pods find
// no place only because of their preferences, the preferences are given up one by one.
func (d *Search) Best() *Draft {
	best := d.place(d.Wishes)
	if d.Snapshot.Settings.Preferences == snapshot.Weigh {
		return d.weigh(best)
	}
	return best
}

// place packs the wishes, and again with fewer preferences while some find no place.
func (d *Search) place(wishes []shape.Wish) *Draft {
	for {
		set := shape.Compile(d.Space, wishes)
		best := d.bestOf(set, wishes)
		next, relaxed := d.relax(best, wishes)
		if !relaxed {
			best.wishes = wishes
			return best
		}
		wishes = next
	}
}

// quickPart is the part of the effort that is enough to see that some pods find no place:
// a packing that is followed by another with fewer preferences need not be cheap.
const quickPart = 16

// Baseline is the greedy draft, which every plan is compared with.
func (d *Search) Baseline() *Draft {
	set := shape.Compile(d.Space, d.Wishes)
	return d.draft(set, newDomains(set, d.launching()), way{style: pack.Greedy, effort: d.Effort})
}

// bestOf tries every style of packing that may help.
func (d *Search) bestOf(set *shape.Set, wishes []shape.Wish) *Draft {
	atlas := newDomains(set, d.launching())
	guided := way{style: pack.Guided, effort: d.Effort}
	var best *Draft
	if d.Cache != nil { // a question among many does without the baseline
		best = d.draft(set, atlas, guided)
	} else {
		best = d.draft(set, atlas, way{style: pack.Greedy, effort: d.Effort})
		if _, more := d.relax(best, wishes); more {
			if quick := d.draft(set, atlas, way{style: pack.Guided, effort: d.Effort / quickPart}); quick.Unplaced() > 0 {
				return better(quick, best)
			}
		}
		best = better(d.draft(set, atlas, guided), best)
	}
	if len(set.Registry.Groups()) > 0 && pods(set) <= fewPods {
		for _, strategy := range []topology.Strategy{topology.Gather, topology.Together} {
			best = better(best, d.draft(set, atlas, way{style: pack.Guided, effort: d.Effort / strategyPart, strategy: strategy}))
		}
	}
	if best.Unplaced() > 0 && d.Limited() {
		best = better(best, d.draft(set, atlas, way{style: pack.Thrifty, effort: d.Effort}))
	}
	return best
}

// strategyPart is the part of the effort that goes to each other strategy.
const strategyPart = 4

// way is how a draft is made.
type way struct {
	style    pack.Style
	effort   int64
	strategy topology.Strategy
}

// fewPods is up to how many pods it matters that some domain needs no node.
const fewPods = 300

func pods(set *shape.Set) int {
	n := 0
	for i := range set.Shapes {
		n += len(set.Shapes[i].Pods)
	}
	return n
}

// better is the better of two drafts, the first where they are equal.
func better(a, b *Draft) *Draft {
	if b.Better(a) {
		return b
	}
	return a
}

// Limited reports whether some pool has a limit.
func (d *Search) Limited() bool {
	return slices.ContainsFunc(d.Limits, func(l []model.Amount) bool { return len(l) > 0 })
}

// rounds bounds how often pods that found no node in their domain are sent elsewhere.
const rounds = 8

// launching tells the pools that may launch nodes.
func (d *Search) launching() []bool {
	pools := make([]bool, len(d.Snapshot.Pools))
	for _, tier := range d.Tiers {
		for _, p := range tier {
			pools[p] = true
		}
	}
	return pools
}

func (d *Search) draft(set *shape.Set, atlas *domains, w way) *Draft {
	a := &Draft{d: d, Set: set, Why: map[int]reason.Reason{}}
	shapes := make([]topology.Shape, len(set.Shapes))
	counts := make([]int, len(set.Shapes))
	for i := range set.Shapes {
		s := &set.Shapes[i]
		shapes[i] = topology.Shape{Rules: &s.Rules, Places: s.Alternatives, Count: len(s.Pods)}
		counts[i] = len(s.Pods)
	}
	a.assigner = topology.NewAssigner(d.Space, set.Registry, atlas, shapes, w.strategy)
	lots := a.assign(counts)
	a.packer = pack.New(pack.Problem{
		Set: set, Lots: lots, Tiers: d.Tiers, Limits: d.Limits, Style: w.style, Effort: w.effort, OfferCache: d.offers(),
	})
	for range rounds {
		if !a.sendElsewhere() {
			break
		}
	}
	a.withdrawLeft(make([]int, len(set.Shapes)))
	a.appear()
	a.withdrawBroken()
	a.packer.TopUp()
	a.Result = a.packer.Result()
	a.countLeft()
	a.explainCompany()
	d.Steps += a.Result.Steps
	return a
}

// offers is what drafts remember for each other.
func (d *Search) offers() *pack.OfferCache {
	if d.Cache != nil {
		return d.Cache
	}
	if d.own == nil {
		d.own = pack.NewOfferCache()
	}
	return d.own
}

// assign gives pods domains, and returns the lots to pack.
func (a *Draft) assign(counts []int) []pack.Lot {
	portions, failures := a.assigner.Assign(counts)
	for _, f := range failures {
		a.Why[f.Shape] = f.Reason
	}
	lots := make([]pack.Lot, len(portions))
	for i, p := range portions {
		lots[i] = pack.Lot{Shape: p.Shape, Pins: p.Pins, Count: p.Count}
	}
	a.Portions = append(a.Portions, portions...)
	return lots
}

// sendElsewhere withdraws pods that found no node in the domains that they were told,
// and tells them others.
func (a *Draft) sendElsewhere() bool {
	counts := make([]int, len(a.Set.Shapes))
	if !a.withdrawLeft(counts) {
		return false
	}
	lots := a.assign(counts)
	if len(lots) == 0 {
		return false
	}
	a.packer.Add(lots)
	return true
}

// withdrawLeft takes back the pods that were told a domain and found no node there, and
// adds them to the counts by shape.
func (a *Draft) withdrawLeft(counts []int) (any bool) {
	for lot, portion := range a.Portions {
		left := a.packer.Left(lot)
		if left == 0 || len(portion.Pins) == 0 {
			continue
		}
		a.assigner.Withdraw(portion, left)
		a.packer.Drop(lot)
		counts[portion.Shape] += left
		any = true
	}
	return any
}

// withdrawBroken takes back pods whose rules do not hold after all, because others found
// no place where they would have evened a spread out or been company.
func (a *Draft) withdrawBroken() {
	for again := true; again; {
		again = false
		for lot, portion := range a.Portions {
			placed := a.packer.Placed(lot)
			if placed == 0 || !a.assigner.Broken(portion) && !a.packer.Lonely(lot) {
				continue
			}
			a.packer.Evict(lot)
			a.assigner.Withdraw(portion, placed)
			a.packer.Drop(lot)
			a.Why[portion.Shape] = brokenRule(&a.Set.Shapes[portion.Shape])
			again = true
		}
	}
}

func brokenRule(s *shape.Shape) reason.Reason {
	if len(s.Rules.Needs)+len(s.Rules.HostNeeds) > 0 {
		return reason.Reason{Code: reason.Affinity}
	}
	return reason.Reason{Code: reason.Spread}
}

func (a *Draft) countLeft() {
	a.Left = make([]int, len(a.Set.Shapes))
	for i := range a.Set.Shapes {
		a.Left[i] = len(a.Set.Shapes[i].Pods)
	}
	for _, nodes := range [][]pack.Node{a.Result.Hosts, a.Result.New} {
		for _, n := range nodes {
			for _, l := range n.Loads {
				a.Left[a.Portions[l.Lot].Shape] -= l.Count
			}
		}
	}
}

// explainCompany gives pods that found no company on a node their reason.
func (a *Draft) explainCompany() {
	for i := range a.Set.Shapes {
		if _, known := a.Why[i]; !known && a.Left[i] > 0 && len(a.Set.Shapes[i].Rules.HostNeeds) > 0 {
			a.Why[i] = reason.Reason{Code: reason.Affinity, Where: feasible.HostnameKey}
		}
	}
}

// Unplaced is how many pods have no place.
func (a *Draft) Unplaced() int {
	n := 0
	for _, left := range a.Left {
		n += left
	}
	return n
}

// Better compares two drafts: more important pods placed, then more pods, then less
// money, then fewer nodes.
func (a *Draft) Better(b *Draft) bool {
	return cmp.Or(
		slices.Compare(a.lacking(), b.lacking()),
		cmp.Compare(a.Result.Price, b.Result.Price),
		cmp.Compare(len(a.Result.New), len(b.Result.New)),
	) < 0
}

// lacking counts the pods without a place by priority, the highest first.
func (a *Draft) lacking() []int {
	var priorities []int32
	for i := range a.Set.Shapes {
		priorities = append(priorities, -a.Set.Shapes[i].Priority)
	}
	slices.Sort(priorities)
	priorities = slices.Compact(priorities)
	out := make([]int, len(priorities))
	for i := range a.Set.Shapes {
		at, _ := slices.BinarySearch(priorities, -a.Set.Shapes[i].Priority)
		out[at] += a.Left[i]
	}
	return out
}

// relax lets the pods without a place give up one more preference each.
func (d *Search) relax(a *Draft, wishes []shape.Wish) ([]shape.Wish, bool) {
	unplaced := map[snapshot.PodIndex]bool{}
	for i := range a.Set.Shapes {
		pods := a.Set.Shapes[i].Pods
		for _, p := range pods[len(pods)-a.Left[i]:] {
			unplaced[p] = true
		}
	}
	if len(unplaced) == 0 {
		return nil, false
	}
	var out []shape.Wish
	relaxed := false
	for _, w := range wishes {
		fewer, more := w.Dropped.Next(d.Space.Preferences(&d.Snapshot.Templates[w.Template]))
		if !more {
			out = append(out, w)
			continue
		}
		kept := shape.Wish{Template: w.Template, Dropped: w.Dropped}
		moved := shape.Wish{Template: w.Template, Dropped: fewer}
		for _, p := range w.Pods {
			if unplaced[p] {
				moved.Pods = append(moved.Pods, p)
			} else {
				kept.Pods = append(kept.Pods, p)
			}
		}
		if len(kept.Pods) > 0 {
			out = append(out, kept)
		}
		if len(moved.Pods) > 0 {
			relaxed = true
			out = append(out, moved)
		}
	}
	return out, relaxed
}

// SpareLimits is what limits leave once every planned node has its share.
func (a *Draft) SpareLimits() [][]model.Amount {
	out := make([][]model.Amount, len(a.d.Limits))
	for p := range a.d.Limits {
		out[p] = slices.Clone(a.d.Limits[p])
	}
	for _, n := range a.Result.New {
		m := &a.d.Space.Machines[n.Machine]
		for i := range out[m.Pool] {
			out[m.Pool][i].Value -= pack.Share(m.Capacity, out[m.Pool][i].Name)
		}
	}
	return out
}
