package provisioner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1 "tenon/api/autoscaling/v1"
	"tenon/internal/settings"
)

// requesting is a provisioner with a pool and an accepted request for pods of three cores.
func requesting(t *testing.T, class string, pods int32) *fixture {
	t.Helper()
	h := newFixture(t, ready("general"))
	h.Kit.Settings.ProvisioningRequests = settings.ProvisioningRequests{Enabled: true, FirstBackoff: time.Minute, LongestBackoff: 10 * time.Minute, MaxBatch: 10}
	h.start(h.Kit)
	named := metav1.ObjectMeta{Namespace: "default", Name: "job"}
	template := &corev1.PodTemplate{ObjectMeta: named}
	template.Template.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}}}}
	r := &autoscalingv1.ProvisioningRequest{ObjectMeta: named, Spec: autoscalingv1.ProvisioningRequestSpec{
		ProvisioningClassName: class, PodSets: []autoscalingv1.PodSet{{PodTemplateRef: autoscalingv1.Reference{Name: "job"}, Count: pods}}}}
	r.Status.Conditions = []metav1.Condition{{Type: autoscalingv1.ConditionAccepted, Status: metav1.ConditionTrue}}
	h.Must(h.API.Create(t.Context(), r))
	h.world.Put(template)
	h.world.Put(r)
	return h
}

// request reads the request, and shows it to the world as a watch does.
func (h *fixture) request() *autoscalingv1.ProvisioningRequest {
	h.t.Helper()
	r := &autoscalingv1.ProvisioningRequest{}
	h.Must(h.API.Get(h.t.Context(), client.ObjectKey{Namespace: "default", Name: "job"}, r))
	h.world.Put(r.DeepCopy())
	return r
}

// provisioned is the condition Provisioned of the request.
func (h *fixture) provisioned() string {
	h.t.Helper()
	c := meta.FindStatusCondition(h.request().Status.Conditions, autoscalingv1.ConditionProvisioned)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason + ": " + c.Message
}

func (h *fixture) says(want string) {
	h.t.Helper()
	if got := h.provisioned(); !strings.HasPrefix(got, want) {
		h.t.Errorf("Provisioned is %q, want %q", got, want)
	}
}

// A request that only checks is told that there is no room, and why; nothing is bought, and it is looked at again after
// pauses of 1, 2, 4 minutes, at most 10. Once there is room it gets it.
func TestARequestThatChecks(t *testing.T) {
	t.Parallel()
	h := requesting(t, autoscalingv1.ClassCheckCapacity, 1)
	var looks []string
	begun := h.Clock.Now()
	for range 20 * 6 {
		before := 0
		if h.told != nil {
			before = len(h.told.Plan.Rooms)
		}
		h.told = nil
		h.Clock.Step(10 * time.Second)
		h.Run(h.loop, "")
		if h.told != nil && len(h.told.Plan.Rooms) > 0 && before == 0 {
			looks = append(looks, h.Clock.Since(begun).Truncate(time.Minute).String())
		}
		h.request()
	}
	h.says("False CapacityIsNotFound: 1 of 1 pods have no room on nodes that there are; none is launched for a request of this class")
	h.expect()
	if want := []string{"0s", "1m0s", "3m0s", "7m0s", "15m0s"}; !slices.Equal(looks, want) {
		t.Errorf("looked after %v, want %v", looks, want)
	}
}

// A request that may buy gets nodes for all of its pods once, and they are kept for it.
func TestARequestThatBuys(t *testing.T) {
	t.Parallel()
	h := requesting(t, autoscalingv1.ClassBestEffortAtomic, 2)
	h.decide()
	h.says("True CapacityIsProvisioned: Nodes are launched for 2 of 2 pods")
	h.watch()
	made := h.claims()
	if len(made) == 0 {
		t.Error("nothing is bought")
	}
	for range 5 {
		h.Clock.Step(11 * time.Second)
		h.Run(h.loop, "")
		h.request()
		h.watch()
	}
	h.expect(made...)
}

// No node is bought for a pod of a request while the request looks for room or keeps it, whether or not the scheduler has
// looked at the pod. Afterwards the pod is like others.
func TestPodsOfARequest(t *testing.T) {
	t.Parallel()
	for name, seen := range map[string]func(*corev1.Pod){"judged": judged, "new": func(*corev1.Pod) {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := requesting(t, autoscalingv1.ClassCheckCapacity, 1)
			h.pods("", 1, seen, func(p *corev1.Pod) {
				p.Annotations = map[string]string{autoscalingv1.AnnotationConsume: "job"}
			})
			h.watch()
			h.decide()
			h.expect()
			r := h.request()
			r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{
				Type: autoscalingv1.ConditionBookingExpired, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.Now(),
			})
			h.Must(h.API.Status().Update(t.Context(), r))
			h.request()
			h.Clock.Step(time.Minute)
			h.decide()
			h.expect("general 1")
		})
	}
}
