package provision

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

// attempt is one way of placing the pods.
type attempt struct {
	d        *decision
	wishes   []shape.Wish
	set      *shape.Set
	assigner *topology.Assigner
	packer   *pack.Packer
	portions []topology.Portion // by lot
	// why is the last reason for which a shape's pods got no domain.
	why map[int]reason.Reason
	// result of the packing, and the pods that it leaves without a place, by shape.
	result pack.Result
	left   []int
	// outlooks are the spreads that look at more nodes than their pods may use.
	outlooks []topology.Outlook
	// short says that nodes of the packing were given up when claims were written.
	short bool
}

// search makes the attempts that are worth making and returns the best. While pods find
// no place only because of their preferences, the preferences are given up one by one.
func (d *decision) search() *attempt {
	best := d.place(d.wishes)
	if d.s.Settings.Preferences == snapshot.Weigh {
		return d.weigh(best)
	}
	return best
}

// place packs the wishes, and again with fewer preferences while some find no place.
func (d *decision) place(wishes []shape.Wish) *attempt {
	for {
		set := shape.Compile(d.sp, wishes)
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

// bestOf tries every style of packing that may help.
func (d *decision) bestOf(set *shape.Set, wishes []shape.Wish) *attempt {
	atlas := newAtlas(set, d.launching())
	guided := way{style: pack.Guided, effort: d.effort}
	var best *attempt
	if d.cache != nil { // a question among many does without the baseline
		best = d.attempt(set, atlas, guided)
	} else {
		best = d.attempt(set, atlas, way{style: pack.Greedy, effort: d.effort})
		if _, more := d.relax(best, wishes); more {
			if quick := d.attempt(set, atlas, way{style: pack.Guided, effort: d.effort / quickPart}); quick.unplaced() > 0 {
				return better(quick, best)
			}
		}
		best = better(d.attempt(set, atlas, guided), best)
	}
	if len(set.Registry.Groups()) > 0 && pods(set) <= fewPods {
		for _, strategy := range []topology.Strategy{topology.Gather, topology.Together} {
			best = better(best, d.attempt(set, atlas, way{style: pack.Guided, effort: d.effort / strategyPart, strategy: strategy}))
		}
	}
	if best.unplaced() > 0 && d.limited() {
		best = better(best, d.attempt(set, atlas, way{style: pack.Thrifty, effort: d.effort}))
	}
	return best
}

// strategyPart is the part of the effort that goes to each other strategy.
const strategyPart = 4

// way is how an attempt is made.
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

// better is the better of two attempts, the first where they are equal.
func better(a, b *attempt) *attempt {
	if b.better(a) {
		return b
	}
	return a
}

func (d *decision) limited() bool {
	return slices.ContainsFunc(d.limits, func(l []model.Amount) bool { return len(l) > 0 })
}

// rounds bounds how often pods that found no node in their domain are sent elsewhere.
const rounds = 8

// launching tells the pools that may launch nodes.
func (d *decision) launching() []bool {
	pools := make([]bool, len(d.s.Pools))
	for _, tier := range d.tiers {
		for _, p := range tier {
			pools[p] = true
		}
	}
	return pools
}

func (d *decision) attempt(set *shape.Set, atlas *atlas, w way) *attempt {
	a := &attempt{d: d, set: set, why: map[int]reason.Reason{}}
	shapes := make([]topology.Shape, len(set.Shapes))
	counts := make([]int, len(set.Shapes))
	for i := range set.Shapes {
		s := &set.Shapes[i]
		shapes[i] = topology.Shape{Rules: &s.Rules, Places: s.Alternatives, Count: len(s.Pods)}
		counts[i] = len(s.Pods)
	}
	a.assigner = topology.NewAssigner(d.sp, set.Registry, atlas, shapes, w.strategy)
	lots := a.assign(counts)
	a.packer = pack.New(pack.Problem{
		Set: set, Lots: lots, Tiers: d.tiers, Limits: d.limits, Style: w.style, Effort: w.effort, OfferCache: d.offers(),
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
	a.result = a.packer.Result()
	a.countLeft()
	a.explainCompany()
	d.steps += a.result.Steps
	return a
}

// offers is what attempts remember for each other.
func (d *decision) offers() *pack.OfferCache {
	if d.cache != nil {
		return d.cache
	}
	if d.own == nil {
		d.own = pack.NewOfferCache()
	}
	return d.own
}

// assign gives pods domains, and returns the lots to pack.
func (a *attempt) assign(counts []int) []pack.Lot {
	portions, failures := a.assigner.Assign(counts)
	for _, f := range failures {
		a.why[f.Shape] = f.Reason
	}
	lots := make([]pack.Lot, len(portions))
	for i, p := range portions {
		lots[i] = pack.Lot{Shape: p.Shape, Pins: p.Pins, Count: p.Count}
	}
	a.portions = append(a.portions, portions...)
	return lots
}

// sendElsewhere withdraws pods that found no node in the domains that they were told,
// and tells them others.
func (a *attempt) sendElsewhere() bool {
	counts := make([]int, len(a.set.Shapes))
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
func (a *attempt) withdrawLeft(counts []int) (any bool) {
	for lot, portion := range a.portions {
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
func (a *attempt) withdrawBroken() {
	for again := true; again; {
		again = false
		for lot, portion := range a.portions {
			placed := a.packer.Placed(lot)
			if placed == 0 || !a.assigner.Broken(portion) && !a.packer.Lonely(lot) {
				continue
			}
			a.packer.Evict(lot)
			a.assigner.Withdraw(portion, placed)
			a.packer.Drop(lot)
			a.why[portion.Shape] = brokenRule(&a.set.Shapes[portion.Shape])
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

func (a *attempt) countLeft() {
	a.left = make([]int, len(a.set.Shapes))
	for i := range a.set.Shapes {
		a.left[i] = len(a.set.Shapes[i].Pods)
	}
	for _, nodes := range [][]pack.Node{a.result.Hosts, a.result.New} {
		for _, n := range nodes {
			for _, l := range n.Loads {
				a.left[a.portions[l.Lot].Shape] -= l.Count
			}
		}
	}
}

// explainCompany gives pods that found no company on a node their reason.
func (a *attempt) explainCompany() {
	for i := range a.set.Shapes {
		if _, known := a.why[i]; !known && a.left[i] > 0 && len(a.set.Shapes[i].Rules.HostNeeds) > 0 {
			a.why[i] = reason.Reason{Code: reason.Affinity, Where: feasible.HostnameKey}
		}
	}
}

func (a *attempt) unplaced() int {
	n := 0
	for _, left := range a.left {
		n += left
	}
	return n
}

// better compares two attempts: more important pods placed, then more pods, then less
// money, then fewer nodes.
func (a *attempt) better(b *attempt) bool {
	return cmp.Or(
		slices.Compare(a.lacking(), b.lacking()),
		cmp.Compare(a.result.Price, b.result.Price),
		cmp.Compare(len(a.result.New), len(b.result.New)),
	) < 0
}

// lacking counts the pods without a place by priority, the highest first.
func (a *attempt) lacking() []int {
	var priorities []int32
	for i := range a.set.Shapes {
		priorities = append(priorities, -a.set.Shapes[i].Priority)
	}
	slices.Sort(priorities)
	priorities = slices.Compact(priorities)
	out := make([]int, len(priorities))
	for i := range a.set.Shapes {
		at, _ := slices.BinarySearch(priorities, -a.set.Shapes[i].Priority)
		out[at] += a.left[i]
	}
	return out
}

// relax lets the pods without a place give up one more preference each.
func (d *decision) relax(a *attempt, wishes []shape.Wish) ([]shape.Wish, bool) {
	unplaced := map[int32]bool{}
	for i := range a.set.Shapes {
		pods := a.set.Shapes[i].Pods
		for _, p := range pods[len(pods)-a.left[i]:] {
			unplaced[p] = true
		}
	}
	if len(unplaced) == 0 {
		return nil, false
	}
	var out []shape.Wish
	relaxed := false
	for _, w := range wishes {
		fewer, more := w.Dropped.Next(d.sp.Preferences(&d.s.Templates[w.Template]))
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
