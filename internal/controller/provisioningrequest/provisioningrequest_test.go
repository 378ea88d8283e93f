package provisioningrequest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1 "tenon/api/autoscaling/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/provisioningrequest"
	"tenon/internal/testing/harness"
)

var key = client.ObjectKey{Namespace: "batch", Name: "job"}

// asked is a request for two pods, made some time ago, with conditions that became True at the start.
func asked(h *harness.Harness, age time.Duration, class string, conditions ...string) *autoscalingv1.ProvisioningRequest {
	at := metav1.NewTime(h.Clock.Now().Add(-age))
	r := &autoscalingv1.ProvisioningRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, CreationTimestamp: at},
		Spec: autoscalingv1.ProvisioningRequestSpec{
			ProvisioningClassName: class, PodSets: []autoscalingv1.PodSet{{PodTemplateRef: autoscalingv1.Reference{Name: "worker"}, Count: 2}},
			Parameters: map[string]autoscalingv1.Parameter{"ValidUntilSeconds": "3600"},
		},
	}
	for _, name := range conditions {
		r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: at})
	}
	return r
}

func consumer(name, node, annotation string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name, Annotations: map[string]string{annotation: key.Name}},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

// What becomes of a request, by its age, its templates and its pods; and when it is looked at again.
func TestLife(t *testing.T) {
	t.Parallel()
	const check, accepted, provisioned = autoscalingv1.ClassCheckCapacity, autoscalingv1.ConditionAccepted, autoscalingv1.ConditionProvisioned
	template := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "worker"}}
	one, two := consumer("a", "node-1", autoscalingv1.AnnotationConsume), consumer("b", "node-2", autoscalingv1.AnnotationConsumeEarlier)
	cases := map[string]struct {
		age        time.Duration
		class      string
		conditions []string
		objects    []client.Object
		want       string
		again      time.Duration
	}{
		"accepted":                               {0, check, nil, []client.Object{template}, "Accepted=Accepted Room is looked for", 5 * time.Second},
		"the other class, too":                   {0, autoscalingv1.ClassBestEffortAtomic, nil, []client.Object{template}, "Accepted=Accepted Room is looked for", 5 * time.Second},
		"a class of another program":             {0, "queued-provisioning.gke.io", nil, []client.Object{template}, "", 0},
		"a template may come a little later":     {30 * time.Second, check, nil, nil, "", 5 * time.Second},
		"a template does not come":               {time.Minute, check, nil, nil, `Failed=FailedToCreatePods PodTemplate "worker" not found`, 5 * time.Second},
		"accepted, and room is looked for":       {10 * time.Minute, check, []string{accepted}, []client.Object{template}, "", 50 * time.Minute},
		"no room in time":                        {time.Hour, check, []string{accepted}, []client.Object{template}, "Failed=Expired No room was found until ", 5 * time.Second},
		"room is kept":                           {9 * time.Minute, check, []string{accepted, provisioned}, []client.Object{template, one}, "", time.Minute},
		"kept long enough":                       {10 * time.Minute, check, []string{accepted, provisioned}, []client.Object{template, one}, "BookingExpired=CapacityReservationTimeExpired The room was kept for 10m0s; 1 of 2 pods use it", 5 * time.Second},
		"all pods have come":                     {time.Minute, check, []string{accepted, provisioned}, []client.Object{template, one, two}, "BookingExpired=CapacityBookingConsumed All 2 pods use the room", 5 * time.Second},
		"a pod without a node uses nothing":      {time.Minute, check, []string{accepted, provisioned}, []client.Object{template, one, consumer("c", "", autoscalingv1.AnnotationConsume)}, "", 9 * time.Minute},
		"over":                                   {time.Hour, check, []string{autoscalingv1.ConditionBookingExpired}, nil, "", 0},
		"revoked by another program: left as is": {time.Hour, check, []string{provisioned, autoscalingv1.ConditionCapacityRevoked}, nil, "", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := harness.New(t, memory.Options{}, tc.objects...)
			h.Kit.Settings.ProvisioningRequests.Enabled = true
			request := asked(h, tc.age, tc.class, tc.conditions...)
			h.Must(h.API.Create(t.Context(), request))
			result, err := provisioningrequest.New(h.Kit)[0].Reconcile(t.Context(), key)
			h.Must(err)
			got := ""
			h.Must(h.API.Get(t.Context(), key, request))
			for _, c := range request.Status.Conditions[len(tc.conditions):] {
				got += fmt.Sprintf("%s=%s %s", c.Type, c.Reason, c.Message)
			}
			if !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if result.After != tc.again {
				t.Errorf("again in %s, want %s", result.After, tc.again)
			}
		})
	}
}

// A template wakes the requests that name it, a pod the request whose room it uses; without the flag there is no controller.
func TestWhatWakes(t *testing.T) {
	t.Parallel()
	h := harness.New(t, memory.Options{})
	if len(provisioningrequest.New(h.Kit)) != 0 {
		t.Error("it runs although it is switched off")
	}
	h.Kit.Settings.ProvisioningRequests.Enabled = true
	h.Must(h.API.Create(t.Context(), asked(h, 0, autoscalingv1.ClassCheckCapacity)))
	watches := provisioningrequest.New(h.Kit)[0].Watches
	for name, want := range map[string]int{"worker": 1, "other": 0} {
		template := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}}
		if got := watches[1].KeysOf(t.Context(), template); len(got) != want {
			t.Errorf("template %s: %v", name, got)
		}
	}
	if got := watches[2].KeysOf(t.Context(), consumer("a", "", autoscalingv1.AnnotationConsume)); len(got) != 1 || got[0] != key {
		t.Errorf("pod: %v", got)
	}
	if got := watches[2].KeysOf(t.Context(), &corev1.Pod{}); len(got) != 0 {
		t.Errorf("another pod: %v", got)
	}
}
