package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// Quantities that take hours to parse are refused in their fields; the same text elsewhere is
// accepted.
func TestAbsurdQuantities(t *testing.T) {
	t.Parallel()
	pod := func(cpu string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":%s}}}]}}`, cpu)
	}
	for name, tc := range map[string]struct {
		text  string
		field string
	}{
		"a tiny one":                {pod(`"1e-10000000"`), "spec.containers[0].resources.requests.cpu"},
		"a large one":               {pod(`"1E+99999999999"`), "spec.containers[0].resources.requests.cpu"},
		"a number":                  {pod(`1e10000000`), "spec.containers[0].resources.requests.cpu"},
		"with a point":              {pod(`"1e1.55555"`), "spec.containers[0].resources.requests.cpu"},
		"many digits":               {pod(`"` + strings.Repeat("9", 1000) + `"`), "spec.containers[0].resources.requests.cpu"},
		"usual":                     {pod(`"1e3"`), ""},
		"limits of a pool":          {`{"kind":"NodePool","spec":{"limits":{"cpu":"1e-20000000"}}}`, "spec.limits.cpu"},
		"the hash of a commit":      {`{"metadata":{"labels":{"commit":"12e45678"}}}`, ""},
		"an identifier":             {`{"metadata":{"uid":"1e4567-aa"}}`, ""},
		"a label beside a quantity": {`{"metadata":{"labels":{"commit":"12e45678"}},"spec":{"limits":{"cpu":"1"}}}`, ""},
	} {
		field, err := absurd([]byte(tc.text))
		if field != tc.field || (err != nil) != (tc.field != "") {
			t.Errorf("%s: field %q, error %v, want field %q", name, field, err, tc.field)
		}
	}
}

// TestManyKeys: a mapping with very many keys is read in time in proportion to them, and one key twice is
// found among them, in a nested mapping as well.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	const keys = 200_000
	var text strings.Builder
	text.WriteString("inner:\n")
	for i := range keys {
		fmt.Fprintf(&text, "  k%d: v\n", i)
	}
	for i := range keys {
		fmt.Fprintf(&text, "k%d: v\n", i)
	}
	if _, ok := plainYAML([]byte(text.String())); !ok {
		t.Error("many keys are not read")
	}
	if _, ok := plainYAML([]byte(text.String() + "k7: again\n")); ok {
		t.Error("a key that is there twice is not found")
	}
}
