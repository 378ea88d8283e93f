package randomcluster

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/requirement"
)

// expression draws a requirement on nodes.
func (w *world) expression() corev1.NodeSelectorRequirement {
	in := func(key string, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	switch w.d.IntN(10) {
	case 0:
		return in(requirement.KeyArch, some(w.d, "amd64", "arm64")...)
	case 1:
		return in(requirement.KeyCapacityType, one(w.d, capacityTypes...))
	case 2:
		return in(tierLabel, some(w.d, "gold", "silver")...)
	case 3:
		return corev1.NodeSelectorRequirement{Key: tierLabel, Operator: corev1.NodeSelectorOpNotIn, Values: []string{one(w.d, "gold", "silver")}}
	case 4:
		return in(teamLabel, one(w.d, "red", "blue"))
	case 5:
		return corev1.NodeSelectorRequirement{Key: one(w.d, teamLabel, rackLabel, familyLabel), Operator: one(w.d, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist)}
	case 6:
		return corev1.NodeSelectorRequirement{Key: sizeLabel, Operator: one(w.d, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt), Values: []string{one(w.d, "2", "6")}}
	case 7:
		return in(rackLabel, some(w.d, "r1", "r2")...)
	case 8:
		return corev1.NodeSelectorRequirement{Key: requirement.KeyZone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{one(w.d, w.zones...)}}
	}
	return in(requirement.KeyZone, some(w.d, w.zones...)...)
}

func (w *world) nodeTerm() corev1.NodeSelectorTerm {
	term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{w.expression()}}
	if w.d.percent(25) {
		term.MatchExpressions = append(term.MatchExpressions, w.expression())
	}
	return term
}

// chooseNodeRules gives a pod node selector, node affinity and tolerations.
func (w *world) chooseNodeRules(pod *corev1.Pod) {
	if w.d.percent(15) {
		pod.Spec.NodeSelector = map[string]string{}
		switch w.d.IntN(4) {
		case 0:
			pod.Spec.NodeSelector[requirement.KeyZone] = one(w.d, w.zones...)
		case 1:
			pod.Spec.NodeSelector[tierLabel] = one(w.d, "gold", "silver")
		case 2:
			pod.Spec.NodeSelector[requirement.KeyCapacityType] = one(w.d, capacityTypes...)
		default:
			pod.Spec.NodeSelector[requirement.KeyArch] = one(w.d, "amd64", "amd64", "arm64")
		}
	}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
	if w.d.percent(25) {
		required := &corev1.NodeSelector{}
		for range w.d.between(1, 3) {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, w.nodeTerm())
		}
		pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	if w.d.percent(15) {
		pod.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{
			{Weight: int32(w.d.between(1, 100)), Preference: w.nodeTerm()},
		}
	}
	for _, taint := range []corev1.Taint{dedicated, evicting, disliked} {
		if !w.d.percent(35) {
			continue
		}
		toleration := corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpExists}
		if w.d.percent(50) {
			toleration = corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect}
		}
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, toleration)
	}
}

// choosePodRules gives a pod affinity, anti-affinity and spread rules.
func (w *world) choosePodRules(pod *corev1.Pod, app string) {
	for range 2 {
		if w.d.percent(22) {
			pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, w.spread(app))
		}
	}
	dropRepeatedSpread(pod)
	if w.d.percent(15) {
		terms := []corev1.PodAffinityTerm{w.term(app)}
		if w.d.percent(20) {
			terms = append(terms, w.term(app))
		}
		pod.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
	}
	if w.d.percent(20) {
		pod.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{w.term(app)}}
	}
	if w.d.percent(10) {
		preferred := []corev1.WeightedPodAffinityTerm{{Weight: int32(w.d.between(1, 100)), PodAffinityTerm: w.term(app)}}
		if w.d.percent(50) && pod.Spec.Affinity.PodAffinity == nil {
			pod.Spec.Affinity.PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred}
		} else if pod.Spec.Affinity.PodAntiAffinity == nil {
			pod.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: preferred}
		}
	}
}

// dropRepeatedSpread drops constraints that the API server refuses: it allows one for each key and
// policy.
func dropRepeatedSpread(pod *corev1.Pod) {
	if list := pod.Spec.TopologySpreadConstraints; len(list) == 2 && list[0].TopologyKey == list[1].TopologyKey {
		pod.Spec.TopologySpreadConstraints = list[:1]
	}
}

func (w *world) topologyKey() string {
	return one(w.d,
		requirement.KeyZone, requirement.KeyZone, requirement.KeyZone,
		requirement.KeyHostname, requirement.KeyHostname, requirement.KeyHostname,
		requirement.KeyCapacityType, tierLabel, requirement.KeyArch)
}

// picks selects an app's pods, usually the pod's own app.
func (w *world) picks(app string) *metav1.LabelSelector {
	switch n := w.d.IntN(100); {
	case n < 60:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	case n < 80:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": one(w.d, w.apps...)}}
	case n < 90:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"layer": one(w.d, "front", "back")}}
	case n < 96:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: some(w.d, w.apps...)}}}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "version", Operator: metav1.LabelSelectorOpDoesNotExist}}}
}

func (w *world) spread(app string) corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		TopologyKey: w.topologyKey(), MaxSkew: int32(w.d.between(1, 3)),
		WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: w.picks(app),
	}
	if w.d.percent(25) {
		c.WhenUnsatisfiable = corev1.ScheduleAnyway
	} else if w.d.percent(15) {
		c.MinDomains = pointer(int32(w.d.between(1, 3)))
	}
	if w.d.percent(25) {
		c.NodeAffinityPolicy = pointer(one(w.d, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
	}
	if w.d.percent(25) {
		c.NodeTaintsPolicy = pointer(one(w.d, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
	}
	if w.d.percent(15) {
		c.MatchLabelKeys = []string{"version"}
	}
	if w.d.percent(2) {
		c.LabelSelector = &metav1.LabelSelector{}
	}
	return c
}

func (w *world) term(app string) corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{TopologyKey: w.topologyKey(), LabelSelector: w.picks(app)}
	switch n := w.d.IntN(100); {
	case n < 10:
		term.Namespaces = some(w.d, namespaces...)
	case n < 20:
		term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"kind": "business"}}
	}
	return term
}

// chooseRest gives a pod host ports and a priority.
func (w *world) chooseRest(pod *corev1.Pod) {
	if w.d.percent(10) {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{
			ContainerPort: 8080, HostPort: one(w.d, int32(8080), 9100), HostIP: one(w.d, "", "", "10.0.0.1", "10.0.0.2"),
			Protocol: one(w.d, corev1.ProtocolTCP, corev1.ProtocolUDP),
		}}
	}
	if w.d.percent(20) {
		pod.Spec.Priority = pointer(one(w.d, int32(1000), -5, 100000))
	}
}
