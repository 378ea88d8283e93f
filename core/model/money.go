package model

import "strconv"

// Money is an amount per hour in micro-units of the price list's currency. Integers
// make sums exact and comparisons total; floats appear only when people read them.
type Money int64

// Unit is one whole unit of currency per hour.
const Unit Money = 1_000_000

// MoneyFromFloat rounds a price such as 0.0864 to the nearest micro-unit.
func MoneyFromFloat(f float64) Money {
	if f < 0 {
		return -MoneyFromFloat(-f)
	}
	return Money(f*float64(Unit) + 0.5)
}

// Float is for display and for JSON meant for people; it never feeds a decision.
func (m Money) Float() float64 { return float64(m) / float64(Unit) }

// String writes the amount in whole units with as many decimals as it needs.
func (m Money) String() string { return strconv.FormatFloat(m.Float(), 'f', -1, 64) }
