package pack

import (
	"math"
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// surcharge is what each node of a pool pays in a relaxation, in millionths, for each unit that it
// takes of one of the pool's limits. It is negative where the pool has to be used up first.
type surcharge struct {
	pool snapshot.PoolIndex
	name string
	left int64
	// least is how much of the limit every fleet takes.
	least int64
	each  float64
	// low and high are known to be too low and too high a surcharge.
	low, high float64
	used      float64
}

// surcharged is a relaxation with surcharges in place of limits. Its price less the limits times
// their surcharges is a bound for fleets that keep the limits, for any surcharges.
type surcharged struct {
	*packer
	rows   *rows
	hosts  []*bin
	steps  int64
	rounds int
}

// addSurcharges makes one for each limit of a pool that may be asked.
func (p *packer) addSurcharges(pr *Proof) {
	for pool, list := range pr.Limits {
		for _, l := range list {
			if p.pools[pool] {
				t := surcharge{pool: snapshot.PoolIndex(pool), name: l.Name, left: max(l.Value, 0), low: math.Inf(-1), high: math.Inf(1)}
				if len(list) == 1 && len(p.sp.Snapshot.Settings.Limits) == 0 {
					t.least = p.leastOf(&t, pr)
				}
				p.surcharges = append(p.surcharges, t)
			}
		}
	}
}

// bound solves the relaxation, and notes what it takes of each limit.
func (t *surcharged) bound() int64 {
	p := t.packer
	p.relaxed = openable{}
	out := p.solve(t.rows, t.steps, t.hosts...)
	t.rounds++
	brought := 0.0
	for i := range p.surcharges {
		l := &p.surcharges[i]
		l.used = 0
		if l.each > 0 {
			brought += float64(l.each * float64(l.left))
		} else {
			brought += float64(l.each * float64(l.least))
		}
	}
	for _, pattern := range out.Patterns {
		if int(pattern.Bin) >= len(out.offers) {
			continue // an existing node
		}
		m := &p.sp.Machines[out.offers[pattern.Bin].machine]
		for i := range p.surcharges {
			if l := &p.surcharges[i]; l.pool == m.Pool {
				l.used += float64(pattern.Amount * float64(Share(m.Capacity, l.name)))
			}
		}
	}
	return out.Bound - int64(math.Ceil(brought))
}

// raise changes the surcharge that needs it most. It reports false when none does, or when the
// rounds are spent.
func (t *surcharged) raise() bool {
	if t.rounds >= surchargeRounds {
		return false
	}
	worst, most := -1, 0.001
	for i := range t.packer.surcharges {
		if off := t.packer.surcharges[i].off(); off > most {
			worst, most = i, off
		}
	}
	if worst < 0 {
		return false
	}
	l := &t.packer.surcharges[worst]
	switch {
	case !math.IsInf(l.low, -1) && !math.IsInf(l.high, 1):
		l.each = (l.low + l.high) / 2
	case l.each == 0 && math.IsInf(l.high, 1):
		l.each = t.packer.firstSurcharge(l)
	case l.each == 0: // rounded, no machine may cost less than nothing
		l.low = float64(-0.999 * t.packer.firstSurcharge(l))
		l.each = l.low / 2
	default:
		l.each = float64(l.each * 4)
	}
	return true
}

// off returns by how much the relaxation takes too much of the limit or, with the present
// surcharge, too little. It also notes to which of the two the surcharge leads.
func (l *surcharge) off() float64 {
	left, least := float64(l.left), float64(l.least)
	switch {
	case l.each >= 0 && l.used > left:
		l.low = max(l.low, l.each)
		return (l.used - left) / max(left, 1)
	case l.each <= 0 && l.used < least:
		l.high = min(l.high, l.each)
		return (least - l.used) / max(left, 1)
	case l.each > 0 && l.used < left:
		l.high = min(l.high, l.each)
		return (left - l.used) / max(left, 1)
	case l.each < 0 && l.used > least:
		l.low = max(l.low, l.each)
		return (l.used - least) / max(left, 1)
	}
	return 0
}

// leastOf returns how much of a pool's only limit is taken by every fleet that keeps the order of
// pools. Either the fleet buys a node of a pool of less weight for a pod that the limit has no
// room for; or it has no such node, and the pool has all pods that existing nodes have no room
// for.
func (p *packer) leastOf(l *surcharge, pr *Proof) int64 {
	tier := slices.IndexFunc(pr.Tiers, func(t []snapshot.PoolIndex) bool { return slices.Contains(t, l.pool) })
	if tier != 0 || len(pr.Tiers) < 2 || len(pr.Tiers[0]) > 1 || len(p.minimums[l.pool]) > 0 {
		return 0
	}
	var largest, wanted int64
	for _, lot := range pr.Lots {
		s := &pr.Set.Shapes[lot.Shape]
		r := &s.Rules
		if len(r.HostNeeds)+len(s.Ports)+len(r.Spreads)+len(r.Caps)+len(r.Needs)+len(r.Counts) > 0 {
			return 0
		}
		smallest, ok := p.smallest(l, s)
		if !ok {
			return 0
		}
		largest = max(largest, smallest)
		wanted += Share(p.sp.Snapshot.Templates[s.Template].Requests, l.name) * int64(lot.Count)
	}
	if l.name == model.Nodes {
		wanted = 1
	}
	for h := range p.sp.Hosts {
		if host := &p.sp.Snapshot.Nodes[p.sp.Hosts[h].Node]; l.name == model.Nodes {
			wanted = 0
		} else {
			wanted -= host.Allocatable.Get(l.name)
		}
	}
	return max(min(wanted, l.left-largest+1), 0)
}

// smallest returns the least share of the limit with which the pool certainly has a node for a
// pod.
func (p *packer) smallest(l *surcharge, s *shape.Shape) (least int64, ok bool) {
	first, end := p.sp.PoolMachines(l.pool)
	for m := first; m < end; m++ {
		machine := &p.sp.Machines[m]
		if !feasible.Fits(s.Need, machine.Room) {
			continue
		}
		share := Share(machine.Capacity, l.name)
		for slot := range machine.Slots.All {
			if machine.Stock[slot] < 0 && site(s.Alternatives).allows(m, slot) && (!ok || share < least) {
				least, ok = share, true
			}
		}
	}
	return least, ok
}

// firstSurcharge returns the surcharge to begin with: what a unit of the limit costs in the pool's
// cheapest machine.
func (p *packer) firstSurcharge(l *surcharge) float64 {
	first, end := p.sp.PoolMachines(l.pool)
	least := math.Inf(1)
	for m := first; m < end; m++ {
		machine := &p.sp.Machines[m]
		share := Share(machine.Capacity, l.name)
		if share <= 0 {
			continue
		}
		for slot := range machine.Slots.All {
			least = min(least, float64(machine.Price[slot])/float64(share))
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return max(least, 1e-9)
}

// surchargeOf returns what a machine pays, rounded down: a bound must not gain by rounding.
func (p *packer) surchargeOf(pool snapshot.PoolIndex, capacity model.Resources) model.Money {
	sum := 0.0
	for i := range p.surcharges {
		if l := &p.surcharges[i]; l.pool == pool {
			sum += float64(l.each * float64(Share(capacity, l.name)))
		}
	}
	return model.Money(math.Floor(sum))
}
