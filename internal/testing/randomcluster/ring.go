package randomcluster

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/requirement"
)

// addRing gives some clusters a few workloads of which each needs the next one on its node, and the last
// needs the first. In most rings one workload also matches its own term, so that its pod may be the
// first; in others no pod can ever be first. The ring has its own dice, so that the rest of a seed's
// cluster is the same with and without it.
func (w *world) addRing() {
	own := dice{rand.New(rand.NewPCG(w.out.Seed, 0x4196))}
	if !own.percent(20) {
		return
	}
	rest := w.d
	defer func() { w.d = rest }()
	w.d = own
	n := w.d.between(2, 4)
	first, key := -1, one(w.d, requirement.KeyHostname, requirement.KeyHostname, requirement.KeyHostname, requirement.KeyZone)
	if w.d.percent(85) {
		first = w.d.IntN(n)
	}
	for i := range n {
		w.addRingWorkload(ringApp(i), key, ringNeeds(i, n, first))
	}
}

func ringApp(i int) string { return fmt.Sprintf("ring%d", i) }

// ringNeeds are the apps that a workload of the ring needs.
func ringNeeds(i, n, first int) []string {
	if i == first {
		return []string{ringApp((i + 1) % n), ringApp(i)}
	}
	return []string{ringApp((i + 1) % n)}
}

func (w *world) addRingWorkload(app, key string, needs []string) {
	pattern := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	pattern.Namespace = "default"
	pattern.Labels = map[string]string{"app": app}
	pattern.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app, UID: "uid-rs", Controller: pointer(true),
	}}
	pattern.Spec.Containers = []corev1.Container{container("main", one(w.d, "100m", "250m", "700m"), one(w.d, "128Mi", "512Mi"))}
	pattern.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: among(needs...)}},
	}}
	if w.d.percent(20) {
		pattern.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: requirement.KeyHostname, LabelSelector: among(app)}},
		}
	}
	replica := 0
	next := func() *corev1.Pod {
		pod := pattern.DeepCopy()
		own := meta(pattern.Namespace, fmt.Sprintf("%s-%d", app, replica))
		pod.Name, pod.UID, pod.CreationTimestamp = own.Name, own.UID, own.CreationTimestamp
		replica++
		return pod
	}
	if w.d.percent(15) {
		w.addRunning(next(), false)
	}
	for range w.d.between(1, 3) {
		pod := next()
		pod.Status.Phase = corev1.PodPending
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		w.add(pod)
	}
}

func among(apps ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: apps}}}
}
