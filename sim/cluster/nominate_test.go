package cluster_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/sim/store"
)

// lone is a pod without an owner.
func lone(name, cpu string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: meta(name), Spec: template(name, cpu).Spec}
}

// nominate writes the node on which a pod is expected to run, as programs other than the scheduler
// may.
func (w fixture) nominate(name, node string) {
	w.t.Helper()
	pod := w.pod(name)
	pod.Status.NominatedNodeName = node
	if err := w.Store.Status().Update(ctx, pod); err != nil {
		w.t.Fatal(err)
	}
}

func (w fixture) pod(name string) *corev1.Pod {
	w.t.Helper()
	pod := &corev1.Pod{}
	if err := w.Store.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, pod); err != nil {
		w.t.Fatal(err)
	}
	return pod
}

// keep closes a node to pods, or opens it.
func (w fixture) keep(name string, closed bool) {
	w.t.Helper()
	node := store.One[*corev1.Node](w.Store, client.ObjectKey{Name: name}).DeepCopy()
	if node.Spec.Taints = nil; closed {
		node.Spec.Taints = []corev1.Taint{{Key: "closed", Effect: corev1.TaintEffectNoSchedule}}
	}
	if err := w.Store.Update(ctx, node); err != nil {
		w.t.Fatal(err)
	}
}

// A pod is bound to the node to which it is nominated although another one scores more, and its
// nomination ends once it is bound.
func TestANominatedNodeIsTriedFirst(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a, b := w.machine("a"), w.machine("b")
	w.keep(a.Name, true)
	w.keep(b.Name, true)
	w.make(lone("first", "1"))
	w.Run(time.Minute)
	w.nominate("first", a.Name)
	w.keep(a.Name, false)
	w.Run(time.Minute)
	if got := w.pod("first"); got.Spec.NodeName != a.Name || got.Status.NominatedNodeName != "" {
		t.Fatalf("the first pod is on %q, nominated to %q", got.Spec.NodeName, got.Status.NominatedNodeName)
	}
	w.keep(a.Name, true)
	w.make(lone("second", "1"))
	w.Run(time.Minute)
	w.nominate("second", a.Name)
	w.keep(b.Name, false)
	w.keep(a.Name, false)
	w.Run(time.Minute)
	if got := w.pod("second"); got.Spec.NodeName != a.Name {
		t.Errorf("the second pod is on %q although it is nominated to the fuller %q", got.Spec.NodeName, a.Name)
	}
}

// Room is kept for a nominated pod from pods of the same or lower priority, and from no others.
func TestNominatedPodsKeepRoom(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.machine("a")
	w.keep(a.Name, true)
	w.make(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000}, lone("expected", "3"))
	w.Run(time.Minute)
	w.nominate("expected", a.Name)
	w.make(lone("other", "3"))
	w.keep(a.Name, false)
	w.Run(time.Minute)
	if got := w.pod("other"); w.pod("expected").Spec.NodeName != a.Name || got.Spec.NodeName != "" {
		t.Fatalf("the expected pod is on %q, the other one on %q", w.pod("expected").Spec.NodeName, got.Spec.NodeName)
	}
	w = newFixture(t)
	a = w.machine("a")
	w.keep(a.Name, true)
	w.make(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000}, lone("expected", "3"))
	w.Run(time.Minute)
	w.nominate("expected", a.Name)
	urgent := lone("urgent", "3")
	urgent.Spec.PriorityClassName = "urgent"
	w.make(urgent)
	w.keep(a.Name, false)
	w.Run(time.Minute)
	if got := w.pod("urgent"); got.Spec.NodeName != a.Name || w.pod("expected").Status.NominatedNodeName != "" {
		t.Errorf("the urgent pod is on %q, the expected one nominated to %q", got.Spec.NodeName, w.pod("expected").Status.NominatedNodeName)
	}
}

// A nomination ends when an attempt fails and preemption cannot help, for example because the node
// does not exist.
func TestANominationEndsWhenPreemptionCannotHelp(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.machine("a")
	w.make(lone("large", "64"))
	w.Run(time.Minute)
	w.nominate("large", "away")
	w.Run(time.Second)
	if got := w.pod("large").Status.NominatedNodeName; got != "away" {
		t.Fatalf("before another attempt the pod is nominated to %q", got)
	}
	w.keep(a.Name, true)
	w.Run(time.Minute)
	if got := w.pod("large").Status.NominatedNodeName; got != "" {
		t.Errorf("after another attempt the pod is nominated to %q", got)
	}
}

// A pod that must be beside another one is tried again as soon as the other has a node.
func TestPodsAreTriedAgainWhenTheirPartnersHaveNodes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.machine("a")
	beside := lone("beside", "100m")
	beside.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: corev1.LabelHostname, LabelSelector: selector("web"),
	}}}}
	w.make(beside)
	w.Run(time.Minute)
	if got := w.pod("beside").Spec.NodeName; got != "" {
		t.Fatalf("the pod is on %q, and alone", got)
	}
	w.make(deployment("web", 1, "100m"))
	w.Run(10 * time.Second)
	if w.pod("beside").Spec.NodeName == "" {
		t.Error("the pod still waits ten seconds later")
	}
}
