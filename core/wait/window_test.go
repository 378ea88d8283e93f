package wait

import (
	"testing"
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
)

// TestWindow: the two settings are upper limits; a burst that is known to be complete is
// decided about at once, and one that goes on in parts.
func TestWindow(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	w := Window{Idle: time.Second, Longest: 10 * time.Second}
	cases := map[string]struct {
		window    Window
		pods      Arriving
		now       int
		wait      time.Duration
		why       reason.Code
		streaming bool
	}{
		"no pod waits":                                {window: w, now: 5},
		"one pod, a moment ago":                       {window: w, pods: waiting(1, 0, at(0), at(0)), now: 5, wait: 35 * time.Millisecond, why: reason.PodsFollow},
		"one pod, and silence since":                  {window: w, pods: waiting(1, 0, at(0), at(0)), now: 40},
		"those to come are known already":             {window: w, pods: waiting(1, 9, at(0), at(0)), now: 40},
		"what is to come is on its way to us":         {window: w, pods: unconfirmed(waiting(1, 0, at(0), at(0))), now: 40, wait: 960 * time.Millisecond, why: reason.PodsFollow},
		"it does not come":                            {window: w, pods: unconfirmed(waiting(1, 0, at(0), at(0))), now: 1000},
		"a pool is new":                               {window: w, pods: newPoolAt(at(5000), waiting(1, 0, at(0), at(0))), now: 40, wait: 4960 * time.Millisecond, why: reason.PoolUnjudged},
		"a pool is new for longer than the window":    {window: w, pods: newPoolAt(at(13000), waiting(1, 0, at(0), at(0))), now: 9000, wait: time.Second, why: reason.PoolUnjudged},
		"a pool was new":                              {window: w, pods: newPoolAt(at(39), waiting(1, 0, at(0), at(0))), now: 40},
		"a burst goes on, and its end is not known":   {window: w, pods: waiting(500, 0, at(0), at(999)), now: 1000, streaming: true},
		"a burst goes on, and all of it is announced": {window: w, pods: waiting(500, 9, at(0), at(999)), now: 1000},
		"a burst goes on with workloads that are new": {window: w, pods: joined(at(600), waiting(500, 9, at(0), at(999))), now: 1000, streaming: true},
		"a ReplicaSet has no pods yet":                {window: w, pods: unmadeSince(at(-500), waiting(1, 0, at(0), at(0))), now: 40, wait: 9460 * time.Millisecond, why: reason.WorkloadsJoin},
		"it has none for longer than the window":      {window: w, pods: unmadeSince(at(5000), waiting(1, 0, at(0), at(0))), now: 9000, wait: time.Second, why: reason.WorkloadsJoin},
		"it is given up":                              {window: w, pods: unmadeSince(at(-9970), waiting(1, 0, at(0), at(0))), now: 40},
		"two workloads are new":                       {window: w, pods: sets(2, joined(at(0), waiting(20, 9, at(0), at(10)))), now: 60},
		"several workloads are new":                   {window: w, pods: sets(3, joined(at(10), waiting(20, 9, at(0), at(10)))), now: 60, wait: 450 * time.Millisecond, why: reason.WorkloadsJoin},
		"several workloads were new":                  {window: w, pods: sets(3, joined(at(10), waiting(20, 9, at(0), at(10)))), now: 510},
		"workloads keep coming":                       {window: w, pods: sets(40, joined(at(9900), waiting(500, 9, at(0), at(9900)))), now: 9950, wait: 50 * time.Millisecond, why: reason.WorkloadsJoin},
		"no workload has been new for a while":        {window: w, pods: joined(at(0), waiting(500, 9, at(0), at(999))), now: 1000},
		"more is wanted than is believed":             {window: w, pods: doubted(waiting(20, 80, at(0), at(10))), now: 50, wait: 950 * time.Millisecond, why: reason.PodsFollow},
		"it has not come":                             {window: w, pods: doubted(waiting(20, 80, at(0), at(10))), now: 1010},
		"it comes, and goes on to":                    {window: w, pods: doubted(waiting(500, 80, at(0), at(999))), now: 1000, streaming: true},
		"a burst goes on, the first part is not due":  {window: w, pods: waiting(500, 0, at(0), at(979)), now: 980, wait: 20 * time.Millisecond, why: reason.PodsFollow},
		"the longest window is over":                  {window: w, pods: waiting(500, 0, at(0), at(9999)), now: 10000},
		"the user wants no idle time":                 {window: Window{Idle: 0, Longest: time.Second}, pods: waiting(1, 1, at(0), at(0)), now: 0},
		"the user's longest window is shorter than a part": {
			window: Window{Idle: time.Second, Longest: 100 * time.Millisecond}, pods: waiting(2, 0, at(0), at(80)), now: 85, wait: 15 * time.Millisecond, why: reason.PodsFollow},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := at(tc.now)
			delay, burst := tc.window.Decision(tc.pods, tc.pods.First, now)
			want := plan.Delay{Code: tc.why}
			if tc.wait > 0 {
				want.Until = now.Add(tc.wait)
			}
			if delay != want || burst.IsZero() == tc.streaming {
				t.Errorf("waits for %q until %s, burst until %s; want %q, %s, %t", delay.Code, delay.Until, burst, want.Code, want.Until, tc.streaming)
			}
			if tc.streaming && !burst.Equal(tc.pods.First.Add(tc.window.Longest)) {
				t.Errorf("the burst is gathered until %s", burst)
			}
		})
	}
}

// waiting are so many pods, with so many to come; the first has waited longest.
func waiting(n, coming int, first, last time.Time) Arriving {
	return Arriving{Waiting: n, Coming: coming, First: first, Last: last}
}

func unmadeSince(t time.Time, a Arriving) Arriving {
	a.Unmade = t
	return a
}

func joined(at time.Time, p Arriving) Arriving {
	p.Joined = at
	return p
}

func sets(n int, p Arriving) Arriving {
	p.Sets = n
	return p
}

func unconfirmed(p Arriving) Arriving {
	p.Unconfirmed = true
	return p
}

func doubted(p Arriving) Arriving {
	p.Unlikely = 100
	return p
}

// Pods that have been decided about wait for a new pool, but never for longer than a window after the last decision.
func TestAnotherDecision(t *testing.T) {
	t.Parallel()
	w := Window{Idle: time.Second, Longest: 10 * time.Second}
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		pool, last, want time.Duration // from now
	}{
		"no pool is new":               {pool: -judging, last: -time.Second},
		"a pool is new":                {pool: -time.Second, last: -2 * time.Second, want: judging - time.Second},
		"pools keep coming":            {pool: -time.Second, last: -9 * time.Second, want: time.Second},
		"pools have come for too long": {pool: 0, last: -10 * time.Second},
	} {
		d := w.Again(Arriving{NewPool: now.Add(tc.pool)}, now.Add(tc.last), now)
		if got := d.Until.Sub(now); tc.want > 0 && (got != tc.want || d.Code != reason.PoolUnjudged) || tc.want == 0 && d.Code != reason.None {
			t.Errorf("%s: %s for %s, want %s", name, got, d.Code, tc.want)
		}
	}
	if d := w.Again(Arriving{}, now, now); d.Code != reason.None {
		t.Errorf("without a pool: %+v", d)
	}
}

// TestABurstEndsDuringADecision: it has ended if the pods that the decision counts on are here, and no others are waited for.
func TestABurstEndsDuringADecision(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	w := Window{Idle: time.Second, Longest: 10 * time.Second}
	before := sets(40, joined(at(500), waiting(400, 100, at(0), at(995))))
	for name, tc := range map[string]struct {
		after Arriving
		now   int
		ended bool
	}{
		"nothing has come yet":                 {after: before, now: 1020},
		"all have come that were to come":      {after: sets(40, joined(at(500), waiting(500, 0, at(1010), at(1700)))), now: 1800, ended: true},
		"the last came a moment ago":           {after: sets(40, joined(at(500), waiting(500, 0, at(1010), at(1790)))), now: 1800, ended: true},
		"the rest is announced, and comes":     {after: sets(40, joined(at(500), waiting(450, 50, at(1010), at(1790)))), now: 1800, ended: true},
		"the rest is not believed":             {after: sets(40, joined(at(500), doubted(waiting(400, 0, at(1010), at(1790))))), now: 1800},
		"it is not known how many are to come": {after: sets(40, joined(at(500), unconfirmed(waiting(450, 50, at(1010), at(1790))))), now: 1800},
		"a workload came half a second ago":    {after: sets(40, joined(at(500), waiting(450, 50, at(1010), at(1090)))), now: 1100},
		"more have come":                       {after: sets(40, joined(at(500), waiting(501, 0, at(1010), at(1700)))), now: 1800},
		"another workload has come":            {after: sets(41, joined(at(600), waiting(500, 0, at(1010), at(1000)))), now: 1800},
		"some are gone again":                  {after: sets(40, joined(at(500), waiting(300, 0, at(0), at(1000)))), now: 1800, ended: true},
		"the longest window is over":           {after: sets(40, joined(at(500), waiting(500, 0, at(1010), at(9990)))), now: 10000, ended: true},
	} {
		if got := w.Ended(before, tc.after, begin, at(tc.now)); got != tc.ended {
			t.Errorf("%s: ended %t, want %t", name, got, tc.ended)
		}
	}
}

func newPoolAt(at time.Time, p Arriving) Arriving {
	p.NewPool = at.Add(-judging)
	return p
}
