package reason

import (
	"testing"

	"tenon/core/model"
)

// TestPricesHaveTheirCurrency checks that every price that a reason or a remedy names gets the currency, and nothing else.
func TestPricesHaveTheirCurrency(t *testing.T) {
	t.Parallel()
	ceiling := Reason{Code: PriceCeiling, Where: "c6a.large", Have: int64(model.Unit), Want: int64(2 * model.Unit)}
	remedy := Remedy{Change: Tolerate, InstanceType: "m5.large", Pool: "p", Price: model.Unit / 10}
	for text, want := range map[string]string{
		ceiling.Text():         "out of stock: c6a.large; what can be had costs 2 USD an hour, and the pool's price ceiling is 1 USD an hour",
		remedy.Text():          remedy.action() + ": then m5.large of pool p would do, 0.1 USD an hour",
		"0.2 more an hour":     "0.2 USD more an hour",
		"it waits for an hour": "it waits for an hour",
	} {
		if got := InCurrency(text, "USD"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := InCurrency(text, ""); got != text {
			t.Errorf("without a currency: %q", got)
		}
	}
}
