package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// nodeRules holds what a pod requires and prefers of nodes.
type nodeRules struct {
	selector  requirement.Set
	terms     []requirement.Set
	preferred []snapshot.WeightedTerm
}

// nodeRules translates node selector and node affinity. The error says why the pod cannot be
// considered: "A node selector or required node-affinity term with matchFields present, or any
// requirement failing the single-requirement check".
func (t *Translator) nodeRules(spec *corev1.PodSpec) (nodeRules, error) {
	words := &t.options.Vocabulary
	out := nodeRules{selector: words.FromLabels(spec.NodeSelector)}
	var problems []error
	for _, e := range out.selector.Entries() {
		problems = appendProblems(problems, "spec.nodeSelector", words.Validate(e))
	}
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
		var err error
		out.terms, err = t.requiredTerms(spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		problems = append(problems, err)
		out.preferred = t.preferredTerms(spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return out, errors.Join(problems...)
}

func appendProblems(list []error, field string, problems requirement.Problems) []error {
	if err := problems.Err(); err != nil {
		return append(list, fmt.Errorf("%s: %w", field, err))
	}
	return list
}

const requiredField = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"

func (t *Translator) requiredTerms(required *corev1.NodeSelector) ([]requirement.Set, error) {
	if required == nil {
		return nil, nil
	}
	var terms []requirement.Set
	var problems []error
	for i, term := range required.NodeSelectorTerms {
		if len(term.MatchFields) > 0 {
			problems = append(problems, obstacle{Code: reason.MatchFieldsUnsupported})
		}
		if len(term.MatchExpressions) == 0 {
			continue // Kubernetes: an empty term matches no objects.
		}
		set, err := t.term(fmt.Sprintf("%s.nodeSelectorTerms[%d]", requiredField, i), term.MatchExpressions)
		terms, problems = append(terms, set), append(problems, err)
	}
	if len(terms) == 0 && len(problems) == 0 {
		problems = append(problems, fmt.Errorf("%s has no term that a node could match", requiredField))
	}
	return terms, errors.Join(problems...)
}

func (t *Translator) term(field string, expressions []corev1.NodeSelectorRequirement) (requirement.Set, error) {
	entries := nodeEntries(expressions)
	var problems []error
	for i, e := range entries {
		problems = appendProblems(problems, fmt.Sprintf("%s.matchExpressions[%d]", field, i), t.options.Vocabulary.Validate(e))
	}
	set, err := t.options.Vocabulary.Parse(entries...)
	if err != nil {
		// Running pods and daemons are translated nevertheless: nothing matches this term.
		set = requirement.NewSet(requirement.New(entries[0].Key, requirement.In))
	}
	if len(problems) == 0 && err != nil {
		problems = append(problems, fmt.Errorf("%s: %w", field, err))
	}
	return set, errors.Join(problems...)
}

// preferredTerms are sorted by weight, the heaviest first; equal ones keep their order. A malformed
// preference is dropped: it is no reason to refuse the pod.
func (t *Translator) preferredTerms(list []corev1.PreferredSchedulingTerm) []snapshot.WeightedTerm {
	var out []snapshot.WeightedTerm
	for _, p := range list {
		if p.Weight <= 0 || len(p.Preference.MatchExpressions) == 0 || len(p.Preference.MatchFields) > 0 {
			continue
		}
		if set, err := t.options.Vocabulary.Parse(nodeEntries(p.Preference.MatchExpressions)...); err == nil {
			out = append(out, snapshot.WeightedTerm{Weight: p.Weight, Term: set})
		}
	}
	slices.SortStableFunc(out, func(a, b snapshot.WeightedTerm) int { return cmp.Compare(b.Weight, a.Weight) })
	return out
}

func nodeEntries(expressions []corev1.NodeSelectorRequirement) []requirement.Entry {
	out := make([]requirement.Entry, 0, len(expressions))
	for _, e := range expressions {
		out = append(out, requirement.Entry{Key: e.Key, Operator: requirement.Operator(e.Operator), Values: e.Values})
	}
	return out
}

// podRules holds what a pod requires and prefers of other pods.
type podRules struct {
	affinity, antiAffinity                   []snapshot.AffinityTerm
	preferredAffinity, preferredAntiAffinity []snapshot.WeightedAffinity
}

func (t *Translator) podRules(pod *corev1.Pod) (podRules, error) {
	affinity := pod.Spec.Affinity
	if affinity == nil {
		return podRules{}, nil
	}
	var out podRules
	var problems []error
	collect := func(field string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) (r []snapshot.AffinityTerm, p []snapshot.WeightedAffinity) {
		r, err := t.affinityTerms(pod, field, required)
		problems = append(problems, err)
		return r, t.preferredAffinity(pod, preferred)
	}
	if a := affinity.PodAffinity; a != nil {
		out.affinity, out.preferredAffinity = collect("podAffinity",
			a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := affinity.PodAntiAffinity; a != nil {
		out.antiAffinity, out.preferredAntiAffinity = collect("podAntiAffinity",
			a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return out, errors.Join(problems...)
}

func (t *Translator) affinityTerms(pod *corev1.Pod, field string, terms []corev1.PodAffinityTerm) ([]snapshot.AffinityTerm, error) {
	var out []snapshot.AffinityTerm
	var problems []error
	for i := range terms {
		field := fmt.Sprintf("spec.affinity.%s.requiredDuringSchedulingIgnoredDuringExecution[%d]", field, i)
		problems = append(problems, checkAffinityTerm(field, &terms[i]))
		out = append(out, t.affinityTerm(pod, &terms[i]))
	}
	return out, errors.Join(problems...)
}

func checkAffinityTerm(field string, term *corev1.PodAffinityTerm) error {
	var noKey error
	if term.TopologyKey == "" {
		noKey = fmt.Errorf("%s.topologyKey: is missing", field)
	}
	return errors.Join(noKey,
		checkSelector(field+".labelSelector", term.LabelSelector),
		checkSelector(field+".namespaceSelector", term.NamespaceSelector))
}

// preferredAffinity drops malformed preferences, as preferredTerms does.
func (t *Translator) preferredAffinity(pod *corev1.Pod, list []corev1.WeightedPodAffinityTerm) []snapshot.WeightedAffinity {
	var out []snapshot.WeightedAffinity
	for i := range list {
		if list[i].Weight > 0 && checkAffinityTerm("", &list[i].PodAffinityTerm) == nil {
			out = append(out, snapshot.WeightedAffinity{Weight: list[i].Weight, Term: t.affinityTerm(pod, &list[i].PodAffinityTerm)})
		}
	}
	slices.SortStableFunc(out, func(a, b snapshot.WeightedAffinity) int { return cmp.Compare(b.Weight, a.Weight) })
	return out
}

func (t *Translator) affinityTerm(pod *corev1.Pod, term *corev1.PodAffinityTerm) snapshot.AffinityTerm {
	picks := foldKeys(selector(term.LabelSelector), term.MatchLabelKeys, "In", pod.Labels)
	picks = foldKeys(picks, term.MismatchLabelKeys, "NotIn", pod.Labels)
	t.mention(picks)
	return snapshot.AffinityTerm{
		Key:        t.options.Vocabulary.Key(term.TopologyKey),
		Selector:   picks,
		Namespaces: t.affinityNamespaces(pod, term),
	}
}

// affinityNamespaces returns the pod's own namespace when the term names none, otherwise the listed
// namespaces and those that the namespace selector matches (all, if it is empty).
func (t *Translator) affinityNamespaces(pod *corev1.Pod, term *corev1.PodAffinityTerm) []string {
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		return []string{namespaceOf(pod)}
	}
	all := append(slices.Clone(term.Namespaces), t.index.namespacesMatching(term.NamespaceSelector)...)
	slices.Sort(all)
	return slices.Compact(all)
}
