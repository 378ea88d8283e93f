package check

import (
	"strings"
	"testing"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

func TestEveryPodIsInThePlanOnce(t *testing.T) {
	cases{
		"an empty plan for an empty cluster": {build: func(w *world) {}},
		"a placed and an unplaced pod": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			huge := w.pod("huge")
			w.s.Templates[w.s.Pods[huge].Template].Requests.CPU = 1 << 40
			w.unplaced(huge)
		}},
		"a pod that was forgotten": {
			build: func(w *world) { w.pod("web") },
			want:  []Rule{PodMissing},
		},
		"a movable pod that was forgotten": {
			build: func(w *world) {
				w.node("n1", "a").Leaving = true
				w.s.Pods[w.bound("n1", "web")].Movable = true
			},
			want: []Rule{PodMissing},
		},
		"a movable pod that finds a new place": {build: func(w *world) {
			w.node("n1", "a").Leaving = true
			web := w.bound("n1", "web")
			w.s.Pods[web].Movable = true
			w.claim("default", []snapshot.PodIndex{web}, "small/a/spot")
		}},
		"a pod in two places": {
			build: func(w *world) {
				web := w.pod("web")
				w.node("n1", "a")
				w.place("n1", web)
				w.claim("default", []snapshot.PodIndex{web}, "small/a/spot")
			},
			want: []Rule{PodTwice},
		},
		"a pod that is placed and unplaced": {
			build: func(w *world) {
				web := w.pod("web")
				w.claim("default", []snapshot.PodIndex{web}, "small/a/spot")
				w.unplaced(web)
			},
			want: []Rule{PodTwice, Overlooked},
		},
		"a running pod that is placed": {
			build: func(w *world) {
				w.node("n1", "a")
				w.claim("default", []snapshot.PodIndex{w.bound("n1", "web")}, "small/a/spot")
			},
			want: []Rule{PodUninvited},
		},
		"a refused pod that is placed": {
			build: func(w *world) {
				web := w.pod("web")
				w.s.Pods[web].Refused = reason.Obstacles{{Code: reason.VolumeClaimLost}}
				w.claim("default", []snapshot.PodIndex{web}, "small/a/spot")
			},
			want: []Rule{PodUninvited},
		},
		"a pod that does not exist": {
			build: func(w *world) {
				w.pod("web")
				w.node("n1", "a")
				w.place("n1", 0, 7)
			},
			want: []Rule{PodUninvited},
		},
		"an unplaced pod without a verdict": {
			build: func(w *world) {
				web := w.pod("web")
				w.s.Pods[web].Refused = reason.Obstacles{{Code: reason.PoolsAvoided}}
				w.p.Unplaced = []plan.Unplaced{{Pod: web}}
			},
			want: []Rule{NoVerdict},
		},
		"a node that does not exist": {
			build: func(w *world) { w.place("n1", w.pod("web")) },
			want:  []Rule{NodeUnknown},
		},
		"a node that is leaving": {
			build: func(w *world) {
				w.node("n1", "a").Leaving = true
				w.place("n1", w.pod("web"))
			},
			want: []Rule{NodeUnknown},
		},
	}.run(t)
}

func TestViolationText(t *testing.T) {
	t.Parallel()
	v := Violation{Rule: Room, Node: "default-1", Offer: "small/a/spot", Where: "cpu", Have: 2500, Want: 1900, Detail: "daemons included"}
	if got, want := v.String(), "Room node=default-1 offer=small/a/spot where=cpu have=2500 want=1900: daemons included"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOnlyAdviceIsAdvice(t *testing.T) {
	t.Parallel()
	var advice []string
	for _, r := range []Rule{PodMissing, Taint, Room, Spread, Limit, Weight, Overlooked} {
		if r.IsAdvice() {
			advice = append(advice, string(r))
		}
	}
	if got := strings.Join(advice, " "); got != "Weight Overlooked" {
		t.Errorf("advice is %s", got)
	}
}
