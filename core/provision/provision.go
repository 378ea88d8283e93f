// Package provision decides which nodes to buy for the pods that have none, and which
// pods existing nodes can take.
//
// It joins the rules of the API that go beyond one packing: which pods want a place, in
// what order preferences are given up, which pools are asked first, limits and
// reservations, the alternatives that a claim keeps open, and a verdict for every pod.
// The packing itself is core/pack's.
package provision

import (
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/plan"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// FullEffort is what a decision spends unless it is told otherwise, in steps of about a
// nanosecond.
const FullEffort = 200_000_000

// moreEffort is the factor from one search to the next, if there is effort for it.
const moreEffort = 8

// Options are how a plan is made.
type Options struct {
	// Effort is what it may cost; zero is FullEffort.
	Effort int64
	// Unadvised leaves out what would help pods that find no place: it takes a plan of its own to
	// find that out, and not every caller asks.
	Unadvised bool
	// Unproven leaves out the bound: a comparison of plans does not need it.
	Unproven bool
	// Memory is that of the asker; nil is none.
	Memory *Memory
}

// Plan decides. Given more than the full effort it searches again with more and keeps
// the better plan, so that from there on more effort never makes a dearer one.
func Plan(given *snapshot.Snapshot, o Options) plan.Plan {
	sorted := arrange(given, o.Memory)
	effort := o.Effort
	if effort == 0 {
		effort = FullEffort
	}
	o.Memory.turn()
	d := newDecision(sorted.Snapshot, min(effort, FullEffort), o.Memory)
	d.unadvised, d.unproven = o.Unadvised, o.Unproven
	best := d.search()
	for d.effort *= moreEffort; d.effort <= effort; d.effort *= moreEffort {
		if other := d.search(); other.better(best) {
			best = other
		}
	}
	return sorted.restore(d.write(best))
}

// decision is the work of one call.
type decision struct {
	s      *snapshot.Snapshot
	sp     *feasible.Space
	tiers  [][]int
	limits [][]model.Amount
	left   [][]model.Amount // of limits, once the plan is made
	effort int64
	steps  int64
	cache  *pack.OfferCache // of questions that share one, else nil
	own    *pack.OfferCache // of this decision
	// memory is the caller's. unadvised and unproven are as in Options.
	memory    *Memory
	unadvised bool
	unproven  bool
	// wishes of pods that may have a place somewhere, and of those that cannot.
	wishes  []shape.Wish
	refused []shape.Wish
	// invalid pods were refused before any rule was asked.
	invalid []int32
}

func newDecision(s *snapshot.Snapshot, effort int64, m *Memory) *decision {
	d := &decision{s: s, effort: effort, memory: m}
	wishes := d.wanting()
	askers := make([]int32, len(wishes))
	for i := range wishes {
		askers[i] = wishes[i].Template
	}
	d.sp = feasible.CompileWith(s, askers, m.sold())
	d.tiers = tiersOf(s)
	d.limits = remainingLimits(s)
	for _, w := range wishes {
		if w, ok := d.firstPossible(w); ok {
			d.wishes = append(d.wishes, w)
		} else {
			d.refused = append(d.refused, w)
		}
	}
	return d
}

// wanting groups the pods that want a place by template, in the order of their oldest
// pod. Pods of nodes that are being removed want one too.
func (d *decision) wanting() []shape.Wish {
	leaving := map[string]bool{}
	for i := range d.s.Nodes {
		if d.s.Nodes[i].Leaving {
			leaving[d.s.Nodes[i].Name] = true
		}
	}
	var wishes []shape.Wish
	at := make([]int32, len(d.s.Templates))
	for i := range d.s.Pods {
		pod := &d.s.Pods[i]
		if !pod.Pending && !(pod.Movable && leaving[pod.Node]) {
			continue
		}
		if pod.Refused != "" {
			d.invalid = append(d.invalid, int32(i))
			continue
		}
		if at[pod.Template] == 0 {
			wishes = append(wishes, shape.Wish{Template: pod.Template})
			at[pod.Template] = int32(len(wishes))
		}
		w := &wishes[at[pod.Template]-1]
		w.Pods = append(w.Pods, int32(i))
	}
	return wishes
}

// firstPossible gives up preferences until some node, existing or new, can meet what is
// left; without hope it returns false with all preferences given up.
func (d *decision) firstPossible(w shape.Wish) (shape.Wish, bool) {
	t := &d.s.Templates[w.Template]
	need := d.sp.Vector(t.Requests)
	w.Dropped = d.sp.AtFirst(t)
	for more := true; more; w.Dropped, more = w.Dropped.Next(d.sp.Preferences(t)) {
		v := d.sp.Variant(t, w.Dropped)
		if d.somewhere(&v, need) {
			return w, true
		}
	}
	w.Dropped = d.sp.AllDropped(t)
	return w, false
}

// somewhere reports whether a pod of the variant, alone, fits some node.
func (d *decision) somewhere(v *feasible.Variant, need []int64) bool {
	for _, a := range v.Alternatives {
		places := d.sp.Find(a)
		for m := range places.Machines.All {
			if feasible.Fits(need, d.sp.Machines[m].Room) && d.sp.Machines[m].Slots.Meets(places.Slots) {
				return true
			}
		}
		for h := range d.sp.Hosts {
			if places.HostClasses.Has(d.sp.Hosts[h].Class) && feasible.Fits(need, d.sp.Hosts[h].Room) {
				return true
			}
		}
	}
	return false
}

// tiersOf groups the pools that may launch by weight, heaviest first.
func tiersOf(s *snapshot.Snapshot) [][]int {
	var tiers [][]int
	for p := range s.Pools { // sorted by weight
		if s.Pools[p].Unready != "" {
			continue
		}
		last := len(tiers) - 1
		if last >= 0 && s.Pools[tiers[last][0]].Weight == s.Pools[p].Weight {
			tiers[last] = append(tiers[last], p)
		} else {
			tiers = append(tiers, []int{p})
		}
	}
	return tiers
}

// remainingLimits is what each pool may still launch: its limits without the capacity
// of its nodes. Nodes that are being removed do not count.
func remainingLimits(s *snapshot.Snapshot) [][]model.Amount {
	out := make([][]model.Amount, len(s.Pools))
	at := map[string]int{}
	for p := range s.Pools {
		out[p] = slices.Clone(s.Pools[p].Limits)
		at[s.Pools[p].Name] = p
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		p, ok := at[n.Pool]
		if !ok || !n.Counts() {
			continue
		}
		for j := range out[p] {
			out[p][j].Value -= share(n, out[p][j].Name)
		}
	}
	return out
}

// share is what a node takes of a limit.
func share(n *snapshot.Node, limit string) int64 {
	if limit == model.Nodes {
		return 1
	}
	return n.Capacity.Get(limit)
}
