package arch

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestTheCoreRoundsProducts(t *testing.T) {
	t.Parallel()
	report(t, Floats(load(t, root)))
}

// TestUnroundedProductsAreFound plants products, and knows which of them a compiler may fuse: see
// "Floating-point operators" in the Go specification.
func TestUnroundedProductsAreFound(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		code string
		want int
	}{
		"a sum":                   {`r = x*y + z`, 1},
		"a sum of two":            {`r = x*y - z*x`, 2},
		"an assignment":           {`r += x * y`, 1},
		"a product for later":     {`t := x * y; r = t + z`, 1},
		"a negated product":       {`r = -(x * y) + z`, 1},
		"a product in place":      {`r *= x`, 1},
		"an argument":             {`r = math.Floor(x * y)`, 1},
		"a type parameter":        {`_ = twice(x, y)`, 1},
		"a rounded product":       {`r = float64(x*y) + z`, 0},
		"a product for an int":    {`_ = int64(x * y)`, 0},
		"a compared product":      {`_ = x*y < z`, 0},
		"a divided product":       {`r = x*y/z + x`, 0},
		"a product of a product":  {`r = float64(x*y*z) + x`, 0},
		"a root":                  {`r = math.Sqrt(x)*y + z`, 1},
		"integers":                {`_ = n*n + n`, 0},
		"constants":               {`const c = 0.5*2 + 1; r = c`, 0},
		"a converted other side":  {`r = x*y + float64(z)`, 1},
		"a rounded one in place":  {`r = float64(r * x)`, 0},
		"a multiplied conversion": {`r = float64(n)*x + y`, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code := "package pack\nimport \"math\"\nvar x, y, z, r float64\nvar n int64\nvar _ = math.Pi\nfunc f() {\n" + tc.code + "\n}\n"
			if strings.Contains(tc.code, "twice") {
				code += "func twice[T int | float64](a, b T) T { return a * b }\n"
			}
			tree, err := Load(fstest.MapFS{"core/pack/pack.go": {Data: []byte(code)}})
			if err != nil {
				t.Fatal(err)
			}
			if found := Floats(tree); len(found) != tc.want {
				t.Errorf("%d violations in %q, want %d: %v", len(found), tc.code, tc.want, found)
			}
		})
	}
}
