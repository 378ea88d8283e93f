package search

import (
	"slices"

	"tenon/core/bitset"
	"tenon/core/expand"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/snapshot"
)

// Balance moves new nodes among groups that are alike, if the settings ask for that, so that the smallest of them grow first. A
// node moves only where all of its pods may be as well. The draft is finished: it may not give up nodes afterwards.
func (d *Search) Balance(a *Draft) {
	settings := d.Snapshot.Settings.Balance
	if settings == nil {
		return
	}
	b := balancing{d: d, a: a, likeness: likenessOf(settings), nodes: map[snapshot.PoolIndex][]int{}}
	for i, n := range a.Result.New {
		if p := d.Space.Machines[n.Machine].Pool; d.Snapshot.Pools[p].Rules() != nil {
			b.nodes[p] = append(b.nodes[p], i)
		}
	}
	settled := map[snapshot.PoolIndex]bool{}
	for _, p := range b.byNodes() {
		if settled[p] {
			continue
		}
		alike := slices.DeleteFunc(b.alike(p), func(q snapshot.PoolIndex) bool { return settled[q] })
		for _, q := range alike {
			settled[q] = true
		}
		b.even(alike)
	}
	a.Result.Price = 0
	for _, n := range a.Result.New {
		a.Result.Price += d.Space.Machines[n.Machine].Price[n.Slot]
	}
}

func likenessOf(s *snapshot.Balance) expand.Likeness {
	const whole = 1000
	return expand.Likeness{
		Ignored: func(label string) bool { return slices.Contains(s.Ignored, label) }, Labels: s.Labels,
		Memory: float64(s.Memory) / whole, Allocatable: float64(s.Allocatable) / whole, Free: float64(s.Free) / whole,
	}
}

// balancing is the work of Balance.
type balancing struct {
	d        *Search
	a        *Draft
	likeness expand.Likeness
	nodes    map[snapshot.PoolIndex][]int // new nodes by group
}

// byNodes lists the groups with new nodes, those with most of them first.
func (b *balancing) byNodes() []snapshot.PoolIndex {
	var out []snapshot.PoolIndex
	for p := range b.d.Snapshot.Pools {
		if len(b.nodes[snapshot.PoolIndex(p)]) > 0 {
			out = append(out, snapshot.PoolIndex(p))
		}
	}
	slices.SortStableFunc(out, func(p, q snapshot.PoolIndex) int { return len(b.nodes[q]) - len(b.nodes[p]) })
	return out
}

// alike are the groups like one that could have some of its new nodes, that one included.
func (b *balancing) alike(p snapshot.PoolIndex) []snapshot.PoolIndex {
	own, known := b.sample(p)
	var out []snapshot.PoolIndex
	for _, tier := range b.d.Tiers {
		for _, q := range b.d.expandable(tier) {
			other, also := b.sample(q)
			if q == p || known && also && b.likeness.Alike(own, other) && b.takes(q, p) {
				out = append(out, q)
			}
		}
	}
	slices.Sort(out)
	return out
}

// takes reports whether a new node of another group may be one of the group instead.
func (b *balancing) takes(group, other snapshot.PoolIndex) bool {
	return slices.ContainsFunc(b.nodes[other], func(at int) bool {
		_, _, ok := b.place(&b.a.Result.New[at], group)
		return ok
	})
}

// sample is what a further node of a group is like.
func (b *balancing) sample(p snapshot.PoolIndex) (expand.Sample, bool) {
	first, end := b.d.Space.PoolMachines(p)
	if first == end {
		return expand.Sample{}, false
	}
	m := &b.d.Space.Machines[first]
	return expand.Sample{Labels: b.d.Snapshot.Pools[p].Labels, Capacity: m.Capacity, Allocatable: m.Allocatable, Free: m.Allocatable.Sub(m.Daemons)}, true
}

// even hands the new nodes of some groups out among them.
func (b *balancing) even(groups []snapshot.PoolIndex) {
	var sizes []expand.Size
	count := 0
	for _, p := range groups {
		pool := &b.d.Snapshot.Pools[p]
		most := pool.Group.Desired + int64(len(b.nodes[p])) // without a ceiling it is not known how many more may come
		for i, limit := range b.d.Limits[p] {
			if limit.Name == model.Nodes && !b.d.Snapshot.OfCluster(b.d.Limits[p], i) { // the number of all nodes stays
				most = pool.Group.Desired + max(limit.Value, 0)
			}
		}
		sizes = append(sizes, expand.Size{Group: pool.Name, Target: pool.Group.Desired, Max: most})
		count += len(b.nodes[p])
	}
	more, _ := expand.Balance(sizes, int64(count))
	for _, from := range groups {
		for _, to := range groups {
			b.move(from, to, more)
		}
	}
}

// move moves nodes from a group that has more of them than it is to have to one that has fewer.
func (b *balancing) move(from, to snapshot.PoolIndex, more map[string]int64) {
	want := func(p snapshot.PoolIndex) int { return int(more[b.d.Snapshot.Pools[p].Name]) }
	for i := len(b.nodes[from]) - 1; i >= 0 && len(b.nodes[from]) > want(from) && len(b.nodes[to]) < want(to); i-- {
		at := b.nodes[from][i]
		n := &b.a.Result.New[at]
		machine, slot, ok := b.place(n, to)
		if !ok {
			continue
		}
		n.Machine, n.Slot = machine, slot
		b.nodes[from] = slices.Delete(b.nodes[from], i, i+1)
		b.nodes[to] = append(b.nodes[to], at)
	}
}

// place is the machine of a group that a node may be instead.
func (b *balancing) place(n *pack.Node, group snapshot.PoolIndex) (machine, slot int, ok bool) {
	sp := b.d.Space
	slots, load := bitset.Full(len(sp.Slots)), make([]int64, len(sp.Dims))
	for _, l := range n.Loads {
		portion := &b.a.Portions[l.Lot]
		s := &b.a.Set.Shapes[portion.Shape]
		r := &s.Rules
		counted := len(r.Counts)+len(r.Caps)+len(r.Needs)+len(r.Spreads) > 0
		if counted && len(portion.Pins) == 0 || l.Places.Open[group] != nil || len(s.Ports) > 0 {
			return 0, 0, false // where it is may matter to rules that are settled
		}
		slots.Keep(l.Places.Slots)
		for dim, want := range s.Need {
			load[dim] += want * int64(l.Count)
		}
	}
	first, end := sp.PoolMachines(group)
	for m := first; m < end; m++ {
		suits := !slices.ContainsFunc(n.Loads, func(l pack.Load) bool { return !l.Places.Machines.Has(m) })
		if at := sp.Machines[m].Cheapest(slots); suits && at >= 0 && feasible.Fits(load, sp.Machines[m].Room) {
			return m, at, true
		}
	}
	return 0, 0, false
}
