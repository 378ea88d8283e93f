package v1beta1_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"tenon/api/autoscaling/v1beta1"
)

func TestDefaultsKeepWhatIsSet(t *testing.T) {
	t.Parallel()
	other := "example.com/other"
	absent, set := &v1beta1.CapacityBuffer{}, &v1beta1.CapacityBuffer{Spec: v1beta1.CapacityBufferSpec{ProvisioningStrategy: &other}}
	absent.SetDefaults()
	set.SetDefaults()
	if got := *absent.Spec.ProvisioningStrategy; got != "buffer.x-k8s.io/active-capacity" {
		t.Errorf("an absent strategy became %s", got)
	}
	if got := *set.Spec.ProvisioningStrategy; got != other {
		t.Errorf("the user's strategy became %s", got)
	}
}

func TestAddToScheme(t *testing.T) {
	t.Parallel()
	s := runtime.NewScheme()
	if err := v1beta1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	if got := v1beta1.GroupVersion.String(); got != "autoscaling.x-k8s.io/v1beta1" || !s.Recognizes(v1beta1.GroupVersion.WithKind("CapacityBuffer")) {
		t.Errorf("CapacityBuffer of %s is unknown", got)
	}
}
