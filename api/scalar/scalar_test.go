package scalar_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"tenon/api/scalar"
)

// Quantities beyond an int64 become the largest amount and do not wrap around.
func TestAmounts(t *testing.T) {
	t.Parallel()
	const most = scalar.MaxAmount
	for text, want := range map[string]struct{ units, thousandths int64 }{
		"0":                       {0, 0},
		"-1":                      {0, 0},
		"1m":                      {1, 1},
		"1500m":                   {2, 1500},
		"1u":                      {1, 1},
		"64Gi":                    {64 << 30, 64 << 30 * 1000},
		"4Pi":                     {most, most * 1000},
		"4503599627370497":        {most, most * 1000},
		"9223372036854775807":     {most, most * 1000},
		"9223372036854775806.5":   {most, most * 1000},
		"9223372036854775808":     {most, most * 1000},
		"1e19":                    {most, most * 1000},
		"1e999":                   {most, most * 1000},
		"-1e19":                   {0, 0},
		"9223372036854775807001m": {most, most * 1000},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			q := resource.MustParse(text)
			if units, thousandths := scalar.Amount(q), scalar.MilliAmount(q); units != want.units || thousandths != want.thousandths {
				t.Errorf("%d units, %d thousandths; want %d, %d", units, thousandths, want.units, want.thousandths)
			}
		})
	}
}
