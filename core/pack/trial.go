package pack

import "tenon/core/bitset"

// trial fills an imagined bin by the same choices as fill, without touching the lots.
type trial struct {
	p    *packer
	room []int64
	caps []int64
}

// trialScratch is memory that trials use in turn: there are thousands of them.
type trialScratch struct {
	room, caps          []int64
	kinds, taken, order []int
}

func (t *trial) run(sites bitset.Set, price float64) float64 {
	p, s := t.p, &t.p.scratch
	s.kinds = p.fitting(s.kinds[:0], t.room, sites)
	kinds := s.kinds
	fair := p.fairPrices(kinds, t.room, price)
	s.taken, s.order = s.taken[:0], s.order[:0]
	for i := range kinds {
		s.taken, s.order = append(s.taken, 0), append(s.order, i)
	}
	taken, order := s.taken, s.order // order is the position in taken, as kinds are removed
	value := 0.0
	for len(kinds) > 0 {
		at := p.choose(kinds, t.room, fair)
		if at < 0 {
			break
		}
		k := &p.kinds[kinds[at]]
		left := k.left - taken[order[at]]
		n := min(left, t.mayTake(k))
		if n > 0 {
			n = max(1, min(n, mostBySize(k.need, t.room, left)/8))
			for d, want := range k.need {
				t.room[d] -= want * int64(n)
			}
			t.take(k, int64(n))
			taken[order[at]] += n
			for d, want := range k.need[:min(len(k.need), maxDims)] {
				value += p.taste.fairness * float64(n) * float64(want) * fair[d]
			}
			value += float64(n) * ((1-p.taste.fairness)*k.value + tiny)
		}
		if n == 0 || taken[order[at]] == k.left {
			last := len(kinds) - 1
			kinds[at], order[at] = kinds[last], order[last]
			kinds, order = kinds[:last], order[:last]
		}
	}
	return value
}

// mayTake asks the caps of the relaxation's groups.
func (t *trial) mayTake(k *kind) int {
	most := int64(1) << 30
	for _, row := range k.rows {
		most = min(most, t.caps[row])
	}
	return int(most)
}

func (t *trial) take(k *kind, n int64) {
	for _, row := range k.rows {
		t.caps[row] -= n
	}
}
