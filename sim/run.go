package sim

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"tenon/sim/invariant"
)

// Trial is a run as described by the command's flags.
type Trial struct {
	Options Options
	Faults  string
	Hours   float64
	Rest    time.Duration
	// Steps is the number of steps after which it ends; zero means at the end of its hours.
	Steps int
	// Baseline is what the compared second run disrupts: BaselineAlone or BaselineEmpties. Empty means no
	// second run.
	Baseline string
	// Rule, if it is set, is the only rule whose violations count.
	Rule string
	// Pulse is called now and then with the simulated time. Once it returns false, the run ends.
	Pulse func(simulated time.Duration) bool
}

// TrialResult is the result of a trial.
type TrialResult struct {
	Trial  Trial
	Report Report
	// Violations are those that count.
	Violations []invariant.Violation
	Script     []Mishap
	Err        error
}

// Failed reports whether a rule that counts was broken.
func (o TrialResult) Failed() bool { return len(o.Violations) > 0 || o.Err != nil }

// UsualEffort is the effort of decisions in the command. Rules hold with any effort, and a larger one would
// take most of a run's time.
const UsualEffort = 1_000_000

// ruleOfPanics is the rule that a panic of the product breaks.
const ruleOfPanics = "the product does not panic"

// Run runs the trial until a rule that counts is broken, and otherwise checks the state at rest.
func (t Trial) Run() (o TrialResult) {
	o.Trial = t
	var faults Faults
	if faults, o.Err = ParseFaults(t.Faults); o.Err != nil {
		return o
	}
	t.Options.Faults = faults
	s, err := New(t.Options)
	if err != nil {
		o.Err = fmt.Errorf("seed %d: %w", t.Options.Seed, err)
		return o
	}
	if t.Baseline != "" {
		if o.Err = t.addBaseline(s); o.Err != nil {
			return o
		}
	}
	t.runOnce(s)
	o.Report, o.Script, o.Violations = s.Report(), s.Script, t.counted(s)
	return o
}

// counted returns the violations that count.
func (t Trial) counted(s *Sim) []invariant.Violation {
	if t.Rule == "" {
		return s.Violations
	}
	var out []invariant.Violation
	for _, v := range s.Violations {
		if t.Rule == v.Rule {
			out = append(out, v)
		}
	}
	return out
}

// pulse is the number of steps between calls of Pulse.
const pulse = 1000

// runOnce runs the trial's time, and turns a panic of the product into a violation.
func (t Trial) runOnce(s *Sim) {
	defer func() {
		if fault := recover(); fault != nil {
			s.violated(invariant.Violation{At: s.Clock.Now(), Rule: ruleOfPanics, What: fmt.Sprintf("%v\n%s", fault, debug.Stack())})
		}
	}()
	until := s.Clock.Now().Add(time.Duration(t.Hours * float64(time.Hour)))
	for n := 1; s.Step(until) && !s.stuck() && len(t.counted(s)) == 0 && (t.Steps == 0 || s.Steps < t.Steps); n++ {
		if s.baseline != nil {
			s.baseline.follow(s)
		}
		if t.Pulse != nil && n%pulse == 0 && !t.Pulse(s.Clock.Now().Sub(s.begun)) {
			return
		}
	}
	if s.baseline != nil && len(t.counted(s)) == 0 && t.Steps == 0 {
		s.baseline.close(s, until)
	}
	if t.Rest > 0 && t.Steps == 0 && len(t.counted(s)) == 0 {
		s.Rest(t.Rest)
	}
}

// Fails reports whether a rule that counts is broken.
func (t Trial) Fails() bool { return t.Run().Failed() }

// String returns the flags that repeat the trial.
func (t Trial) String() string {
	text := fmt.Sprintf("-seed %d -hours %g -pods %d -faults %s -rest %s", t.Options.Seed, t.Hours, t.Options.Pods, t.Faults, t.Rest)
	if t.Options.Limit > 0 {
		text += fmt.Sprintf(" -limit %d", t.Options.Limit)
	}
	if t.Options.OnDemand {
		text += " -on-demand"
	}
	if t.Options.Buffers {
		text += " -buffers"
	}
	if t.Options.Groups {
		text += " -groups"
	}
	if t.Options.Totals != "" {
		text += " -totals " + t.Options.Totals
	}
	if t.Options.Pause > 0 {
		text += fmt.Sprintf(" -pause %s", t.Options.Pause)
	}
	if t.Options.Effort != UsualEffort {
		text += fmt.Sprintf(" -effort %d", t.Options.Effort)
	}
	if t.Baseline != "" {
		text += " -baseline " + t.Baseline
	}
	if t.Options.Only != nil {
		text += " -only " + t.Options.Only.String()
	}
	return text
}

// Numbers are the numbers of mishaps, sorted.
type Numbers []int

// String returns the list separated by commas; an empty one is "none".
func (n Numbers) String() string {
	if len(n) == 0 {
		return "none"
	}
	text := make([]string, len(n))
	for i, number := range n {
		text[i] = strconv.Itoa(number)
	}
	return strings.Join(text, ",")
}

// ParseNumbers reads what String writes; an empty text is nil, which means all.
func ParseNumbers(text string) (Numbers, error) {
	switch text {
	case "":
		return nil, nil
	case "none":
		return Numbers{}, nil
	}
	var out Numbers
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("%q is not the number of a mishap", word)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out, nil
}

func (n Numbers) has(number int) bool {
	_, found := slices.BinarySearch(n, number)
	return found
}

// Varied returns a small trial with a size and faults that follow from its seed: many different small
// trials find more than a few large ones that are alike.
func Varied(t Trial) Trial {
	dice := rand.New(rand.NewPCG(t.Options.Seed, 4))
	t.Hours = []float64{0.15, 0.25, 0.5, 1}[dice.IntN(4)]
	t.Options.Pods = 2 + dice.IntN(12)
	if dice.IntN(4) == 0 {
		t.Options.Limit = 1 + dice.IntN(2*t.Options.Pods)
	}
	t.Options.OnDemand = dice.IntN(2) == 0
	t.Options.Buffers = rand.New(rand.NewPCG(t.Options.Seed, 6)).IntN(4) == 0
	if dice := rand.New(rand.NewPCG(t.Options.Seed, 9)); dice.IntN(4) == 0 {
		t.Options.Totals = drawTotals(dice, t.Options.Pods)
	}
	all := strings.Split(t.Faults, ",")
	if t.Faults == "all" {
		all = FaultNames()
	}
	if dice.IntN(4) == 0 {
		return t // everything at once
	}
	var some []string
	for _, name := range all {
		if dice.IntN(2) == 0 {
			some = append(some, name)
		}
	}
	t.Faults = "none"
	if len(some) > 0 {
		t.Faults = strings.Join(some, ",")
	}
	return t
}

// drawTotals draws limits on all nodes, which are reached now and then.
func drawTotals(dice *rand.Rand, pods int) string {
	flags := []string{
		fmt.Sprintf("max-nodes-total=%d", 2+dice.IntN(6)),
		fmt.Sprintf("cores-total=%d:%d", dice.IntN(9), 8+dice.IntN(4*pods)),
		fmt.Sprintf("memory-total=%d:%d", dice.IntN(17), 32+dice.IntN(8*pods)),
	}
	dice.Shuffle(len(flags), func(i, j int) { flags[i], flags[j] = flags[j], flags[i] })
	return strings.Join(flags[:1+dice.IntN(len(flags))], ",")
}
