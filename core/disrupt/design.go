package disrupt

import (
	"cmp"
	"math"
	"slices"

	"tenon/core/snapshot"
)

// mixture is the pods of a pool by size, with what one of each size is worth: what nodes
// could be filled with.
type mixture struct {
	sizes []size
	total float64
}

type size struct {
	need  []int64
	value float64 // of one, on average
	count int
}

// mixtureOf gathers the pods of some nodes.
func (x *search) mixtureOf(nodes []snapshot.NodeIndex) mixture {
	var m mixture
	at := map[string]int{}
	for _, n := range nodes {
		for _, p := range x.nodes[n].moving {
			need := x.fleet.Need(p)
			key := key(need)
			i, known := at[key]
			if !known {
				i = len(m.sizes)
				at[key] = i
				m.sizes = append(m.sizes, size{need: need})
			}
			s := &m.sizes[i]
			s.value = (float64(s.value*float64(s.count)) + x.value[p]) / float64(s.count+1)
			s.count++
			m.total += x.value[p]
		}
	}
	return m
}

func key(need []int64) string {
	b := make([]byte, 0, 8*len(need))
	for _, n := range need {
		for i := 0; i < 64; i += 8 {
			b = append(b, byte(n>>i))
		}
	}
	return string(b)
}

// fill is what pods of the mixture would be worth in the room, were there enough of each.
func (m *mixture) fill(room []int64) float64 {
	left := slices.Clone(room)
	value := 0.0
	for {
		best, bestScore := -1, 0.0
		for i := range m.sizes {
			s := &m.sizes[i]
			if share := shareOf(s.need, left); share <= 1 {
				if score := s.value / math.Sqrt(share); best < 0 || score > bestScore {
					best, bestScore = i, score
				}
			}
		}
		if best < 0 || bestScore == 0 {
			return value
		}
		s := &m.sizes[best]
		n := max(most(s.need, left)/4, 1)
		for d, want := range s.need {
			left[d] -= want * n
		}
		value += float64(s.value * float64(n))
	}
}

// shareOf is the largest share that a pod takes of a room; more than 1 if it does not fit.
func shareOf(need, room []int64) float64 {
	share := 0.0
	for d, want := range need {
		if want > 0 {
			share = math.Max(share, float64(want)/math.Max(float64(room[d]), 0.5))
		}
	}
	return math.Max(share, 1e-9)
}

func most(need, room []int64) int64 {
	n := int64(math.MaxInt64)
	for d, want := range need {
		if want > 0 {
			n = min(n, room[d]/want)
		}
	}
	return n
}

// leavers tells which of some candidates would not be part of the best of fleets, the most wasteful for
// their evictions first. A node is worth keeping if it can be filled so well that its waste does not
// justify moving its own pods. As many of these nodes are kept as there are pods to fill them.
func (x *search) leavers(candidates, receivers []snapshot.NodeIndex) []snapshot.NodeIndex {
	m := x.mixtureOf(candidates)
	demand := m.total
	for _, n := range receivers {
		demand -= m.fill(x.fleet.Room(n))
	}
	type keeper struct {
		at         snapshot.NodeIndex
		full, loss float64
	}
	var keepers []keeper
	leaves := map[snapshot.NodeIndex]bool{}
	for _, at := range candidates {
		n := &x.nodes[at]
		full := n.value + m.fill(x.fleet.Room(at))
		loss := float64(n.Price) - full
		if loss > n.worth {
			leaves[at] = true
		} else {
			keepers = append(keepers, keeper{at, full, (loss - n.worth) / float64(n.Price)})
		}
	}
	slices.SortFunc(keepers, func(a, b keeper) int {
		return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(x.nodes[a.at].Name, x.nodes[b.at].Name))
	})
	for _, k := range keepers {
		if demand < k.full {
			leaves[k.at] = true
			continue
		}
		demand -= k.full
	}
	var out []snapshot.NodeIndex
	for _, at := range candidates {
		// A node that is worth its price as it is may still go, but only by itself: in a group, the savings
		// of other nodes would pay for moving its pods.
		if leaves[at] && x.nodes[at].wasteful() {
			out = append(out, at)
		}
	}
	x.sortByWaste(out)
	return out
}

// sortByWaste puts the nodes first that waste most in relation to the cost of moving their pods.
func (x *search) sortByWaste(nodes []snapshot.NodeIndex) {
	waste := func(at snapshot.NodeIndex) float64 {
		n := &x.nodes[at]
		return (float64(n.Price) - n.value) / math.Max(n.worth, 1)
	}
	slices.SortFunc(nodes, func(a, b snapshot.NodeIndex) int {
		return cmp.Or(cmp.Compare(waste(b), waste(a)), cmp.Compare(x.nodes[a].Name, x.nodes[b].Name), cmp.Compare(a, b))
	})
}
