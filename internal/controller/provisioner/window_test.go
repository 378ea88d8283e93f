package provisioner

import (
	"testing"
	"time"

	"tenon/internal/world"
)

// TestWindow: the two settings are upper limits; a burst that is known to be complete is
// decided about at once, and one that goes on in parts.
func TestWindow(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	w := window{idle: time.Second, longest: 10 * time.Second}
	cases := map[string]struct {
		window    window
		pulse     world.Pulse
		now       int
		wait      time.Duration
		streaming bool
	}{
		"nobody waits":                                {window: w, now: 5},
		"one pod, a moment ago":                       {window: w, pulse: waiting(1, 0, at(0), at(0)), now: 5, wait: 35 * time.Millisecond},
		"one pod, and silence since":                  {window: w, pulse: waiting(1, 0, at(0), at(0)), now: 40},
		"those to come are known already":             {window: w, pulse: waiting(1, 9, at(0), at(0)), now: 40},
		"what is to come is on its way to us":         {window: w, pulse: hearsay(waiting(1, 0, at(0), at(0))), now: 40, wait: 960 * time.Millisecond},
		"it does not come":                            {window: w, pulse: hearsay(waiting(1, 0, at(0), at(0))), now: 1000},
		"a pool is new":                               {window: w, pulse: acquainted(at(5000), waiting(1, 0, at(0), at(0))), now: 40, wait: 4960 * time.Millisecond},
		"a pool is new for longer than anybody waits": {window: w, pulse: acquainted(at(13000), waiting(1, 0, at(0), at(0))), now: 9000, wait: time.Second},
		"a pool was new":                              {window: w, pulse: acquainted(at(39), waiting(1, 0, at(0), at(0))), now: 40},
		"a burst goes on, and nobody knows how far":   {window: w, pulse: waiting(500, 0, at(0), at(999)), now: 1000, streaming: true},
		"a burst goes on, and all of it is announced": {window: w, pulse: waiting(500, 9, at(0), at(999)), now: 1000},
		"a burst goes on with workloads that are new": {window: w, pulse: joined(at(600), waiting(500, 9, at(0), at(999))), now: 1000, streaming: true},
		"two workloads are new":                       {window: w, pulse: sets(2, joined(at(0), waiting(20, 9, at(0), at(10)))), now: 60},
		"several workloads are new":                   {window: w, pulse: sets(3, joined(at(10), waiting(20, 9, at(0), at(10)))), now: 60, wait: 450 * time.Millisecond},
		"several workloads were new":                  {window: w, pulse: sets(3, joined(at(10), waiting(20, 9, at(0), at(10)))), now: 510},
		"workloads keep coming":                       {window: w, pulse: sets(40, joined(at(9900), waiting(500, 9, at(0), at(9900)))), now: 9950, wait: 50 * time.Millisecond},
		"no workload has been new for a while":        {window: w, pulse: joined(at(0), waiting(500, 9, at(0), at(999))), now: 1000},
		"more is wanted than is believed":             {window: w, pulse: doubted(waiting(20, 80, at(0), at(10))), now: 50, wait: 950 * time.Millisecond},
		"it has not come":                             {window: w, pulse: doubted(waiting(20, 80, at(0), at(10))), now: 1010},
		"it comes, and goes on to":                    {window: w, pulse: doubted(waiting(500, 80, at(0), at(999))), now: 1000, streaming: true},
		"a burst goes on, the first part is not due":  {window: w, pulse: waiting(500, 0, at(0), at(979)), now: 980, wait: 20 * time.Millisecond},
		"the longest window is over":                  {window: w, pulse: waiting(500, 0, at(0), at(9999)), now: 10000},
		"the user wants no idle time":                 {window: window{idle: 0, longest: time.Second}, pulse: waiting(1, 1, at(0), at(0)), now: 0},
		"the user's longest window is shorter than a part": {
			window: window{idle: time.Second, longest: 100 * time.Millisecond}, pulse: waiting(2, 0, at(0), at(80)), now: 85, wait: 15 * time.Millisecond},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wait, streaming := tc.window.wait(tc.pulse, tc.pulse.First, at(tc.now))
			if wait != tc.wait || streaming != tc.streaming {
				t.Errorf("wait %s, streaming %t; want %s, %t", wait, streaming, tc.wait, tc.streaming)
			}
		})
	}
}

// waiting are so many pods, with so many to come; the first has waited longest.
func waiting(n, coming int, first, last time.Time) world.Pulse {
	return world.Pulse{Waiting: n, Coming: coming, First: first, Last: last}
}

func joined(at time.Time, p world.Pulse) world.Pulse {
	p.Joined = at
	return p
}

func sets(n int, p world.Pulse) world.Pulse {
	p.Sets = n
	return p
}

func hearsay(p world.Pulse) world.Pulse {
	p.Hearsay = true
	return p
}

func doubted(p world.Pulse) world.Pulse {
	p.Doubted = 100
	return p
}

func acquainted(at time.Time, p world.Pulse) world.Pulse {
	p.Acquainted = at
	return p
}
