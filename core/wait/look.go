package wait

import (
	"time"

	"tenon/core/plan"
)

// Look is what the time depends on at which a decision about pods is looked at again although no pod
// has come. What can be bought, and which nodes there are, matters only to pods without a place.
type Look struct {
	// Last is when the last decision was made, and Next when a part of it that waits comes to its time;
	// zero without one.
	Last, Next time.Time
	// Supply says that what can be bought has changed, for pods without a place; Buffers that anything
	// has while room is kept free; Objections that the scheduler objected to a place.
	Supply, Buffers, Objections bool
}

// How long to leave between a decision and the next look at it. The shorter ones keep a stream of small
// changes from asking for a decision each: the scheduler objects to each pod of a burst by itself.
const (
	// LookEvery is for pods without a place: the cloud may have something by now.
	LookEvery      = 10 * time.Second
	supplyPause    = 100 * time.Millisecond
	bufferPause    = time.Second
	objectionPause = time.Second
)

// At is the time of the next look.
func (l Look) At() time.Time {
	next := l.Last.Add(LookEvery)
	sooner := func(so bool, t time.Time) {
		if so && t.Before(next) {
			next = t
		}
	}
	sooner(l.Supply, l.Last.Add(supplyPause))
	sooner(l.Buffers, l.Last.Add(bufferPause))
	sooner(l.Objections, l.Last.Add(objectionPause))
	sooner(!l.Next.IsZero(), l.Next)
	return next
}

// Evaluation is what the time of the next evaluation of the fleet depends on.
type Evaluation struct {
	// Last is when the last one was, zero before the first; Took is how long it took, and Owed by how much all have taken more than
	// their share; see Owe.
	Last       time.Time
	Took, Owed time.Duration
	// Pause is the operator's least time between two.
	Pause time.Duration
	// Swept says that each node has had its turn; Changed that something is not as it was.
	Swept, Changed bool
	// Next is when an answer may change although nothing happens; zero is never.
	Next time.Time
	// Held says that the last one began something, or looked for no moves because pods were in transit; Over that no pods are in
	// transit now.
	Held, Over bool
}

const (
	// evaluateEvery is the least time between two evaluations, and also how often to see whether one
	// is due.
	evaluateEvery = 10 * time.Second
	// evaluateAnyway is after how long to evaluate although nothing is known to have changed.
	evaluateAnyway = 5 * time.Minute
	// evaluateOver is the least time to the evaluation that goes on when what the last one waited for is over, and
	// how often to see whether it is; overShare is how much of one core these may take, as its inverse.
	evaluateOver = time.Second
	overShare    = 5
	// coreShare is how much of one core evaluations may take, as its inverse, and inAdvance how much of it they may take in advance: a fleet
	// that has not been evaluated for minutes need not wait when it changes twice. longestRest is how long they rest for their share
	// at most: on a machine that is short of cores, or for pods that a tenant has made hard to place, an evaluation takes
	// long, and the next one, which may be short, must not be twenty times as far away.
	coreShare   = 20
	inAdvance   = 5 * time.Second
	longestRest = time.Minute
	// budgetsEvery is how often to look again while budgets hold nodes back: they may have a
	// schedule.
	budgetsEvery = time.Minute
)

// Owe is by how much evaluations have taken more than their share after another one, which came some time after the one before it.
func Owe(owed, took, since time.Duration) time.Duration { return max(owed-since/coreShare, 0) + took }

// Left is how long it is until the next evaluation is due or has to be thought about again; nothing or
// less is now.
func (e Evaluation) Left(now time.Time) time.Duration {
	if e.Last.IsZero() {
		return 0
	}
	often := max(evaluateEvery, e.Pause)
	pause := max(often, min(coreShare*(e.Owed-inAdvance), longestRest))
	if !e.Swept {
		pause = min(e.Took, evaluateAnyway) // nodes wait to be looked at
	}
	if e.Held {
		often = max(evaluateOver, e.Pause)
		if e.Over {
			pause = min(pause, max(often, overShare*e.Took))
		}
	}
	earliest, due := e.Last.Add(pause), e.Last.Add(evaluateAnyway)
	if !e.Next.IsZero() && e.Next.Before(due) {
		due = e.Next
	}
	if e.Changed || e.Held && e.Over || !e.Swept || due.Before(earliest) {
		due = earliest
	}
	return min(due.Sub(now), often)
}

// NextProspect is when what is in store for a node may change by itself; zero is never.
func NextProspect(prospects []plan.Prospect, now time.Time) time.Time {
	var next time.Time
	for i := range prospects {
		p := &prospects[i]
		at := p.Until
		if p.Kind == plan.Waiting && at.IsZero() {
			at = now.Add(budgetsEvery)
		}
		if at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}
