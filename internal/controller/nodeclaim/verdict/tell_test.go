package verdict_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud/memory"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/controller/nodeclaim/verdict"
	"tenon/internal/evaluation"
	"tenon/internal/testing/harness"
)

// told are the events since the last time, without those that were seen before.
func (h *fixture) told(seen *int) []string {
	all := h.Events()
	out := all[*seen:]
	*seen = len(all)
	return out
}

// Node and claim have events about what keeps them: the same one every quarter of an hour, a new
// one as soon as it has lasted for a moment, and never more than four an hour.
func TestEvents(t *testing.T) {
	t.Parallel()
	h := build(t, "a")
	seen := 0
	step := func(pool string, d time.Duration) []string {
		h.evaluate([]plan.Prospect{kept("a", reason.Cause{Code: reason.ConsolidationDisabled, Where: pool})})
		h.Clock.Step(d)
		h.run()
		return h.told(&seen)
	}
	both := func(pool string) []string {
		text := fmt.Sprintf("NodePool %q has consolidation disabled", pool)
		return []string{"Normal Unconsolidatable a: " + text, "Normal Unconsolidatable node-a: " + text}
	}
	for i, round := range []struct {
		pool string
		wait time.Duration
		want []string
	}{
		{"one", 5 * time.Second, nil}, // it may be over in a moment
		{"one", 5 * time.Second, both("one")},
		{"one", 5 * time.Minute, nil},
		{"two", 10 * time.Second, both("two")}, // within the quarter of an hour
		{"two", 14 * time.Minute, nil},
		{"two", time.Minute, both("two")},
		{"three", 10 * time.Second, both("three")},
		{"four", 10 * time.Second, nil}, // the fifth in an hour
		{"four", 40 * time.Minute, both("four")},
	} {
		if diff := cmp.Diff(round.want, step(round.pool, round.wait), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("round %d, %s (-want +got):\n%s", i, round.pool, diff)
		}
	}
}

// A large fleet makes no more events than a person could read, and comes to all nodes.
func TestEventsAreBounded(t *testing.T) {
	t.Parallel()
	h := &fixture{Harness: harness.New(t, memory.Options{}), board: evaluation.NewNodes()}
	var list []plan.Prospect
	for i := range 60 {
		name := fmt.Sprintf("claim-%03d", i)
		h.Named(name, "web")
		list = append(list, blocked(name, reason.NotInitialized, ""))
	}
	h.c = verdict.New(h.Kit, h.board)
	h.Clock.Step(10 * time.Minute)
	h.evaluate(list)
	h.Clock.Step(10 * time.Second)
	h.run()
	seen := 0
	if n := len(h.told(&seen)); n != 50 {
		t.Errorf("%d at once", n)
	}
	total := 0
	for range 8 {
		h.Clock.Step(time.Second)
		h.run()
		total += len(h.told(&seen))
	}
	if total != 8 {
		t.Errorf("%d in eight seconds", total)
	}
	told := map[string]bool{}
	for _, e := range h.Events() {
		told[strings.Fields(e)[2]] = true
	}
	if len(told) != 58 {
		t.Errorf("58 events are about %d claims", len(told))
	}
}

// A node of a group has events about what keeps it once it has joined, and its NodeGroup one about its budgets; nothing else is written.
func TestEventsOfGroups(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.Must(h.API.Create(t.Context(), &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "shop", UID: "shop"}}))
	for name, joined := range map[string]string{"old": "true", "new": ""} {
		h.Must(h.API.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), Annotations: map[string]string{tenonv1alpha1.AnnotationGroup: "shop", tenonv1alpha1.AnnotationJoined: joined},
		}}))
	}
	pool := snapshot.GroupPool("shop")
	h.pools = []snapshot.Pool{{Name: pool}}
	prospects := []plan.Prospect{
		{Node: "new", Pool: pool, Kind: plan.Blocked, Cause: reason.Cause{Code: reason.NotInitialized}},
		{Node: "old", Pool: pool, Kind: plan.Blocked, Cause: reason.Cause{Code: reason.PodProtected, Where: "default/web"}},
		{Node: "other", Kind: plan.Blocked, Cause: reason.Cause{Code: reason.NotManaged}},
		{Node: "waits", Pool: pool, Kind: plan.Waiting, Reason: plan.Empty, Cause: reason.Cause{Code: reason.DisruptionBudget, Where: "Empty"}},
	}
	seen := 0
	h.Calls()
	for i, want := range [][]string{
		{"Normal DisruptionBlocked shop: No allowed disruptions for disruption reason Empty due to blocking budget"},
		{`Normal DisruptionBlocked old: Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=default/web)`},
		nil,
	} {
		h.evaluate(prospects)
		h.run()
		if diff := cmp.Diff(want, h.told(&seen), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("round %d (-want +got):\n%s", i, diff)
		}
		h.Clock.Step(10 * time.Second)
	}
	if n := h.writes(); n > 0 {
		t.Errorf("%d writes", n)
	}
}

// A budget that allows no disruption has an event on the pool, once a minute, for each reason.
func TestClosedBudgets(t *testing.T) {
	t.Parallel()
	h := build(t, "a")
	h.pools = []snapshot.Pool{{Name: "web", Consolidation: snapshot.Consolidation{Allowed: snapshot.Allowance{Empty: 1}}}}
	held := waiting("a", time.Time{})
	held.Reason, held.Cause = plan.Underutilized, reason.Cause{Code: reason.DisruptionBudget, Where: "Underutilized"}
	want := "Normal DisruptionBlocked web: No allowed disruptions for disruption reason Underutilized due to blocking budget"
	seen := 0
	for i, n := range []int{1, 0, 0, 0, 1} {
		h.evaluate([]plan.Prospect{held})
		h.run()
		got := h.told(&seen)
		if len(got) != n || n == 1 && got[0] != want {
			t.Errorf("round %d: %q", i, got)
		}
		h.Clock.Step(15 * time.Second)
	}
	h.pools[0].Consolidation.Allowed.Underutilized = 1
	h.Clock.Step(time.Minute)
	h.evaluate([]plan.Prospect{held}) // used up, no more
	h.run()
	if got := h.told(&seen); len(got) > 0 {
		t.Errorf("told %q", got)
	}
}
