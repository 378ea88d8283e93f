package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Trial is a run as the command's flags describe it.
type Trial struct {
	Options Options
	Faults  string
	Hours   float64
	Rest    time.Duration
}

// String are the flags that repeat it.
func (t Trial) String() string {
	return fmt.Sprintf("-seed %d -hours %g -pods %d -faults %s -rest %s", t.Options.Seed, t.Hours, t.Options.Pods, t.Faults, t.Rest)
}

// Fails reports whether a rule is broken.
func (t Trial) Fails() bool {
	faults, err := ParseFaults(t.Faults)
	if err != nil {
		return false
	}
	t.Options.Faults, t.Options.Log = faults, nil
	s, err := New(t.Options)
	if err != nil {
		return false
	}
	s.Run(time.Duration(t.Hours * float64(time.Hour)))
	if len(s.Violations) == 0 && t.Rest > 0 {
		s.Rest(t.Rest)
	}
	return len(s.Violations) > 0
}

// Shrink leaves out what a trial that fails does not need to fail: kinds of faults, time
// and pods. Each attempt is another run, since dice fall differently with fewer of them;
// one that fails as well is as good a witness.
func Shrink(t Trial) Trial {
	for {
		smaller, found := t.step()
		if !found {
			return t
		}
		t = smaller
	}
}

// step is the first of the next smaller trials that fails.
func (t Trial) step() (Trial, bool) {
	for _, next := range t.smaller() {
		if next.Fails() {
			return next, true
		}
	}
	return t, false
}

// smallest is less than which is not worth a run.
const (
	fewestHours = 0.25
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
	if len(names) > 1 {
		for i := range names {
			fewer := t
			fewer.Faults = strings.Join(slices.Delete(slices.Clone(names), i, i+1), ",")
			out = append(out, fewer)
		}
	}
	if half := t; t.Options.Pods/2 >= fewestPods {
		half.Options.Pods /= 2
		out = append(out, half)
	}
	return out
}
