package bound

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// instance is a Problem without what cannot matter. It leaves out dimensions that no item needs,
// items that fit nowhere, caps that never bind, room that can never be used, and bins that another
// bin beats in every respect; it joins equal items.
type instance struct {
	items  []item
	bins   []bin
	caps   []int64     // of the groups that are left; each has at least two items
	need   [][]float64 // need[d][i], for the relaxation
	rows   int         // rows of limited stock
	shared bool        // several bins share such a row
	stock  []float64   // per row
	dims   int
	sets   [][]uint64 // the distinct sets of bins that items may go to
	unfit  []int32
	free   []Pattern // of items that cost nothing
	steps  int64
}

type item struct {
	need    []int64
	count   int64
	limit   int64   // at most so many in one bin, by count and by caps of its own
	groups  []int32 // all groups that hold other items too
	group   int32   // the most binding of them, or -1
	members []int32 // the items of the Problem that it stands for, ascending
	counts  []int64 // and the count of each
	set     int     // where it may go for its own reasons, in instance.sets
	bins    []uint64
}

type bin struct {
	index int32 // in the Problem
	room  []int64
	price int64
	stock int64 // -1: any number
	row   int32 // row of its stock, or -1
	has   []uint64
	alike []supply // limited bins that the solver treats as one
}

// supply is a limited bin of the Problem.
type supply struct {
	index int32
	stock int64
}

func shrink(p Problem) *instance {
	in := &instance{}
	s := &shrinker{p: p, in: in}
	s.keepDims()
	s.keepItems()
	s.keepGroups()
	s.keepBins()
	s.placeItems()
	s.dropBeaten()
	s.addRows()
	s.toFloat()
	return in
}

type shrinker struct {
	p    Problem
	in   *instance
	dims []int // kept dimensions
}

func (s *shrinker) keepDims() {
	for d := range s.width() {
		if slices.ContainsFunc(s.p.Items, func(it Item) bool { return d < len(it.Need) && it.Need[d] > 0 }) {
			s.dims = append(s.dims, d)
		}
	}
	s.in.dims = len(s.dims)
}

func (s *shrinker) width() int {
	n := 0
	for _, it := range s.p.Items {
		n = max(n, len(it.Need))
	}
	return n
}

func at(v []int64, d int) int64 {
	if d < len(v) {
		return max(v[d], 0)
	}
	return 0
}

// keepItems drops items that fit nowhere and joins equal ones.
func (s *shrinker) keepItems() {
	room := make([][]int64, len(s.p.Bins))
	for b, x := range s.p.Bins {
		room[b] = s.project(x.Room)
	}
	known, sets := map[string]int{}, map[string]int{}
	held := s.groupTotals()
	for i, it := range s.p.Items {
		if it.Count <= 0 {
			continue
		}
		need := s.project(it.Need)
		places := s.places(it, need, room)
		if places == nil {
			s.in.unfit = append(s.in.unfit, int32(i))
			continue
		}
		if s.isFree(i, places) {
			continue
		}
		groups := s.binding(it.Groups, held)
		key := itemKey(need, groups, places)
		k, ok := known[key]
		if !ok {
			k = len(s.in.items)
			known[key] = k
			s.in.items = append(s.in.items, item{need: need, groups: groups, bins: places, set: s.set(sets, it.Bins)})
		}
		s.in.items[k].count += it.Count
		s.in.items[k].members = append(s.in.items[k].members, int32(i))
		s.in.items[k].counts = append(s.in.items[k].counts, it.Count)
	}
}

// set numbers the sets of bins in order of appearance.
func (s *shrinker) set(known map[string]int, bins []uint64) int {
	key := itemKey(nil, nil, bins)
	k, ok := known[key]
	if !ok {
		k = len(s.in.sets)
		known[key] = k
		s.in.sets = append(s.in.sets, bins)
	}
	return k
}

func (s *shrinker) project(v []int64) []int64 {
	out := make([]int64, len(s.dims))
	for k, d := range s.dims {
		out[k] = at(v, d)
	}
	return out
}

// groupTotals counts the pods of each group.
func (s *shrinker) groupTotals() []int64 {
	held := make([]int64, len(s.p.Groups))
	for _, it := range s.p.Items {
		for _, g := range it.Groups {
			held[g] += max(it.Count, 0)
		}
	}
	return held
}

// binding returns the groups whose cap is below the number of their pods.
func (s *shrinker) binding(groups []int32, held []int64) []int32 {
	var out []int32
	for _, g := range groups {
		if s.p.Groups[g] < held[g] {
			out = append(out, g)
		}
	}
	slices.Sort(out)
	return out
}

// places returns the bins that can hold one pod of the item, nil if none can.
func (s *shrinker) places(it Item, need []int64, room [][]int64) []uint64 {
	for _, g := range it.Groups {
		if s.p.Groups[g] <= 0 {
			return nil
		}
	}
	var out []uint64
	for w, word := range it.Bins {
		for ; word != 0; word &= word - 1 {
			b := w*64 + bits.TrailingZeros64(word)
			if b >= len(room) || s.p.Bins[b].Stock == 0 || !fits(need, room[b]) {
				continue
			}
			if out == nil {
				out = make([]uint64, (len(room)+63)/64)
			}
			out[w] |= 1 << (b % 64)
		}
		s.in.steps += 64
	}
	return out
}

// isFree notes items for which some bin costs nothing and never runs out: they
// add nothing to any price.
func (s *shrinker) isFree(i int, places []uint64) bool {
	free := -1
	eachBit(places, func(b int) {
		if free < 0 && s.p.Bins[b].Price <= 0 && s.p.Bins[b].Stock < 0 {
			free = b
		}
	})
	if free < 0 {
		return false
	}
	s.in.free = append(s.in.free, Pattern{Bin: int32(free),
		Counts: []Share{{int32(i), 1}}, Amount: float64(s.p.Items[i].Count)})
	return true
}

func fits(need, room []int64) bool {
	for d, n := range need {
		if n > room[d] {
			return false
		}
	}
	return true
}

func itemKey(need []int64, groups []int32, places []uint64) string {
	key := make([]byte, 0, 8*(len(need)+len(places))+4*len(groups)+4)
	key = binary.LittleEndian.AppendUint32(key, uint32(len(groups)))
	for _, g := range groups {
		key = binary.LittleEndian.AppendUint32(key, uint32(g))
	}
	for _, n := range need {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	for _, w := range places {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	return string(key)
}

// keepGroups turns the cap of a group with one item into that item's limit, and
// renumbers the others.
func (s *shrinker) keepGroups() {
	n := make([]int, len(s.p.Groups))
	load := make([]int64, len(s.p.Groups))
	for _, it := range s.in.items {
		for _, g := range it.groups {
			n[g]++
			load[g] += it.count
		}
	}
	to := make([]int32, len(n))
	for g := range n {
		if n[g] > 1 {
			to[g] = int32(len(s.in.caps))
			s.in.caps = append(s.in.caps, s.p.Groups[g])
		}
	}
	for i := range s.in.items {
		s.regroup(&s.in.items[i], n, to, load)
	}
}

func (s *shrinker) regroup(it *item, n []int, to []int32, load []int64) {
	it.limit, it.group = it.count, -1
	var kept []int32
	tightest := 0.0
	for _, g := range it.groups {
		it.limit = min(it.limit, s.p.Groups[g])
		if n[g] < 2 {
			continue
		}
		kept = append(kept, to[g])
		if t := float64(load[g]) / float64(s.p.Groups[g]); t > tightest {
			tightest, it.group = t, to[g]
		}
	}
	it.groups = slices.Compact(kept)
}
