package randomcluster

import "math/rand/v2"

// dice is the only source of chance.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0x7e2011))} }

// percent is true in n of a hundred throws.
func (d dice) percent(n int) bool { return d.IntN(100) < n }

// between returns a number from low to high, both included.
func (d dice) between(low, high int) int { return low + d.IntN(high-low+1) }

// one returns one element of the list, which is not empty.
func one[T any](d dice, list ...T) T { return list[d.IntN(len(list))] }

// some returns some elements of the list, at least one, in its order.
func some[T any](d dice, list ...T) []T {
	must := d.IntN(len(list))
	var out []T
	for i, x := range list {
		if i == must || d.percent(40) {
			out = append(out, x)
		}
	}
	return out
}

func pointer[T any](x T) *T { return &x }
