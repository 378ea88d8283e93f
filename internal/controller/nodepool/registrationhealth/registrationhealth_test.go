package registrationhealth_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/nodepool/registrationhealth"
	"tenon/internal/registration"
	"tenon/internal/testing/harness"
)

func nodeClass(generation int64) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "default", "generation": generation}}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: memory.Group, Version: "v1", Kind: "MemoryNodeClass"})
	return o
}

// pool has a verdict about a generation of its own and one of its class.
func pool(status metav1.ConditionStatus, own, class int64) *karpenterv1.NodePool {
	p := harness.Pool("web")
	p.Generation = 4
	p.Status.NodeClassObservedGeneration = class
	if status != "" {
		p.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionNodeRegistrationHealthy, Status: status,
			Reason: "Before", ObservedGeneration: own}}
	}
	return p
}

func TestHealth(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		pool   *karpenterv1.NodePool
		before func(*registration.Tracker)
		status metav1.ConditionStatus
		reason string
		health registration.Health
	}{
		"never judged":                                    {pool("", 0, 0), nil, "Unknown", "AwaitingReconciliation", registration.Unknown},
		"the pool was edited":                             {pool("False", 3, 7), fail, "Unknown", "AwaitingReconciliation", registration.Unknown},
		"the class was edited":                            {pool("True", 4, 6), succeed, "Unknown", "AwaitingReconciliation", registration.Unknown},
		"a restart, and it was healthy":                   {pool("True", 4, 7), nil, "True", "Before", registration.Healthy},
		"a restart, and it was not":                       {pool("False", 4, 7), nil, "False", "Before", registration.Unhealthy},
		"a restart, and nothing was known":                {pool("Unknown", 4, 7), nil, "Unknown", "Before", registration.Unknown},
		"what has been seen since counts":                 {pool("False", 4, 7), succeed, "False", "Before", registration.Healthy},
		"written by a release without a class generation": {pool("True", 4, 0), nil, "Unknown", "AwaitingReconciliation", registration.Unknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tracker := registration.New()
			if tc.before != nil {
				tc.before(tracker)
			}
			r := harness.New(t, memory.Options{}, tc.pool, nodeClass(7))
			c := registrationhealth.New(r.Kit, tracker)
			r.Run(c, "web")
			var got karpenterv1.NodePool
			r.Get("web", &got)
			cond, _ := got.Conditions(r.Clock.Now()).Get(karpenterv1.ConditionNodeRegistrationHealthy)
			if cond.Status != tc.status || cond.Reason != tc.reason || cond.ObservedGeneration != 4 || got.Status.NodeClassObservedGeneration != 7 {
				t.Errorf("got %+v of class generation %d", cond, got.Status.NodeClassObservedGeneration)
			}
			if h := tracker.Health("uid-web"); h != tc.health {
				t.Errorf("the tracker says %s, want %s", h, tc.health)
			}
			r.Calls()
			r.Run(c, "web")
			for _, call := range r.Calls() {
				if call.IsWrite() {
					t.Errorf("nothing changed, and yet: %s", call)
				}
			}
		})
	}
}

func succeed(t *registration.Tracker) { t.Succeed("uid-web") }

func fail(t *registration.Tracker) {
	t.Fail("uid-web")
	t.Fail("uid-web")
}

// TestNoClass: nothing is said of a pool whose class is missing, of others' or of none.
func TestNoClass(t *testing.T) {
	t.Parallel()
	other := harness.Pool("other")
	other.Spec.Template.Spec.NodeClassRef.Group = "other.dev"
	r := harness.New(t, memory.Options{}, pool("False", 3, 7), other)
	tracker := registration.New()
	fail(tracker)
	c := registrationhealth.New(r.Kit, tracker)
	for _, name := range []string{"web", "other", "gone"} {
		r.Run(c, name)
	}
	for _, call := range r.Calls() {
		if call.IsWrite() {
			t.Errorf("writes: %s", call)
		}
	}
	if h := tracker.Health("uid-web"); h != registration.Unhealthy {
		t.Errorf("the tracker says %s", h)
	}
}

// TestWakes: by edits and by verdicts, not by counts.
func TestWakes(t *testing.T) {
	t.Parallel()
	watches := registrationhealth.New(harness.New(t, memory.Options{}).Kit, registration.New()).Watches
	old := pool("True", 4, 7)
	counted, edited := old.DeepCopy(), old.DeepCopy()
	counted.Status.Nodes = new(int64)
	edited.Generation++
	if watches[0].Wakes(old, counted) || !watches[0].Wakes(old, edited) || !watches[0].Wakes(old, pool("", 0, 7)) || !watches[0].Wakes(nil, old) {
		t.Error("woken at the wrong time")
	}
	if len(watches) != 2 {
		t.Errorf("%d watches, want one for the class", len(watches))
	}
}
