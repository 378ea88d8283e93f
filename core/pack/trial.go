package pack

import "tenon/core/bitset"

// trial fills an imagined bin by the same choices as fill, without touching the lots.
type trial struct {
	p    *packer
	room []int64
	caps []int64
}

func (t *trial) run(sites bitset.Set, price float64) float64 {
	p := t.p
	b := bin{room: t.room}
	kinds := p.fitting(&b, sites)
	fair := p.fairPrices(kinds, t.room, price)
	taken := make([]int, len(kinds))
	order := make([]int, len(kinds)) // position in taken, as kinds are removed
	for i := range order {
		order[i] = i
	}
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
