package order_test

import (
	"slices"
	"testing"

	"tenon/core/order"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		in   map[string]int
		want []string
	}{
		"nil map":           {in: nil, want: []string{}},
		"one key":           {in: map[string]int{"a": 1}, want: []string{"a"}},
		"bytewise, not abc": {in: map[string]int{"b": 1, "B": 2, "a": 3, "": 4, "10": 5, "9": 6}, want: []string{"", "10", "9", "B", "a", "b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := order.Keys(tc.in); !slices.Equal(got, tc.want) {
				t.Errorf("Keys() = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestKeysOfNumbersAndNamedMaps(t *testing.T) {
	t.Parallel()
	type ports map[int32]bool
	if got, want := order.Keys(ports{443: true, 80: true, -1: false}), []int32{-1, 80, 443}; !slices.Equal(got, want) {
		t.Errorf("Keys() = %v, want %v", got, want)
	}
}

// False is before true.
func TestBools(t *testing.T) {
	t.Parallel()
	list := []bool{true, false, true, false}
	slices.SortFunc(list, order.Bools)
	if !slices.Equal(list, []bool{false, false, true, true}) || order.Bools(true, true) != 0 {
		t.Errorf("sorted %v, and true compares with itself as %d", list, order.Bools(true, true))
	}
}
