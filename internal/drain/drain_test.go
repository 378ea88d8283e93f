package drain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/internal/drain"
)

// text describes a decision: pods waited for, steps, the present group, the time of the next
// change.
func text(d drain.Decision) string {
	var waiting, steps []string
	for _, p := range d.Waiting {
		waiting = append(waiting, p.Name)
	}
	for _, s := range d.Steps {
		step := "evict " + s.Pod.Name
		if s.Forced {
			step = fmt.Sprintf("delete %s in %ds", s.Pod.Name, s.Grace)
		}
		steps = append(steps, step)
	}
	turn := map[drain.Group]string{drain.Plain: "plain", drain.Daemons: "daemons", drain.Critical: "critical", drain.CriticalDaemons: "critical daemons", drain.NoPods: "no pods"}[d.Turn]
	out := fmt.Sprintf("waits for [%s], does [%s], turn of %s", strings.Join(waiting, " "), strings.Join(steps, ", "), turn)
	if !d.Next.IsZero() {
		out += ", changes after " + d.Next.Sub(now).Truncate(time.Second).String()
	}
	return out
}

// The pods that the node waits for, and their steps, without a deadline.
func TestPodsThatLeave(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		pods []*corev1.Pod
		want string
	}{
		"no pod is there":        {nil, "waits for [], does [], turn of no pods"},
		"usual pods all at once": {[]*corev1.Pod{pod("b"), pod("a")}, "waits for [a b], does [evict a, evict b], turn of plain"},
		"large ones before small ones": {
			[]*corev1.Pod{pod("a", asks("1", "1Gi")), pod("b", asks("500m", "4Gi")), pod("c", asks("100m", "1Gi")), pod("d", asks("2", "1Gi"))},
			"waits for [a b c d], does [evict d, evict b, evict a, evict c], turn of plain"},
		"what asks for more than a number holds is large": {
			[]*corev1.Pod{pod("a", asks("1", "1Gi")), pod("b", asks("1", "1e19"))},
			"waits for [a b], does [evict b, evict a], turn of plain"},
		"in order of namespaces": {[]*corev1.Pod{pod("a", in("z")), pod("b", in("y"))}, "waits for [b a], does [evict b, evict a], turn of plain"},
		"static pods and pods that asked to stay go down with the node": {
			[]*corev1.Pod{pod("static", static), pod("agent", stays), pod("agent-daemon", stays, daemon)},
			"waits for [], does [], turn of no pods"},
		"pods that have ended are gone": {
			[]*corev1.Pod{pod("done", phase(corev1.PodSucceeded)), pod("failed", phase(corev1.PodFailed))},
			"waits for [], does [], turn of no pods"},
		"daemons serve until the others are gone": {
			[]*corev1.Pod{pod("daemon", daemon), pod("a")},
			"waits for [a daemon], does [evict a], turn of plain"},
		"daemons leave before what is critical": {
			[]*corev1.Pod{pod("daemon", daemon), pod("dns", critical)},
			"waits for [daemon dns], does [evict daemon], turn of daemons"},
		"critical daemons are the last": {
			[]*corev1.Pod{pod("dns", critical), pod("cni", daemon, nodeCritical)},
			"waits for [cni dns], does [evict dns], turn of critical"},
		"and leave when they are alone": {
			[]*corev1.Pod{pod("cni", daemon, nodeCritical)},
			"waits for [cni], does [evict cni], turn of critical daemons"},
		"a pod that is ending keeps later groups waiting": {
			[]*corev1.Pod{pod("a", ending(20*time.Second, 30)), pod("daemon", daemon)},
			"waits for [a daemon], does [], turn of plain, changes after 1m20s"},
		"a pod whose minute is not over is still waited for": {
			[]*corev1.Pod{pod("a", ending(-time.Minute, 30)), pod("daemon", daemon)},
			"waits for [a daemon], does [], turn of plain, changes after 0s"},
		"a pod that is stuck is not": {
			[]*corev1.Pod{pod("a", ending(-time.Minute-time.Second, 30)), pod("daemon", daemon)},
			"waits for [daemon], does [evict daemon], turn of daemons"},
		"a protected pod is waited for and never evicted": {
			[]*corev1.Pod{pod("job", protected("true")), pod("a"), pod("daemon", daemon)},
			"waits for [a daemon job], does [evict a], turn of plain"},
		"a pod that is protected for a while is evicted after it": {
			[]*corev1.Pod{pod("job", protected("15m"))},
			"waits for [job], does [], turn of plain, changes after 5m0s"},
		"the while is over": {
			[]*corev1.Pod{pod("job", protected("10m"))},
			"waits for [job], does [evict job], turn of plain"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := text(drain.Decide(drain.State{Now: now, Pods: tc.pods})); got != tc.want {
				t.Errorf("\ngot  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// The effects of a deadline: which pods are deleted by force, when, and with how much grace.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		left time.Duration // until the deadline
		pods []*corev1.Pod
		want string
	}{
		"far away it changes nothing yet": {time.Hour, []*corev1.Pod{pod("a"), pod("daemon", daemon)},
			"waits for [a daemon], does [evict a], turn of plain, changes after 59m30s"},
		"a pod has to be told early enough": {29 * time.Second, []*corev1.Pod{pod("a")},
			"waits for [a], does [delete a in 29s], turn of no pods"},
		"exactly as much as it needs is enough": {30 * time.Second, []*corev1.Pod{pod("a")},
			"waits for [a], does [evict a], turn of plain, changes after 0s"},
		"a pod with a long grace is told first": {time.Minute, []*corev1.Pod{pod("a"), pod("slow", grace(600))},
			"waits for [a slow], does [evict a, delete slow in 60s], turn of plain, changes after 30s"},
		"groups do not count for force": {10 * time.Second,
			[]*corev1.Pod{pod("a", grace(5)), pod("cni", daemon, nodeCritical), pod("dns", critical, grace(0))},
			"waits for [a cni dns], does [evict a, delete cni in 10s], turn of plain, changes after 5s"},
		"those past their time do not keep later groups waiting": {10 * time.Second,
			[]*corev1.Pod{pod("a"), pod("daemon", daemon, grace(1))},
			"waits for [a daemon], does [delete a in 10s, evict daemon], turn of daemons, changes after 9s"},
		"protection ends with the node's time": {10 * time.Second, []*corev1.Pod{pod("job", protected("true"))},
			"waits for [job], does [delete job in 10s], turn of no pods"},
		"part of a second is no time": {500 * time.Millisecond, []*corev1.Pod{pod("a")},
			"waits for [a], does [delete a in 1s], turn of no pods"},
		"after it a second is left": {-time.Hour, []*corev1.Pod{pod("a"), pod("daemon", daemon)},
			"waits for [a daemon], does [delete a in 1s, delete daemon in 1s], turn of no pods"},
		"a pod without a grace of its own is never forced": {-time.Hour, []*corev1.Pod{pod("a", graceless)},
			"waits for [a], does [evict a], turn of plain"},
		"a pod that ends in time is left alone": {time.Minute, []*corev1.Pod{pod("a", ending(20*time.Second, 30))},
			"waits for [a], does [], turn of plain, changes after 1m20s"},
		"a pod that was promised more is deleted again": {time.Minute, []*corev1.Pod{pod("a", ending(10*time.Minute, 900))},
			"waits for [a], does [delete a in 60s], turn of no pods, changes after 11m0s"},
		"but not if that promises it no less": {-time.Minute, []*corev1.Pod{pod("a", ending(time.Second, 1))},
			"waits for [a], does [], turn of no pods, changes after 1m1s"},
		"a grace of centuries is as any that is too long": {-time.Minute, []*corev1.Pod{pod("a", grace(9_223_372_037)), pod("b", grace(1<<62), protected("true"))},
			"waits for [a b], does [delete a in 1s, delete b in 1s], turn of no pods"},
		"static pods are not deleted": {-time.Minute, []*corev1.Pod{pod("static", static), pod("agent", stays)},
			"waits for [], does [], turn of no pods"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := drain.State{Now: now, Deadline: now.Add(tc.left), Pods: tc.pods}
			if got := text(drain.Decide(state)); got != tc.want {
				t.Errorf("\ngot  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// Time alone changes a decision exactly when it says.
func TestNextIsWhenItChanges(t *testing.T) {
	t.Parallel()
	pods := []*corev1.Pod{
		pod("a", ending(20*time.Second, 30)), pod("slow", grace(600)), pod("job", protected("15m")), pod("job-2", protected("true"), grace(60)),
	}
	state := drain.State{Now: now, Deadline: now.Add(20 * time.Minute), Pods: pods}
	var seen []string
	for range 10 {
		d := drain.Decide(state)
		if d.Next.IsZero() {
			break
		}
		before := state
		before.Now = d.Next.Add(-2 * time.Nanosecond)
		if got, want := steps(drain.Decide(before)), steps(d); got != want {
			t.Errorf("before %s: %q became %q", d.Next.Sub(now), want, got)
		}
		state.Now = d.Next
		seen = append(seen, d.Next.Sub(now).Round(time.Second).String())
	}
	if got, want := strings.Join(seen, " "), "1m20s 5m0s 10m0s 19m0s 19m30s"; got != want {
		t.Errorf("changes at %s, want %s", got, want)
	}
}

func steps(d drain.Decision) string { return fmt.Sprint(len(d.Waiting), len(d.Steps), d.Turn) }

// A drain takes at least as long as load balancers need to notice.
func TestShortestDrain(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		since time.Time
		pods  []*corev1.Pod
		over  bool
		left  time.Duration
	}{
		"just begun":           {time.Time{}, nil, false, 5 * time.Second},
		"empty, too early":     {now.Add(-4 * time.Second), nil, false, time.Second},
		"empty, long enough":   {now.Add(-5 * time.Second), nil, true, 0},
		"long enough, a pod":   {now.Add(-time.Hour), []*corev1.Pod{pod("a")}, false, 0},
		"long enough, a stuck": {now.Add(-time.Hour), []*corev1.Pod{pod("a", ending(-time.Hour, 30))}, true, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := drain.State{Now: now, Since: tc.since, Pods: tc.pods}
			if got := s.Over(drain.Decide(s)); got != tc.over || s.Left() != tc.left {
				t.Errorf("over %t with %s left, want %t with %s", got, s.Left(), tc.over, tc.left)
			}
		})
	}
}

func TestQuestionsAboutOnePod(t *testing.T) {
	t.Parallel()
	d := drain.Decide(drain.State{Now: now, Pods: []*corev1.Pod{pod("a"), pod("daemon", daemon), pod("static", static)}})
	if step, todo := d.StepFor("uid-a"); !todo || step.Pod.Name != "a" {
		t.Error("there is something to do about a")
	}
	if _, todo := d.StepFor("uid-daemon"); todo || !d.Awaits("uid-daemon") {
		t.Error("the daemon is waited for, and not told yet")
	}
	if d.Awaits("uid-static") || d.Awaits("uid-other") {
		t.Error("these are not waited for")
	}
}

// With priorities pods leave in ascending order of these, whichever class their priority has, and daemons after all others.
func TestPodsLeaveByPriority(t *testing.T) {
	t.Parallel()
	prior := func(p int32) change { return func(pod *corev1.Pod) { pod.Spec.Priority = &p } }
	all := []*corev1.Pod{
		pod("low", prior(-10)), pod("none"), pod("middle", prior(999), critical), pod("high", prior(1000)), pod("top", prior(5000)), pod("agent", daemon), pod("top-agent", daemon, prior(5000)),
	}
	var got []string
	for left := all; len(left) > 0; {
		d := drain.Decide(drain.State{Now: now, Pods: left, Priorities: []int32{0, 1000}})
		var leave []string
		for _, s := range d.Steps {
			leave = append(leave, s.Pod.Name)
		}
		slices.Sort(leave)
		got = append(got, strings.Join(leave, " "))
		left = slices.DeleteFunc(slices.Clone(left), func(p *corev1.Pod) bool { return slices.Contains(leave, p.Name) })
	}
	if want := []string{"low middle none", "high top", "agent", "top-agent"}; !slices.Equal(got, want) {
		t.Errorf("pods leave as %q, want %q", got, want)
	}
}
