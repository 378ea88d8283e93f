package wait

import (
	"testing"
	"time"

	"tenon/core/plan"
)

// A decision about pods is looked at again after ten seconds, and sooner when something has changed or a part
// of it comes to its time.
func TestLook(t *testing.T) {
	t.Parallel()
	last := time.Unix(1_800_000_000, 0)
	for name, tc := range map[string]struct {
		look Look
		want time.Duration
	}{
		"nothing has changed":             {Look{}, 10 * time.Second},
		"something else can be bought":    {Look{Supply: true}, 100 * time.Millisecond},
		"room is kept free":               {Look{Buffers: true}, time.Second},
		"the scheduler objected":          {Look{Objections: true}, time.Second},
		"a claim waits for three seconds": {Look{Next: last.Add(3 * time.Second)}, 3 * time.Second},
		"a claim waits longer than that":  {Look{Next: last.Add(time.Minute)}, 10 * time.Second},
		"the soonest of several reasons":  {Look{Supply: true, Objections: true, Next: last.Add(3 * time.Second)}, 100 * time.Millisecond},
		"what waits has come to its time": {Look{Next: last.Add(-time.Second)}, -time.Second},
	} {
		tc.look.Last = last
		if got := tc.look.At().Sub(last); got != tc.want {
			t.Errorf("%s: looked at again after %s, want %s", name, got, tc.want)
		}
	}
}

// The fleet is evaluated when something has changed, a prospect changes by itself, or five minutes are over;
// evaluations take a twentieth of a core at most, five seconds of it in advance, unless nodes wait for their turn.
func TestEvaluation(t *testing.T) {
	t.Parallel()
	last := time.Unix(1_800_000_000, 0)
	now := last.Add(4 * time.Second)
	for name, tc := range map[string]struct {
		e    Evaluation
		want time.Duration // from now on
	}{
		"the first":                            {Evaluation{}, 0},
		"nothing has changed":                  {Evaluation{Last: last, Swept: true}, 10 * time.Second},
		"something has changed":                {Evaluation{Last: last, Swept: true, Changed: true}, 6 * time.Second},
		"an answer changes in five seconds":    {Evaluation{Last: last, Swept: true, Next: now.Add(5 * time.Second)}, 6 * time.Second},
		"an answer changes in eight seconds":   {Evaluation{Last: last, Swept: true, Next: now.Add(8 * time.Second)}, 8 * time.Second},
		"nodes wait for their turn":            {Evaluation{Last: last, Took: time.Second}, -3 * time.Second},
		"the last took long":                   {Evaluation{Last: last, Took: 5 * time.Second, Owed: 5 * time.Second, Swept: true, Changed: true}, 6 * time.Second},
		"many took long":                       {Evaluation{Last: last, Took: time.Second, Owed: 5600 * time.Millisecond, Swept: true, Changed: true}, 8 * time.Second},
		"what it waited for is over":           {Evaluation{Last: last, Took: time.Second, Swept: true, Held: true, Over: true}, time.Second},
		"what it waits for goes on":            {Evaluation{Last: last, Swept: true, Changed: true, Held: true}, time.Second},
		"over, and the operator's pause holds": {Evaluation{Last: last, Pause: 30 * time.Second, Swept: true, Held: true, Over: true}, 26 * time.Second},
		"the operator's pause is seen through": {Evaluation{Last: last, Pause: 30 * time.Second, Swept: true, Changed: true}, 26 * time.Second},
	} {
		if got := tc.e.Left(now); got != tc.want {
			t.Errorf("%s: %s are left, want %s", name, got, tc.want)
		}
	}
	if got := (Evaluation{Last: last, Took: 10 * time.Second, Owed: 10 * time.Second, Swept: true, Changed: true}).Left(last.Add(time.Minute)); got > 0 {
		t.Errorf("%s are left a minute after an evaluation that took ten seconds", got)
	}
	if got := (Evaluation{Last: last, Swept: true}).Left(last.Add(evaluateAnyway)); got > 0 {
		t.Errorf("%s are left after five minutes", got)
	}
}

// Evaluations owe what they have taken beyond a twentieth of the time; time in which they owe nothing is not saved up.
func TestOwe(t *testing.T) {
	t.Parallel()
	owed := time.Duration(0)
	for _, each := range []struct{ since, took, want time.Duration }{
		{0, 2 * time.Second, 2 * time.Second}, {20 * time.Second, time.Second, 2 * time.Second}, {time.Hour, time.Second, time.Second},
	} {
		if owed = Owe(owed, each.took, each.since); owed != each.want {
			t.Errorf("%s are owed after %s and one of %s, want %s", owed, each.since, each.took, each.want)
		}
	}
}

// The next change is the soonest time that a prospect tells; what a budget holds back is looked at each minute.
func TestNextProspect(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	past, soon, late := plan.Prospect{Until: now.Add(-time.Second)}, plan.Prospect{Until: now.Add(time.Second)}, plan.Prospect{Until: now.Add(time.Hour)}
	held := plan.Prospect{Kind: plan.Waiting}
	for name, tc := range map[string]struct {
		prospects []plan.Prospect
		want      time.Time
	}{
		"no prospect":          {nil, time.Time{}},
		"one that is over":     {[]plan.Prospect{past}, time.Time{}},
		"the soonest":          {[]plan.Prospect{late, past, soon}, soon.Until},
		"a budget holds it":    {[]plan.Prospect{late, held}, now.Add(budgetsEvery)},
		"a budget is not next": {[]plan.Prospect{held, soon}, soon.Until},
	} {
		if got := NextProspect(tc.prospects, now); !got.Equal(tc.want) {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
