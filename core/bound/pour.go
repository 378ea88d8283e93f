package bound

// pour fills the bin without reconsidering a choice: it always takes the item that is worth most
// for the share it takes of the resource that it makes scarcest. Shares are of the room left, so
// that no dimension runs out while others are half empty. pour leaves the filling as the best so
// far, for the search to improve on.
func (b *brancher) pour() {
	value := 0.0
	for {
		k, n := b.bestValue()
		if k < 0 {
			break
		}
		n = (n + 3) / 4
		b.put(k, n)
		value += float64(float64(n) * b.order[k].value)
	}
	copy(b.best, b.count)
	b.value = value
	for k, n := range b.count {
		if n > 0 {
			b.put(k, -n)
		}
	}
}

// bestValue returns the position that offers most for what is left of the room, and how many of it
// fit.
func (b *brancher) bestValue() (at int, fit int64) {
	at = -1
	best := 0.0
	b.steps += int64(len(b.order) * (len(b.v.dims) + 4))
	for k := range b.order {
		c := &b.order[k]
		scarce := b.scarcest(c.item)
		if scarce > 1 || c.value <= best*scarce {
			continue
		}
		if n := min(b.fit(k), c.most-b.count[k]); n > 0 {
			at, fit, best = k, n, c.value/max(scarce, 1e-12)
		}
	}
	return at, fit
}

// scarcest is the largest share of the room left that a pod of the item takes.
func (b *brancher) scarcest(i int32) float64 {
	share := 0.0
	for _, d := range b.v.dims {
		if need := b.in.need[d][i]; need > share*float64(b.left[d]) {
			share = need / float64(b.left[d])
		}
	}
	return share
}
