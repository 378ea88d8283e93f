package sim

import (
	"slices"
	"strings"
	"time"
)

// Shrink removes what a failing trial does not need to fail: kinds of faults, time, pods, and then single
// mishaps, until the number of tries is used up. Each attempt is another run, since fewer faults change the
// dice; a run that breaks the same rule is as good an example.
func Shrink(t Trial) Trial {
	s := shrinking{left: tries}
	first := t.Run()
	if !first.Failed() {
		return t
	}
	if t.Rule == "" && len(first.Violations) > 0 {
		t.Rule = first.Violations[0].Rule
	}
	for {
		smaller, found := s.first(t.smaller())
		if !found {
			break
		}
		t = smaller
	}
	return s.script(s.cut(t))
}

// tries is the largest number of runs of a search.
const tries = 400

// shrinking is a search.
type shrinking struct{ left int }

func (s *shrinking) fails(t Trial) bool {
	if s.left == 0 {
		return false
	}
	s.left--
	return t.Fails()
}

// first returns the first of some trials that fails.
func (s *shrinking) first(trials []Trial) (Trial, bool) {
	for _, t := range trials {
		if s.fails(t) {
			return t, true
		}
	}
	return Trial{}, false
}

// The smallest trial that is worth a run.
const (
	fewestHours = 0.1
	fewestPods  = 2
)

func (t Trial) smaller() []Trial {
	var out []Trial
	names := strings.Split(t.Faults, ",")
	if t.Faults == "all" {
		names = FaultNames()
	}
	if half := t; t.Hours/2 >= fewestHours {
		half.Hours /= 2
		out = append(out, half)
	}
	if half := t; t.Options.Pods/2 >= fewestPods {
		half.Options.Pods /= 2
		out = append(out, half)
	}
	for i := range names {
		fewer := t
		if fewer.Faults = strings.Join(slices.Delete(slices.Clone(names), i, i+1), ","); fewer.Faults == "" {
			fewer.Faults = "none"
		}
		if fewer.Faults != t.Faults {
			out = append(out, fewer)
		}
	}
	return out
}

// cut ends a trial that fails during its time soon after its failure.
func (s *shrinking) cut(t Trial) Trial {
	o := t.Run()
	if len(o.Violations) == 0 {
		return t
	}
	ran := o.Violations[0].At.Sub(birthday).Truncate(time.Minute) + time.Minute
	if shorter := t; ran.Hours() < t.Hours {
		shorter.Hours, shorter.Rest = float64(ran/time.Minute)/60, 0
		if s.fails(shorter) {
			return shorter
		}
	}
	return t
}

// script removes mishaps: halves of them, then quarters, and so on down to single ones.
func (s *shrinking) script(t Trial) Trial {
	if t.Options.Only == nil {
		only := Numbers{}
		for _, m := range t.Run().Script {
			only = append(only, m.Number)
		}
		all := t
		if all.Options.Only = only; !s.fails(all) {
			return t
		}
		t = all
	}
	for size := max(len(t.Options.Only)/2, 1); len(t.Options.Only) > 0; {
		smaller, found := s.first(t.without(size))
		switch {
		case found:
			t = smaller
			size = min(size, max(len(t.Options.Only), 1))
		case size == 1:
			return t
		default:
			size /= 2
		}
	}
	return t
}

// without returns trials that lack this many mishaps in a row, the last ones first: what comes before them
// stays the same run.
func (t Trial) without(size int) []Trial {
	var out []Trial
	only := t.Options.Only
	for end := len(only); end > 0; end -= size {
		fewer := t
		fewer.Options.Only = slices.Delete(slices.Clone(only), max(end-size, 0), end)
		out = append(out, fewer)
	}
	return out
}
