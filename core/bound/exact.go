package bound

import (
	"math"
	"slices"
)

// Exact returns the price of the cheapest packing into whole bins, by dynamic programming over
// which pods are still to be placed. It is an oracle for tests of tiny problems: a dozen pods or
// so, or more if pods are equal. ok is false if the answer would take more than maxNodes steps (a
// state, a bin, or a pair of states), or if no packing exists. Exact does not ignore items that
// fit no bin: with one of them there is no packing.
func Exact(p Problem, maxNodes int64) (cost int64, ok bool) {
	e := newExact(p, maxNodes)
	if e == nil {
		return 0, false
	}
	return e.solve()
}

func (e *exact) solve() (cost int64, ok bool) {
	e.sums()
	if !e.unlimited() || !e.limited() {
		return 0, false
	}
	cost = e.cheapest[len(e.cheapest)-1]
	return cost, cost < never
}

const never = math.MaxInt64 / 4

// exact numbers the multisets of pods in mixed radix: state s holds
// s / weight[i] mod (count[i]+1) pods of item i.
type exact struct {
	p        Problem
	weight   []int
	need     [][]int64 // per state and dimension
	held     [][]int64 // per state and group
	cheapest []int64   // per state: price of packing these pods
	alone    []int64   // per state: price of one unlimited bin that holds them all
	nodes    int64
}

func newExact(p Problem, maxNodes int64) *exact {
	e := &exact{p: p, nodes: maxNodes}
	states := 1
	for _, it := range p.Items {
		e.weight = append(e.weight, states)
		if n := max(it.Count, 0); n >= maxNodes || int64(states)*(n+1) > maxNodes {
			return nil
		}
		states *= int(max(it.Count, 0)) + 1
	}
	e.cheapest = make([]int64, states)
	e.alone = make([]int64, states)
	return e
}

func (e *exact) number(state, i int) int {
	return state / e.weight[i] % (int(max(e.p.Items[i].Count, 0)) + 1)
}

// sums adds up what each state needs.
func (e *exact) sums() {
	dims := 0
	for _, it := range e.p.Items {
		dims = max(dims, len(it.Need))
	}
	for s := range e.cheapest {
		need, held := make([]int64, dims), make([]int64, len(e.p.Groups))
		for i, it := range e.p.Items {
			n := int64(e.number(s, i))
			for d := range it.Need {
				need[d] += n * at(it.Need, d)
			}
			for _, g := range it.Groups {
				held[g] += n
			}
		}
		e.need, e.held = append(e.need, need), append(e.held, held)
	}
}

// holds reports whether one bin b can hold all pods of the state.
func (e *exact) holds(b, s int) bool {
	for d, n := range e.need[s] {
		if n > at(e.p.Bins[b].Room, d) {
			return false
		}
	}
	for g, n := range e.held[s] {
		if n > 0 && n > e.p.Groups[g] {
			return false
		}
	}
	for i, it := range e.p.Items {
		if e.number(s, i) > 0 && (b/64 >= len(it.Bins) || it.Bins[b/64]>>(b%64)&1 == 0) {
			return false
		}
	}
	return true
}

// unlimited packs every state into unlimited bins alone.
func (e *exact) unlimited() bool {
	order := make([]int, 0, len(e.p.Bins))
	for b, x := range e.p.Bins {
		if x.Stock < 0 {
			order = append(order, b)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, e.price(a)-e.price(b)))) })
	for s := range e.alone {
		e.alone[s] = never
		for _, b := range order {
			e.nodes--
			if e.holds(b, s) {
				e.alone[s] = e.price(b)
				break
			}
		}
		if e.nodes < 0 {
			return false
		}
	}
	for s := 1; s < len(e.cheapest); s++ {
		e.cheapest[s] = never
		first := 0
		for e.number(s, first) == 0 {
			first++
		}
		e.eachPart(s, first, func(part int) {
			e.cheapest[s] = min(e.cheapest[s], e.alone[part]+e.cheapest[s-part])
		})
		if e.nodes < 0 {
			return false
		}
	}
	return true
}

func (e *exact) price(b int) int64 { return max(e.p.Bins[b].Price, 0) }

// eachPart calls do for every part of the state that has at least one pod of item must (any part,
// if must is negative), until the nodes are used up.
func (e *exact) eachPart(s, must int, do func(part int)) {
	var walk func(i, part int)
	walk = func(i, part int) {
		if e.nodes--; e.nodes < 0 {
			return
		}
		if i == len(e.weight) {
			do(part)
			return
		}
		low := 0
		if i == must {
			low = 1
		}
		for n := low; n <= e.number(s, i); n++ {
			walk(i+1, part+n*e.weight[i])
		}
	}
	walk(0, 0)
}

// limited takes away the pods that bins of limited stock can hold, one bin after another.
func (e *exact) limited() bool {
	pods := int64(0)
	for _, it := range e.p.Items {
		pods += max(it.Count, 0)
	}
	for b, x := range e.p.Bins {
		for range min(x.Stock, pods) {
			if !e.oneMore(b) {
				return false
			}
		}
	}
	return true
}

func (e *exact) oneMore(b int) bool {
	fit := make([]bool, len(e.cheapest))
	for s := range fit {
		fit[s] = e.holds(b, s)
	}
	for s := len(e.cheapest) - 1; s > 0; s-- {
		e.eachPart(s, -1, func(part int) {
			if fit[part] && e.cheapest[s-part] < never {
				e.cheapest[s] = min(e.cheapest[s], e.cheapest[s-part]+e.price(b))
			}
		})
		if e.nodes < 0 {
			return false
		}
	}
	return true
}
