package sim

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"tenon/cloud/memory"
	"tenon/sim/mirror"
)

// Faults are the rates of faults. Numbers are out of a thousand occasions; with the zero value there are no
// faults, and caches never lag.
type Faults struct {
	// Lag is how far the product's caches lag behind.
	Lag mirror.Lag
	// Refused calls to the API server do nothing and fail. Lost calls take effect and then fail. Conflicts
	// are refused as if another writer had been faster.
	Refused, Lost, Conflicts int
	// Crashes end the process before or after a call. It starts again within Restart.
	Crashes int
	Restart time.Duration
	// Interleaved calls let other events happen first.
	Interleaved int
	// Cloud has the faults of the cloud.
	Cloud memory.Rates
	// The average intervals of other faults; zero means never. Handovers start a second process while the
	// first one works for a moment longer. Shortages make an offering unavailable for a while.
	// Interruptions end a spot machine two minutes after a notice, which a few machines do not get. Prices
	// of spot machines change. Jumps move the clock forward. Edits are users who delete or change objects
	// that matter. Tenants ask for more pods than their quota allows.
	Handovers, Shortages, Interruptions, Prices, Jumps, Edits, Tenants time.Duration
	// CloudLag is how far the cloud's answers lag behind.
	CloudLag time.Duration
	// Duds is how many machines in a thousand never join.
	Duds int
	// Sick is how many machines in a thousand stop being ready some time later.
	Sick int
}

// faultSets are the sets of faults by their names in the command.
func faultSets() map[string]func(*Faults) {
	return map[string]func(*Faults){
		"lag": func(f *Faults) {
			f.Lag.Most, f.Lag.Repeated, f.Lag.Stalled, f.Lag.Stall = 2*time.Second, 20, 2, 20*time.Second
		},
		"gap": func(f *Faults) {
			f.Lag.Most, f.Lag.Broken, f.Lag.Blind = max(f.Lag.Most, time.Second), 2, 30*time.Second
		},
		"api":        func(f *Faults) { f.Refused, f.Lost, f.Conflicts = 10, 10, 20 },
		"crash":      func(f *Faults) { f.Crashes, f.Restart = 2, 20*time.Second },
		"interleave": func(f *Faults) { f.Interleaved = 50 },
		"cloud": func(f *Faults) {
			f.Cloud.Unreachable, f.Cloud.Lost = 20, 20
		},
		"throttle":  func(f *Faults) { f.Cloud.Throttled = 60 },
		"behind":    func(f *Faults) { f.CloudLag = 10 * time.Second },
		"death":     func(f *Faults) { f.Cloud.Deaths, f.Cloud.LifeUpTo = 50, 2*time.Hour },
		"price":     func(f *Faults) { f.Prices = 10 * time.Minute },
		"handover":  func(f *Faults) { f.Handovers = 20 * time.Minute },
		"shortage":  func(f *Faults) { f.Shortages = 10 * time.Minute },
		"interrupt": func(f *Faults) { f.Interruptions = 15 * time.Minute },
		"jump":      func(f *Faults) { f.Jumps = time.Hour },
		"edits":     func(f *Faults) { f.Edits = 20 * time.Minute },
		"quota":     func(f *Faults) { f.Tenants = 15 * time.Minute },
		"dud":       func(f *Faults) { f.Duds = 30 },
		"sick":      func(f *Faults) { f.Sick = 20 },
	}
}

// ParseFaults reads a list of names: "none", "all", or several separated by commas. A name may have a
// factor for its rates: "edits*10".
func ParseFaults(text string) (Faults, error) {
	var f Faults
	for word := range strings.SplitSeq(text, ",") {
		name, factor, said := strings.Cut(word, "*")
		times, err := strconv.Atoi(factor)
		if said && (err != nil || times < 1) {
			return Faults{}, fmt.Errorf("%q is no number of times", factor)
		}
		names := []string{name}
		switch name {
		case "none", "":
			continue
		case "all":
			names = FaultNames()
		}
		for _, n := range names {
			if err := f.add(n, max(times, 1)); err != nil {
				return Faults{}, err
			}
		}
	}
	return f, nil
}

// add adds a set of faults, with its rates multiplied.
func (f *Faults) add(name string, times int) error {
	set, known := faultSets()[name]
	if !known {
		return fmt.Errorf("no faults are called %q; there are none, all, %s", name, strings.Join(FaultNames(), ", "))
	}
	var more Faults
	set(&more)
	more.often(times)
	join(reflect.ValueOf(f).Elem(), reflect.ValueOf(more))
	return nil
}

// often multiplies all rates.
func (f *Faults) often(times int) {
	for _, rate := range []*int{
		&f.Lag.Repeated, &f.Lag.Stalled, &f.Refused, &f.Lost, &f.Conflicts, &f.Crashes, &f.Interleaved,
		&f.Cloud.Unreachable, &f.Cloud.Lost, &f.Cloud.Throttled, &f.Cloud.Deaths, &f.Duds, &f.Sick,
	} {
		*rate = min(*rate*times, 900) // some calls have to succeed
	}
	for _, period := range []*time.Duration{&f.Handovers, &f.Shortages, &f.Interruptions, &f.Prices, &f.Jumps, &f.Edits, &f.Tenants} {
		*period /= time.Duration(times)
	}
}

// join copies what is not zero.
func join(to, from reflect.Value) {
	for i := range from.NumField() {
		switch field := from.Field(i); {
		case field.Kind() == reflect.Struct:
			join(to.Field(i), field)
		case !field.IsZero():
			to.Field(i).Set(field)
		}
	}
}

// FaultNames returns the names that ParseFaults knows, sorted.
func FaultNames() []string {
	var names []string
	for name := range faultSets() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Mishap is one fault that happened in a run. The mishaps of a run are numbered from one, so that a run can
// be repeated with some of them only.
type Mishap struct {
	Number int
	At     time.Time
	What   string
}

// String returns a line of a script.
func (m Mishap) String() string {
	return fmt.Sprintf("%d at %s: %s", m.Number, m.At.UTC().Format("02 15:04:05.000"), m.What)
}

// happens decides randomly, with a rate out of a thousand. The script records the kind and the object.
func (s *Sim) happens(inThousand int, what, to string) bool {
	return inThousand > 0 && s.dice.IntN(1000) < inThousand && s.mishap(what, to)
}

// mishap numbers a fault, and reports whether it may happen.
func (s *Sim) mishap(what, to string) bool {
	s.numbers++
	if s.options.Only != nil && !s.options.Only.has(s.numbers) {
		return false
	}
	m := Mishap{s.numbers, s.Clock.Now(), what + " " + to}
	s.Script = append(s.Script, m)
	s.watch.Stir()
	s.Log.Info("mishap", "number", m.Number, "what", m.What)
	return true
}

// upTo returns a random duration below a bound.
func (s *Sim) upTo(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	return time.Duration(s.dice.Int64N(int64(most)))
}
