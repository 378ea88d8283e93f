package rolloutpace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/rolloutpace"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// story lets things happen to a roll-out, in words: ok, fail and removed are commands that
// were begun just before, "early fail" is one that was begun at noon, a goal is a letter in
// capitals, and what is left is a time that passes.
func story(t *testing.T, s rolloutpace.State, words ...string) (rolloutpace.State, time.Time) {
	t.Helper()
	now := noon
	for i, word := range words {
		o := rolloutpace.Finished{ID: fmt.Sprint(i), Begun: now, Brought: true}
		if rest, early := strings.CutPrefix(word, "early "); early {
			o.Begun, word = noon, rest
		}
		switch {
		case word == "ok":
			s = s.Ended(o, now)
		case word == "removed":
			o.Brought = false
			s = s.Ended(o, now)
		case word == "fail":
			o.Failures = []rolloutpace.Failure{{Claim: fmt.Sprintf("web-%d", i), Why: "no node"}}
			s = s.Ended(o, now)
		case strings.ToUpper(word) == word:
			s = s.For(word, now)
		default:
			d, err := time.ParseDuration(word)
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(d)
		}
	}
	return s, now
}

// TestPace: how many nodes may go after what has happened, and until when a pause lasts.
func TestPace(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		story    []string
		underway int
		want     int
		until    time.Duration // after noon; zero is no pause
	}{
		"a roll-out begins with one node":                    {[]string{"A"}, 0, 1, 0},
		"which is under way":                                 {[]string{"A"}, 1, 0, 0},
		"a success lets two go":                              {[]string{"A", "ok"}, 0, 2, 0},
		"two more let four go":                               {[]string{"A", "ok", "ok", "ok"}, 0, 4, 0},
		"those that are under way count":                     {[]string{"A", "ok", "ok", "ok"}, 3, 1, 0},
		"more than may are under way":                        {[]string{"A", "ok"}, 5, 0, 0},
		"a node that is only removed proves nothing":         {[]string{"A", "removed", "removed"}, 0, 1, 0},
		"the canary fails":                                   {[]string{"A", "fail"}, 0, 0, time.Minute},
		"one failure halves":                                 {[]string{"A", "ok", "ok", "ok", "fail"}, 0, 2, 0},
		"and a success is one more again":                    {[]string{"A", "ok", "ok", "ok", "fail", "ok"}, 0, 3, 0},
		"two failures in a row pause":                        {[]string{"A", "ok", "ok", "ok", "fail", "fail"}, 0, 0, time.Minute},
		"two failures with a success between do not":         {[]string{"A", "ok", "ok", "ok", "fail", "ok", "fail"}, 0, 1, 0},
		"after the pause one is tried":                       {[]string{"A", "ok", "ok", "ok", "fail", "fail", "1m"}, 0, 1, 0},
		"if that fails too, the next pause is longer":        {[]string{"A", "fail", "1m", "fail"}, 0, 0, 3 * time.Minute},
		"twice, four times as long":                          {[]string{"A", "fail", "1m", "fail", "2m", "fail"}, 0, 0, 7 * time.Minute},
		"but not for ever":                                   {[]string{"A", "fail", "1m", "fail", "2m", "fail", "4m", "fail", "8m", "fail", "16m", "fail", "30m", "fail"}, 0, 0, 91 * time.Minute},
		"if it comes up, two may go":                         {[]string{"A", "fail", "1m", "fail", "2m", "ok"}, 0, 2, 0},
		"and the next pause is short again":                  {[]string{"A", "fail", "1m", "fail", "2m", "ok", "fail", "fail"}, 0, 0, 4 * time.Minute},
		"what was begun before a pause does not prolong it":  {[]string{"A", "1s", "fail", "10s", "early fail", "early fail"}, 0, 0, 61 * time.Second},
		"nor end it":                                         {[]string{"A", "1s", "fail", "10s", "early ok"}, 0, 0, 61 * time.Second},
		"another goal begins anew":                           {[]string{"A", "ok", "ok", "ok", "B"}, 0, 1, 0},
		"and ends a pause":                                   {[]string{"A", "fail", "B"}, 0, 1, 0},
		"what was begun for the old goal proves nothing":     {[]string{"A", "1s", "B", "early ok", "early ok"}, 0, 1, 0},
		"nor does it fail":                                   {[]string{"A", "1s", "B", "early fail", "early fail"}, 0, 1, 0},
		"a goal that is taken back has to prove itself anew": {[]string{"A", "ok", "ok", "B", "A"}, 0, 1, 0},
		"the same goal again changes nothing":                {[]string{"A", "ok", "ok", "A"}, 0, 3, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, now := story(t, rolloutpace.State{}, tc.story...)
			pace := s.Pace("web", tc.underway, now)
			if pace.More != tc.want || pace.Rollout.Phase == "" {
				t.Errorf("%+v, want %d more", pace, tc.want)
			}
			if s.Paused(now) != (tc.until > 0) || tc.until > 0 && s.Pause.Until.Sub(noon) != tc.until {
				t.Errorf("pause %+v, want one until %s after noon", s.Pause, tc.until)
			}
		})
	}
}

// TestNoneCountsTwice: a command that is told again after a restart changes nothing.
func TestNoneCountsTwice(t *testing.T) {
	t.Parallel()
	s := rolloutpace.State{}.For("A", noon)
	o := rolloutpace.Finished{ID: "x", Begun: noon, Brought: true}
	once := s.Ended(o, noon)
	if diff := cmp.Diff(once, once.Ended(o, noon.Add(time.Hour))); diff != "" {
		t.Errorf("(-once +twice):\n%s", diff)
	}
}

// TestNeverMoreThanProven: at no time may more be under way than have succeeded
// for the goal, and one.
func TestNeverMoreThanProven(t *testing.T) {
	t.Parallel()
	for script := range 1 << 12 {
		s, succeeded := rolloutpace.State{}.For("A", noon), 0
		now := noon
		for step := range 12 {
			o := rolloutpace.Finished{ID: fmt.Sprint(step), Begun: now, Brought: true}
			if script>>step&1 == 1 {
				succeeded++
			} else {
				o.Failures = []rolloutpace.Failure{{Claim: "web", Why: "no"}}
			}
			now = now.Add(time.Minute)
			s = s.Ended(o, now)
			if pace := s.Pace("web", 0, now); pace.More > succeeded+1 {
				t.Fatalf("script %b: %d may go after %d successes", script, pace.More, succeeded)
			}
		}
	}
}

// TestRounds: a roll-out that goes well reaches its budget soon.
func TestRounds(t *testing.T) {
	t.Parallel()
	s, now := rolloutpace.State{}.For("A", noon), noon
	var rounds []int
	for left, id := 200, 0; left > 0; {
		begun := min(s.Pace("web", 0, now).More, 40, left) // the budget is 20 %
		rounds = append(rounds, begun)
		for range begun {
			id++
			s = s.Ended(rolloutpace.Finished{ID: fmt.Sprint(id), Begun: now, Brought: true}, now)
		}
		left -= begun
		now = now.Add(5 * time.Minute)
	}
	if diff := cmp.Diff([]int{1, 2, 4, 8, 16, 32, 40, 40, 40, 17}, rounds); diff != "" {
		t.Errorf("nodes a round (-want +got):\n%s", diff)
	}
}

// TestBrokenImage: a day with an image that never boots costs a machine a try, one at a time.
func TestBrokenImage(t *testing.T) {
	t.Parallel()
	s, now, tries := rolloutpace.State{}.For("A", noon), noon, 0
	for now.Before(noon.Add(24 * time.Hour)) {
		more := s.Pace("web", 0, now).More
		if more == 0 {
			now = now.Add(10 * time.Second)
			continue
		}
		if tries++; more != 1 {
			t.Fatalf("%d at once", more)
		}
		begun := now
		now = now.Add(10 * time.Minute) // until it is not waited for any more
		s = s.Ended(rolloutpace.Finished{ID: fmt.Sprint(tries), Begun: begun, Failures: []rolloutpace.Failure{{Claim: "web", Why: "never joined"}}}, now)
	}
	if tries > 40 {
		t.Errorf("%d tries in a day", tries)
	}
}

// TestTexts: people are told what failed, since when, and what happens next.
func TestTexts(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		story   []string
		why     string
		reason  string
		message string
	}{
		"the beginning": {[]string{"A"}, `Roll-out of nodepool "web" begins with one node, to see whether its replacement comes up`, "", ""},
		"on the way":    {[]string{"A", "ok"}, `Roll-out of nodepool "web" replaces 2 nodes at a time for now`, "", ""},
		"one by one":    {[]string{"A", "ok", "fail"}, `Roll-out of nodepool "web" replaces one node at a time for now`, "", ""},
		"paused": {[]string{"A", "fail"}, `Roll-out of nodepool "web" is paused until 2026-11-21T12:01:00Z: web-1: no node`, "ReplacementsFailed",
			"Replacements of drifted nodes have failed since 2026-11-21T12:00:00Z: web-1: no node. No drifted node is replaced until 2026-11-21T12:01:00Z; then one is tried. " +
				"A change of the nodepool's template or of its node class ends the pause at once"},
		"trying": {[]string{"A", "fail", "1m"}, `Roll-out of nodepool "web" tries one node first: web-1: no node`, "TryingAgain",
			"Replacements of drifted nodes have failed since 2026-11-21T12:00:00Z: web-1: no node. One drifted node at a time is tried again; when its replacement is ready, the roll-out goes on"},
		"all that failed": {[]string{"A", "ok", "fail", "fail"}, `Roll-out of nodepool "web" is paused until 2026-11-21T12:01:00Z: web-2: no node; web-3: no node`, "ReplacementsFailed",
			"Replacements of drifted nodes have failed since 2026-11-21T12:00:00Z: web-2: no node; web-3: no node. No drifted node is replaced until 2026-11-21T12:01:00Z; then one is tried. " +
				"A change of the nodepool's template or of its node class ends the pause at once"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, now := story(t, rolloutpace.State{}, tc.story...)
			reason, message := s.Condition(now)
			pace := s.Pace("web", 9, now)
			if diff := cmp.Diff([]string{tc.why, tc.reason, tc.message}, []string{pace.Rollout.Text(), reason, message}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSmall: however long it goes on, the annotation stays small.
func TestSmall(t *testing.T) {
	t.Parallel()
	s, now := rolloutpace.State{}.For("A", noon), noon
	for i := range 500 {
		now = now.Add(time.Hour)
		s = s.Ended(rolloutpace.Finished{ID: fmt.Sprintf("x%05d", i), Begun: now, Failures: []rolloutpace.Failure{{Claim: "web-x7k2p", Why: strings.Repeat("because ", 37)}}}, now)
	}
	if n := len(s.String()); n > 2000 {
		t.Errorf("%d bytes", n)
	}
}

// TestWhatIsWrittenByHandEndsNoRollOutForEver: the annotation is the pool's, and a user who may change
// a pool can write anything there. A state that was never written here is none.
func TestWhatIsWrittenByHandEndsNoRollOutForEver(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]string{
		"pauses without end":        `{"since":"2026-11-21T12:00:00Z","from":"2026-11-21T12:00:00Z","until":"2026-11-21T12:30:00Z","times":9000000000000000000}`,
		"fewer than none":           `{"since":"2026-11-21T12:00:00Z","from":"2026-11-21T12:00:00Z","until":"2026-11-21T12:30:00Z","times":-1}`,
		"a pause of centuries":      `{"since":"2026-11-21T12:00:00Z","from":"2026-11-21T12:00:00Z","until":"9999-01-01T00:00:00Z","times":1}`,
		"a pause far in the future": `{"since":"9999-01-01T00:00:00Z","from":"9999-01-01T00:00:00Z","until":"9999-01-01T00:30:00Z","times":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := &karpenterv1.NodePool{}
			pool.Annotations = map[string]string{rolloutpace.Annotation: `{"goal":"A","since":"2026-11-21T11:00:00Z","width":1,"pause":` + pause + `}`}
			state := rolloutpace.Of(pool)
			if state.Paused(noon) {
				t.Error("it is paused")
			}
			failed := state.For("A", noon).Ended(rolloutpace.Finished{ID: "c", Begun: noon.Add(time.Second), Failures: []rolloutpace.Failure{{Claim: "c"}}}, noon)
			if failed.Pause == nil || failed.Pause.Until.Sub(noon) > 30*time.Minute {
				t.Errorf("after a failure: pause %+v, want one of half an hour at most", failed.Pause)
			}
		})
	}
}
