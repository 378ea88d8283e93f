package disruption

import (
	"testing"
	"time"

	"tenon/core/decide"
	"tenon/core/wait"
	"tenon/internal/world"
)

// A sweep that takes several evaluations ends when each node has been evaluated, even if the last
// evaluation saw only a few; and the next sweep counts from the beginning.
func TestASweepComesToItsEnd(t *testing.T) {
	t.Parallel()
	two := decide.Coverage{Next: "somewhere", Swept: 2, Skipped: 3}
	all := decide.Coverage{Swept: 5}
	for name, tc := range map[string]struct {
		seen []decide.Coverage
		ends []bool
	}{
		"all at once":                     {[]decide.Coverage{all, all}, []bool{true, true}},
		"two of five at a time":           {[]decide.Coverage{two, two, two, two, two, two}, []bool{false, false, true, false, false, true}},
		"the rest in one go":              {[]decide.Coverage{two, all, two, two, two}, []bool{false, true, false, false, true}},
		"one at a time, and one goes":     {[]decide.Coverage{{Next: "a", Swept: 1, Skipped: 2}, {Next: "b", Swept: 1, Skipped: 1}, {Next: "a", Swept: 1, Skipped: 1}}, []bool{false, false, true}},
		"nodes that were not asked about": {[]decide.Coverage{{}}, []bool{true}},
	} {
		var r round
		for i, c := range tc.seen {
			if r.sweep(c); (r.after == "") != tc.ends[i] {
				t.Errorf("%s: after evaluation %d it goes on after %q", name, i+1, r.after)
			}
		}
	}
}

// After a long evaluation, as on a machine that is short of cores, the next one comes after a
// minute, as documented; after a usual one it comes sooner.
func TestASlowEvaluationHoldsUpLittle(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		took time.Duration
		owed time.Duration // from evaluations before
		more bool          // more nodes wait for the sweep
		want time.Duration
	}{
		"usual":                       {took: 100 * time.Millisecond, want: 10 * time.Second},
		"of some seconds":             {took: 2 * time.Second, want: 10 * time.Second},
		"after others like it":        {took: 2 * time.Second, owed: 5 * time.Second, want: 40 * time.Second},
		"slow":                        {took: 24 * time.Second, want: time.Minute},
		"very slow, in several parts": {took: time.Hour, more: true, want: 5 * time.Minute},
	} {
		d := &disruption{last: round{at: begun, took: tc.took, owed: wait.Owe(tc.owed, tc.took, 0), changes: 1}, underway: &world.Disruptions{}}
		if tc.more {
			d.last.after = "n1"
		}
		at, pulse := begun, world.Pulse{Changes: 2}
		for left := d.wait(pulse, at); left > 0; left = d.wait(pulse, at) {
			at = at.Add(left)
		}
		if got := at.Sub(begun); got != tc.want {
			t.Errorf("%s: the next evaluation is after %s, not %s", name, got, tc.want)
		}
	}
}
