package ingest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1 "tenon/api/autoscaling/v1"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// request is one for two pods of half a core and one of two cores, with conditions that are True.
func request(class string, conditions ...string) *autoscalingv1.ProvisioningRequest {
	set := func(name string, count int32) autoscalingv1.PodSet {
		return autoscalingv1.PodSet{PodTemplateRef: autoscalingv1.Reference{Name: name}, Count: count}
	}
	r := &autoscalingv1.ProvisioningRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "job"},
		Spec:       autoscalingv1.ProvisioningRequestSpec{ProvisioningClassName: class, PodSets: []autoscalingv1.PodSet{set("half-core", 2), set("two-cores", 1)}},
	}
	for _, name := range conditions {
		r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: name, Status: metav1.ConditionTrue})
	}
	return r
}

func cores(text string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(text)}}}}}}
}

// worker is a pod of the request.
func worker(name, node, cpu string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{autoscalingv1.AnnotationConsume: "job"}}, Spec: cores(cpu).Spec}
	pod.Spec.NodeName = node
	if node == "" {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	}
	return pod
}

// What requests ask for and have, and which of their pods wait for them.
func TestBookings(t *testing.T) {
	t.Parallel()
	const check, atomic, accepted, provisioned = autoscalingv1.ClassCheckCapacity, autoscalingv1.ClassBestEffortAtomic, autoscalingv1.ConditionAccepted, autoscalingv1.ConditionProvisioned
	type sets map[int]int // pods by number of set
	cases := map[string]struct {
		request  *autoscalingv1.ProvisioningRequest
		pods     []*corev1.Pod
		instance string
		off      bool
		want     sets
		booking  snapshot.Booking
		withheld bool // a pod of it without a node
	}{
		"asks":                    {request: request(check, accepted), want: sets{0: 2, 1: 1}, withheld: true},
		"may buy":                 {request: request(atomic, accepted), want: sets{0: 2, 1: 1}, booking: snapshot.Booking{Buys: true}, withheld: true},
		"has room":                {request: request(check, accepted, provisioned), want: sets{0: 2, 1: 1}, booking: snapshot.Booking{Held: true}, withheld: true},
		"is not accepted yet":     {request: request(check), withheld: true},
		"has failed":              {request: request(check, accepted, autoscalingv1.ConditionFailed)},
		"has expired":             {request: request(check, accepted, provisioned, autoscalingv1.ConditionBookingExpired)},
		"of another program":      {request: request("queued-provisioning.gke.io", accepted)},
		"of another instance":     {request: request(check, accepted), instance: "b"},
		"requests are not read":   {request: request(check, accepted), off: true},
		"a running pod has room":  {request: request(check, accepted, provisioned), pods: []*corev1.Pod{worker("a", "node", "500m")}, want: sets{0: 1, 1: 1}, booking: snapshot.Booking{Held: true}, withheld: true},
		"a pod of the second set": {request: request(check, accepted, provisioned), pods: []*corev1.Pod{worker("a", "node", "2")}, want: sets{0: 2}, booking: snapshot.Booking{Held: true}, withheld: true},
		"pods like none of the sets use the first rooms": {
			request: request(check, accepted, provisioned), pods: []*corev1.Pod{worker("a", "node", "1"), worker("b", "node", "1"), worker("c", "node", "1"), worker("d", "node", "1")}, withheld: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := ingest.NewIndex()
			x.Put(&corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "half-core"}, Template: halfCore()})
			x.Put(&corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "two-cores"}, Template: cores("2")})
			x.Put(tc.request)
			waiting := worker("waiting", "", "500m")
			for _, pod := range append(tc.pods, waiting) {
				x.Replace(nil, pod)
			}
			tr := ingest.NewTranslator(x, ingest.Options{Vocabulary: requirement.Core(), Bookings: ingest.Bookings{Enabled: !tc.off, Instance: tc.instance}})
			got := sets(nil)
			for _, b := range tr.Buffers() {
				if got == nil {
					got = sets{}
				}
				got[b.Booking.Set] = b.Pods
				is := *b.Booking
				if is.Set = 0; is != tc.booking || b.Key() != "default/job" {
					t.Errorf("%s is booked as %+v", b.Key(), is)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("sets (-want +got):\n%s", diff)
			}
			pod, _ := tr.Pod(waiting)
			if withheld := len(pod.Refused) == 1 && pod.Refused[0].Code == reason.BookingAwaited; withheld != tc.withheld || !pod.Pending {
				t.Errorf("a pod without a node: %+v", pod)
			}
		})
	}
}

// A pod that the scheduler has not looked at yet waits for it: there is room for the pod.
func TestUnjudgedPodsOfARequest(t *testing.T) {
	t.Parallel()
	x := ingest.NewIndex()
	x.Put(request(autoscalingv1.ClassCheckCapacity, autoscalingv1.ConditionAccepted))
	fresh := worker("fresh", "", "500m")
	fresh.Status.Conditions = nil
	tr := ingest.NewTranslator(x, ingest.Options{Vocabulary: requirement.Core(), Unjudged: true, Bookings: ingest.Bookings{Enabled: true}})
	if tr.Awaits(fresh) {
		t.Error("it wants a place")
	}
	x.Remove(request(""))
	if !tr.Awaits(fresh) {
		t.Error("without the request it wants none")
	}
}
