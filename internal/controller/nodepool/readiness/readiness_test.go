package readiness_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/nodepool/readiness"
	"tenon/internal/testing/harness"
)

func nodeClass(status, reason, message string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "default"}}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: memory.Group, Version: "v1", Kind: "MemoryNodeClass"})
	if status != "" {
		o.Object["status"] = map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": status, "reason": reason, "message": message}}}
	}
	return o
}

// leaving is deleted once it is there: its finalizer holds it.
func leaving() *unstructured.Unstructured {
	o := nodeClass("True", "Ready", "")
	o.SetFinalizers([]string{"x/y"})
	return o
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		class           *unstructured.Unstructured
		status          metav1.ConditionStatus
		reason, message string
	}{
		"no class":                       {nil, "False", "NodeClassNotFound", "NodeClass not found on cluster: there is no MemoryNodeClass \"default\", nor any other"},
		"a class that is deleted":        {leaving(), "False", "NodeClassTerminating", "NodeClass is Terminating"},
		"a class that is not judged yet": {nodeClass("", "", ""), "False", "NodeClassReadinessUnknown", "Node Class Readiness Unknown"},
		"a class not yet known":          {nodeClass("Unknown", "AwaitingReconciliation", "wait"), "False", "NodeClassReadinessUnknown", "Node Class Readiness Unknown"},
		"a class that is not ready":      {nodeClass("False", "SubnetsNotFound", "no subnet"), "False", "SubnetsNotFound", "no subnet"},
		"a class without a reason":       {nodeClass("False", "", "no subnet"), "False", "NodeClassNotReady", "no subnet"},
		"a class that is ready":          {nodeClass("True", "Ready", ""), "True", "NodeClassReady", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{}, harness.Pool("web"))
			if tc.class != nil {
				r.Must(r.API.Create(t.Context(), tc.class))
				if len(tc.class.GetFinalizers()) > 0 {
					r.Must(r.API.Delete(t.Context(), tc.class))
				}
			}
			c := readiness.New(r.Kit)
			r.Run(c, "web")
			var got karpenterv1.NodePool
			r.Get("web", &got)
			cond, _ := got.Conditions(r.Clock.Now()).Get(karpenterv1.ConditionNodeClassReady)
			if cond.Status != tc.status || cond.Reason != tc.reason || cond.Message != tc.message || cond.ObservedGeneration != 1 {
				t.Errorf("got %+v", cond)
			}
			r.Calls()
			r.Clock.Step(time.Hour)
			r.Run(c, "web")
			missing := tc.reason == "NodeClassNotFound" || tc.reason == "NodeClassTerminating"
			if events := r.Events(); len(events) > 1 || missing != (len(events) == 1 && strings.Contains(events[0], "Failed resolving NodeClass")) {
				t.Errorf("events %v", events)
			}
			for _, call := range r.Calls() {
				if call.IsWrite() {
					t.Errorf("nothing changed, and yet: %s", call)
				}
			}
		})
	}
}

// TestAWrongNameIsTold: a pool whose class is not there says which one it asks for and what there is
// of nearly that name, on itself and with a warning.
func TestAWrongNameIsTold(t *testing.T) {
	t.Parallel()
	pool := harness.Pool("web")
	pool.Spec.Template.Spec.NodeClassRef.Name = "defualt"
	r := harness.New(t, memory.Options{}, pool, nodeClass("True", "Ready", ""))
	other := nodeClass("True", "Ready", "")
	other.SetName("gpu")
	r.Must(r.API.Create(t.Context(), other))
	c := readiness.New(r.Kit)
	const want = `NodeClass not found on cluster: there is no MemoryNodeClass "defualt"; the nearest name is "default"`
	r.Run(c, "web")
	var got karpenterv1.NodePool
	r.Get("web", &got)
	if cond, _ := got.Conditions(r.Clock.Now()).Get(karpenterv1.ConditionNodeClassReady); cond.Message != want {
		t.Errorf("the pool says %q", cond.Message)
	}
	if events := strings.Join(r.Events(), "\n"); !strings.Contains(events, "Warning NodeClassNotFound web: Failed resolving NodeClass defualt: "+want) {
		t.Errorf("events:\n%s", events)
	}
}

// TestConflict: a condition that another writer set meanwhile is not lost, and we try again.
func TestConflict(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"), nodeClass("True", "Ready", ""))
	stale := harness.Pool("web")
	r.Hold(stale)
	theirs := stale.DeepCopy()
	conditions := theirs.Conditions(r.Clock.Now())
	conditions.SetTrue(karpenterv1.ConditionValidationSucceeded)
	theirs.Status.Conditions = conditions.List()
	r.Put(theirs)
	c := readiness.New(r.Kit)
	if again := r.Run(c, "web"); again.After == 0 {
		t.Error("does not look again")
	}
	r.Release()
	r.Run(c, "web")
	var got karpenterv1.NodePool
	r.Get("web", &got)
	if !got.Conditions(r.Clock.Now()).IsReady() {
		t.Errorf("conditions %+v", got.Status.Conditions)
	}
}

// TestNotOurs: pools of another provider's classes are left alone, and so is one that is gone.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	other := harness.Pool("web")
	other.Spec.Template.Spec.NodeClassRef.Kind = "OtherNodeClass"
	r := harness.New(t, memory.Options{}, other)
	c := readiness.New(r.Kit)
	r.Run(c, "web")
	r.Run(c, "gone")
	for _, call := range r.Calls() {
		if call.IsWrite() {
			t.Errorf("writes: %s", call)
		}
	}
}

// TestWakes: by edits and by foreign writes of the condition, not by counts.
func TestWakes(t *testing.T) {
	t.Parallel()
	watches := readiness.New(harness.New(t, memory.Options{}).Kit).Watches
	old := harness.Pool("web")
	counted, edited, wiped := old.DeepCopy(), old.DeepCopy(), old.DeepCopy()
	old.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionNodeClassReady, Status: "True"}}
	counted.Status = *old.Status.DeepCopy()
	counted.Status.Nodes = new(int64)
	edited.Generation++
	if watches[0].Wakes(old, counted) || !watches[0].Wakes(old, edited) || !watches[0].Wakes(old, wiped) || !watches[0].Wakes(nil, old) {
		t.Error("woken at the wrong time")
	}
	if len(watches) != 2 {
		t.Errorf("%d watches, want one for the class", len(watches))
	}
}
