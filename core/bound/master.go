package bound

import "math"

// column is a pattern in the master program.
type column struct {
	view   int32
	items  []int32
	counts []float64
	price  float64
	rows   []int32 // of the master, and how much of each it covers
	coefs  []float64
}

// master is the restricted linear program: the cheapest mix of the columns known so far that
// covers every item and respects stock. It uses the revised simplex method with an explicit
// inverse of the basis: columns are few and sparse, and there are at most some hundreds of rows,
// so each step costs a rank-one update.
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
	fine   float64   // price of leaving a pod out, when no price range is set
	high   []float64 // per item: price of a pod that is not covered
	low    []float64 // per item: what is paid back for one covered too much
	steps  int64
	pivots int
}

// missing marks stand-ins: a row covered at a fine. It is above any pool index.
const missing = int32(1) << 30

func newMaster(counts, stock []float64, fine float64) *master {
	n, k := len(counts)+len(stock), len(counts)
	m := &master{n: n, covers: len(counts), fine: fine,
		inv: make([]float64, n*n), x: make([]float64, n), y: make([]float64, n),
		basis: make([]int32, n), dir: make([]float64, n), rhs: make([]float64, n),
		high: make([]float64, k), low: make([]float64, k)}
	m.open()
	for r := range n {
		m.inv[r*n+r] = 1
		if r < m.covers {
			// A slight unevenness avoids ties between pivots, which would stall the method. The
			// bound does not depend on it.
			m.rhs[r] = float64(counts[r] * (1 + float64(1e-7*math.Mod(float64(float64(r)*0.6180339887), 1))))
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
	for k, row := range c.rows {
		r -= float64(y[row] * c.coefs[k])
	}
	return r
}

// enter moves column c into the basis, and reports whether it could.
func (m *master) enter(c int) bool {
	col := &m.pool[c]
	reduced := m.reduced(col, m.y)
	if m.in[c] || reduced >= float64(-1e-9*col.price)-1e-9 {
		return false
	}
	clear(m.dir)
	for k, row := range col.rows {
		m.addColumn(int(row), col.coefs[k])
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
		dir[r] += float64(by * v)
	}
	m.steps += int64(m.n)
}

// limitPrices keeps the prices of items within the given share of the centre: leaving a pod out costs
// a little more than its central price, and one pod too many is paid back at a little less. With a
// good centre the prices stay sensible from the first column on, where those of the bare master
// would jump about (stabilized column generation: du Merle, Villeneuve, Desrosiers, Hansen).
func (m *master) limitPrices(centre []float64, share float64) {
	for i, y := range centre {
		m.high[i] = float64(y*(1+share)) + 1e-3
		m.low[i] = float64(y * max(0, 1-share))
	}
	m.reprice()
	m.settle()
}

// open removes the price range: every pod has to be covered.
func (m *master) open() {
	for i := range m.high {
		m.high[i], m.low[i] = m.fine, 0
	}
}

// settle brings prices back between their limits, by moving the row's slack or stand-in into the
// basis.
func (m *master) settle() {
	for range 2 * m.n {
		id, reduced := m.outside()
		if reduced >= 0 {
			return
		}
		clear(m.dir)
		switch {
		case id >= missing:
			m.addColumn(int(id-missing), 1)
		case int(-1-id) >= m.covers:
			m.addColumn(int(-1-id), 1)
		default:
			m.addColumn(int(-1-id), -1)
		}
		if !m.pivot(id, reduced) {
			return
		}
	}
}

// outside finds the row whose price is farthest beyond its limits, and the column that corrects
// it.
func (m *master) outside() (id int32, reduced float64) {
	m.steps += int64(m.n)
	for r, y := range m.y {
		if r >= m.covers {
			if -y < reduced-1e-7 {
				id, reduced = -1-int32(r), -y
			}
			continue
		}
		if d := y - m.low[r]; d < reduced-1e-7 {
			id, reduced = -1-int32(r), d
		}
		if d := m.high[r] - y; d < reduced-1e-7 {
			id, reduced = missing+int32(r), d
		}
	}
	return id, reduced
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
			m.x[r] = max(0, m.x[r]-float64(step*d))
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

// leaving returns the row that reaches zero first; of equals, the one with the largest pivot,
// which is the most accurate.
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
		m.y[k] += float64(reduced * f)
		if dense {
			subtract(col, m.dir, f)
			m.steps += int64(n) / 2
		} else {
			for _, r := range m.nz {
				col[r] -= float64(f * m.dir[r])
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
		col[0] -= float64(f * dir[0])
		col[1] -= float64(f * dir[1])
		col[2] -= float64(f * dir[2])
		col[3] -= float64(f * dir[3])
		col, dir = col[4:], dir[4:]
	}
	for r := range col {
		col[r] -= float64(f * dir[r])
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
				y += float64(m.cost(m.basis[r]) * v)
			}
		}
		m.y[k] = y
	}
	m.steps += int64(m.n * m.n)
}

func (m *master) cost(id int32) float64 {
	switch {
	case id >= missing:
		return m.high[id-missing]
	case id >= 0:
		return m.pool[id].price
	case int(-1-id) < m.covers:
		return -m.low[-1-id]
	}
	return 0
}

// total is the price of the present mix.
func (m *master) total() float64 {
	sum := 0.0
	for r, id := range m.basis {
		sum += float64(m.x[r] * m.cost(id))
	}
	return sum
}
