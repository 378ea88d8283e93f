package validation_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/validation"
	"tenon/internal/rig"
)

func TestValidation(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		spoil           func(*karpenterv1.NodeClaimTemplate)
		status          metav1.ConditionStatus
		reason, message string
	}{
		"nothing wrong": {func(*karpenterv1.NodeClaimTemplate) {}, "True", "ValidationSucceeded", ""},
		"an unknown value beside a known one is only a warning": {func(t *karpenterv1.NodeClaimTemplate) {
			t.Spec.Requirements = []karpenterv1.Requirement{rig.Requirement(karpenterv1.LabelCapacityType, "spot", "cheap")}
		}, "True", "ValidationSucceeded", ""},
		"the same taint twice": {func(t *karpenterv1.NodeClaimTemplate) {
			t.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
			t.Spec.StartupTaints = t.Spec.Taints
		}, "False", "NodePoolValidationFailed", "duplicate taint Key/Effect pair a=NoSchedule"},
		"two mistakes are both told": {func(t *karpenterv1.NodeClaimTemplate) {
			t.Labels = map[string]string{karpenterv1.LabelNodePool: "other"}
			t.Spec.Requirements = []karpenterv1.Requirement{rig.Requirement("team")}
		}, "False", "NodePoolValidationFailed", `invalid key name "karpenter.sh/nodepool" in labels, restricted; ` +
			`invalid value: key team with operator In must have a value defined in requirements, restricted`},
		"the provider's own domain": {func(t *karpenterv1.NodeClaimTemplate) {
			t.Spec.Requirements = []karpenterv1.Requirement{rig.Requirement(memory.LabelFamily, "general")}
		}, "True", "ValidationSucceeded", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := rig.Pool("web")
			tc.spoil(&pool.Spec.Template)
			r := rig.New(t, memory.Options{}, pool)
			c := validation.New(r.Kit)
			r.Run(c, "web")
			var got karpenterv1.NodePool
			r.Get("web", &got)
			cond, _ := got.Conditions(r.Clock.Now()).Get(karpenterv1.ConditionValidationSucceeded)
			if cond.Status != tc.status || cond.Reason != tc.reason || cond.Message != tc.message {
				t.Errorf("got %s %s %q", cond.Status, cond.Reason, cond.Message)
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

// TestEdit: a verdict is given again for every generation, also when it stays the same.
func TestEdit(t *testing.T) {
	t.Parallel()
	r := rig.New(t, memory.Options{}, rig.Pool("web"))
	c := validation.New(r.Kit)
	r.Run(c, "web")
	var edited karpenterv1.NodePool
	r.Get("web", &edited)
	old := edited.DeepCopy()
	edited.Generation = 2
	r.Put(&edited)
	if !c.Watches[0].Wakes(old, &edited) || c.Watches[0].Wakes(old, old) {
		t.Error("woken at the wrong time")
	}
	r.Run(c, "web")
	r.Get("web", &edited)
	if !edited.Conditions(r.Clock.Now()).IsTrue(karpenterv1.ConditionValidationSucceeded) {
		t.Errorf("conditions %+v", edited.Status.Conditions)
	}
}

// TestNotOurs: pools of another provider's classes are left alone, and so is one that is gone.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	other := rig.Pool("web")
	other.Spec.Template.Spec.NodeClassRef = nil
	r := rig.New(t, memory.Options{}, other)
	c := validation.New(r.Kit)
	r.Run(c, "web")
	r.Run(c, "gone")
	for _, call := range r.Calls() {
		if call.IsWrite() {
			t.Errorf("writes: %s", call)
		}
	}
}
