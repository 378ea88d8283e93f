package bound

import (
	"math"
	"testing"
)

// TestLog2 compares log2 with package math, and wants exact answers at powers of two.
func TestLog2(t *testing.T) {
	t.Parallel()
	for e := -40; e <= 60; e++ {
		if x := math.Ldexp(1, e); log2(x) != float64(e) {
			t.Errorf("log2(%g) = %v, want %d", x, log2(x), e)
		}
	}
	for x := 0.003; x < 1e15; x *= 1.0173 {
		if got, want := log2(x), math.Log2(x); math.Abs(got-want) > 4e-15*max(1, math.Abs(want)) {
			t.Errorf("log2(%g) = %v, want %v", x, got, want)
		}
	}
}
