package rollout_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/controller/nodepool/rollout"
	"tenon/internal/reconcile"
	"tenon/internal/rolloutpace"
	"tenon/internal/testing/harness"
)

func nodeClass(image string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "default"},
		"status": map[string]any{"amis": []any{map[string]any{"id": image}}}}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: memory.Group, Version: "v1", Kind: "MemoryNodeClass"})
	return o
}

// drifted is a ready pool with one drifted node.
func drifted(t *testing.T) (*harness.Harness, *rolloutpace.Rollouts, reconcile.Controller) {
	pool := harness.Pool("web")
	ready := pool.Conditions(time.Now())
	ready.SetTrue(karpenterv1.ConditionValidationSucceeded)
	ready.SetTrue(karpenterv1.ConditionNodeClassReady)
	pool.Status.Conditions = ready.List()
	r := harness.New(t, memory.Options{}, pool, nodeClass("ami-1"))
	r.Settled("web-old", "web")
	mark(r, metav1.ConditionTrue)
	rollouts := rolloutpace.New(r.Kit)
	return r, rollouts, rollout.New(r.Kit, rollouts)
}

func mark(r *harness.Harness, drifted metav1.ConditionStatus) {
	claim := r.Claim("web-old")
	claim.Status.Conditions = append(claim.Status.Conditions[:0:0], metav1.Condition{Type: karpenterv1.ConditionDrifted, Status: drifted, Reason: "AMIDrift"})
	r.Put(claim)
}

func replacing(r *harness.Harness, id string) command.Record {
	return command.Record{ID: id, Reason: plan.Drifted, Begun: r.Clock.Now(),
		Claims: []command.Member{{Claim: "web-old", Pool: "web"}}, Replacements: []command.Member{{Claim: "web-new", Pool: "web"}}}
}

// paused is the condition as "Reason: message", empty if there is none. Ready must not care.
func paused(t *testing.T, r *harness.Harness) string {
	t.Helper()
	var pool karpenterv1.NodePool
	r.Get("web", &pool)
	conditions := pool.Conditions(r.Clock.Now())
	if root, _ := conditions.Get(condition.Ready); root.Status != metav1.ConditionTrue {
		t.Errorf("the pool is not ready: %+v", root)
	}
	c, there := conditions.Get(karpenterv1.ConditionRolloutPaused)
	if !there {
		return ""
	}
	if c.Status != metav1.ConditionTrue {
		t.Errorf("%+v", c)
	}
	return c.Reason + ": " + c.Message
}

// TestPause follows a pool from a failed canary to the success of another one.
func TestPause(t *testing.T) {
	t.Parallel()
	r, rollouts, c := drifted(t)
	if result := r.Run(c, "web"); result != reconcile.Never || paused(t, r) != "" {
		t.Errorf("nothing has happened, and yet %+v, %q", result, paused(t, r))
	}
	r.Must(rollouts.Ended(t.Context(), replacing(r, "a"), "replacement web-new is gone"))
	if result := r.Run(c, "web"); result != reconcile.In(time.Minute) {
		t.Errorf("looks again after %s, want a minute", result.After)
	}
	if got := paused(t, r); !strings.HasPrefix(got, "ReplacementsFailed: ") || !strings.Contains(got, "web-new is gone") {
		t.Errorf("condition %q", got)
	}
	r.Clock.Step(time.Minute)
	c = rollout.New(r.Restart(), rolloutpace.New(r.Restart())) // another process goes on
	r.Run(c, "web")
	if got := paused(t, r); !strings.HasPrefix(got, "TryingAgain: ") {
		t.Errorf("condition %q", got)
	}
	r.Must(rollouts.Ended(t.Context(), replacing(r, "b"), ""))
	if result := r.Run(c, "web"); result != reconcile.Never || paused(t, r) != "" {
		t.Errorf("a canary has succeeded, and yet %+v, %q", result, paused(t, r))
	}
	events := r.Events()
	if len(events) != 2 || !strings.HasPrefix(events[0], "Warning RolloutPaused web: ") || events[1] != "Normal RolloutResumed web: Drifted nodes are replaced again" {
		t.Errorf("events %q", events)
	}
	r.Calls()
	r.Run(c, "web")
	for _, call := range r.Calls() {
		if call.IsWrite() {
			t.Errorf("nothing has changed, and yet: %s", call)
		}
	}
}

// TestMended: another image ends the pause, and is remembered as another goal: commands of
// the old one prove nothing.
func TestMended(t *testing.T) {
	t.Parallel()
	r, rollouts, c := drifted(t)
	old := replacing(r, "old")
	r.Must(rollouts.Ended(t.Context(), replacing(r, "a"), "gone"))
	r.Run(c, "web")
	r.Clock.Step(10 * time.Second)
	r.Put(nodeClass("ami-2"))
	r.Run(c, "web")
	r.Run(c, "web") // woken by what it wrote
	if got := paused(t, r); got != "" {
		t.Errorf("condition %q", got)
	}
	r.Clock.Step(10 * time.Second)
	r.Must(rollouts.Ended(t.Context(), old, ""))
	var pool karpenterv1.NodePool
	r.Get("web", &pool)
	if pace := rollouts.Pace(t.Context(), &pool, 0); pace.More != 1 {
		t.Errorf("an old success counts: %+v", pace)
	}
}

// TestNothingLeft: a pool without drifted nodes is not talked about for ever.
func TestNothingLeft(t *testing.T) {
	t.Parallel()
	r, rollouts, c := drifted(t)
	r.Must(rollouts.Ended(t.Context(), replacing(r, "a"), "gone"))
	mark(r, metav1.ConditionFalse)
	r.Run(c, "web")
	if got := paused(t, r); !strings.HasPrefix(got, "ReplacementsFailed") {
		t.Errorf("condition %q", got)
	}
	r.Clock.Step(time.Minute)
	r.Run(c, "web")
	r.Run(c, "web") // woken by what it wrote
	if got := paused(t, r); got != "" {
		t.Errorf("condition %q", got)
	}
}

// TestForgotten: who removes the annotation begins anew.
func TestForgotten(t *testing.T) {
	t.Parallel()
	r, rollouts, c := drifted(t)
	r.Must(rollouts.Ended(t.Context(), replacing(r, "a"), "gone"))
	r.Run(c, "web")
	var pool karpenterv1.NodePool
	r.Get("web", &pool)
	delete(pool.Annotations, rolloutpace.Annotation)
	r.Put(&pool)
	r.Run(c, "web")
	if got := paused(t, r); got != "" {
		t.Errorf("condition %q", got)
	}
}

// TestWakes: by edits, by the roll-out and by the condition; not by counts.
func TestWakes(t *testing.T) {
	t.Parallel()
	_, _, c := drifted(t)
	old := harness.Pool("web")
	counted, edited, told, shown := old.DeepCopy(), old.DeepCopy(), old.DeepCopy(), old.DeepCopy()
	counted.Status.Nodes = new(int64)
	edited.Generation++
	told.Annotations = map[string]string{rolloutpace.Annotation: "{}"}
	shown.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionRolloutPaused}}
	w := c.Watches[0]
	if w.Wakes(old, counted) || w.Wakes(old, nil) || !w.Wakes(nil, old) || !w.Wakes(old, edited) || !w.Wakes(old, told) || !w.Wakes(old, shown) {
		t.Error("woken at the wrong time")
	}
	if len(c.Watches) != 2 {
		t.Errorf("%d watches, want one for the class", len(c.Watches))
	}
}

// A cache that is behind does not keep a pause from being shown: a pool's counts are written
// all the time.
func TestShownThoughTheCacheIsBehind(t *testing.T) {
	t.Parallel()
	r, rollouts, c := drifted(t)
	record := replacing(r, "x7k2p")
	r.Must(rollouts.Begun(t.Context(), record))
	r.Must(rollouts.Ended(t.Context(), record, "replacement web-new is gone"))
	var pool karpenterv1.NodePool
	r.Get("web", &pool)
	r.Hold(&pool)
	counted := pool.DeepCopy()
	counted.Labels = map[string]string{"counted": "once-more"}
	r.Put(counted)
	r.Run(c, "web")
	if got := paused(t, r); !strings.HasPrefix(got, rolloutpace.ReplacementsFailed) {
		t.Errorf("the pool says %q", got)
	}
}
