package pack

import (
	"slices"

	"tenon/core/bound"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/shape"
	"tenon/core/snapshot"
	"tenon/core/topology"
)

// Proof asks for the least price of fleets that keep more rules than those of single nodes: pools
// are asked in order, limits hold, and spreads need their domains.
type Proof struct {
	Set *shape.Set
	// Lots are all pods, with pins where rules force them into a domain.
	Lots []Lot
	// Needed are nodes that the fleet must have.
	Needed []Needed
	// Tiers and Limits are as for packing.
	Tiers  [][]snapshot.PoolIndex
	Limits [][]model.Amount
}

// Needed says that Count nodes, existing or new, hold a pod of the shape where the pins are. A
// node fills at most one of the places that a rule needs, since it is in one domain.
type Needed struct {
	Rule  int
	Shape int
	Pins  []topology.Pin
	Count int
}

// Prove returns a price such that every fleet which keeps the rules of the proof costs at least as much.
//
// A fleet buys a node of a pool for at least one pod that no pool of higher weight takes; Prove
// leaves pools without such a pod out. In place of a limit, every node of the pool pays a
// surcharge for what it takes of the limit. The price less the limit times the surcharge is a
// bound for any surcharge.
func Prove(pr Proof, steps int64) (model.Money, int64) {
	p := newPacker(pr.Set, pr.Lots)
	r := rows{index: map[string]int{}}
	for _, l := range pr.Lots {
		r.add(p, &pr.Set.Shapes[l.Shape], l.Count, p.pinned(&pr.Set.Shapes[l.Shape], l.Pins))
	}
	rules := map[int]int32{}
	for _, seat := range pr.Needed {
		group, known := rules[seat.Rule]
		if !known {
			group = int32(len(p.groups.caps))
			rules[seat.Rule] = group
			p.groups.caps = append(p.groups.caps, 1)
		}
		r.addNeeded(p, &pr.Set.Shapes[seat.Shape], seat, group)
	}
	p.pools = p.poolsInOrder(&pr)
	var hosts []*bin
	for h := range p.sp.Hosts {
		b := p.hostBin(h)
		if slices.ContainsFunc(r.sites, func(s site) bool { return s.allowsHost(p.sp.Hosts[h].Class) }) {
			hosts = append(hosts, b)
		}
	}
	p.addSurcharges(&pr)
	t := surcharged{packer: p, rows: &r, hosts: hosts, steps: steps / surchargeRounds}
	best := t.bound()
	for p.steps < steps && t.raise() {
		best = max(best, t.bound())
	}
	return model.Money(max(best, 0)), p.steps
}

// addNeeded adds an item that takes no room. A node holds at most one of the items of a group.
func (r *rows) addNeeded(p *packer, s *shape.Shape, seat Needed, group int32) {
	r.items = append(r.items, bound.Item{Need: make([]int64, len(s.Need)), Count: int64(seat.Count), Groups: []int32{group}})
	r.site = append(r.site, r.siteOf(p.pinned(s, seat.Pins)))
}

// poolsInOrder returns the pools of which a fleet that keeps their order may have new nodes.
func (p *packer) poolsInOrder(pr *Proof) []bool {
	tierOf := make([]int, len(p.limits))
	out := make([]bool, len(p.limits))
	for t, tier := range pr.Tiers {
		for _, pool := range tier {
			tierOf[pool] = t
		}
	}
	for _, l := range pr.Lots {
		s := &pr.Set.Shapes[l.Shape]
		last := p.lastTier(s, pr)
		for _, tier := range pr.Tiers[:last+1] {
			for _, pool := range tier {
				out[pool] = out[pool] || p.sells(pool, s, false)
			}
		}
	}
	return out
}

// lastTier returns the first tier that certainly takes a pod of the shape, wherever rules between
// pods send it, so that no node of a later tier is bought for it. Without such a tier it returns
// the last.
func (p *packer) lastTier(s *shape.Shape, pr *Proof) int {
	last := len(pr.Tiers) - 1
	if len(s.Rules.HostNeeds) > 0 || len(s.Ports) > 0 {
		return last
	}
	for t, tier := range pr.Tiers[:last] {
		for _, pool := range tier {
			if len(pr.Limits[pool]) == 0 && len(p.minimums[pool]) == 0 && p.sells(pool, s, true) && p.everywhere(s, tier, pr.Tiers[t+1:], pr) {
				return t
			}
		}
	}
	return last
}

// sells reports whether the pool has a machine with room for a pod of the shape. With surely set,
// it counts only machines of unlimited number.
func (p *packer) sells(pool snapshot.PoolIndex, s *shape.Shape, surely bool) bool {
	first, end := p.sp.PoolMachines(pool)
	for m := first; m < end; m++ {
		machine := &p.sp.Machines[m]
		if !feasible.Fits(s.Need, machine.Room) {
			continue
		}
		for slot := range machine.Slots.All {
			if (!surely || machine.Stock[slot] < 0) && site(s.Alternatives).allows(m, slot) {
				return true
			}
		}
	}
	return false
}

// everywhere reports whether the pools of a tier without limits sell to the shape in every slot in which
// later tiers do. Pods without rules between domains need only one such slot.
func (p *packer) everywhere(s *shape.Shape, tier []snapshot.PoolIndex, later [][]snapshot.PoolIndex, pr *Proof) bool {
	r := &s.Rules
	if len(r.Spreads)+len(r.Caps)+len(r.Needs)+len(r.Counts) == 0 {
		return true
	}
	groups := p.set.Registry.Groups()
	for _, list := range [][]topology.DomainGroup{r.Counts, groupsOf(r)} {
		for _, g := range list {
			if !p.sp.SlotLabel(groups[g].Key) {
				return false
			}
		}
	}
	sold := p.slotsOf(s, func(pool snapshot.PoolIndex) bool {
		return slices.Contains(tier, pool) && len(pr.Limits[pool]) == 0 && len(p.minimums[pool]) == 0
	}, true)
	wanted := p.slotsOf(s, func(pool snapshot.PoolIndex) bool {
		return slices.ContainsFunc(later, func(t []snapshot.PoolIndex) bool { return slices.Contains(t, pool) })
	}, false)
	for slot := range wanted {
		if !sold[slot] {
			return false
		}
	}
	return true
}

// groupsOf returns the groups of a shape's own rules between domains.
func groupsOf(r *topology.Rules) []topology.DomainGroup {
	var out []topology.DomainGroup
	for _, s := range r.Spreads {
		out = append(out, s.Group)
	}
	for _, c := range r.Caps {
		out = append(out, c.Group)
	}
	for _, n := range r.Needs {
		out = append(out, n.Group)
	}
	return out
}

// slotsOf returns the slots in which some pools sell to the shape.
func (p *packer) slotsOf(s *shape.Shape, of func(pool snapshot.PoolIndex) bool, surely bool) map[int]bool {
	out := map[int]bool{}
	for m := range p.sp.Machines {
		machine := &p.sp.Machines[m]
		if !of(machine.Pool) || !feasible.Fits(s.Need, machine.Room) {
			continue
		}
		for slot := range machine.Slots.All {
			if !out[slot] && (!surely || machine.Stock[slot] < 0) && site(s.Alternatives).allows(m, slot) {
				out[slot] = true
			}
		}
	}
	return out
}
