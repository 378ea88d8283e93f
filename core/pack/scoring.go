package pack

import (
	"math"

	"tenon/core/feasible"
)

// scoring is a way to choose pods. No scoring is best for every input, so the packer tries several
// if the effort allows.
type scoring struct {
	// fairness is how much of a pod's value comes from the fair prices of the bin; the
	// rest comes from the relaxation.
	fairness float64
	// largeFirst is how strongly the choice prefers large pods, in quarters: value is divided by
	// share^(1-largeFirst/4).
	largeFirst int
}

// weighed is the share's weight in the choice. A square root is a single instruction; a general
// power would take most of the packer's time.
func (t scoring) weighed(share float64) float64 {
	switch t.largeFirst {
	case 0:
		return share
	case 1:
		root := math.Sqrt(share)
		return float64(root * math.Sqrt(root))
	case 2:
		return math.Sqrt(share)
	}
	return 1
}

// hopeless reports whether value/weighed(share) is certainly below a score. It compares fourth
// powers: most candidates are hopeless, and this way they need no roots.
func (t scoring) hopeless(fourth, share, score float64) bool {
	power := 1.0
	for range 4 - t.largeFirst {
		power = float64(power * share)
	}
	return fourth < score*power*almost
}

// almost allows for rounding.
const almost = 1 - 1e-9

// choose finds the best candidate by value per share of the room, or -1 when none fits. It drops
// candidates that do not fit: room only shrinks.
func (p *packer) choose(list *candidates, room []int64) int {
	all, n := list.fit, 0
	best, bestScore, fourth := -1, 0.0, 0.0
	var inverse [maxDims]float64
	for d, r := range room[:min(len(room), maxDims)] {
		if r > 0 {
			inverse[d] = 1 / float64(r)
		}
	}
	for i := range all {
		if !feasible.Fits(all[i].need, room) {
			continue
		}
		at := n
		if n++; i != at {
			all[at] = all[i]
		}
		c := &all[at]
		share := 0.0
		for d, want := range c.need[:min(len(c.need), maxDims)] {
			share += float64(float64(want) * inverse[d])
		}
		if p.scoring.hopeless(c.fourth, share, fourth) {
			continue
		}
		score := c.value / p.scoring.weighed(share)
		if best < 0 || score > bestScore || score == bestScore && c.kind < all[best].kind {
			best, bestScore, fourth = at, score, float64(score*score*score*score)
		}
	}
	p.steps += int64(list.count * len(room))
	list.fit = all[:n]
	return best
}

// tiny makes pods without a price differ by size.
const tiny = 1e-3
