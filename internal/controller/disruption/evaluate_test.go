package disruption

import (
	"testing"

	"tenon/core/decide"
)

// A sweep that takes several evaluations ends when each node has had its turn, however few of
// them the last one saw; and the next one is counted anew.
func TestASweepComesToItsEnd(t *testing.T) {
	t.Parallel()
	two := decide.Coverage{Next: "somewhere", Swept: 2, Skipped: 3}
	all := decide.Coverage{Swept: 5}
	for name, tc := range map[string]struct {
		seen []decide.Coverage
		ends []bool
	}{
		"all at once":                       {[]decide.Coverage{all, all}, []bool{true, true}},
		"two of five at a time":             {[]decide.Coverage{two, two, two, two, two, two}, []bool{false, false, true, false, false, true}},
		"the rest in one go":                {[]decide.Coverage{two, all, two, two, two}, []bool{false, true, false, false, true}},
		"one at a time, and one goes":       {[]decide.Coverage{{Next: "a", Swept: 1, Skipped: 2}, {Next: "b", Swept: 1, Skipped: 1}, {Next: "a", Swept: 1, Skipped: 1}}, []bool{false, false, true}},
		"nodes that nobody can be asked of": {[]decide.Coverage{{}}, []bool{true}},
	} {
		var r round
		for i, c := range tc.seen {
			if r.sweep(c); (r.after == "") != tc.ends[i] {
				t.Errorf("%s: after evaluation %d it goes on after %q", name, i+1, r.after)
			}
		}
	}
}
