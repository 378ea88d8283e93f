package instancetype

import (
	"testing"

	"tenon/core/model"
)

// Reserved machines are ordered by their on-demand prices, and cost less than all others.
func TestReservedPrice(t *testing.T) {
	t.Parallel()
	last := model.Money(0)
	for _, dollars := range []float64{0, 0.0042, 0.0765, 2.448, 4.896, 31.2, 98.32} {
		price := reservedPrice(model.MoneyFromFloat(dollars))
		if price < last || price < 1 || price > reservedMost {
			t.Errorf("%v dollars on demand count as %s when reserved, after %s for less", dollars, price, last)
		}
		last = price
	}
	if small, large := reservedPrice(model.MoneyFromFloat(0.0765)), reservedPrice(model.MoneyFromFloat(2.448)); small >= large {
		t.Errorf("2 cores count as %s and 64 as %s", small, large)
	}
}
