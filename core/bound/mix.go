package bound

// tinyLP mixes choices so that on average they fit: maximize Σ share·value with
// Σ share·use ≤ 1 in every dimension and Σ share = 1. It has one row per
// dimension and one for the shares, and is solved by the simplex method.
type tinyLP struct {
	n    int // dimensions
	inv  []float64
	x    []float64
	cost []float64
	dual []float64
	in   []float64 // the entering column: use per dimension, then 1
	dir  []float64
	last int // the row of the last pivot
}

func (t *tinyLP) reset(n int) {
	t.n = n
	k := n + 1
	t.inv = resize(t.inv, k*k)
	t.x, t.cost, t.dual = resize(t.x, k), resize(t.cost, k), resize(t.dual, k)
	t.in, t.dir = resize(t.in, k), resize(t.dir, k)
	for i := range k {
		t.inv[i*k+i] = 1
		t.x[i] = 1
	}
}

func resize(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	v = v[:n]
	clear(v)
	return v
}

// enter pivots the column in t.in into the basis if that is worth while.
func (t *tinyLP) enter(value float64) bool {
	t.in[t.n] = 1
	reduced := value
	for i, a := range t.in {
		reduced -= float64(t.dual[i] * a)
	}
	if reduced <= 1e-9*value {
		return false
	}
	return t.pivot(value, reduced)
}

func (t *tinyLP) pivot(value, reduced float64) bool {
	k := t.n + 1
	for i := range k {
		t.dir[i] = 0
		for j, a := range t.in {
			t.dir[i] += float64(t.inv[i*k+j] * a)
		}
	}
	p := -1
	step := 0.0
	for i, d := range t.dir {
		if d > 1e-11 {
			if q := t.x[i] / d; p < 0 || q < step {
				p, step = i, q
			}
		}
	}
	if p < 0 {
		return false
	}
	for i, d := range t.dir {
		t.x[i] = max(0, t.x[i]-float64(step*d))
	}
	t.x[p], t.cost[p], t.last = step, value, p
	row := t.inv[p*k : p*k+k]
	for j := range row {
		row[j] /= t.dir[p]
		t.dual[j] += float64(reduced * row[j])
	}
	for i, d := range t.dir {
		if i == p || d == 0 {
			continue
		}
		for j, a := range row {
			t.inv[i*k+j] -= float64(d * a)
		}
	}
	return true
}

// solveSlacks moves slack into the basis wherever a dual price is negative, and returns the value
// of the mix.
func (t *tinyLP) solveSlacks(entered func(row int)) float64 {
	for range 4 * (t.n + 1) {
		worst, at := -1e-12, -1
		for d := range t.n {
			if t.dual[d] < worst {
				worst, at = t.dual[d], d
			}
		}
		if at < 0 {
			break
		}
		clear(t.in)
		t.in[at] = 1
		if !t.pivot(0, -worst) {
			break
		}
		entered(t.last)
	}
	total := 0.0
	for i, c := range t.cost {
		total += float64(c * t.x[i])
	}
	return total
}
