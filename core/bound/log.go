package bound

import "math"

// log2 is the binary logarithm of a positive number, to about the last bit. Package math computes
// it differently on different machines, and a plan must not depend on that.
func log2(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction, exponent = float64(fraction*2), exponent-1
	}
	s := (fraction - 1) / (fraction + 1)
	square, sum := float64(s*s), 0.0
	for k := 25; k > 0; k -= 2 { // ln(fraction) is 2·(s + s³/3 + s⁵/5 + …)
		sum = float64(sum*square) + 1/float64(k)
	}
	return float64(2/math.Ln2*s*sum) + float64(exponent)
}
