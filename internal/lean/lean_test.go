package lean_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/snapshot"
	"tenon/internal/chance"
	"tenon/internal/ingest"
	"tenon/internal/lean"
)

// TestDecisionsSeeTheSame: random clusters are translated to the same snapshot from
// trimmed objects as from whole ones.
func TestDecisionsSeeTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		c := chance.World(seed, 25)
		options := c.Options()
		options.Files = false
		want := ingest.Build(c.Listing(), options)
		keeper := lean.NewKeeper()
		for _, o := range c.Objects {
			if _, err := keeper.Trim(o); err != nil {
				t.Fatal(err)
			}
		}
		got := ingest.Build(c.Listing(), options)
		if diff := cmp.Diff(bytes(t, want), bytes(t, got)); diff != "" {
			t.Errorf("seed %d (-whole +trimmed):\n%s", seed, diff)
		}
	}
}

func bytes(t *testing.T, s *snapshot.Snapshot) string {
	t.Helper()
	var text strings.Builder
	if err := snapshot.Write(&text, s); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestWhatDrainsLookAtStays: grace, priority class, annotations of ours and start time are
// what termination decides by.
func TestWhatDrainsLookAtStays(t *testing.T) {
	t.Parallel()
	grace, now := int64(17), metav1.Now()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			"karpenter.sh/do-not-disrupt": "5m", "controller.kubernetes.io/pod-deletion-cost": "3", "other": "x",
		}, Finalizers: []string{"f"}, DeletionTimestamp: &now},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace, PriorityClassName: "system-node-critical",
			Volumes: []corev1.Volume{
				{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}},
				{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}},
			},
			Containers: []corev1.Container{{Name: "c", Image: "large", Env: []corev1.EnvVar{{Name: "x"}}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now, Message: "long",
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Message: "long"}}},
	}
	if _, err := lean.NewKeeper().Trim(pod); err != nil {
		t.Fatal(err)
	}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			"karpenter.sh/do-not-disrupt": "5m", "controller.kubernetes.io/pod-deletion-cost": "3",
		}, Finalizers: []string{"f"}, DeletionTimestamp: &now},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace, PriorityClassName: "system-node-critical",
			Volumes: []corev1.Volume{
				{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}},
			},
			Containers: []corev1.Container{{Name: "c"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}},
	}
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
}

// TestPodsOfOneOwnerShare: equal parts are the same memory.
func TestPodsOfOneOwnerShare(t *testing.T) {
	t.Parallel()
	yes := true
	make := func(image string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: "rs", Kind: "ReplicaSet", Controller: &yes}}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}},
		}
	}
	keeper := lean.NewKeeper()
	a, b := make("one"), make("two")
	for _, p := range []*corev1.Pod{a, b} {
		if _, err := keeper.Trim(p); err != nil {
			t.Fatal(err)
		}
	}
	if &a.Spec.Containers[0] != &b.Spec.Containers[0] {
		t.Error("two pods of one ReplicaSet have containers of their own")
	}
}
