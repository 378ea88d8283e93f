package bound

// knapsack tightens the search in small bins. There the linear relaxation is loose, because room
// comes in steps: all needs are multiples of some unit, and a small bin has few units. In one
// dimension knapsack keeps whole numbers, and uses dynamic programming over the room in units; the
// other dimensions are paid for at their rates. Any rates give a valid bound.
type knapsack struct {
	in    *instance
	unit  []int64 // per dimension: the greatest common divisor of all needs
	dim   int     // the dimension in use, or -1
	width int     // steps of room in it, including no room
	best  []float64
	steps int64
}

const maxUnits = 400 // units of room up to which the knapsack is solved

func newKnapsack(in *instance) *knapsack {
	s := &knapsack{in: in, unit: make([]int64, in.dims), dim: -1}
	for i := range in.items {
		for d, n := range in.items[i].need {
			s.unit[d] = gcd(s.unit[d], n)
		}
	}
	return s
}

// solve computes, for the items from each position on and for every room, what they can be worth.
// It does nothing if the view has too many units in every dimension.
func (s *knapsack) solve(v *view, order []choice, caps []int64) {
	s.dim = s.dimension(v)
	if s.dim < 0 {
		return
	}
	s.width = int(v.bin.room[s.dim]/s.unit[s.dim]) + 1
	s.best = resize(s.best, (len(order)+1)*s.width)
	for k := len(order) - 1; k >= 0; k-- {
		s.step(v, order, k, caps)
	}
}

// dimension returns the costliest dimension among those in which the view has few enough units.
func (s *knapsack) dimension(v *view) int {
	best := -1
	for _, d := range v.dims {
		if v.bin.room[d]/s.unit[d] > maxUnits {
			continue
		}
		if best < 0 || v.rate[d]*v.room[d] > v.rate[best]*v.room[best] {
			best = d
		}
	}
	return best
}

func (s *knapsack) row(k int) []float64 { return s.best[k*s.width : (k+1)*s.width] }

// rest bounds what the items from k on are worth beyond what they pay for the
// other dimensions.
func (s *knapsack) rest(k int, left []int64) float64 {
	return s.best[k*s.width+int(left[s.dim]/s.unit[s.dim])]
}

func (s *knapsack) step(v *view, order []choice, k int, caps []int64) {
	c := &order[k]
	row := s.row(k)
	copy(row, s.row(k+1))
	worth := c.value
	for _, d := range v.dims {
		if d != s.dim {
			worth -= float64(v.rate[d] * s.in.need[d][c.item])
		}
	}
	if worth <= 0 {
		return
	}
	size := int(s.in.items[c.item].need[s.dim] / s.unit[s.dim])
	if c.end > 0 && caps[c.group] == 1 {
		s.steps += int64(s.width)
		lift(row, s.row(c.end), size, worth)
		return
	}
	s.many(row, size, c.most, worth)
}

// lift adds one pod to what comes behind its group.
func lift(row, behind []float64, size int, worth float64) {
	for r := size; r < len(row); r++ {
		row[r] = max(row[r], behind[r-size]+worth)
	}
}

// many adds up to most pods, in portions of 1, 2, 4, … where that matters.
func (s *knapsack) many(row []float64, size int, most int64, worth float64) {
	s.steps += int64(s.width)
	if size == 0 {
		for r := range row {
			row[r] += float64(float64(most) * worth)
		}
		return
	}
	if (most+1)*int64(size) >= int64(s.width) {
		lift(row, row, size, worth)
		return
	}
	for portion := int64(1); most > 0; portion *= 2 {
		n := min(portion, most)
		most -= n
		s.steps += int64(s.width)
		for r := s.width - 1; r >= int(n)*size; r-- {
			row[r] = max(row[r], row[r-int(n)*size]+float64(float64(n)*worth))
		}
	}
}
