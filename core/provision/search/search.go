package search

import (
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// FullEffort is what a decision spends unless it is told otherwise, in steps of about a
// nanosecond.
const FullEffort = 200_000_000

// Search holds the input of one search, and the effort that it has spent.
type Search struct {
	Snapshot *snapshot.Snapshot // in order
	Space    *feasible.Space
	Tiers    [][]snapshot.PoolIndex // pools that may launch, by weight, heaviest first
	Limits   [][]model.Amount       // what each pool may still launch; see RemainingLimits
	Effort   int64                  // that a draft may cost, in steps
	Steps    int64                  // that were spent
	Cache    *pack.OfferCache       // of questions that share one, else nil
	own      *pack.OfferCache       // of this search
	// Unproven leaves out the proof of how cheap any draft could be.
	Unproven bool
	// Wishes of pods that may have a place somewhere, and of those that cannot.
	Wishes  []shape.Wish
	Refused []shape.Wish
	// Invalid pods were refused before any rule was asked.
	Invalid []snapshot.PodIndex
}

// New finds what wants a place in a snapshot, and what may be bought for it. Compiled is what
// was compiled before, or nil.
func New(s snapshot.Sorted, effort int64, compiled *feasible.Compiled) *Search {
	d := &Search{Snapshot: s.Snapshot, Effort: effort}
	wishes := d.wanting()
	askers := make([]snapshot.TemplateIndex, len(wishes))
	for i := range wishes {
		askers[i] = wishes[i].Template
	}
	d.Space = feasible.CompileWith(s.Snapshot, askers, compiled)
	d.Tiers = TiersOf(s.Snapshot)
	d.Limits = RemainingLimits(s.Snapshot)
	for _, w := range wishes {
		if w, ok := d.FirstPossible(w); ok {
			d.Wishes = append(d.Wishes, w)
		} else {
			d.Refused = append(d.Refused, w)
		}
	}
	return d
}

// wanting groups the pods that want a place by template, in the order of their oldest
// pod. Pods of nodes that are being removed want one too.
func (d *Search) wanting() []shape.Wish {
	leaving := map[string]bool{}
	for i := range d.Snapshot.Nodes {
		if d.Snapshot.Nodes[i].Leaving {
			leaving[d.Snapshot.Nodes[i].Name] = true
		}
	}
	var wishes []shape.Wish
	at := make([]int32, len(d.Snapshot.Templates))
	for i := range d.Snapshot.Pods {
		pod := &d.Snapshot.Pods[i]
		if !pod.Pending && !(pod.Movable && leaving[pod.Node]) {
			continue
		}
		if len(pod.Refused) > 0 {
			d.Invalid = append(d.Invalid, snapshot.PodIndex(i))
			continue
		}
		if at[pod.Template] == 0 {
			wishes = append(wishes, shape.Wish{Template: pod.Template})
			at[pod.Template] = int32(len(wishes))
		}
		w := &wishes[at[pod.Template]-1]
		w.Pods = append(w.Pods, snapshot.PodIndex(i))
	}
	return wishes
}

// FirstPossible gives up preferences until some existing or new node can meet the rest. If none can, it
// returns false, with all preferences given up.
func (d *Search) FirstPossible(w shape.Wish) (shape.Wish, bool) {
	t := &d.Snapshot.Templates[w.Template]
	need := d.Space.Vector(t.Requests)
	w.Dropped = d.Space.AtFirst(t)
	for more := true; more; w.Dropped, more = w.Dropped.Next(d.Space.Preferences(t)) {
		v := d.Space.Variant(t, w.Dropped)
		if d.somewhere(&v, need) {
			return w, true
		}
	}
	w.Dropped = d.Space.AllDropped(t)
	return w, false
}

// somewhere reports whether a pod of the variant, alone, fits some node.
func (d *Search) somewhere(v *feasible.Variant, need []int64) bool {
	for _, a := range v.Alternatives {
		places := d.Space.Find(a)
		for m := range places.Machines.All {
			if feasible.Fits(need, d.Space.Machines[m].Room) && d.Space.Machines[m].Slots.Meets(places.Slots) {
				return true
			}
		}
		for h := range d.Space.Hosts {
			if places.HostClasses.Has(d.Space.Hosts[h].Class) && feasible.Fits(need, d.Space.Hosts[h].Room) {
				return true
			}
		}
	}
	return false
}

// TiersOf groups the pools that may launch by weight, heaviest first.
func TiersOf(s *snapshot.Snapshot) [][]snapshot.PoolIndex {
	var tiers [][]snapshot.PoolIndex
	for p := range snapshot.PoolIndex(len(s.Pools)) { // sorted by weight
		if !s.Pools[p].MayLaunch() {
			continue
		}
		last := len(tiers) - 1
		if last >= 0 && s.Pools[tiers[last][0]].Weight == s.Pools[p].Weight {
			tiers[last] = append(tiers[last], p)
		} else {
			tiers = append(tiers, []snapshot.PoolIndex{p})
		}
	}
	return tiers
}

// RemainingLimits is what each pool may still launch: its limits without the capacity
// of the nodes that they count, and after them the limits of the cluster without the capacity of all nodes.
func RemainingLimits(s *snapshot.Snapshot) [][]model.Amount {
	out := make([][]model.Amount, len(s.Pools))
	at := map[string]int{}
	for p := range s.Pools {
		out[p] = slices.Clone(s.Pools[p].Limits)
		if g := s.Pools[p].Group; g != nil { // instances count from when they are asked for, with a node or without
			for i := range out[p] {
				out[p][i].Value -= g.Desired
			}
			continue
		}
		at[s.Pools[p].Name] = p
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		p, ok := at[n.Pool]
		if !ok || !s.Pools[p].Counts(n) {
			continue
		}
		for j := range out[p] {
			out[p][j].Value -= Share(n, out[p][j].Name)
		}
	}
	left := RemainingTotals(s)
	for p := range out {
		out[p] = append(out[p], left...)
	}
	return out
}

// RemainingTotals is what limits of the cluster leave for all pools together.
func RemainingTotals(s *snapshot.Snapshot) []model.Amount {
	out := slices.Clone(s.Settings.Limits)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for j := range out {
			if n.Counts() {
				out[j].Value -= Share(n, out[j].Name)
			}
		}
	}
	return out
}

// Share is what a node takes of a limit: the most that it may have, until it is known what was launched.
func Share(n *snapshot.Node, limit string) int64 {
	if limit == model.Nodes {
		return 1
	}
	return max(n.Capacity.Get(limit), n.Most.Get(limit))
}

// CountPods is how many pods want a place.
func (d *Search) CountPods() int {
	n := len(d.Invalid)
	for _, wishes := range [][]shape.Wish{d.Wishes, d.Refused} {
		for _, w := range wishes {
			n += len(w.Pods)
		}
	}
	return n
}

// CountOffers is how many offers there are to choose from.
func (d *Search) CountOffers() int {
	n := 0
	for m := range d.Space.Machines {
		n += d.Space.Machines[m].Slots.Count()
	}
	return n
}
