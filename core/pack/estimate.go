package pack

import (
	"tenon/core/bitset"
	"tenon/core/feasible"
)

// estimate fills an imagined bin by the same choices as fill, without touching the lots.
type estimate struct {
	p    *packer
	room []int64
	caps []int64
}

// scratch is memory that estimates and repack attempts share by turns, since there are thousands
// of them.
type scratch struct {
	room, caps []int64
	list       []candidate // for estimates
	filling    []candidate // for the bin that is being filled
	kinds      []kindIndex
	order      []int
	waste      []float64
	places     []*feasible.Places // of the content of one bin
}

func (t *estimate) run(among []kindIndex, sites bitset.Set, price float64) float64 {
	p := t.p
	p.scratch.list = p.fitting(p.scratch.list[:0], among, t.room, sites)
	fair := p.appraise(p.scratch.list, t.room, price)
	list := candidatesOf(p.scratch.list)
	value := 0.0
	for list.count > 0 {
		at := p.choose(&list, t.room)
		if at < 0 {
			break
		}
		c := &list.fit[at]
		k := &p.kinds[c.kind]
		left := k.left - c.taken
		n := min(left, t.mayTake(k))
		if n > 0 {
			n = max(1, min(n, mostBySize(k.need, t.room, left)/8))
			for d, want := range k.need {
				t.room[d] -= want * int64(n)
			}
			t.take(k, int64(n))
			c.taken += n
			for d, want := range k.need[:min(len(k.need), maxDims)] {
				value += float64(p.scoring.fairness * float64(n) * float64(want) * fair[d])
			}
			value += float64(float64(n) * (float64((1-p.scoring.fairness)*k.value) + tiny))
		}
		if n == 0 || c.taken == k.left {
			list.drop(at)
		}
	}
	return value
}

// mayTake asks the caps of the relaxation's groups.
func (t *estimate) mayTake(k *kind) int {
	most := int64(1) << 30
	for _, row := range k.rows {
		most = min(most, t.caps[row])
	}
	return int(most)
}

func (t *estimate) take(k *kind, n int64) {
	for _, row := range k.rows {
		t.caps[row] -= n
	}
}
