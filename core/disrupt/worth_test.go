package disrupt

import (
	"testing"
	"time"

	"tenon/core/snapshot"
)

// What a disruption has moved is dear to move again for two days, also when another one brings
// pods to the same node later; what was there before is not.
func TestWorthOfWhatWasMoved(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	cases := map[string]struct {
		marks []time.Time
		came  time.Time
		dear  bool
	}{
		"a node that took nothing":                      {nil, ago(time.Hour), false},
		"there before the first":                        {[]time.Time{ago(time.Hour)}, ago(2 * time.Hour), false},
		"brought by the first":                          {[]time.Time{ago(time.Hour)}, ago(time.Hour), true},
		"brought by the first, and others by a second":  {[]time.Time{ago(time.Hour), ago(time.Minute)}, ago(50 * time.Minute), true},
		"brought long ago, and others by a second":      {[]time.Time{ago(200 * time.Hour), ago(time.Minute)}, ago(199 * time.Hour), false},
		"brought by the second, and others long before": {[]time.Time{ago(200 * time.Hour), ago(time.Minute)}, ago(0), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &snapshot.Snapshot{Now: now, Pods: []snapshot.Pod{{Created: tc.came, Tie: snapshot.Tie{Cost: snapshot.OrdinaryCost}}}}
			x := &search{s: s, value: []float64{1_000_000}}
			n := &node{Node: &snapshot.Node{Life: snapshot.Life{Rearranged: tc.marks}}, pool: -1}
			if worth := x.worthOf(0, n); (worth > 1_000_000) != tc.dear {
				t.Errorf("moving it again has to save %v", worth)
			}
			x.value[0] = 0 // there is room for it anyway
			if worth := x.worthOf(0, n); (worth > 10*leastWorth) != tc.dear {
				t.Errorf("moving it again has to save %v, if one more of it costs nothing", worth)
			}
		})
	}
}

// The emptier the node to which a pod was moved, the less has to be saved to move it again: a quarter
// where it is used half as well as it should be.
func TestWorthOnNodesThatAreNotWellUsed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	s := &snapshot.Snapshot{Now: now, Pods: []snapshot.Pod{{Created: now, Tie: snapshot.Tie{Cost: snapshot.OrdinaryCost}}}}
	x := &search{s: s, value: []float64{1_000_000}}
	for used, want := range map[float64]int{1: 2_050_000, 0.45: 2_050_000, 0.225: 550_000, 0.045: 70_000, 3: 2_050_000} {
		n := &node{Node: &snapshot.Node{Price: 1_000_000, Life: snapshot.Life{Rearranged: []time.Time{now.Add(-time.Hour)}}}, pool: -1, value: used * 1_000_000}
		if worth := int(x.worthOf(0, n) + 0.5); worth != want {
			t.Errorf("of a node's price its pods are worth %v: moving one has to save %d, want %d", used, worth, want)
		}
	}
}
