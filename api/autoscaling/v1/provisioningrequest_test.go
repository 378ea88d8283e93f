package v1_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "tenon/api/autoscaling/v1"
)

func request(class string, parameters map[string]v1.Parameter, conditions ...string) *v1.ProvisioningRequest {
	r := &v1.ProvisioningRequest{Spec: v1.ProvisioningRequestSpec{ProvisioningClassName: class, Parameters: parameters}}
	for _, name := range conditions {
		r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: name, Status: metav1.ConditionTrue})
	}
	return r
}

// An instance answers requests of its classes and with its name.
func TestServed(t *testing.T) {
	t.Parallel()
	named := map[string]v1.Parameter{"processorInstance": "b"}
	cases := map[string]struct {
		request  *v1.ProvisioningRequest
		instance string
		want     bool
	}{
		"check capacity":                          {request(v1.ClassCheckCapacity, nil), "", true},
		"check capacity for an instance":          {request(v1.ClassCheckCapacity, named), "b", true},
		"check capacity for another instance":     {request(v1.ClassCheckCapacity, named), "", false},
		"check capacity for no certain instance":  {request(v1.ClassCheckCapacity, nil), "b", false},
		"best effort":                             {request(v1.ClassBestEffortAtomic, named), "", true},
		"best effort at an instance with a name":  {request(v1.ClassBestEffortAtomic, named), "b", false},
		"a class that belongs to another program": {request("queued-provisioning.gke.io", nil), "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.request.Served(tc.instance); got != tc.want {
				t.Errorf("served: %v", got)
			}
		})
	}
}

// A request is over once it has failed, or its room is no longer kept.
func TestOver(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{v1.ConditionAccepted: false, v1.ConditionProvisioned: false, v1.ConditionFailed: true, v1.ConditionBookingExpired: true, v1.ConditionCapacityRevoked: true} {
		if got := request("", nil, name).Over(); got != want {
			t.Errorf("%s: over: %v", name, got)
		}
	}
}

// Room is looked for as long as the request says, or a week.
func TestValidUntil(t *testing.T) {
	t.Parallel()
	for text, want := range map[v1.Parameter]time.Duration{"": 168 * time.Hour, "60": time.Minute, "soon": 168 * time.Hour, "-1": 168 * time.Hour} {
		r := request("", map[string]v1.Parameter{"ValidUntilSeconds": text})
		if got := r.ValidUntil().Sub(r.CreationTimestamp.Time); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// Both names of the annotation count.
func TestConsumes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"autoscaling.x-k8s.io/consume-provisioning-request", "cluster-autoscaler.kubernetes.io/consume-provisioning-request"} {
		if got := v1.Consumes(&metav1.ObjectMeta{Annotations: map[string]string{name: "job"}}); got != "job" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAddToScheme(t *testing.T) {
	t.Parallel()
	s := runtime.NewScheme()
	if err := v1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	if !s.Recognizes(v1.GroupVersion.WithKind("ProvisioningRequest")) {
		t.Error("ProvisioningRequest is unknown")
	}
}
