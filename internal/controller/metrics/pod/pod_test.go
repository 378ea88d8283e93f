package pod_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/metrics/pod"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// fixture is a rig with the controller.
type fixture struct {
	*harness.Harness
	t          *testing.T
	controller reconcile.Controller
	begin      time.Time
}

func on(t *testing.T, series int) *fixture {
	t.Helper()
	r := harness.New(t, memory.Options{})
	r.Kit.Settings.MetricsSeries = series
	return &fixture{Harness: r, t: t, controller: pod.New(r.Kit)[0], begin: r.Clock.Now()}
}

// pod makes a pod that waits, as of the beginning.
func (b *fixture) pod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	b.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(b.begin)},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, c := range change {
		c(pod)
	}
	b.Must(b.API.Create(b.t.Context(), pod))
	return pod
}

// becomes gives a pod a condition, so many seconds after the beginning, and has it looked at.
func (b *fixture) becomes(pod *corev1.Pod, condition corev1.PodConditionType, seconds int) {
	b.t.Helper()
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(b.begin.Add(time.Duration(seconds) * time.Second)),
	})
	if condition == corev1.PodReady {
		pod.Status.Phase = corev1.PodRunning
	}
	b.Must(b.API.Status().Update(b.t.Context(), pod))
	b.see(pod)
}

func (b *fixture) see(pod *corev1.Pod) {
	b.t.Helper()
	b.reconcile(reconcile.Key{Namespace: pod.Namespace, Name: pod.Name})
}

func (b *fixture) reconcile(key reconcile.Key) reconcile.Result {
	b.t.Helper()
	result, err := b.controller.Reconcile(b.t.Context(), key)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *fixture) durations() []string {
	m := b.Kit.Metrics
	return b.Series("karpenter_pods_", m.PodsBoundDurationSeconds, m.PodsStartupDurationSeconds, m.PodsProvisioningBoundDurationSeconds, m.PodsProvisioningStartupDurationSeconds)
}

// A pod that was seen waiting is timed to its node and to being ready, once, by its own times.
func TestAPodsWayIsTimed(t *testing.T) {
	t.Parallel()
	b := on(t, 0)
	pod := b.pod("a")
	b.see(pod)
	b.Kit.Metrics.PodProgress.Place(pod.UID, b.begin.Add(2*time.Second))
	b.becomes(pod, corev1.PodScheduled, 30)
	b.becomes(pod, corev1.PodReady, 42)
	b.see(pod)
	want := []string{
		"bound_duration_seconds{} 1 times, 30s",
		"provisioning_bound_duration_seconds{} 1 times, 28s",
		"provisioning_startup_duration_seconds{} 1 times, 40s",
		"startup_duration_seconds{} 1 times, 42s",
	}
	if diff := cmp.Diff(want, b.durations()); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if steps := b.Kit.Metrics.PodProgress.Of(pod.UID); !steps.Placed.IsZero() {
		t.Error("the progress of a pod that is there is kept")
	}
}

// Pods that were not seen waiting, or never come, are not timed.
func TestPodsThatAreNotTimed(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]func(*fixture){
		"ready before we came": func(b *fixture) { b.becomes(b.pod("a"), corev1.PodReady, 5) },
		"running before we came, ready again": func(b *fixture) {
			pod := b.pod("a", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
			b.see(pod)
			b.becomes(pod, corev1.PodReady, 5)
		},
		"gone before it was ready": func(b *fixture) {
			pod := b.pod("a")
			b.see(pod)
			b.Must(b.API.Delete(b.t.Context(), pod))
			b.see(pod)
		},
		"done before it was ready": func(b *fixture) {
			pod := b.pod("a")
			b.see(pod)
			pod.Status.Phase = corev1.PodSucceeded
			b.becomes(pod, "Other", 5)
		},
		"another pod took the name": func(b *fixture) {
			pod := b.pod("a")
			b.see(pod)
			b.Must(b.API.Delete(b.t.Context(), pod))
			b.becomes(b.pod("a", func(p *corev1.Pod) { p.UID = "other" }), corev1.PodReady, 5)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := on(t, 0)
			happens(b)
			for _, line := range b.durations() {
				if !strings.HasSuffix(line, " 0 times, 0s") {
					t.Errorf("timed: %s", line)
				}
			}
		})
	}
}

// The state of each pod has its node's labels, its owner and how it fares.
func TestStates(t *testing.T) {
	t.Parallel()
	b := on(t, 0)
	b.Must(b.API.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{
		karpenterv1.LabelNodePool: "pool", corev1.LabelTopologyZone: "z", corev1.LabelArchStable: "arm64",
		karpenterv1.LabelCapacityType: "spot", corev1.LabelInstanceTypeStable: "big",
		karpenterv1.NodeClassLabel(memory.Group, "MemoryNodeClass"): "default",
	}}}))
	bound := b.pod("bound", func(p *corev1.Pod) {
		p.Spec.NodeName = "n"
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web"}}
	})
	b.becomes(bound, corev1.PodReady, 1)
	b.pod("waits")
	if got := b.reconcile(reconcile.Key{}); got.After != 30*time.Second {
		t.Errorf("looks again after %s, want 30s", got.After)
	}
	want := []string{
		"state{arch=arm64 capacity_type=spot instance_type=big managed=true name=bound namespace=default node=n nodepool=pool " +
			"owner=/apis/apps/v1/namespaces/default/replicasets/web phase=Running ready=true scheduled=true zone=z} 1",
		"state{managed=false name=waits namespace=default phase=Pending ready=false scheduled=false} 1",
	}
	got := b.Series("karpenter_pods_", b.Kit.Metrics.PodsState)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// The gauges have the waits of pods while they last, with their age, and not after.
func TestWaits(t *testing.T) {
	t.Parallel()
	b := on(t, 0)
	waits := func() []string {
		m := b.Kit.Metrics
		return b.Series("karpenter_pods_", m.PodsUnstartedTimeSeconds, m.PodsUnboundTimeSeconds, m.PodsProvisioningUnstartedTimeSeconds,
			m.PodsProvisioningUnboundTimeSeconds, m.PodsProvisioningSchedulingUndecidedTimeSeconds)
	}
	pod := b.pod("a")
	b.see(pod)
	b.Kit.Metrics.PodProgress.See(pod.UID, b.begin.Add(time.Second))
	b.Clock.Step(10 * time.Second)
	b.reconcile(reconcile.Key{})
	want := []string{
		"provisioning_scheduling_undecided_time_seconds{name=a namespace=default} 9",
		"unbound_time_seconds{name=a namespace=default} 10",
		"unstarted_time_seconds{name=a namespace=default} 10",
	}
	if diff := cmp.Diff(want, waits()); diff != "" {
		t.Errorf("undecided (-want +got):\n%s", diff)
	}
	b.Kit.Metrics.PodProgress.Decide(pod.UID, b.begin.Add(11*time.Second))
	b.Kit.Metrics.PodProgress.Place(pod.UID, b.begin.Add(12*time.Second))
	b.becomes(pod, corev1.PodScheduled, 20)
	b.Clock.Step(30 * time.Second)
	b.reconcile(reconcile.Key{})
	want = []string{
		"provisioning_unstarted_time_seconds{name=a namespace=default} 28",
		"unstarted_time_seconds{name=a namespace=default} 40",
	}
	if diff := cmp.Diff(want, waits()); diff != "" {
		t.Errorf("bound (-want +got):\n%s", diff)
	}
	b.becomes(pod, corev1.PodReady, 41)
	b.Clock.Step(30 * time.Second)
	b.reconcile(reconcile.Key{})
	if got := waits(); len(got) != 0 {
		t.Errorf("of a pod that is ready: %q", got)
	}
}

// With many pods there is not one series for each, but counts that add up, and the longest wait.
func TestManyPodsAreCounted(t *testing.T) {
	t.Parallel()
	b := on(t, 500)
	for i := range 120 {
		b.pod(fmt.Sprintf("p%03d", i), func(p *corev1.Pod) {
			p.CreationTimestamp = metav1.NewTime(b.begin.Add(-time.Duration(i) * time.Second))
			if i%3 == 0 {
				p.Status.Phase = corev1.PodSucceeded
			}
		})
	}
	b.reconcile(reconcile.Key{})
	want := []string{
		"state{managed=false namespace=default phase=Pending ready=false scheduled=false} 80",
		"state{managed=false namespace=default phase=Succeeded ready=false scheduled=false} 40",
		"unbound_time_seconds{namespace=default} 119",
	}
	if diff := cmp.Diff(want, b.Series("karpenter_pods_", b.Kit.Metrics.PodsState, b.Kit.Metrics.PodsUnboundTimeSeconds)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// Changes that say nothing about how far a pod is wake no controller.
func TestWhatMatters(t *testing.T) {
	t.Parallel()
	controller := pod.New(harness.New(t, memory.Options{}).Kit)[0]
	w := controller.Watches[0]
	old := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"x": "1"}}}
	same, other := old.DeepCopy(), old.DeepCopy()
	same.Labels["x"] = "2"
	other.Status.Phase = corev1.PodRunning
	if w.Wakes(old, same) || !w.Wakes(old, other) || !w.Wakes(nil, old) || !w.Wakes(old, nil) {
		t.Error("the wrong changes wake")
	}
	if diff := cmp.Diff([]reconcile.Key{{Namespace: "default", Name: "a"}}, w.KeysOf(t.Context(), old)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	controller.SubscribeKeys(func(keys ...reconcile.Key) {
		if diff := cmp.Diff([]reconcile.Key{{}}, keys); diff != "" {
			t.Errorf("keys at the start (-want +got):\n%s", diff)
		}
	})
}

// Metrics that are switched off cost no work.
func TestObservabilityCanBeOff(t *testing.T) {
	t.Parallel()
	kit := harness.New(t, memory.Options{}).Kit
	kit.Settings.DisableClusterStateObservability = true
	if got := pod.New(kit); len(got) != 0 {
		t.Errorf("%d controllers", len(got))
	}
}
