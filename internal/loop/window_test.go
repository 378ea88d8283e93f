package loop

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
		"nobody waits":                                     {window: w, now: 5},
		"one pod, a moment ago":                            {window: w, pulse: world.Pulse{Waiting: 1, First: at(0), Oldest: at(0), Last: at(0)}, now: 5, wait: 10 * time.Millisecond},
		"one pod, and silence since":                       {window: w, pulse: world.Pulse{Waiting: 1, First: at(0), Oldest: at(0), Last: at(0)}, now: 15},
		"more are known to come":                           {window: w, pulse: world.Pulse{Waiting: 1, Coming: 9, First: at(0), Oldest: at(0), Last: at(0)}, now: 400, wait: 600 * time.Millisecond},
		"they have stopped for a while":                    {window: w, pulse: world.Pulse{Waiting: 1, Coming: 9, First: at(0), Oldest: at(0), Last: at(0)}, now: 1000, streaming: true},
		"they were to come and do not":                     {window: w, pulse: world.Pulse{Waiting: 1, Coming: 9, First: at(0), Oldest: at(0), Last: at(0)}, now: 3000},
		"a burst goes on, and the first part is due":       {window: w, pulse: world.Pulse{Waiting: 500, Coming: 9, First: at(0), Oldest: at(0), Last: at(999)}, now: 1000, streaming: true},
		"a burst goes on, the first part is not due":       {window: w, pulse: world.Pulse{Waiting: 500, Coming: 9, First: at(0), Oldest: at(0), Last: at(799)}, now: 800, wait: 200 * time.Millisecond},
		"the longest window is over":                       {window: w, pulse: world.Pulse{Waiting: 500, Coming: 9, First: at(0), Oldest: at(0), Last: at(9999)}, now: 10000},
		"the user wants no idle time":                      {window: window{idle: 0, longest: time.Second}, pulse: world.Pulse{Waiting: 1, Coming: 1, First: at(0), Oldest: at(0), Last: at(0)}, now: 0},
		"the user's longest window is shorter than a part": {window: window{idle: time.Second, longest: 100 * time.Millisecond}, pulse: world.Pulse{Waiting: 2, Coming: 1, First: at(0), Oldest: at(0), Last: at(60)}, now: 70, wait: 30 * time.Millisecond},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wait, streaming := tc.window.wait(tc.pulse, at(tc.now))
			if wait != tc.wait || streaming != tc.streaming {
				t.Errorf("wait %s, streaming %t; want %s, %t", wait, streaming, tc.wait, tc.streaming)
			}
		})
	}
}
