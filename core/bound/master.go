package bound

import "math"

// column is a pattern in the master program.
type column struct {
	view   int32
	items  []int32
	counts []float64
	price  float64
	row    int32 // of limited stock, or -1
}

// master is the restricted linear program: the cheapest mix of the columns known
// so far that covers every item and respects stock. The revised simplex method
// with an explicit inverse of the basis: columns are few and sparse, rows are at
// most some hundreds, so each step costs a rank-one update.
type master struct {
	n      int // rows: first the items (≥), then the stocks (≤)
	covers int
	rhs    []float64
	inv    []float64 // by columns: inv[k*n+r]
	x      []float64
	y      []float64
	basis  []int32 // ≥ 0 a column of the pool; -1-r the slack of row r; missing+r its stand-in
	pool   []column
	in     []bool // per pool column: in the basis
	dir    []float64
	nz     []int32
	fine   float64 // price of leaving a pod out
	steps  int64
	pivots int
}

// missing marks stand-ins: a row covered at a fine. It is above any pool index.
const missing = int32(1) << 30

func newMaster(counts, stock []float64, fine float64) *master {
	n := len(counts) + len(stock)
	m := &master{n: n, covers: len(counts), fine: fine,
		inv: make([]float64, n*n), x: make([]float64, n), y: make([]float64, n),
		basis: make([]int32, n), dir: make([]float64, n), rhs: make([]float64, n)}
	for r := range n {
		m.inv[r*n+r] = 1
		if r < m.covers {
			// A slight unevenness keeps pivots from having ties, which would stall
			// the method. The bound does not depend on it.
			m.rhs[r] = counts[r] * (1 + 1e-7*math.Mod(float64(r)*0.6180339887, 1))
			m.y[r] = fine
			m.basis[r] = missing + int32(r)
		} else {
			m.rhs[r] = stock[r-m.covers]
			m.basis[r] = -1 - int32(r)
		}
		m.x[r] = m.rhs[r]
	}
	return m
}

func (m *master) add(c column) int {
	m.pool = append(m.pool, c)
	m.in = append(m.in, false)
	return len(m.pool) - 1
}

// reduced is what the column would save per unit at the given prices, if negative.
func (m *master) reduced(c *column, y []float64) float64 {
	r := c.price
	for k, i := range c.items {
		r -= y[i] * c.counts[k]
	}
	if c.row >= 0 {
		r -= y[m.covers+int(c.row)]
	}
	return r
}

// enter brings column c into the basis, and reports whether it could.
func (m *master) enter(c int) bool {
	col := &m.pool[c]
	reduced := m.reduced(col, m.y)
	if m.in[c] || reduced >= -1e-9*col.price-1e-9 {
		return false
	}
	clear(m.dir)
	for k, i := range col.items {
		m.addColumn(int(i), col.counts[k])
	}
	if col.row >= 0 {
		m.addColumn(m.covers+int(col.row), 1)
	}
	if !m.pivot(int32(c), reduced) {
		return false
	}
	m.in[c] = true
	return true
}

func (m *master) addColumn(k int, by float64) {
	col := m.inv[k*m.n : k*m.n+m.n]
	dir := m.dir[:len(col)]
	for r, v := range col {
		dir[r] += by * v
	}
	m.steps += int64(m.n)
}

// settle lets the slack of rows with a price of the wrong sign enter: an item
// that is covered more than it must, a stock that is not used up.
func (m *master) settle() {
	for range 2 * m.n {
		worst, at := -1e-7, -1
		for r, y := range m.y {
			if r >= m.covers {
				y = -y
			}
			if y < worst {
				worst, at = y, r
			}
		}
		m.steps += int64(m.n)
		if at < 0 {
			return
		}
		clear(m.dir)
		sign := -1.0
		if at >= m.covers {
			sign = 1
		}
		m.addColumn(at, sign)
		if !m.pivot(-1-int32(at), worst) {
			return
		}
	}
}

// pivot swaps the column whose direction is in m.dir into the basis.
func (m *master) pivot(id int32, reduced float64) bool {
	p := m.leaving()
	if p < 0 {
		return false
	}
	m.pivots++
	step := m.x[p] / m.dir[p]
	m.nz = m.nz[:0]
	for r, d := range m.dir {
		if math.Abs(d) > 1e-12 {
			m.nz = append(m.nz, int32(r))
			m.x[r] = max(0, m.x[r]-step*d)
		}
	}
	m.x[p] = step
	if old := m.basis[p]; old >= 0 && old < missing {
		m.in[old] = false
	}
	m.basis[p] = id
	m.update(p, reduced)
	return true
}

// leaving is the row that reaches zero first; among equals the one with the
// largest pivot, which is the most accurate.
func (m *master) leaving() int {
	p, step := -1, math.Inf(1)
	for r, d := range m.dir {
		if d <= 1e-9 {
			continue
		}
		q := m.x[r] / d
		if q < step-1e-12 || q <= step && p >= 0 && d > m.dir[p] {
			p, step = r, q
		}
	}
	return p
}

func (m *master) update(p int, reduced float64) {
	n := m.n
	pivot := m.dir[p]
	dense := len(m.nz)*3 > n
	for k := range n {
		col := m.inv[k*n : k*n+n]
		f := col[p]
		if f == 0 {
			continue
		}
		f /= pivot
		m.y[k] += reduced * f
		if dense {
			subtract(col, m.dir, f)
			m.steps += int64(n) / 2
		} else {
			for _, r := range m.nz {
				col[r] -= f * m.dir[r]
			}
			m.steps += int64(len(m.nz))
		}
		col[p] = f
	}
	m.steps += int64(2 * n)
}

func subtract(col, dir []float64, f float64) {
	dir = dir[:len(col)]
	for len(col) >= 4 && len(dir) >= 4 {
		col[0] -= f * dir[0]
		col[1] -= f * dir[1]
		col[2] -= f * dir[2]
		col[3] -= f * dir[3]
		col, dir = col[4:], dir[4:]
	}
	for r := range col {
		col[r] -= f * dir[r]
	}
}

// reprice computes the dual prices from the inverse, without the errors that
// the updates have gathered.
func (m *master) reprice() {
	for k := range m.n {
		col := m.inv[k*m.n : k*m.n+m.n]
		y := 0.0
		for r, v := range col {
			if v != 0 {
				y += m.cost(m.basis[r]) * v
			}
		}
		m.y[k] = y
	}
	m.steps += int64(m.n * m.n)
}

func (m *master) cost(id int32) float64 {
	switch {
	case id >= missing:
		return m.fine
	case id >= 0:
		return m.pool[id].price
	}
	return 0
}

// total is the price of the present mix.
func (m *master) total() float64 {
	sum := 0.0
	for r, id := range m.basis {
		sum += m.x[r] * m.cost(id)
	}
	return sum
}
