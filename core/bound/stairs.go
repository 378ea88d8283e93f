package bound

// stairs tightens the bound on small bins. There the linear relaxation is loose,
// because room comes in steps: all needs are multiples of some unit, and a small
// bin has few units. In one dimension the whole numbers are kept, and solved by
// dynamic programming over the room in units; the other dimensions are paid for
// at their rates. Any rates give a valid bound.
type stairs struct {
	in    *instance
	y     []float64
	unit  []int64 // per dimension: the greatest common divisor of all needs
	best  []float64
	next  []float64
	steps int64
}

const (
	maxStairs = 400 // units of room up to which this is done
	maxChoice = 4   // caps up to which a group is kept as one choice after another
)

func newStairs(in *instance) *stairs {
	s := &stairs{in: in, unit: make([]int64, in.dims)}
	for i := range in.items {
		for d, n := range in.items[i].need {
			s.unit[d] = gcd(s.unit[d], n)
		}
	}
	return s
}

// dimension is the one in which the view has few enough units, and which costs most.
func (s *stairs) dimension(v *view) int {
	best := -1
	for _, d := range v.dims {
		if v.bin.room[d]/s.unit[d] > maxStairs {
			continue
		}
		if best < 0 || v.rate[d]*v.room[d] > v.rate[best]*v.room[best] {
			best = d
		}
	}
	return best
}

// bound returns an upper bound on the value of any filling; ok is false if the
// bin has too many units in every dimension.
func (s *stairs) bound(v *view) (bound float64, ok bool) {
	dim := s.dimension(v)
	if dim < 0 {
		return 0, false
	}
	s.best = resize(s.best, int(v.bin.room[dim]/s.unit[dim])+1)
	for k := range v.single {
		s.addMany(dim, v.items[k], v.most[k], s.worth(v, dim, v.items[k]))
	}
	for _, sp := range v.spans {
		s.addSpan(v, dim, sp)
	}
	total := s.best[len(s.best)-1]
	for _, d := range v.dims {
		if d != dim {
			total += v.rate[d] * v.room[d]
		}
	}
	return total, true
}

// worth is the value of a pod after its needs in the other dimensions are paid.
func (s *stairs) worth(v *view, dim int, i int32) float64 {
	w := s.y[i]
	for _, d := range v.dims {
		if d != dim {
			w -= v.rate[d] * s.in.need[d][i]
		}
	}
	return w
}

// addMany lets up to most pods of an item in, in portions of 1, 2, 4, …
func (s *stairs) addMany(dim int, i int32, most int64, worth float64) {
	if worth <= 0 {
		return
	}
	size := s.in.items[i].need[dim] / s.unit[dim]
	if size == 0 {
		for r := range s.best {
			s.best[r] += float64(most) * worth
		}
		return
	}
	if (most+1)*size >= int64(len(s.best)) {
		s.steps += int64(len(s.best))
		for r := int(size); r < len(s.best); r++ {
			s.best[r] = max(s.best[r], s.best[r-int(size)]+worth)
		}
		return
	}
	for portion := int64(1); most > 0; portion *= 2 {
		n := min(portion, most)
		most -= n
		s.addOne(int(n*size), float64(n)*worth)
	}
}

func (s *stairs) addOne(size int, worth float64) {
	s.steps += int64(len(s.best))
	for r := len(s.best) - 1; r >= size; r-- {
		s.best[r] = max(s.best[r], s.best[r-size]+worth)
	}
}

// addSpan lets pods of a group in: as many times one of them as the cap says.
// With a high cap the items are taken as if they had none.
func (s *stairs) addSpan(v *view, dim int, sp span) {
	if sp.limit > maxChoice {
		for k := sp.from; k < sp.to; k++ {
			s.addMany(dim, v.items[k], v.most[k], s.worth(v, dim, v.items[k]))
		}
		return
	}
	for range sp.limit {
		s.next = append(s.next[:0], s.best...)
		for _, i := range v.items[sp.from:sp.to] {
			worth := s.worth(v, dim, i)
			if worth <= 0 {
				continue
			}
			s.steps += int64(len(s.best))
			size := int(s.in.items[i].need[dim] / s.unit[dim])
			for r := size; r < len(s.best); r++ {
				s.next[r] = max(s.next[r], s.best[r-size]+worth)
			}
		}
		s.best, s.next = s.next, s.best
	}
}
