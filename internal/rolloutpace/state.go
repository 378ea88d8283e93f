package rolloutpace

import (
	"encoding/json"
	"slices"
	"time"

	"tenon/core/reason"
	"tenon/core/snapshot"
)

// State is where the roll-out of a pool stands. It is a value: methods return another one.
type State struct {
	// Goal tells what the nodes should become; empty if there never was a roll-out.
	Goal string `json:"goal"`
	// Since is when the goal was first seen. Commands that were begun before are of an older
	// roll-out, and prove nothing.
	Since time.Time `json:"since"`
	// Width is how many nodes may be under way at once: one more than have succeeded, until
	// something fails.
	Width int `json:"width"`
	// Proven: since the beginning, or since the last pause, a replacement has come up.
	Proven bool `json:"proven,omitempty"`
	// Row is how many commands have failed since one succeeded, or since the last pause.
	Row int `json:"row,omitempty"`
	// Failures since the last success, the latest last; not all of them are kept.
	Failures []Failure `json:"failures,omitempty"`
	// Pause is there from the first pause until something succeeds.
	Pause *Pause `json:"pause,omitempty"`
	// Ended commands, the latest last: none counts twice.
	Over []string `json:"ended,omitempty"`
}

// Pause is why nothing is begun, or no more than a canary.
type Pause struct {
	// Since is when the first pause in a row began, From when the last one did.
	Since time.Time `json:"since"`
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// Times is how many pauses there were in a row.
	Times int `json:"times"`
}

// Failure is a replacement that did not come up.
type Failure struct {
	Claim string `json:"claim"`
	Why   string `json:"why"`
}

// Finished is a command that is over.
type Finished struct {
	ID    string
	Begun time.Time
	// Brought: its replacements came up, and the node is gone. A command that only removed a
	// node, or that was given up for reasons of its own, says nothing about new nodes.
	Brought  bool
	Failures []Failure
}

const (
	// canary is how many nodes a roll-out begins with, after a pause too.
	canary = 1
	// widest is more than budgets ever let go, and keeps the number small.
	widest = 1 << 10
	// tolerated is how many failures in a row are no reason to pause once a replacement has
	// come up. Of a canary none is.
	tolerated = 1
	// A pause is twice as long as the last one.
	firstPause   = time.Minute
	longestPause = 30 * time.Minute
	// mostPauses in a row are years of them.
	mostPauses = 1 << 20
	// What is kept, so that the annotation stays small.
	keptFailures = 3
	keptEnded    = 32
)

// For is the state for a goal, which begins anew if it is another one, or if what is known of it
// cannot be.
func (s State) For(goal string, now time.Time) State {
	if s.Goal == goal && !s.Pause.lies(now) {
		return s
	}
	return State{Goal: goal, Since: now.UTC(), Width: canary, Over: s.Over}
}

// Ended is the state after a command.
func (s State) Ended(o Finished, now time.Time) State {
	if slices.Contains(s.Over, o.ID) {
		return s
	}
	s.Over = last(append(slices.Clone(s.Over), o.ID), keptEnded)
	switch {
	case o.Begun.Before(s.Since): // of an older roll-out
		return s
	case len(o.Failures) > 0:
		return s.failed(o, now.UTC())
	case o.Brought && !s.precedes(o):
		return s.succeeded()
	}
	return s
}

// precedes reports whether a command was begun before the last pause. Then its result neither ends the
// pause nor makes it longer.
func (s State) precedes(o Finished) bool { return s.Pause != nil && o.Begun.Before(s.Pause.From) }

func (s State) succeeded() State {
	s.Proven, s.Row, s.Failures, s.Pause = true, 0, nil, nil
	s.Width = min(s.Width+1, widest)
	return s
}

func (s State) failed(o Finished, now time.Time) State {
	s.Failures = last(append(slices.Clone(s.Failures), o.Failures...), keptFailures)
	if s.precedes(o) {
		return s
	}
	s.Row++
	if s.Proven && s.Row <= tolerated {
		s.Width = max(s.Width/2, canary)
		return s
	}
	pause := Pause{Since: now, Times: 1, From: now}
	if s.Pause != nil {
		pause.Since, pause.Times = s.Pause.Since, min(s.Pause.Times+1, mostPauses)
	}
	pause.Until = now.Add(lengthOf(pause.Times))
	s.Pause, s.Width, s.Proven, s.Row = &pause, canary, false, 0
	return s
}

// Rested is the state once there is nothing left to replace: it drops a pause that is over.
func (s State) Rested(now time.Time) State {
	if s.Pause != nil && !s.Paused(now) {
		s.Pause, s.Failures, s.Row = nil, nil, 0
	}
	return s
}

func lengthOf(times int) time.Duration {
	length := firstPause
	for n := 1; n < times && length < longestPause; n++ {
		length *= 2
	}
	return min(length, longestPause)
}

// Paused reports whether nothing may be begun at a time.
func (s State) Paused(now time.Time) bool {
	return s.Pause != nil && now.Before(s.Pause.Until) && !s.Pause.lies(now)
}

// lies reports whether the pause begins long after now, because it was written by hand or with a wrong
// clock.
func (p *Pause) lies(now time.Time) bool { return p != nil && p.From.Sub(now) > longestPause }

// Pace is how many more nodes may go, with so many under way.
func (s State) Pace(pool string, underway int, now time.Time) snapshot.Pace {
	out := snapshot.Pace{More: max(s.Width-underway, 0), Rollout: reason.Rollout{Pool: pool, Phase: reason.RolloutGoesOn, Width: s.Width}}
	switch r := &out.Rollout; {
	case s.Paused(now):
		out.More, r.Phase, r.Until, r.Failures = 0, reason.RolloutPauses, s.Pause.Until.UTC(), s.failures()
	case s.Pause != nil:
		r.Phase, r.Failures = reason.RolloutTries, s.failures()
	case !s.Proven:
		r.Phase = reason.RolloutBegins
	}
	return out
}

func last[T any](list []T, n int) []T { return list[max(len(list)-n, 0):] }

// String is what the annotation holds; empty if there is nothing to say.
func (s State) String() string {
	if s.Goal == "" {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil { // strings, numbers and times of today: there is nothing to fail
		panic(err)
	}
	return string(text)
}

// read is the state that an annotation holds. The annotation can be written by hand. What cannot
// be read, or was never written here, is no state: then the roll-out begins anew, slowly.
func read(text string) State {
	var s State
	if json.Unmarshal([]byte(text), &s) != nil || s.Width < canary || s.Width > widest || !s.Pause.sound() {
		return State{}
	}
	return s
}

// sound reports whether a pause is one that is made here.
func (p *Pause) sound() bool {
	return p == nil || p.Times >= 1 && p.Times <= mostPauses && p.Until.Sub(p.From) <= longestPause
}
