package v1alpha1_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"tenon/api/karpenter/v1alpha1"
)

func TestReadiness(t *testing.T) {
	t.Parallel()
	overlay := &v1alpha1.NodeOverlay{}
	conditions := overlay.Conditions(time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC))
	conditions.SetFalse(v1alpha1.ConditionValidationSucceeded, "Conflict", "conflict with another overlay")
	if root := conditions.Root(); root.Status != "False" || root.Message != "ValidationSucceeded=False" {
		t.Errorf("root is %s %q", root.Status, root.Message)
	}
	conditions.SetTrue(v1alpha1.ConditionValidationSucceeded)
	if !conditions.IsReady() {
		t.Error("a valid overlay is not ready")
	}
}

func TestAddToScheme(t *testing.T) {
	t.Parallel()
	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	if got := v1alpha1.GroupVersion.String(); got != "karpenter.sh/v1alpha1" || !s.Recognizes(v1alpha1.GroupVersion.WithKind("NodeOverlay")) {
		t.Errorf("NodeOverlay of %s is unknown", got)
	}
}
