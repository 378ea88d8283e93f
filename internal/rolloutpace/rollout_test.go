package rolloutpace_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/internal/command"
	"tenon/internal/rolloutpace"
	"tenon/internal/testing/harness"
)

// nodeClass has an image, and a condition that changes all the time.
func nodeClass(image, condition string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "default"},
		"status": map[string]any{"amis": []any{map[string]any{"id": image}},
			"conditions": []any{map[string]any{"type": "Ready", "status": condition}}},
	}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: memory.Group, Version: "v1", Kind: "MemoryNodeClass"})
	return o
}

// replacing is a command that puts web-new in the place of web-old.
func replacing(r *harness.Harness, id string) command.Record {
	return command.Record{ID: id, Reason: plan.Drifted, Begun: r.Clock.Now(),
		Claims: []command.Member{{Claim: "web-old", Pool: "web"}}, Replacements: []command.Member{{Claim: "web-new", Pool: "web"}}}
}

func pool(r *harness.Harness) *karpenterv1.NodePool {
	p := &karpenterv1.NodePool{}
	r.Get("web", p)
	return p
}

// TestRestart: what has failed is remembered, until the class has another image.
func TestRestart(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"), nodeClass("ami-1", "True"))
	before := rolloutpace.New(r.Kit)
	record := replacing(r, "a")
	r.Must(before.Begun(t.Context(), record))
	r.Clock.Step(10 * time.Minute)
	r.Must(before.Ended(t.Context(), record, "replacement web-new is gone"))
	after := rolloutpace.New(r.Restart())
	if pace := after.Pace(t.Context(), pool(r), 0); pace.More != 0 || pace.Rollout.Phase != reason.RolloutPauses || !strings.Contains(pace.Rollout.Text(), "web-new") {
		t.Errorf("a canary has failed, and yet: %+v", pace)
	}
	r.Must(after.Ended(t.Context(), record, "replacement web-new is gone")) // the process ended before it could note that it had told
	if s, _ := after.Look(t.Context(), pool(r)); s.Pause.Times != 1 {
		t.Errorf("it counted twice: %+v", s.Pause)
	}
	changed := nodeClass("ami-1", "False")
	r.Put(changed)
	if pace := after.Pace(t.Context(), pool(r), 0); pace.More != 0 {
		t.Errorf("a condition of the class is no cure, and yet: %+v", pace)
	}
	r.Put(nodeClass("ami-2", "True"))
	if pace := after.Pace(t.Context(), pool(r), 0); pace.More != 1 {
		t.Errorf("there is another image, and yet: %+v", pace)
	}
}

// TestGoals: which changes of a pool begin its roll-out anew.
func TestGoals(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		edit func(*karpenterv1.NodePool)
		want int
	}{
		"nothing": {func(*karpenterv1.NodePool) {}, 0},
		"a budget": {func(p *karpenterv1.NodePool) {
			p.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "1"}}
			p.Generation++
		}, 0},
		"a label": {func(p *karpenterv1.NodePool) { p.Spec.Template.Labels = map[string]string{"a": "b"} }, 1},
		"a requirement": {func(p *karpenterv1.NodePool) {
			p.Spec.Template.Spec.Requirements = []karpenterv1.Requirement{harness.Requirement("a", "b")}
		}, 1},
		"no annotation":                     {func(p *karpenterv1.NodePool) { p.Annotations = nil }, 1},
		"an annotation that cannot be read": {func(p *karpenterv1.NodePool) { p.Annotations[rolloutpace.Annotation] = "{" }, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{}, harness.Pool("web"), nodeClass("ami-1", "True"))
			r.Must(rolloutpace.New(r.Kit).Ended(t.Context(), replacing(r, "a"), "gone"))
			p := pool(r)
			tc.edit(p)
			r.Put(p)
			if pace := rolloutpace.New(r.Restart()).Pace(t.Context(), pool(r), 0); pace.More != tc.want {
				t.Errorf("%+v, want %d", pace, tc.want)
			}
		})
	}
}

// TestSlowCache: what was written counts before a watch has told of it; what is
// written by others after that counts too.
func TestSlowCache(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"), nodeClass("ami-1", "True"))
	rollouts := rolloutpace.New(r.Kit)
	stale := pool(r)
	r.Must(rollouts.Ended(t.Context(), replacing(r, "a"), "gone"))
	if pace := rollouts.Pace(t.Context(), stale, 0); pace.More != 0 {
		t.Errorf("the cache has not seen the failure: %+v", pace)
	}
	if pace := rollouts.Pace(t.Context(), pool(r), 0); pace.More != 0 {
		t.Errorf("the cache has seen the failure: %+v", pace)
	}
	p := pool(r)
	delete(p.Annotations, rolloutpace.Annotation)
	r.Put(p)
	if pace := rollouts.Pace(t.Context(), pool(r), 0); pace.More != 1 {
		t.Errorf("a user has removed the annotation: %+v", pace)
	}
}

// TestANewerPoolCounts: a pool that is newer than what was written here shows how its roll-out stands, also if
// the cache never showed what was written here. So it is where the watch tells of a write before its writer
// hears that it has succeeded.
func TestANewerPoolCounts(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"), nodeClass("ami-1", "True"))
	rollouts, other := rolloutpace.New(r.Kit), rolloutpace.New(r.Kit)
	begun := replacing(r, "a")
	r.Must(rollouts.Begun(t.Context(), begun))
	r.Must(other.Ended(t.Context(), begun, "gone"))
	if state, err := rollouts.Look(t.Context(), pool(r)); err != nil || state.Pause == nil {
		t.Errorf("the failure is written on the pool: %+v, %v", state, err)
	}
}

// TestOvertaken: two commands that end at the same time both count, and trouble with the
// API server is told.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"), nodeClass("ami-1", "True"))
	rollouts := rolloutpace.New(r.Kit)
	tries := 0
	r.Fail(func(c harness.Call) error {
		if tries++; c.Verb == "patch" && tries < 4 {
			return harness.Conflict(c)
		}
		return nil
	})
	r.Must(rollouts.Ended(t.Context(), replacing(r, "a"), ""))
	r.Fail(func(c harness.Call) error {
		if c.IsWrite() {
			return harness.ErrBroken
		}
		return nil
	})
	if err := rollouts.Ended(t.Context(), replacing(r, "b"), ""); err == nil {
		t.Error("nothing was written, and no error says so")
	}
	r.Fail(nil)
	r.Must(rollouts.Ended(t.Context(), replacing(r, "b"), ""))
	if pace := rollouts.Pace(t.Context(), pool(r), 0); pace.More != 3 {
		t.Errorf("two have succeeded: %+v", pace)
	}
}

// TestOthersDoNotCount: only drift rolls something out; a pool that is gone is no trouble.
func TestOthersDoNotCount(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"), nodeClass("ami-1", "True"))
	rollouts := rolloutpace.New(r.Kit)
	record := replacing(r, "a")
	record.Reason = plan.Underutilized
	r.Must(rollouts.Begun(t.Context(), record))
	r.Must(rollouts.Ended(t.Context(), record, "gone"))
	if p := pool(r); len(p.Annotations) > 0 {
		t.Errorf("annotations %v", p.Annotations)
	}
	record.Reason, record.Claims[0].Pool = plan.Drifted, "gone"
	r.Must(rollouts.Ended(t.Context(), record, "gone"))
}

// TestWhy: people read the claim's own words about what went wrong.
func TestWhy(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		claim  func(*karpenterv1.NodeClaim) // nil for none
		failed string
		want   string
	}{
		"it is gone":      {nil, "replacement web-new is gone", "web-new: replacement web-new is gone"},
		"another is gone": {nil, "its replacements were not ready within 10m0s", "web-new: its replacements were not ready within 10m0s"},
		"it did not launch": {func(c *karpenterv1.NodeClaim) {
			c.Status.Conditions = []metav1.Condition{{Type: "Launched", Status: "Unknown", Reason: "LaunchFailed", Message: "no such image."}}
		}, "its replacements were not ready within 10m0s", "web-new: no such image"},
		"it did not join": {func(c *karpenterv1.NodeClaim) {
			c.Status.Conditions = []metav1.Condition{{Type: "Launched", Status: "True", Reason: "Launched"}, {Type: "Registered", Status: "Unknown", Reason: "NodeNotFound", Message: "Node not registered with cluster"}}
		}, "its replacements were not ready within 10m0s", "web-new: Node not registered with cluster"},
		"it did come up, and a pod was in the way": {func(c *karpenterv1.NodeClaim) {
			for _, name := range karpenterv1.NodeClaimConditions().Dependents {
				c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: name, Status: "True", Reason: name})
			}
		}, "Pod came after the decision", ""},
		"it says nothing": {func(*karpenterv1.NodeClaim) {}, "its replacements were not ready within 10m0s", "web-new: its replacements were not ready within 10m0s"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{}, harness.Pool("web"), nodeClass("ami-1", "True"))
			if tc.claim != nil {
				claim := r.Named("web-new", "web")
				tc.claim(claim)
				r.Must(r.API.Status().Update(t.Context(), claim))
			}
			rollouts := rolloutpace.New(r.Kit)
			r.Must(rollouts.Ended(t.Context(), replacing(r, "a"), tc.failed))
			pace := rollouts.Pace(t.Context(), pool(r), 0)
			if tc.want == "" {
				if pace.More != 1 {
					t.Errorf("nothing has failed, and yet: %+v", pace)
				}
				return
			}
			if text := pace.Rollout.Text(); !strings.HasSuffix(text, "Z: "+tc.want) {
				t.Errorf("%q does not end in %q", text, tc.want)
			}
		})
	}
}
