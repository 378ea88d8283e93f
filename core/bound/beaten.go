package bound

import (
	"cmp"
	"math/bits"
	"slices"
)

// keepBins lists the bins that hold something, and which items each can hold.
func (s *shrinker) keepBins() {
	words := (len(s.in.items) + 63) / 64
	has := make([][]uint64, len(s.p.Bins))
	for i, it := range s.in.items {
		for w, word := range it.bins {
			for ; word != 0; word &= word - 1 {
				b := w*64 + bits.TrailingZeros64(word)
				if has[b] == nil {
					has[b] = make([]uint64, words)
				}
				has[b][i/64] |= 1 << (i % 64)
			}
		}
		s.in.items[i].bins = nil
	}
	for b, set := range has {
		if set == nil {
			continue
		}
		x := s.p.Bins[b]
		s.in.bins = append(s.in.bins, bin{index: int32(b), room: s.project(x.Room),
			price: max(x.Price, 0), stock: x.Stock, row: -1, has: set})
	}
}

// placeItems lowers each bin's room to what its items could use of it: at most what all of them need
// together, rounded down to a multiple of the common divisor of their needs.
func (s *shrinker) placeItems() {
	unit := make([]int64, s.in.dims)
	for _, it := range s.in.items {
		for d, n := range it.need {
			unit[d] = gcd(unit[d], n)
		}
	}
	for k := range s.in.bins {
		b := &s.in.bins[k]
		all := make([]int64, s.in.dims)
		eachBit(b.has, func(i int) {
			it := &s.in.items[i]
			for d, n := range it.need {
				if all[d] < b.room[d] && n > 0 {
					all[d] += min(it.limit, b.room[d]/n+1) * n
				}
			}
		})
		for d := range b.room {
			b.room[d] = min(b.room[d]/max(unit[d], 1)*max(unit[d], 1), all[d])
		}
		s.in.steps += int64(len(s.in.items) * s.in.dims)
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func eachBit(set []uint64, do func(int)) {
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			do(w*64 + bits.TrailingZeros64(word))
		}
	}
}

// dropBeaten removes bins that are never the better choice, and joins similar limited bins.
func (s *shrinker) dropBeaten() {
	order := slices.Clone(s.in.bins)
	slices.SortStableFunc(order, func(a, b bin) int {
		return cmp.Or(
			cmp.Compare(a.price, b.price),
			cmp.Compare(min(a.stock, 0), min(b.stock, 0)), // unlimited first
			slices.Compare(b.room, a.room),                // roomy first
			cmp.Compare(a.index, b.index),
		)
	})
	var kept []bin
	alike := map[string]int{}
	for _, b := range order {
		s.in.steps += int64(len(kept))
		if slices.ContainsFunc(kept, func(k bin) bool { return beats(&k, &b) }) {
			continue
		}
		if b.stock > 0 {
			key := itemKey(append(slices.Clone(b.room), b.price), nil, b.has)
			if k, ok := alike[key]; ok {
				kept[k].stock += b.stock
				kept[k].alike = append(kept[k].alike, supply{b.index, b.stock})
				continue
			}
			alike[key] = len(kept)
			b.alike = []supply{{b.index, b.stock}}
		}
		kept = append(kept, b)
	}
	slices.SortFunc(kept, func(a, b bin) int { return cmp.Compare(a.index, b.index) })
	s.in.bins = kept
}

// beats reports whether k has unlimited stock, is at most as dear as b, and holds everything that
// b holds.
func beats(k, b *bin) bool {
	if k.stock >= 0 || k.price > b.price {
		return false
	}
	for d, r := range b.room {
		if r > k.room[d] {
			return false
		}
	}
	for w, word := range b.has {
		if word&^k.has[w] != 0 {
			return false
		}
	}
	return true
}

// maxRows is how many rows of limited stock the master may have. If there are more bins, similar ones share
// a row. That relaxes the master but not the proof: the bound is computed with every bin's own stock.
// Patterns may then use more than the bins have: with rows for 96 of 191 nodes, prices were 1.08 of the
// bound instead of 1.001.
const maxRows = 320

func (s *shrinker) addRows() {
	for coarse := 0; ; coarse++ {
		if s.tryRows(coarse) {
			return
		}
	}
}

// tryRows gives bins whose rooms agree after rounding to the same row; coarser rounding makes
// fewer rows.
func (s *shrinker) tryRows(coarse int) bool {
	rows := map[string]int32{}
	s.in.stock = s.in.stock[:0]
	for k := range s.in.bins {
		b := &s.in.bins[k]
		if b.stock < 0 {
			continue
		}
		key := rowKey(b, coarse)
		row, ok := rows[key]
		if !ok {
			row = int32(len(s.in.stock))
			rows[key] = row
			s.in.stock = append(s.in.stock, 0)
		}
		b.row = row
		s.in.stock[row] += float64(b.stock)
	}
	s.in.rows, s.in.shared = len(s.in.stock), coarse > 0
	return s.in.rows <= maxRows || coarse > 8
}

func rowKey(b *bin, coarse int) string {
	if coarse == 0 {
		return itemKey([]int64{int64(b.index)}, nil, nil)
	}
	if coarse > 8 {
		return ""
	}
	about := make([]int64, 0, len(b.room)+1)
	for _, r := range b.room {
		about = append(about, int64(log2(float64(r)+1)*8/float64(int(1)<<coarse)))
	}
	return itemKey(append(about, int64(min(b.price, 1))), nil, nil)
}

func (s *shrinker) toFloat() {
	s.in.need = make([][]float64, s.in.dims)
	for d := range s.in.need {
		s.in.need[d] = make([]float64, len(s.in.items))
		for i, it := range s.in.items {
			s.in.need[d][i] = float64(it.need[d])
		}
	}
}
