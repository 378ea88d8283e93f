package capacitybuffer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	"tenon/cloud/memory"
	"tenon/internal/controller/capacitybuffer"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

var key = reconcile.Key{Namespace: "default", Name: "spare"}

func spare(spec autoscalingv1beta1.CapacityBufferSpec) *autoscalingv1beta1.CapacityBuffer {
	return &autoscalingv1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Generation: 3}, Spec: spec}
}

// status runs the controller once, and reads what it says.
func status(t *testing.T, h *harness.Harness) autoscalingv1beta1.CapacityBufferStatus {
	t.Helper()
	h.Kit.Settings.FeatureGates.CapacityBuffer = true
	if _, err := capacitybuffer.New(h.Kit)[0].Reconcile(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	var got autoscalingv1beta1.CapacityBuffer
	h.Must(h.API.Get(t.Context(), key, &got))
	return got.Status
}

// texts are the conditions without their times.
func texts(list []metav1.Condition) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Type+" "+string(c.Status)+" "+c.Reason+": "+c.Message)
	}
	return out
}

// A buffer says what it resolves to and, once its template is there, that it is ready.
func TestStatus(t *testing.T) {
	t.Parallel()
	h := harness.New(t, memory.Options{}, spare(autoscalingv1beta1.CapacityBufferSpec{
		PodTemplateRef: &autoscalingv1beta1.LocalObjectRef{Name: "small"}, Replicas: ptr.To(int32(2)),
	}))
	got := status(t, h)
	want := []string{
		`ReadyForProvisioning False PodTemplateNotFound: PodTemplate "small" not found`,
		"Provisioning False NotReadyForProvisioning: Buffer is not ReadyForProvisioning",
	}
	if diff := cmp.Diff(want, texts(got.Conditions)); diff != "" || got.Replicas != nil || *got.ProvisioningStrategy != "buffer.x-k8s.io/active-capacity" {
		t.Errorf("without a template, %v replicas (-want +got):\n%s", got.Replicas, diff)
	}
	template := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "small", Generation: 5}}
	h.Must(h.API.Create(t.Context(), template))
	got = status(t, h)
	ready := meta.FindStatusCondition(got.Conditions, autoscalingv1beta1.ConditionReadyForProvisioning)
	if ready.Status != metav1.ConditionTrue || ready.Message != "Pod template resolved successfully" || ready.ObservedGeneration != 3 ||
		*got.Replicas != 2 || got.PodTemplateRef.Name != "small" || *got.PodTemplateGeneration != 5 {
		t.Errorf("with a template: %+v", got)
	}
}

// A buffer of nothing says so.
func TestEmptyBuffer(t *testing.T) {
	t.Parallel()
	h := harness.New(t, memory.Options{}, &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "small"}}, spare(autoscalingv1beta1.CapacityBufferSpec{
		PodTemplateRef: &autoscalingv1beta1.LocalObjectRef{Name: "small"}, Replicas: ptr.To(int32(0)),
	}))
	got := status(t, h)
	if c := meta.FindStatusCondition(got.Conditions, autoscalingv1beta1.ConditionProvisioning); *got.Replicas != 0 || c.Reason != "BufferEmpty" {
		t.Errorf("%+v", got)
	}
}

// An edit of a template wakes the buffers that name it, and no others; a gate that is closed leaves
// the controller out.
func TestWhatWakes(t *testing.T) {
	t.Parallel()
	other := spare(autoscalingv1beta1.CapacityBufferSpec{PodTemplateRef: &autoscalingv1beta1.LocalObjectRef{Name: "large"}, Replicas: ptr.To(int32(1))})
	other.Name = "other"
	h := harness.New(t, memory.Options{}, other, spare(autoscalingv1beta1.CapacityBufferSpec{
		PodTemplateRef: &autoscalingv1beta1.LocalObjectRef{Name: "small"}, Replicas: ptr.To(int32(2)),
	}))
	if len(capacitybuffer.New(h.Kit)) != 0 {
		t.Error("it runs although the gate is closed")
	}
	h.Kit.Settings.FeatureGates.CapacityBuffer = true
	template := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "small"}}
	got := capacitybuffer.New(h.Kit)[0].Watches[1].KeysOf(t.Context(), template)
	if diff := cmp.Diff([]client.ObjectKey{key}, got); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
}
