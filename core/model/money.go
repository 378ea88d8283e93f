package model

import (
	"errors"
	"fmt"
	"strconv"
)

// Money is an amount per hour in micro-units of the price list's currency. Integers
// make sums exact and comparisons total; floats are for values that
// are only compared, such as the prices of a relaxation, and for people.
type Money int64

// Unit is one whole unit of currency per hour.
const Unit Money = 1_000_000

// MoneyFromFloat rounds a price such as 0.0864 to the nearest micro-unit.
func MoneyFromFloat(f float64) Money {
	if f < 0 {
		return -MoneyFromFloat(-f)
	}
	return Money(float64(f*float64(Unit)) + 0.5)
}

// MaxPrice keeps sums of prices inside an int64 of micro-units.
const MaxPrice = 1_000_000 * Unit

// ParsePrice reads an amount per hour as people write it, such as 0.12. The error says what is
// wrong with the text, and after a semicolon what to write.
func ParsePrice(text string) (Money, error) {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, errors.New("is not a price; use a number of dollars an hour such as 0.12, or 0 for none")
	case !(f >= 0) || f > MaxPrice.Float():
		return 0, fmt.Errorf("is not a price between 0 and %s; use a number of dollars an hour such as 0.12, or 0 for none", MaxPrice)
	}
	return MoneyFromFloat(f), nil
}

// Float is for display and for JSON meant for people; it never feeds a decision.
func (m Money) Float() float64 { return float64(m) / float64(Unit) }

// String writes the amount in whole units with as many decimals as it needs.
func (m Money) String() string { return strconv.FormatFloat(m.Float(), 'f', -1, 64) }
