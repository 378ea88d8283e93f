package provision

import (
	"maps"
	"slices"
	"strconv"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/shape"
	"tenon/core/snapshot"
	"tenon/core/topology"
)

// Broker finds other places for pods that have one: on nodes that are there, and on nodes
// that would have to be bought. It is made once for a snapshot and asked again and again;
// what was Taken counts for all later questions.
//
// Pods are numbered as in Broker.Snapshot, which is in an order of its own; Original tells
// the number that a pod has in the given one. Nodes keep their numbers.
type Broker struct {
	Snapshot *snapshot.Snapshot
	sorted   arranged
	numbers  []int32 // by the number in the given snapshot
	sp       *feasible.Space
	tiers    [][]int
	limits   [][]model.Amount
	hosts    []feasible.Host // by node; those of leaving nodes are of no use
	stays    []bool          // by node
	before   []feasible.Host // as they were at first
	planned  []feasible.Host // nodes to come, with what is to be on them
	first    map[int32]wishFor
	ruled    []bool  // by template: some rule between pods looks at it, or it at others
	ties     []ties  // by template
	circle   []int32 // by template: those of one circle are what its rules may speak about; -1 without rules
	social   []int   // nodes with pods that some rule between pods looks at
	steps    int64
	reserved map[string]int64 // instances of reservations that are taken
	tables   map[int]*offerTable
	shelf    *pack.Shelf
	alike    []string                     // by pool: what it sells, empty where limits make it differ from others
	admits   map[int32][]*feasible.Places // by template
	whys     map[why]string
}

// wishFor is what a template asks for once the preferences that nobody can meet are given up.
type wishFor struct {
	dropped  feasible.Dropped
	possible bool
}

// NewBroker makes a broker. What the plan places and buys is done already. The memory is the
// asker's; nil is none.
func NewBroker(given *snapshot.Snapshot, p *plan.Plan, m *Memory) *Broker {
	sorted := arrange(given, m)
	b := &Broker{Snapshot: sorted.Snapshot, sorted: sorted, first: map[int32]wishFor{}, reserved: map[string]int64{}, tables: map[int]*offerTable{}, shelf: pack.NewShelf()}
	b.numbers = make([]int32, len(sorted.pods))
	for own, original := range sorted.pods {
		b.numbers[original] = int32(own)
	}
	b.sp = feasible.CompileWith(b.Snapshot, b.templates(), m.sold())
	b.tiers = tiersOf(b.Snapshot)
	b.limits = remainingLimits(b.Snapshot)
	b.hosts = make([]feasible.Host, len(b.Snapshot.Nodes))
	b.stays = make([]bool, len(b.Snapshot.Nodes))
	for _, h := range b.sp.Hosts {
		b.hosts[h.Node], b.stays[h.Node] = h, true
	}
	b.alike = make([]string, len(b.limits))
	for p := range b.alike {
		if pool := &b.Snapshot.Pools[p]; pool.Unready == "" && len(pool.Limits) == 0 {
			b.alike[p] = b.sp.Range(p)
		}
	}
	b.before = slices.Clone(b.hosts)
	b.findRuled()
	b.begin(p)
	return b
}

// templates are those of all pods: any may have to move.
func (b *Broker) templates() []int32 {
	var out []int32
	for _, pod := range b.models() {
		out = append(out, b.Snapshot.Pods[pod].Template)
	}
	return out
}

// models are one pod of each template that pods have. There may be templates without any.
func (b *Broker) models() []int32 {
	seen := make([]bool, len(b.Snapshot.Templates))
	var out []int32
	for i := range b.Snapshot.Pods {
		if t := b.Snapshot.Pods[i].Template; !seen[t] {
			seen[t] = true
			out = append(out, int32(i))
		}
	}
	return out
}

// findRuled tells pods that no rule between pods concerns from the others: for the first,
// nodes on which nothing is free need not be looked at.
func (b *Broker) findRuled() {
	b.ruled = make([]bool, len(b.Snapshot.Templates))
	b.ties = make([]ties, len(b.Snapshot.Templates))
	b.circle = make([]int32, len(b.Snapshot.Templates))
	var circles circles
	wishes := make([]shape.Wish, 0, len(b.Snapshot.Templates))
	for _, pod := range b.models() {
		t := b.Snapshot.Pods[pod].Template
		wishes = append(wishes, shape.Wish{Template: t, Dropped: b.sp.AtFirst(&b.Snapshot.Templates[t]), Pods: []int32{pod}})
	}
	hosts := make([]feasible.Host, 0, len(b.hosts))
	for n, h := range b.hosts {
		if b.stays[n] {
			hosts = append(hosts, h)
		}
	}
	set := shape.Compile(b.sp.Among(hosts, nil), wishes)
	for i := range set.Shapes {
		for _, pod := range set.Shapes[i].Pods { // each stands for its template
			t := b.Snapshot.Pods[pod].Template
			b.ruled[t] = !set.Shapes[i].Rules.Free()
			b.ties[t] = tiesOf(&set.Shapes[i].Rules)
		}
		circles.join(&set.Shapes[i].Rules)
	}
	for i := range set.Shapes {
		for _, pod := range set.Shapes[i].Pods {
			b.circle[b.Snapshot.Pods[pod].Template] = circles.of(&set.Shapes[i].Rules)
		}
	}
	for n := range b.hosts {
		if b.stays[n] && slices.ContainsFunc(b.hosts[n].Bound, func(p int32) bool { return b.ruled[b.Snapshot.Pods[p].Template] }) {
			b.social = append(b.social, n)
		}
	}
}

// ties are the groups of pods that rules of a template ask for, and those that count it.
// Groups of nodes have negative numbers.
type ties struct{ asks, counts []int32 }

func tiesOf(r *topology.Rules) ties {
	var out ties
	for _, s := range r.Spreads {
		if !s.Soft {
			out.asks = append(out.asks, s.Group)
		}
	}
	for _, n := range r.Needs {
		if !n.Soft {
			out.asks = append(out.asks, n.Group)
		}
	}
	for _, n := range r.HostNeeds {
		if !n.Soft {
			out.asks = append(out.asks, -1-n.Group)
		}
	}
	out.counts = slices.Clone(r.Counts)
	for _, g := range r.HostCounts {
		out.counts = append(out.counts, -1-g)
		if !slices.ContainsFunc(r.HostCaps, func(c topology.Cap) bool { return c.Group == g && !c.Soft }) {
			out.counts = append(out.counts, crowd+g) // it would join without asking
		}
	}
	for _, c := range r.HostCaps {
		if !c.Soft {
			out.asks = append(out.asks, crowd+c.Group)
		}
	}
	return out
}

// crowd is added to the groups of nodes to say how many pods of them one node may hold.
const crowd = int32(1) << 20

// Asks are the groups of pods whose whereabouts decide where the pod may be, and which may
// not leave once it has moved: spreads and company.
func (b *Broker) Asks(p int32) []int32 { return b.ties[b.Snapshot.Pods[p].Template].asks }

// Circle is the number of the pods that rules which concern the pod may speak about; -1
// without such rules.
func (b *Broker) Circle(p int32) int32 { return b.circle[b.Snapshot.Pods[p].Template] }

// Counts are the groups that count the pod.
func (b *Broker) Counts(p int32) []int32 { return b.ties[b.Snapshot.Pods[p].Template].counts }

// Number is the number that a pod of the given snapshot has here.
func (b *Broker) Number(original int) int32 { return b.numbers[original] }

// begin does what a plan says: its pods take their places.
func (b *Broker) begin(p *plan.Plan) {
	if p == nil {
		return
	}
	at := make(map[string]int, len(b.Snapshot.Nodes))
	for n := range b.Snapshot.Nodes {
		at[b.Snapshot.Nodes[n].Name] = n
	}
	for _, placement := range p.Existing {
		if n, ok := at[placement.Node]; ok && b.stays[n] {
			b.give(n, b.number(placement.Pods))
		}
	}
	for i := range p.Claims {
		b.buy(&p.Claims[i], b.number(p.Claims[i].Pods))
	}
}

func (b *Broker) number(pods []int) []int32 {
	out := make([]int32, len(pods))
	for i, p := range pods {
		out[i] = b.numbers[p]
	}
	return out
}

// give puts pods on an existing node.
func (b *Broker) give(n int, pods []int32) {
	b.hosts[n] = b.sp.Taking(b.hosts[n], pods)
	if at, known := slices.BinarySearch(b.social, n); !known && slices.ContainsFunc(pods, b.Ruled) {
		b.social = slices.Insert(b.social, at, n)
	}
}

// Ruled reports whether some rule between pods concerns the pod.
func (b *Broker) Ruled(p int32) bool { return b.ruled[b.Snapshot.Pods[p].Template] }

// buy enters a claim: what it takes of limits and reservations, and the pods on it.
func (b *Broker) buy(c *plan.Claim, pods []int32) {
	pool := slices.IndexFunc(b.Snapshot.Pools, func(p snapshot.Pool) bool { return p.Name == c.Pool })
	if pool < 0 {
		return
	}
	most := b.most(pool, c)
	for i := range b.limits[pool] {
		b.limits[pool][i].Value -= most[i]
	}
	if c.Offer.Reservation != "" {
		b.sp.Reserve(c.Offer.Reservation, 1)
		b.reserved[c.Offer.Reservation]++
		b.tables, b.shelf = map[int]*offerTable{}, pack.NewShelf()
	}
	if !slices.ContainsFunc(pods, b.Ruled) {
		return
	}
	node := &snapshot.Node{Name: "\x00" + c.Name + strconv.Itoa(len(b.planned)), Labels: c.Labels, Taints: c.Taints}
	b.planned = append(b.planned, b.sp.Foresee(node, pods))
	b.admits = nil // there may be a new class of hosts
}

// most is what the claim may take of each of its pool's limits, whatever the cloud chooses.
func (b *Broker) most(pool int, c *plan.Claim) []int64 {
	limits := b.limits[pool]
	out := make([]int64, len(limits))
	if len(limits) == 0 {
		return out
	}
	types := map[string]bool{c.Offer.InstanceType: true}
	for o := range c.Alternatives.All() {
		types[o.InstanceType] = true
	}
	first, end := b.sp.PoolMachines(pool)
	for m := first; m < end; m++ {
		if !types[b.sp.Machines[m].Type.Name] {
			continue
		}
		for i := range limits {
			out[i] = max(out[i], pack.Share(b.sp.Machines[m].Capacity, limits[i].Name))
		}
	}
	for i := range limits {
		out[i] = max(out[i], pack.Share(c.Capacity, limits[i].Name))
	}
	return out
}

// Question asks for other places.
type Question struct {
	// Nodes that would be gone, by number, and the pods of them that need a place.
	Nodes []int
	Pods  []int32
	// Receivers are the nodes that may take pods.
	Receivers []int
	// Buy allows new nodes.
	Buy bool
	// Effort in steps of about a nanosecond.
	Effort int64
}

// Answer is where all pods of a question would go.
type Answer struct {
	Existing []Lodging
	Claims   []plan.Claim // their Pods are numbered as in Broker.Snapshot
	Price    model.Money  // of the claims
}

// Lodging is pods on an existing node.
type Lodging struct {
	Node int
	Pods []int32
}

// Original is the number of a pod in the snapshot that the broker was made for.
func (b *Broker) Original(pod int32) int { return b.sorted.pods[pod] }

// Room is what a node has left.
func (b *Broker) Room(n int) []int64 { return b.hosts[n].Room }

// Stays reports whether the node may hold pods: it is neither leaving nor gone.
func (b *Broker) Stays(n int) bool { return b.stays[n] }

// Need is what a pod takes, in the order of Room.
func (b *Broker) Need(pod int32) []int64 {
	return b.sp.Vector(b.Snapshot.Templates[b.Snapshot.Pods[pod].Template].Requests)
}

// Admits reports whether the labels and taints of a node let the pod be there, preferences
// aside.
func (b *Broker) Admits(pod int32, n int) bool {
	template := b.Snapshot.Pods[pod].Template
	places, known := b.admits[template]
	if !known {
		if first := b.wish(template); first.possible {
			v := b.sp.Variant(&b.Snapshot.Templates[template], first.dropped)
			for _, a := range v.Alternatives {
				places = append(places, b.sp.Find(a))
			}
		}
		if b.admits == nil {
			b.admits = map[int32][]*feasible.Places{}
		}
		b.admits[template] = places
	}
	class := b.hosts[n].Class
	return slices.ContainsFunc(places, func(p *feasible.Places) bool { return p.HostClasses.Has(class) })
}

// Steps is the effort spent so far.
func (b *Broker) Steps() int64 { return b.steps }

// Find answers a question. Without a place for every pod it says which one has none.
func (b *Broker) Find(q Question) (Answer, *Obstacle) {
	tiers := [][]int(nil)
	if q.Buy {
		tiers = b.fewer(q.Nodes)
	}
	answer, obstacle := b.ask(&q, tiers)
	if obstacle != nil && q.Buy && !slices.EqualFunc(tiers, b.tiers, slices.Equal[[]int]) {
		return b.ask(&q, b.tiers)
	}
	return answer, obstacle
}

func (b *Broker) ask(q *Question, tiers [][]int) (Answer, *Obstacle) {
	d, obstacle := b.pose(q, tiers)
	if obstacle != nil {
		return Answer{}, obstacle
	}
	best := d.search()
	b.steps += d.steps
	if obstacle := d.obstacle(best); obstacle != nil {
		return Answer{}, obstacle
	}
	return b.answer(d, best)
}

// fewer are the tiers without pools that sell the same as the one of some node which goes:
// its pods keep their pool.
func (b *Broker) fewer(nodes []int) [][]int {
	own := map[string]bool{}
	for _, n := range nodes {
		own[b.Snapshot.Nodes[n].Pool] = true
	}
	var out [][]int
	for _, tier := range b.tiers {
		sold := map[string]bool{}
		for _, p := range tier {
			if own[b.Snapshot.Pools[p].Name] {
				sold[b.alike[p]] = true
			}
		}
		out = append(out, slices.DeleteFunc(slices.Clone(tier), func(p int) bool {
			return b.alike[p] != "" && sold[b.alike[p]] && !own[b.Snapshot.Pools[p].Name]
		}))
	}
	return out
}

// Obstacle is pods without a place: one at least, though others may have found none after it.
type Obstacle struct {
	Pods []Stranded
	// Short says that nodes were left with fewer choices than their pool asks for.
	Short bool
}

// Stranded is a pod without a place.
type Stranded struct {
	Pod int32
	// Nowhere says that it would have none even alone.
	Nowhere bool
	// Hint is what the packing met, if all rules for a single pod could be met.
	Hint reason.Reason
}

func (d *decision) obstacle(a *attempt) *Obstacle {
	var out []Stranded
	for i := range a.set.Shapes {
		pods := a.set.Shapes[i].Pods
		for _, p := range pods[len(pods)-a.left[i]:] {
			out = append(out, Stranded{Pod: p, Hint: a.why[i]})
		}
	}
	if len(out) == 0 {
		return nil
	}
	return &Obstacle{Pods: out, Short: a.short}
}

// pose makes the decision that answers the question.
func (b *Broker) pose(q *Question, tiers [][]int) (*decision, *Obstacle) {
	d := &decision{s: b.Snapshot, sp: b.among(q), limits: b.limits, effort: q.Effort, shelf: b.shelf, tiers: tiers}
	at := map[int32]int{}
	var nowhere []Stranded
	for _, p := range q.Pods {
		pod := &b.Snapshot.Pods[p]
		first := b.wish(pod.Template)
		if pod.Tie.Refused != "" || !first.possible {
			nowhere = append(nowhere, Stranded{Pod: p, Nowhere: true})
			continue
		}
		i, ok := at[pod.Template]
		if !ok {
			i = len(d.wishes)
			at[pod.Template] = i
			d.wishes = append(d.wishes, shape.Wish{Template: pod.Template, Dropped: first.dropped})
		}
		d.wishes[i].Pods = append(d.wishes[i].Pods, p)
	}
	if len(nowhere) > 0 {
		return nil, &Obstacle{Pods: nowhere}
	}
	return d, nil
}

// wish is asked of the whole space: what is possible nowhere is so for every question.
func (b *Broker) wish(template int32) wishFor {
	if found, ok := b.first[template]; ok {
		return found
	}
	d := &decision{s: b.Snapshot, sp: b.sp}
	w, ok := d.firstPossible(shape.Wish{Template: template})
	out := wishFor{w.Dropped, ok}
	b.first[template] = out
	return out
}

// among is the space of a question: those who receive, and those who matter to rules
// between pods.
func (b *Broker) among(q *Question) *feasible.Space {
	gone, receives := make(map[int]bool, len(q.Nodes)), make(map[int]bool, len(q.Receivers))
	moved := make(map[int32]bool, len(q.Pods))
	for _, p := range q.Pods {
		moved[p] = true
	}
	var hosts, departing []feasible.Host
	for _, n := range q.Nodes {
		gone[n] = true
		h := b.hosts[n]
		h.Bound = slices.DeleteFunc(slices.Clone(h.Bound), func(p int32) bool { return moved[p] })
		departing = append(departing, h)
	}
	for _, n := range q.Receivers {
		if b.stays[n] && !gone[n] {
			hosts = append(hosts, b.hosts[n])
			receives[n] = true
		}
	}
	if slices.ContainsFunc(q.Pods, b.Ruled) {
		matter := map[int32]bool{}
		for _, p := range q.Pods {
			matter[b.circle[b.Snapshot.Pods[p].Template]] = true
		}
		for _, n := range b.social {
			if !b.stays[n] || gone[n] || receives[n] {
				continue
			}
			if h := b.hosts[n].Full(); b.keepCircles(&h, matter) {
				hosts = append(hosts, h)
			}
		}
		hosts = append(hosts, b.planned...)
		hosts = append(hosts, b.examples(hosts, gone)...)
	}
	return b.sp.Among(hosts, departing)
}

// keepCircles leaves a host the pods that rules of some circles may speak about, and
// reports whether there are any.
func (b *Broker) keepCircles(h *feasible.Host, matter map[int32]bool) bool {
	var kept []int32
	for _, p := range h.Bound {
		if c := b.circle[b.Snapshot.Pods[p].Template]; c >= 0 && matter[c] {
			kept = append(kept, p)
		}
	}
	h.Bound = kept
	return len(kept) > 0
}

// examples are nodes of the classes that are not among some hosts: nodes without a pod that
// matters still make a domain that spreads have to count.
func (b *Broker) examples(hosts []feasible.Host, gone map[int]bool) []feasible.Host {
	seen := make([]bool, len(b.sp.HostClasses))
	for i := range hosts {
		seen[hosts[i].Class] = true
	}
	var out []feasible.Host
	for n := range b.hosts {
		if b.stays[n] && !gone[n] && !seen[b.hosts[n].Class] {
			seen[b.hosts[n].Class] = true
			out = append(out, b.hosts[n].Full())
		}
	}
	return out
}

// answer writes the attempt down.
func (b *Broker) answer(d *decision, a *attempt) (Answer, *Obstacle) {
	w := &writer{
		d: d, a: a, next: make([]int, len(a.set.Shapes)), spare: d.spareLimits(a),
		claims: make([]int, len(d.s.Pools)), tables: b.tables, alike: b.alike, known: map[string]options{},
	}
	for _, n := range a.result.New {
		w.claims[d.sp.Machines[n.Machine].Pool]++
	}
	if !d.s.Settings.BestEffortMinimum {
		if w.dropShort(); a.short {
			return Answer{}, d.obstacle(a)
		}
	}
	var out Answer
	for _, n := range a.result.Hosts {
		lodging := Lodging{Node: d.sp.Hosts[n.Host].Node}
		for _, p := range w.pods(n) {
			lodging.Pods = append(lodging.Pods, int32(p))
		}
		out.Existing = append(out.Existing, lodging)
	}
	for _, n := range w.inOrder() {
		claim := w.claim(n)
		out.Claims = append(out.Claims, claim)
		out.Price += claim.Offer.Price
	}
	return out, nil
}

// Take has an answer come true for all later questions: its nodes are gone, its pods are
// where it puts them.
func (b *Broker) Take(q Question, a Answer) {
	for _, n := range q.Nodes {
		b.stays[n] = false
	}
	for _, l := range a.Existing {
		b.give(l.Node, l.Pods)
	}
	for i := range a.Claims {
		pods := make([]int32, len(a.Claims[i].Pods))
		for j, p := range a.Claims[i].Pods {
			pods[j] = int32(p)
		}
		b.buy(&a.Claims[i], pods)
	}
}

// Replica is a claim for one more node of a static pool, as far as its limits and what is
// offered let it be.
func (b *Broker) Replica(pool int) (plan.Claim, bool) {
	d := &decision{s: b.Snapshot, sp: b.sp}
	claim, ok := d.replica(&b.Snapshot.Pools[pool], maps.Clone(b.reserved))
	if !ok {
		return claim, false
	}
	for i, n := range b.most(pool, &claim) {
		if b.limits[pool][i].Value < n {
			return claim, false
		}
	}
	return claim, true
}

// Bound is a price that no new nodes for some pods can undercut, on top of the nodes that
// stay as they were at first: proven, as for every plan.
func (b *Broker) Bound(pods []int32, effort int64) model.Money {
	var hosts []feasible.Host
	for n := range b.before {
		if b.stays[n] {
			hosts = append(hosts, b.before[n])
		}
	}
	set, lots := b.compile(b.sp.Among(hosts, nil), pods, func(t int32) feasible.Dropped {
		return b.sp.AllDropped(&b.Snapshot.Templates[t])
	})
	price, steps := pack.LowerBound(set, lots, effort)
	b.steps += steps
	return price
}

// compile groups pods into shapes and lots. Pods that fit nowhere are left out.
func (b *Broker) compile(sp *feasible.Space, pods []int32, dropped func(template int32) feasible.Dropped) (*shape.Set, []pack.Lot) {
	byTemplate := map[int32]int{}
	var wishes []shape.Wish
	for _, p := range pods {
		t := b.Snapshot.Pods[p].Template
		if first := b.wish(t); !first.possible {
			continue
		} else if _, ok := byTemplate[t]; !ok {
			byTemplate[t] = len(wishes)
			wishes = append(wishes, shape.Wish{Template: t, Dropped: dropped(t)})
		}
		w := &wishes[byTemplate[t]]
		w.Pods = append(w.Pods, p)
	}
	set := shape.Compile(sp, wishes)
	lots := make([]pack.Lot, len(set.Shapes))
	for i := range set.Shapes {
		lots[i] = pack.Lot{Shape: i, Count: len(set.Shapes[i].Pods)}
	}
	return set, lots
}

// Values says what each of some pods costs in the best of fleets on new nodes, in
// millionths an hour; 0 for pods that no new node holds.
func (b *Broker) Values(pods []int32, effort int64) []float64 {
	set, lots := b.compile(b.sp.Among(nil, nil), pods, func(t int32) feasible.Dropped { return b.wish(t).dropped })
	value := make(map[int32]float64, len(pods))
	for i, v := range pack.Values(set, lots, effort) {
		for _, p := range set.Shapes[i].Pods {
			value[p] = v
		}
	}
	out := make([]float64, len(pods))
	for i, p := range pods {
		out[i] = value[p]
	}
	return out
}
