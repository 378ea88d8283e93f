package bound

import (
	"cmp"
	"math"
	"slices"
)

// brancher searches for the best filling of a bin with whole pods. It goes depth first, takes the
// densest item first, and as many of it as fit first, so the first complete choice is the greedy filling. It
// cuts a node when rates prove that the node cannot beat the best filling so far, or the value
// that the caller looks for.
type brancher struct {
	in    *instance
	y     []float64
	steps int64

	v        *view
	order    []choice
	keys     []uint64
	after    []float64 // after[k]: the most that items from k on gain beyond their room
	dense    []float64 // dense[k*dims+d]: best value per unit of dimension d from k on
	least    []int64   // least[k*dims+d]: the smallest need in dimension d from k on
	left     []int64   // room
	caps     []int64   // room in groups
	count    []int64   // by position in order
	best     []int64
	value    float64 // of best
	target   float64
	nodes    int64
	full     bool    // every node was seen or cut
	root     float64 // bound on the value of any filling
	knapsack *knapsack
}

type choice struct {
	item  int32
	most  int64
	group int32
	end   int // the first position behind its group's run; 0 outside groups
	gain  float64
	value float64
}

func newBrancher(in *instance) *brancher {
	return &brancher{in: in, knapsack: newKnapsack(in), left: make([]int64, in.dims), caps: make([]int64, len(in.caps))}
}

// search looks for a filling worth more than target, within the given number of
// nodes. It reports whether it is certain that none is worth more than
// max(target, b.value). allowed, if not nil, lowers the number of each item.
func (b *brancher) search(v *view, target float64, nodes int64, allowed []int64) bool {
	b.v, b.target, b.nodes = v, target, nodes
	b.full = true
	b.value = 0
	copy(b.left, v.bin.room)
	copy(b.caps, b.in.caps)
	b.arrange(allowed)
	b.root = b.more(0)
	b.count = resizeInts(b.count, len(b.order))
	b.best = resizeInts(b.best, len(b.order))
	b.pour()
	b.explore(0, 0)
	return b.full
}

func resizeInts(v []int64, n int) []int64 {
	if cap(v) < n {
		return make([]int64, n)
	}
	v = v[:n]
	clear(v)
	return v
}

// arrange sorts the worthwhile items: groups first, so that a spent cap skips the rest of its
// group at once; then dense before sparse, and large before small.
func (b *brancher) arrange(allowed []int64) {
	b.order = b.order[:0]
	for k := len(b.v.spans) - 1; k >= 0; k-- {
		b.arrangeRun(b.v.spans[k].from, b.v.spans[k].to, allowed)
	}
	b.arrangeRun(0, b.v.single, allowed)
	b.bounds()
	b.knapsack.solve(b.v, b.order, b.in.caps)
}

func (b *brancher) arrangeRun(from, to int, allowed []int64) {
	b.keys = b.keys[:0]
	whole := 1e-9
	for _, d := range b.v.dims {
		whole += float64(b.v.rate[d] * b.v.room[d])
	}
	for k := from; k < to; k++ {
		i := b.v.items[k]
		if b.y[i] > 0 && (allowed == nil || allowed[i] > 0) {
			b.keys = append(b.keys, b.key(i, whole)|uint64(k))
		}
	}
	b.steps += int64(8 * (to - from))
	slices.Sort(b.keys)
	for n := len(b.keys) - 1; n >= 0; n-- {
		k := b.keys[n] & (1<<32 - 1)
		c := b.choice(b.v.items[k], b.v.most[k])
		if allowed != nil {
			c.most = min(c.most, allowed[c.item])
		}
		b.order = append(b.order, c)
	}
}

// key ranks an item by value per room, then by size; its lower half is free.
func (b *brancher) key(i int32, whole float64) uint64 {
	size := 0.0
	for _, d := range b.v.dims {
		size += float64(b.v.rate[d] * b.in.need[d][i])
	}
	dense := min(64*b.y[i]/max(size, 1e-9), 1<<15)
	return uint64(dense)<<48 | uint64(min(size/whole, 1)*(1<<15))<<32
}

func (b *brancher) choice(i int32, n int64) choice {
	c := choice{item: i, most: n, group: b.in.items[i].group, value: b.y[i], gain: b.y[i]}
	for _, d := range b.v.dims {
		c.gain -= float64(b.v.rate[d] * b.in.need[d][i])
	}
	return c
}

// bounds computes, from the end, what the rest of the order can still add.
func (b *brancher) bounds() {
	n, dims := len(b.order), len(b.v.dims)
	b.after = resize(b.after, n+1)
	b.dense = resize(b.dense, (n+1)*dims)
	for k := n - 1; k >= 0; {
		c := &b.order[k]
		if c.group < 0 {
			b.after[k] = b.after[k+1] + float64(float64(c.most)*max(0, c.gain))
			k--
			continue
		}
		k = b.boundRun(k)
	}
	b.least = resizeInts(b.least, n*dims)
	for k := n - 1; k >= 0; k-- {
		c := &b.order[k]
		for j, d := range b.v.dims {
			least := b.in.items[c.item].need[d]
			if k < n-1 {
				least = min(least, b.least[(k+1)*dims+j])
			}
			b.least[k*dims+j] = least
			at := math.Inf(1)
			if need := b.in.need[d][c.item]; need > 0 {
				at = c.value / need
			}
			b.dense[k*dims+j] = max(b.dense[(k+1)*dims+j], at)
		}
	}
}

// boundRun handles the run of one group that ends at position last, and returns
// the position before it. Within the run the cap lets only the best count.
func (b *brancher) boundRun(last int) int {
	group, limit := b.order[last].group, b.in.caps[b.order[last].group]
	var run []surplus
	k := last
	for ; k >= 0 && b.order[k].group == group; k-- {
		c := &b.order[k]
		c.end = last + 1
		if c.gain > 0 {
			at, _ := slices.BinarySearchFunc(run, c.gain, func(s surplus, g float64) int { return cmp.Compare(g, s.gain) })
			run = slices.Insert(run, at, surplus{c.gain, c.item, c.most})
		}
		total, left := 0.0, limit
		for j, s := range run {
			n := min(left, s.most)
			if left -= n; n == 0 {
				run = run[:j]
				break
			}
			total += float64(float64(n) * s.gain)
		}
		b.after[k] = b.after[last+1] + total
	}
	return k
}

// explore decides on the item at position k and all behind it; value is what the
// bin holds already.
func (b *brancher) explore(k int, value float64) {
	b.nodes--
	if value > b.value {
		b.value = value
		copy(b.best, b.count)
	}
	n := int64(0)
	for ; k < len(b.order); k++ {
		b.steps += 4
		if b.exhausted(k) {
			return
		}
		if n = b.fit(k); n > 0 {
			break
		}
		if c := &b.order[k]; c.end > 0 && b.caps[c.group] <= 0 {
			k = c.end - 1
		}
	}
	if k == len(b.order) || b.hopeless(k, value) {
		return
	}
	if b.nodes <= 0 {
		b.full = false
		return
	}
	c := &b.order[k]
	low := c.gain < -0.02*c.value && c.group >= 0
	for j := int64(0); j <= n; j++ {
		x := n - j
		if low {
			x = j
		}
		b.put(k, x)
		stop := b.slack(k+1, value+float64(float64(x)*c.value)) <= 0
		if !stop || value+float64(float64(x)*c.value) > b.value {
			b.explore(k+1, value+float64(float64(x)*c.value))
		}
		b.put(k, -x)
		// The bounds are linear, so the remaining counts are hopeless too: each pod more (or less)
		// costs its gain.
		if !b.full || stop && low == (c.gain < 0) && b.knapsack.dim < 0 {
			return
		}
	}
}

// exhausted says that some dimension has less left than any item from k on needs.
func (b *brancher) exhausted(k int) bool {
	dims := len(b.v.dims)
	for j, d := range b.v.dims {
		if b.left[d] < b.least[k*dims+j] {
			return true
		}
	}
	return false
}

func (b *brancher) put(k int, x int64) {
	c := &b.order[k]
	b.count[k] += x
	it := &b.in.items[c.item]
	for d, need := range it.need {
		b.left[d] -= x * need
	}
	for _, g := range it.groups {
		b.caps[g] -= x
	}
}

func (b *brancher) fit(k int) int64 {
	c := &b.order[k]
	n := c.most
	it := &b.in.items[c.item]
	for d, need := range it.need {
		if left := b.left[d]; n*need > left {
			if need > left {
				return 0
			}
			n = left / need
		}
	}
	for _, g := range it.groups {
		n = min(n, b.caps[g])
	}
	return n
}

// hopeless says that with the room left the items from k on cannot lift the
// value above what is known or wanted.
func (b *brancher) hopeless(k int, value float64) bool {
	if b.slack(k, value) <= 0 {
		return true
	}
	bar := max(b.value, b.target)
	dims := len(b.v.dims)
	for j, d := range b.v.dims {
		if value+float64(b.dense[k*dims+j]*float64(b.left[d])) <= bar {
			return true
		}
	}
	return false
}

// slack returns by how much the rates let the items from k on lift the value above what is known
// or wanted.
func (b *brancher) slack(k int, value float64) float64 {
	return value + b.more(k) - max(b.value, b.target)
}

// more bounds what the items from k on can add with the room left.
func (b *brancher) more(k int) float64 {
	b.steps += int64(4 + 2*len(b.v.dims))
	more, dim := b.after[k], b.knapsack.dim
	if dim >= 0 {
		more = b.knapsack.rest(k, b.left)
	}
	for _, d := range b.v.dims {
		if d != dim {
			more += float64(b.v.rate[d] * float64(b.left[d]))
		}
	}
	return more
}
