package kubelet

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Fault is what is wrong with a machine. The zero value is a healthy machine; setting it heals a broken
// one.
type Fault struct {
	// NotReady: the kubelet lives and reports Ready=False. Running pods stay, new ones do not start.
	NotReady bool `json:"notReady,omitempty"`
	// Silent: the machine sends nothing, so the control plane sets its conditions to Unknown once the
	// monitor grace period has passed, and pods stay as they are.
	Silent bool `json:"silent,omitempty"`
	// NeverJoin: the instance runs but its Node never appears. It has no effect on an existing Node.
	NeverJoin bool `json:"neverJoin,omitempty"`
	// Slow multiplies boot, start and stop delays; 0 and 1 are the usual speed.
	Slow float64 `json:"slow,omitempty"`
}

// ParseFault reads the text form of a fault: a comma-separated list of
// "not-ready", "silent", "never-join" and "slow=FACTOR". Empty text is no fault.
func ParseFault(text string) (Fault, error) {
	var f Fault
	for _, word := range strings.Split(text, ",") {
		name, value, hasValue := strings.Cut(strings.TrimSpace(word), "=")
		switch {
		case name == "" && !hasValue:
		case name == "not-ready" && !hasValue:
			f.NotReady = true
		case name == "silent" && !hasValue:
			f.Silent = true
		case name == "never-join" && !hasValue:
			f.NeverJoin = true
		case name == "slow" && hasValue:
			factor, err := strconv.ParseFloat(value, 64)
			if err != nil || !(factor > 0 && factor <= 1e6) {
				return Fault{}, fmt.Errorf("fault %q: want a factor above 0, as in slow=4", word)
			}
			f.Slow = factor
		default:
			return Fault{}, fmt.Errorf("fault %q: want not-ready, silent, never-join or slow=FACTOR", word)
		}
	}
	return f, nil
}

// String returns the text that ParseFault reads.
func (f Fault) String() string {
	var words []string
	if f.NotReady {
		words = append(words, "not-ready")
	}
	if f.Silent {
		words = append(words, "silent")
	}
	if f.NeverJoin {
		words = append(words, "never-join")
	}
	if f.Slow != 0 {
		words = append(words, "slow="+strconv.FormatFloat(f.Slow, 'g', -1, 64))
	}
	return strings.Join(words, ",")
}

// and combines two faults; slowness multiplies.
func (f Fault) and(g Fault) Fault {
	both := Fault{
		NotReady:  f.NotReady || g.NotReady,
		Silent:    f.Silent || g.Silent,
		NeverJoin: f.NeverJoin || g.NeverJoin,
	}
	if f.Slow != 0 || g.Slow != 0 {
		both.Slow = f.factor() * g.factor()
	}
	return both
}

func (f Fault) factor() float64 {
	if f.Slow <= 0 {
		return 1
	}
	return f.Slow
}

// stretch returns how long something takes on this machine.
func (f Fault) stretch(d time.Duration) time.Duration {
	return time.Duration(float64(d) * f.factor())
}
