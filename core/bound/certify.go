package bound

import "math"

// certificate turns prices of items into a proven bound. By linear duality
//
//	Σ count·y − Σ stock·max(0, worth − price)
//
// bounds the price of any solution if no unlimited bin can be filled with more than its price.
// Where one can, the certificate scales all prices down until none can (Farley's bound). worth is
// an upper bound on the value of any filling.
//
// Rounding: a worth is a sum of products of numbers that are not negative, except for gains y − Σ
// rate·need. The error of a gain is at most (dims+4)·2⁻⁵³ of y, and pods whose gain is near zero
// are worth together at most one bin for each item, since as many as count can fit. So all errors
// together stay below 8·(items+8)·(dims+8)·2⁻⁵³ of the worth. The certificate adds this margin to
// the worth; the margin also covers the sums of the bound, whose error is smaller.
type certificate struct {
	y       []float64
	margin  float64
	theta   float64
	limited []limited
}

type limited struct{ stock, worth, price float64 }

func safety(items, dims int) float64 {
	return max(1e-10, float64(8*float64(items+8)*float64(dims+8)*0x1p-53))
}

func (c *certificate) add(v *view, worth float64) {
	worth = float64(worth * (1 + c.margin))
	if v.bin.stock >= 0 {
		c.limited = append(c.limited, limited{float64(v.bin.stock), worth, v.price})
		return
	}
	if worth > v.price {
		c.theta = min(c.theta, v.price/worth)
	}
}

// bound is rounded so that it is never above the true value.
func (c *certificate) bound(counts []float64) float64 {
	plus, minus := 0.0, 0.0
	for i, y := range c.y {
		plus += float64(counts[i] * y)
	}
	for _, l := range c.limited {
		minus += float64(l.stock * max(0, float64(c.theta*l.worth*(1+c.margin))-l.price))
	}
	safe := 1e-10 + float64(4*float64(len(c.y)+len(c.limited)+8)*0x1p-53)
	return max(0, float64(c.theta*plus*(1-safe))-float64(minus*(1+safe)))
}

func (c *certificate) scaled() []float64 {
	out := make([]float64, len(c.y))
	for i, y := range c.y {
		out[i] = float64(c.theta * y)
	}
	return out
}

// payable rounds a proven price up to the next price that a fleet can have: the price of every fleet is a
// multiple of the common divisor of all prices. Otherwise the rounding of the proof would leave an exact
// bound slightly below the price of the best fleet.
func (in *instance) payable(proof float64) int64 {
	unit := int64(0)
	for i := range in.bins {
		unit = gcd(unit, in.bins[i].price)
	}
	if unit == 0 {
		return 0 // everything is paid already
	}
	exact := int64(math.Ceil(float64(proof/float64(unit)*(1-1e-12)))) * unit
	return max(exact, in.nearlyPayable(proof))
}

// nearlyPayable does the same where prices are multiples of a unit except for rounding: a fleet of
// k bins then costs a multiple of the unit except for k errors. With so many bins that the errors
// add up to a unit, the fleet costs more than the claimed price anyway.
func (in *instance) nearlyPayable(proof float64) int64 {
	least, most := math.Inf(1), 0.0
	for i := range in.bins {
		if price := float64(in.bins[i].price); price > 0 {
			least, most = min(least, price), max(most, price)
		}
	}
	unit := most / math.Round(most/least)
	worst := 0.0
	for i := range in.bins {
		price := float64(in.bins[i].price)
		worst = max(worst, math.Abs(price-float64(math.Round(price/unit)*unit)))
	}
	errors := float64((worst + 1e-3) * (math.Ceil((proof+unit)/least) + 1))
	if errors > unit/20 {
		return 0
	}
	return int64(math.Floor(float64(math.Ceil((proof-errors)/unit)*unit) - errors - 1))
}
