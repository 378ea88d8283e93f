package randomcluster

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/requirement"
)

// addDaemons makes DaemonSets that run everywhere, or on some nodes only. Their pods do not exist yet, as
// if the sets had just been made: the room that they need must stay free.
func (w *world) addDaemons() {
	for i := range w.d.IntN(3) {
		name := fmt.Sprintf("agent-%d", i)
		labels := map[string]string{"agent": name}
		set := &appsv1.DaemonSet{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
			ObjectMeta: meta("kube-system", name),
			Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}},
		}
		set.Spec.Template.Labels = labels
		spec := &set.Spec.Template.Spec
		spec.Containers = []corev1.Container{container("agent", one(w.d, "50m", "150m"), one(w.d, "64Mi", "200Mi"))}
		w.chooseDaemonRules(spec)
		w.add(set)
	}
}

func (w *world) chooseDaemonRules(spec *corev1.PodSpec) {
	if w.d.percent(60) {
		spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	if w.d.percent(25) {
		spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 9100, HostPort: 9100, Protocol: corev1.ProtocolTCP}}
	}
	switch w.d.IntN(6) {
	case 0:
		spec.NodeSelector = map[string]string{requirement.KeyArch: "arm64"}
	case 1:
		spec.NodeSelector = map[string]string{requirement.KeyCapacityType: one(w.d, capacityTypes...)}
	case 2: // one of two terms
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: requirement.KeyZone, Operator: corev1.NodeSelectorOpIn, Values: w.zones[:1]}}},
				{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: tierLabel, Operator: corev1.NodeSelectorOpExists}}},
			}},
		}}
	}
}
