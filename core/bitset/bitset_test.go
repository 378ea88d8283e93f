package bitset

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Every operation agrees with the same operation on a map.
func TestAgainstMap(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + r.IntN(200)
		a, ma := random(r, n)
		b, mb := random(r, n)
		and, or := a.And(b), a.Or(b)
		meets, within := false, true
		for i := range n {
			if and.Has(i) != (ma[i] && mb[i]) || or.Has(i) != (ma[i] || mb[i]) {
				t.Fatalf("and/or of %d in universe %d", i, n)
			}
			meets = meets || ma[i] && mb[i]
			within = within && (!ma[i] || mb[i])
		}
		if a.Meets(b) != meets || a.Within(b) != within || a.Empty() != (len(ma) == 0) || a.Count() != len(ma) {
			t.Fatalf("meets/within/empty/count in universe %d", n)
		}
		if got := slices.Collect(a.All); !slices.IsSorted(got) || len(got) != len(ma) {
			t.Fatalf("all: %v", got)
		}
		if !Full(n).Equal(a.Or(complement(a, n))) {
			t.Fatalf("full(%d) is not a or not-a", n)
		}
		for i := range n {
			want := -1
			for j := i; j < n && want < 0; j++ {
				if ma[j] {
					want = j
				}
			}
			if got := a.Next(i); got != want {
				t.Fatalf("next(%d) = %d, want %d", i, got, want)
			}
		}
	}
}

func complement(s Set, n int) Set {
	out := New(n)
	for i := range n {
		if !s.Has(i) {
			out.Put(i)
		}
	}
	return out
}

func random(r *rand.Rand, n int) (Set, map[int]bool) {
	s, m := New(n), map[int]bool{}
	for i := range n {
		if r.IntN(3) == 0 {
			s.Put(i)
			m[i] = true
		}
	}
	return s, m
}
