// Package pack puts pods onto nodes at the least price: variable-sized vector bin
// packing with Kubernetes' rules.
//
// It fills existing nodes first, then opens new bins by the patterns and dual prices of a linear relaxation
// (core/bound), fills the remaining holes, and repacks the worst bins until nothing gets cheaper or the
// effort is spent. Every placement in every phase passes the same exact test, bin.most. The greedy style
// exists for comparison.
//
// The package decides nothing about pools' weights, preferences or claims, nor which of
// several packings stands: core/provision does, and calls it.
package pack

import (
	"encoding/binary"
	"slices"

	"tenon/core/feasible"
	"tenon/core/shape"
	"tenon/core/topology"
)

// LotIndex is the place of a lot in Problem.Lots.
type LotIndex int32

// kindIndex is the place of a kind of pods in packing.kinds.
type kindIndex int32

// Lot is a number of pods of one shape with the domains that they are assigned to.
type Lot struct {
	Shape int
	Pins  []topology.Pin
	Count int
}

// lot is a Lot, compiled.
type lot struct {
	Lot
	shape *shape.Shape
	// alternatives are narrowed to the pins.
	alternatives []*feasible.Places
	// free lots have no rule that depends on the other pods of a node.
	free bool
	kind kindIndex
	// given is how many pods the lot had, dropped is how many of them were given up.
	given, dropped int
}

// taken is a number of a lot's pods on a bin.
type taken struct {
	lot LotIndex
	n   int
	// alternative of the lot that the bin satisfies for them.
	alternative int
}

// kind is all lots of one size that may go to the same places. The choice of the next pod looks
// only at kinds; the lots of a kind differ in their rules between pods.
type kind struct {
	need []int64
	// rows are the relaxation's groups that count its pods.
	rows []int32
	site int
	lots []LotIndex
	// left is the number of pods not placed yet.
	left int
	// item is the kind's row in the relaxation, or -1.
	item int
	// value is what placing one pod is worth: its price in the last relaxation. worth is its price
	// in the first relaxation, of all pods.
	value, worth float64
}

// site is a list of alternatives that some lots share.
type site []*feasible.Places

func (s site) allows(machine, slot int) bool {
	for _, places := range s {
		if places.Machines.Has(machine) && places.Slots.Has(slot) {
			return true
		}
	}
	return false
}

func (s site) allowsHost(class int) bool {
	for _, places := range s {
		if places.HostClasses.Has(class) {
			return true
		}
	}
	return false
}

func (s site) equal(o []*feasible.Places) bool { return slices.Equal([]*feasible.Places(s), o) }

func isFree(s *shape.Shape) bool {
	return s.Rules.HostCounts == nil && s.Rules.HostCaps == nil && s.Rules.HostNeeds == nil && len(s.Ports) == 0 && len(s.Attach) == 0
}

// addLots numbers lots, kinds and sites.
func (p *packer) addLots(lots []Lot) {
	p.lots = slices.Grow(p.lots, len(lots))
	for _, given := range lots {
		s := &p.set.Shapes[given.Shape]
		l := lot{Lot: given, shape: s, alternatives: p.pinned(s, given.Pins), free: isFree(s), given: given.Count}
		l.kind = p.kindOf(&l)
		k := &p.kinds[l.kind]
		k.lots = append(k.lots, LotIndex(len(p.lots)))
		k.left += given.Count
		p.lots = append(p.lots, l)
	}
	clear(p.first)
}

// pinned narrows the shape's alternatives to the pins. Alternatives that contradict a
// pin are left out.
func (p *packer) pinned(s *shape.Shape, pins []topology.Pin) []*feasible.Places {
	if len(pins) == 0 {
		return s.Alternatives
	}
	var out []*feasible.Places
	for _, places := range s.Alternatives {
		narrowed := p.set.Narrow(places, s, pins)
		if narrowed != nil && !slices.Contains(out, narrowed) {
			out = append(out, narrowed)
		}
	}
	return out
}

func (p *packer) kindOf(l *lot) kindIndex {
	at := p.siteOf(l.alternatives)
	key := binary.AppendUvarint(nil, uint64(at))
	start := len(key)
	for _, n := range l.shape.Need {
		key = binary.AppendVarint(key, n)
	}
	key = append(key, p.relaxedGroups(l.shape)...)
	if k, ok := p.kindIndex[string(key)]; ok {
		return k
	}
	p.kindIndex[string(key)] = kindIndex(len(p.kinds))
	value := p.valueOf(string(key[start:]))
	p.kinds = append(p.kinds, kind{need: l.shape.Need, rows: p.rowsOf(l.shape), site: at, item: -1, value: value, worth: value})
	return kindIndex(len(p.kinds) - 1)
}

// valueOf returns what pods of the same size are worth, as far as that is known.
func (p *packer) valueOf(size string) float64 {
	if k, ok := p.sizeIndex[size]; ok {
		return p.kinds[k].value
	}
	p.sizeIndex[size] = kindIndex(len(p.kinds))
	return 0
}

func (p *packer) siteOf(alternatives []*feasible.Places) int {
	for i := range p.sites {
		if p.sites[i].equal(alternatives) {
			return i
		}
	}
	p.sites = append(p.sites, alternatives)
	return len(p.sites) - 1
}
