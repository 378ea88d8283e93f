package pack

import (
	"encoding/binary"
	"slices"

	"tenon/core/bound"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/shape"
	"tenon/core/topology"
)

// relaxedGroups maps host groups to groups of the relaxation. A group takes part if the pods that
// it counts also have it as a cap: then the cap holds among these pods, with any other pods beside
// them. A kept preference is such a cap too, because each pod that has it goes only where it
// holds.
type relaxedGroups struct {
	of   map[topology.HostGroup]int32
	caps []int64
}

func relaxGroups(set *shape.Set, lots []Lot) relaxedGroups {
	out := relaxedGroups{of: map[topology.HostGroup]int32{}}
	count := map[topology.HostGroup]int64{}
	limit := map[topology.HostGroup]int64{}
	var total int64
	var seen []topology.HostGroup
	for _, l := range lots {
		total += int64(l.Count)
		for _, c := range ownCaps(&set.Shapes[l.Shape]) {
			if count[c.Group] == 0 {
				seen = append(seen, c.Group)
			}
			count[c.Group] += int64(l.Count)
			limit[c.Group] = max(limit[c.Group], int64(c.Max))
		}
	}
	for _, g := range seen {
		if count[g]*worthRow >= total*max(limit[g], 1) {
			out.of[g] = int32(len(out.caps))
			out.caps = append(out.caps, limit[g])
		}
	}
	return out
}

// ownCaps returns the caps on groups that count the shape's own pods, the tightest of each group.
func ownCaps(s *shape.Shape) []topology.Cap[topology.HostGroup] {
	var out []topology.Cap[topology.HostGroup]
	for _, c := range s.Rules.HostCaps {
		if _, self := slices.BinarySearch(s.Rules.HostCounts, c.Group); !self {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Group == c.Group { // caps are sorted by group
			out[n-1].Max = min(out[n-1].Max, c.Max)
			continue
		}
		out = append(out, c)
	}
	return out
}

// relaxedGroups returns the part of a shape's rules that the relaxation sees, as a key.
func (p *packer) relaxedGroups(s *shape.Shape) []byte {
	var key []byte
	for _, g := range p.rowsOf(s) {
		key = binary.AppendUvarint(append(key, 0xff), uint64(g))
	}
	return key
}

func (p *packer) rowsOf(s *shape.Shape) []int32 {
	var rows []int32
	for _, c := range ownCaps(s) {
		if row, ok := p.groups.of[c.Group]; ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// relaxation is the linear relaxation of the pods that are left to pack.
type relaxation struct {
	bound.Result
	offers []offer
	pods   int
}

// settled reports whether patterns and prices say what a best fleet is like.
func (r *relaxation) settled() bool { return float64(r.Relaxed) <= settledPrices*float64(r.Bound) }

// rows are the relaxation's items while they are gathered: pods of one size that may go to the
// same places. Pins are left out: they make the plan keep its spreads, but they do not belong to
// the bound.
type rows struct {
	items []bound.Item
	sites []site
	// site of each item.
	site  []int
	index map[string]int
}

func (r *rows) siteOf(alternatives []*feasible.Places) int {
	for i := range r.sites {
		if r.sites[i].equal(alternatives) {
			return i
		}
	}
	r.sites = append(r.sites, alternatives)
	return len(r.sites) - 1
}

// add counts n pods of a shape that may go to the alternatives, and returns their row.
func (r *rows) add(p *packer, s *shape.Shape, n int, alternatives []*feasible.Places) int {
	at := r.siteOf(alternatives)
	key := binary.AppendUvarint(nil, uint64(at))
	for _, want := range s.Need {
		key = binary.AppendVarint(key, want)
	}
	key = append(key, p.relaxedGroups(s)...)
	row, ok := r.index[string(key)]
	if !ok {
		row = len(r.items)
		r.index[string(key)] = row
		r.items = append(r.items, bound.Item{Need: s.Need, Groups: p.rowsOf(s)})
		r.site = append(r.site, at)
	}
	r.items[row].Count += int64(n)
	return row
}

// relax solves the relaxation of all pods without a place.
func (p *packer) relax(steps int64) relaxation {
	r, pods := p.waitingRows()
	return p.relaxRows(r, pods, steps)
}

// relaxOnce is relax for dives, which often reach the same pods without a place on different ways.
func (p *packer) relaxOnce(steps int64) relaxation {
	if p.runsOut() {
		return p.relax(steps)
	}
	key := p.unplacedKey()
	if known, was := p.crossed[key]; was {
		r, _ := p.waitingRows()
		p.price(known)
		p.steps += int64(len(r.items))
		return known
	}
	if len(p.crossed) >= manyCrossroads {
		p.crossed = nil
	}
	if p.crossed == nil {
		p.crossed = map[string]relaxation{}
	}
	r := p.relax(steps)
	kept := r
	kept.Result = bound.Result{Bound: r.Bound, Relaxed: r.Relaxed, Dual: r.Dual, Patterns: r.Patterns} // without the means of finding them
	p.crossed[key] = kept
	return r
}

// unplacedKey says which pods have no place.
func (p *packer) unplacedKey() string {
	key := make([]byte, 0, len(p.lots))
	for i := range p.lots {
		key = binary.AppendUvarint(key, uint64(p.lots[i].Count))
	}
	return string(key)
}

// waitingRows gathers the pods without a place, and counts them.
func (p *packer) waitingRows() (out *rows, pods int) {
	r := &rows{index: map[string]int{}, sites: p.relaxed.sites}
	for k := range p.kinds {
		p.kinds[k].item = -1
	}
	for i := range p.lots {
		if l := &p.lots[i]; l.Count > 0 {
			p.kinds[l.kind].item = r.add(p, l.shape, l.Count, l.shape.Alternatives)
			pods += l.Count
		}
	}
	return r, pods
}

func (p *packer) relaxRows(r *rows, pods int, steps int64) relaxation {
	out := p.solve(r, steps)
	out.pods = pods
	if pods > p.proven {
		p.proven, p.proof = pods, out
	}
	for k := range p.kinds {
		if item := p.kinds[k].item; item >= 0 && len(out.offers) > 0 {
			p.kinds[k].value = out.Dual[item]
		}
	}
	return out
}

// solve hands rows, offers and the existing nodes that still take part to the relaxation.
func (p *packer) solve(r *rows, steps int64, hosts ...*bin) relaxation {
	out := relaxation{offers: p.offersOf(r.sites)}
	problem := bound.Problem{Items: r.items, Groups: p.groups.caps}
	words := (len(out.offers) + len(hosts) + 63) / 64
	bySite := make([][]uint64, len(r.sites))
	for i := range bySite {
		bySite[i] = make([]uint64, words)
	}
	for b, o := range out.offers {
		problem.Bins = append(problem.Bins, bound.Bin{Room: o.room, Price: int64(o.price), Stock: p.stockOf(o)})
		for s := range o.sites.All {
			bySite[s][b>>6] |= 1 << (b & 63)
		}
	}
	for h, host := range hosts {
		b := len(out.offers) + h
		problem.Bins = append(problem.Bins, bound.Bin{Room: floored(host.room), Stock: 1})
		for s := range r.sites {
			if r.sites[s].allowsHost(p.sp.Hosts[host.host].Class) {
				bySite[s][b>>6] |= 1 << (b & 63)
			}
		}
	}
	for i := range r.items {
		problem.Items[i].Bins = bySite[r.site[i]]
	}
	out.Result = bound.Solve(problem, bound.Budget{Steps: steps})
	p.steps += out.Steps
	return out
}

// openable is what relaxations so far may open for their sites. It is the same for each of them as
// long as no offer runs out.
type openable struct {
	sites  []site
	offers []offer
}

func (p *packer) offersOf(sites []site) []offer {
	if p.runsOut() || len(sites) != len(p.relaxed.sites) {
		p.relaxed = openable{sites, p.offersFor(sites)}
	}
	return p.relaxed.offers
}

// runsOut reports whether opening bins can use offers up.
func (p *packer) runsOut() bool {
	return slices.ContainsFunc(p.limits, func(l limits) bool { return len(l) > 0 }) ||
		slices.ContainsFunc(p.relaxed.offers, func(o offer) bool { return o.scarce })
}

func floored(room []int64) []int64 {
	out := make([]int64, len(room))
	for i, r := range room {
		out[i] = max(r, 0)
	}
	return out
}

// LowerBound is a lower bound on the price of new nodes for the lots, beside the existing nodes. It knows
// only the rules of single nodes; Prove also knows limits, weights of pools and spreads.
func LowerBound(set *shape.Set, lots []Lot, steps int64) (model.Money, int64) {
	p := newPacker(set, lots)
	p.askAll()
	r := rows{index: map[string]int{}}
	for _, l := range lots {
		r.add(p, &set.Shapes[l.Shape], l.Count, set.Shapes[l.Shape].Alternatives)
	}
	var hosts []*bin
	for h := range p.sp.Hosts {
		b := p.hostBin(h)
		if slices.ContainsFunc(r.sites, func(s site) bool { return s.allowsHost(p.sp.Hosts[h].Class) }) {
			hosts = append(hosts, b)
		}
	}
	out := p.solve(&r, steps, hosts...)
	if len(hosts) == 0 {
		p.steps += out.Sharpen(steps / 2)
	}
	return model.Money(out.Bound), p.steps
}

func (p *packer) stockOf(o offer) int64 {
	stock := p.sp.Machines[o.machine].Stock[o.slot]
	if stock < 0 {
		return -1
	}
	return stock - p.reserved[p.sp.Slots[o.slot].Reservation]
}
