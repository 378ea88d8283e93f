package bound

// Problem says what to pack, and into which bins. Solve and Exact only read it, and keep nothing
// of it after they return.
type Problem struct {
	Items []Item
	Bins  []Bin
	// Groups says for each group how many of its pods one bin may hold. Caps
	// per host (anti-affinity, spread by hostname, host ports) are groups.
	Groups []int64
}

// Item is a number of identical pods.
type Item struct {
	// Need is what one pod takes, in the order of Bin.Room.
	Need []int64
	// Count is how many pods there are.
	Count int64
	// Groups lists the groups of which one pod takes one unit each.
	Groups []int32
	// Bins is a bitset over Problem.Bins: where the pods may go. Items may
	// share the slice.
	Bins []uint64
}

// Bin is a kind of node.
type Bin struct {
	// Room is what pods can use, after the share of daemons.
	Room []int64
	// Price is in millionths per hour; 0 for a bin that is already paid for.
	Price int64
	// Stock is how many such bins there are, or -1 for any number.
	Stock int64
}

// Budget limits the effort.
type Budget struct {
	// Steps are elementary operations, about a nanosecond each on a current machine. Solve stops soon after
	// they are spent, but always computes a first valid bound. More steps never give a lower bound.
	Steps int64
}

// Result says what is known about the relaxed problem.
type Result struct {
	// Bound is proven: no integral solution costs less. Millionths per hour.
	Bound int64
	// Relaxed is the price of Patterns, or what is proven where there are too many items for patterns. With more steps it falls and the bound rises until they meet. The
	// bound may exceed the price in two cases: very many bins have a limited stock, so that similar ones
	// share a row, or there are so few pods that the bound is the price of the best whole packing.
	Relaxed int64
	// Dual holds for each item the price of one more such pod, at least 0.
	Dual []float64
	// Patterns are the columns in use; together they cover every item that
	// fits somewhere, as far as the stock of bins allows. There are none if the
	// budget was too small to begin, or for more than a thousand items.
	Patterns []Pattern
	// Unfit lists the items that fit no bin; bound and patterns ignore them.
	Unfit []int32
	// Uncovered says how many pods have no place even in the relaxation, because
	// the stock of bins is limited. If it is positive, no solution places every
	// pod, and a bound on the price of placing all of them says nothing about
	// solutions that leave some out: leave those pods out of the Problem as well.
	Uncovered float64
	// Steps is the effort that was spent.
	Steps int64

	generator *generator // for Sharpen, nil if there was no effort for patterns
}

// Sharpen spends steps on raising the bound alone, where it is far below the price of
// the patterns: prices and patterns stay as they are. It returns the steps spent.
func (r *Result) Sharpen(steps int64) int64 {
	g := r.generator
	if g == nil {
		return 0
	}
	before := g.steps()
	g.sharpen(steps)
	r.Bound, r.generator = max(r.Bound, g.in.payable(g.proof)), nil
	return g.steps() - before
}

// Pattern is a bin filled with whole pods, used a fractional number of times.
type Pattern struct {
	Bin    int32
	Counts []Share // by ascending item
	Amount float64
}

// Share is how many pods of one item a pattern holds.
type Share struct {
	Item  int32
	Count int64
}

// Solve returns a proven lower bound on the price of packing all items, with
// the dual prices and the patterns of the linear relaxation.
func Solve(p Problem, b Budget) Result {
	in := shrink(p)
	if len(in.items) == 0 {
		return Result{Dual: make([]float64, len(p.Items)), Patterns: in.free, Unfit: in.unfit, Steps: in.steps}
	}
	g := newGenerator(in, b)
	g.run()
	return g.result(len(p.Items))
}
