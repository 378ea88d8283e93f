package ingest

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/order"
)

// mostEntries is how many entries a list of a pod's spec may have for the pod to be considered. Lists that people
// write are shorter by far. The API server accepts objects of megabytes, and some rules compare every entry of a
// list with every other one: without a bound a single pod could make decisions last for minutes, for all pods.
const mostEntries = 500

// shortened returns a spec whose lists are cut at mostEntries, and an error that names those that were. Required
// anti-affinity is kept in whole: that of a running pod keeps others away from its node. So are resources and
// ports, which a running pod has taken.
func shortened(spec *corev1.PodSpec) (*corev1.PodSpec, error) {
	var problems []error
	out := *spec
	tooLong := func(field string, n int) bool {
		if n > mostEntries {
			problems = append(problems, fmt.Errorf("%s: has %d entries; a pod with more than %d is not considered", field, n, mostEntries))
		}
		return n > mostEntries
	}
	if tooLong("spec.nodeSelector", len(spec.NodeSelector)) {
		out.NodeSelector = map[string]string{}
		for _, key := range order.Keys(spec.NodeSelector)[:mostEntries] {
			out.NodeSelector[key] = spec.NodeSelector[key]
		}
	}
	if tooLong("spec.tolerations", len(spec.Tolerations)) {
		out.Tolerations = spec.Tolerations[:mostEntries]
	}
	if tooLong("spec.topologySpreadConstraints", len(spec.TopologySpreadConstraints)) {
		out.TopologySpreadConstraints = spec.TopologySpreadConstraints[:mostEntries]
	}
	tooLong("the host ports", len(hostPorts(spec)))
	if usesClaims(spec) && tooLong("spec.volumes", len(spec.Volumes)) {
		out.Volumes = spec.Volumes[:mostEntries]
	}
	if spec.Affinity != nil {
		out.Affinity = shortenedAffinity(spec.Affinity, tooLong)
	}
	if len(problems) == 0 {
		return spec, nil
	}
	return &out, errors.Join(problems...)
}

func shortenedAffinity(a *corev1.Affinity, tooLong func(field string, n int) bool) *corev1.Affinity {
	out := *a
	if a.NodeAffinity != nil {
		out.NodeAffinity = shortenedNodeAffinity(a.NodeAffinity, tooLong)
	}
	if a.PodAffinity != nil {
		pods := *a.PodAffinity
		if n := len(pods.RequiredDuringSchedulingIgnoredDuringExecution); tooLong("spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution", n) {
			pods.RequiredDuringSchedulingIgnoredDuringExecution = pods.RequiredDuringSchedulingIgnoredDuringExecution[:mostEntries]
		}
		if n := len(pods.PreferredDuringSchedulingIgnoredDuringExecution); tooLong("spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution", n) {
			pods.PreferredDuringSchedulingIgnoredDuringExecution = pods.PreferredDuringSchedulingIgnoredDuringExecution[:mostEntries]
		}
		out.PodAffinity = &pods
	}
	if a.PodAntiAffinity != nil {
		pods := *a.PodAntiAffinity
		tooLong("spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution", len(pods.RequiredDuringSchedulingIgnoredDuringExecution))
		if n := len(pods.PreferredDuringSchedulingIgnoredDuringExecution); tooLong("spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution", n) {
			pods.PreferredDuringSchedulingIgnoredDuringExecution = pods.PreferredDuringSchedulingIgnoredDuringExecution[:mostEntries]
		}
		out.PodAntiAffinity = &pods
	}
	return &out
}

// shortenedNodeAffinity counts the expressions of all terms together.
func shortenedNodeAffinity(a *corev1.NodeAffinity, tooLong func(field string, n int) bool) *corev1.NodeAffinity {
	out := *a
	if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		n := 0
		for _, term := range required.NodeSelectorTerms {
			n += max(1, len(term.MatchExpressions))
		}
		if tooLong(requiredField+" with its expressions", n) {
			out.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: shortenedTerms(required.NodeSelectorTerms)}
		}
	}
	preferred, n := a.PreferredDuringSchedulingIgnoredDuringExecution, 0
	for i := range preferred {
		n += max(1, len(preferred[i].Preference.MatchExpressions))
	}
	if tooLong("spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution with its expressions", n) {
		out.PreferredDuringSchedulingIgnoredDuringExecution = nil
	}
	return &out
}

// shortenedTerms keeps the first terms that have mostEntries expressions together, and at least a part of one.
func shortenedTerms(terms []corev1.NodeSelectorTerm) []corev1.NodeSelectorTerm {
	n := 0
	for i := range terms {
		if n += max(1, len(terms[i].MatchExpressions)); n <= mostEntries {
			continue
		}
		if i > 0 {
			return terms[:i]
		}
		first := terms[0]
		first.MatchExpressions = slices.Clip(first.MatchExpressions[:mostEntries])
		return []corev1.NodeSelectorTerm{first}
	}
	return terms
}
