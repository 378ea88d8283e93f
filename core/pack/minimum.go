package pack

import (
	"sort"

	"tenon/core/bitset"
	"tenon/core/feasible"
	"tenon/core/snapshot"
)

// minimum is a minValues of a pool: a node must be able to become machines of so many
// different values of a label.
type minimum struct {
	want int
	// values of each machine of the pool, by number; first is the pool's first machine.
	values [][]int
	first  int
	count  int // different values in total
}

// minimumsOf compiles the pools' minimums. There are none with the best-effort policy; the claim
// then says afterwards that a minimum was lowered.
func minimumsOf(sp *feasible.Space) [][]minimum {
	out := make([][]minimum, len(sp.Snapshot.Pools))
	if sp.Snapshot.Settings.BestEffortMinimum {
		return out
	}
	for p := range out {
		for r := range sp.Snapshot.Pools[p].Requirements.All() {
			if r.MinValues() > 0 {
				out[p] = append(out[p], newMinimum(sp, snapshot.PoolIndex(p), r.Key(), r.MinValues()))
			}
		}
	}
	return out
}

func newMinimum(sp *feasible.Space, pool snapshot.PoolIndex, key string, want int) minimum {
	first, end := sp.PoolMachines(pool)
	m := minimum{want: want, first: first, values: make([][]int, end-first)}
	ids := map[string]int{}
	for i := first; i < end; i++ {
		labels := &sp.Machines[i].Type.Requirements
		if !labels.Has(key) || labels.Get(key).Complement() {
			continue
		}
		for value := range labels.Get(key).All() {
			id, ok := ids[value]
			if !ok {
				id = len(ids)
				ids[value] = id
			}
			m.values[i-first] = append(m.values[i-first], id)
		}
	}
	m.count = len(ids)
	return m
}

// mostByMinimums returns how many of the lot's pods, up to n, leave enough different machines that
// the bin can become.
func (p *packer) mostByMinimums(b *bin, l *lot, places *feasible.Places, n int) int {
	options, slots := b.options.And(places.Machines), b.slots.And(places.Slots)
	if p.varied(b, options, slots, l.shape.Need, n) {
		return n
	}
	return max(sort.Search(n, func(i int) bool { return !p.varied(b, options, slots, l.shape.Need, i+1) }), 0)
}

// mostVaried is mostByMinimums by the best of the lot's alternatives from the first one on that the bin
// satisfies: another of a pod's node selector terms may leave more to choose from.
func (p *packer) mostVaried(b *bin, l *lot, first, n int) (most, alternative int) {
	most, alternative = p.mostByMinimums(b, l, l.alternatives[first], n), first
	for i := first + 1; i < len(l.alternatives) && most < n; i++ {
		if !p.satisfies(b, l.alternatives[i]) {
			continue
		}
		if more := p.mostByMinimums(b, l, l.alternatives[i], n); more > most {
			most, alternative = more, i
		}
	}
	return most, alternative
}

func (p *packer) varied(b *bin, options, slots bitset.Set, need []int64, n int) bool {
	slots = slots.And(p.alikeSlots(b.slot))
	load := make([]int64, len(need))
	for d := range load {
		load[d] = b.load[d] + need[d]*int64(n)
	}
	// If the pool has limits, the only machines that certainly remain a choice when the claim is
	// written are those that take no more of the limits.
	total := p.total[p.sp.Machines[b.machine].Pool]
	bearable := func(machine int) bool {
		return total.noMore(p.sp.Machines[machine].Capacity, p.sp.Machines[b.machine].Capacity)
	}
	for i := range p.minimums[p.sp.Machines[b.machine].Pool] {
		m := &p.minimums[p.sp.Machines[b.machine].Pool][i]
		p.steps += int64(len(m.values))
		if !m.met(p.sp, options, slots, load, bearable) {
			return false
		}
	}
	return true
}

// alikeSlots returns the slots that a claim planned in the slot can name: a reservation alone, or
// everything that is not reserved.
func (p *packer) alikeSlots(slot int) bitset.Set {
	out := bitset.New(len(p.sp.Slots))
	for i := range p.sp.Slots {
		if p.sp.Slots[i].Reservation == p.sp.Slots[slot].Reservation {
			out.Put(i)
		}
	}
	return out
}

// split reports whether the type is also offered, in the same slots, as an unsuitable machine. A claim
// names types and slots, not pairs, so it cannot name such a type. Machines of one type are neighbours.
func (m *minimum) split(sp *feasible.Space, machine int, slots bitset.Set, usable func(machine int) bool) bool {
	ordinal := sp.Machines[machine].Ordinal
	alike := func(other int) bool {
		return other >= m.first && other < m.first+len(m.values) && sp.Machines[other].Ordinal == ordinal
	}
	for _, step := range []int{-1, 1} {
		for other := machine + step; alike(other); other += step {
			if sp.Machines[other].Slots.Meets(slots) && !usable(other) {
				return true
			}
		}
	}
	return false
}

func (m *minimum) met(sp *feasible.Space, options, slots bitset.Set, load []int64, bearable func(machine int) bool) bool {
	if m.count < m.want {
		return false
	}
	seen := bitset.New(m.count)
	left := m.want
	usable := func(machine int) bool {
		return options.Has(machine) && bearable(machine) && feasible.Fits(load, sp.Machines[machine].Room)
	}
	for i, values := range m.values {
		machine := m.first + i
		if !sp.Machines[machine].Slots.Meets(slots) || !usable(machine) || m.split(sp, machine, slots, usable) {
			continue
		}
		for _, v := range values {
			if !seen.Has(v) {
				seen.Put(v)
				left--
			}
		}
		if left <= 0 {
			return true
		}
	}
	return false
}
