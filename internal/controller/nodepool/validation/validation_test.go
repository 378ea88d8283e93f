package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/nodepool/validation"
	"tenon/internal/testing/harness"
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
			t.Spec.Requirements = []karpenterv1.Requirement{harness.Requirement(karpenterv1.LabelCapacityType, "spot", "cheap")}
		}, "True", "ValidationSucceeded", ""},
		"the same taint twice": {func(t *karpenterv1.NodeClaimTemplate) {
			t.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
			t.Spec.StartupTaints = t.Spec.Taints
		}, "False", "NodePoolValidationFailed", "duplicate taint Key/Effect pair a=NoSchedule"},
		"two mistakes are both told": {func(t *karpenterv1.NodeClaimTemplate) {
			t.Labels = map[string]string{karpenterv1.LabelNodePool: "other"}
			t.Spec.Requirements = []karpenterv1.Requirement{harness.Requirement("team")}
		}, "False", "NodePoolValidationFailed", `invalid key name "karpenter.sh/nodepool" in labels, restricted; ` +
			`invalid value: key team with operator In must have a value defined in requirements, restricted`},
		"the provider's own domain": {func(t *karpenterv1.NodeClaimTemplate) {
			t.Spec.Requirements = []karpenterv1.Requirement{harness.Requirement(memory.LabelFamily, "general")}
		}, "True", "ValidationSucceeded", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := harness.Pool("web")
			tc.spoil(&pool.Spec.Template)
			r := harness.New(t, memory.Options{}, pool)
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
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
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
	other := harness.Pool("web")
	other.Spec.Template.Spec.NodeClassRef = nil
	r := harness.New(t, memory.Options{}, other)
	c := validation.New(r.Kit)
	r.Run(c, "web")
	r.Run(c, "gone")
	for _, call := range r.Calls() {
		if call.IsWrite() {
			t.Errorf("writes: %s", call)
		}
	}
}

// An unreadable price of nodes is reported on the pool, which stays as ready as it was, until the
// annotation is corrected.
func TestARefusedPriceOfNodes(t *testing.T) {
	t.Parallel()
	pool := harness.Pool("web")
	pool.Annotations = map[string]string{karpenterv1.AnnotationNodePrice: "0,12"}
	r := harness.New(t, memory.Options{}, pool)
	r.Kit.Settings.NodePrice = 20_000
	c := validation.New(r.Kit)
	r.Run(c, "web")
	var got karpenterv1.NodePool
	r.Get("web", &got)
	const want = `NodePool web: annotation tenon.sh/node-price: "0,12" is not a price; use a number of dollars an hour such as 0.12, or 0 for none; until then its nodes count with the setting's 0.02`
	conditions := got.Conditions(r.Clock.Now())
	cond, _ := conditions.Get(karpenterv1.ConditionNodePriceRefused)
	if cond.Status != metav1.ConditionTrue || cond.Reason != "InvalidNodePrice" || cond.Message != want {
		t.Errorf("got %s %s %q", cond.Status, cond.Reason, cond.Message)
	}
	if !conditions.IsTrue(karpenterv1.ConditionValidationSucceeded) {
		t.Error("the pool cannot be used any more")
	}
	r.Run(c, "web")
	if diff := cmp.Diff([]string{"Warning NodePriceRefused web: " + want}, r.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	r.Get("web", &got)
	old := got.DeepCopy()
	got.Annotations[karpenterv1.AnnotationNodePrice] = "0.12"
	r.Put(&got)
	if !c.Watches[0].Wakes(old, &got) {
		t.Error("the edit wakes nothing")
	}
	r.Run(c, "web")
	r.Get("web", &got)
	if _, there := got.Conditions(r.Clock.Now()).Get(karpenterv1.ConditionNodePriceRefused); there {
		t.Error("the condition is still there")
	}
}

// Unreadable annotations of Tenon's own are reported on the pool, with the value that counts until
// they are corrected.
func TestRefusedAnnotations(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		karpenterv1.AnnotationDriftAtLimit: refusedDrift, karpenterv1.AnnotationPriceCeiling: refusedCeiling,
	} {
		pool := harness.Pool("web")
		pool.Annotations = map[string]string{name: "deletefirst"}
		r := harness.New(t, memory.Options{}, pool)
		r.Run(validation.New(r.Kit), "web")
		if diff := cmp.Diff([]string{want}, r.Events()); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", name, diff)
		}
	}
}

const (
	refusedDrift   = `Warning DriftAtLimitRefused web: NodePool web: annotation tenon.sh/drift-at-limit: "deletefirst" is neither DeleteFirst nor Wait; until then drifted nodes stay where limits leave no room for a replacement`
	refusedCeiling = `Warning PriceCeilingRefused web: NodePool web: annotation tenon.sh/price-ceiling: "deletefirst" is no number from 1 to 1000000, such as 4 or 2.5; until then its nodes are bought at any price`
)
