package ingest

import (
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/snapshot"
	"tenon/internal/owner"
)

// spreads translates the pod's topology spread constraints. A pod without any gets the
// cluster's defaults.
func (t *Translator) spreads(pod *corev1.Pod) ([]snapshot.Spread, error) {
	if len(pod.Spec.TopologySpreadConstraints) == 0 {
		return t.defaultSpreads(pod), nil
	}
	var out []snapshot.Spread
	var problems []error
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		if err := checkSpread(fmt.Sprintf("spec.topologySpreadConstraints[%d]", i), c); err != nil {
			problems = append(problems, err)
			continue
		}
		out = append(out, t.spread(c, foldKeys(selector(c.LabelSelector), c.MatchLabelKeys, "In", pod.Labels)))
	}
	return out, errors.Join(problems...)
}

func checkSpread(field string, c *corev1.TopologySpreadConstraint) error {
	switch {
	case c.TopologyKey == "":
		return fmt.Errorf("%s.topologyKey: is missing", field)
	case c.MaxSkew <= 0:
		return fmt.Errorf("%s.maxSkew: must be greater than 0, not %d", field, c.MaxSkew)
	case c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway:
		return fmt.Errorf("%s.whenUnsatisfiable: must be %s or %s, not %q", field, corev1.DoNotSchedule, corev1.ScheduleAnyway, c.WhenUnsatisfiable)
	}
	return checkSelector(field+".labelSelector", c.LabelSelector)
}

func (t *Translator) spread(c *corev1.TopologySpreadConstraint, picks model.Selector) snapshot.Spread {
	t.mention(picks)
	out := snapshot.Spread{
		Key:                t.options.Vocabulary.Key(c.TopologyKey),
		MaxSkew:            c.MaxSkew,
		Selector:           picks,
		Soft:               c.WhenUnsatisfiable == corev1.ScheduleAnyway,
		IgnoreNodeAffinity: c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore,
		HonorTaints:        c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor,
	}
	if c.MinDomains != nil {
		out.MinDomains = *c.MinDomains
	}
	return out
}

// defaultSpreads are the scheduler configuration's constraints with a selector deduced
// from the Services and the controller of the pod. "Nothing deduced → not injected."
func (t *Translator) defaultSpreads(pod *corev1.Pod) []snapshot.Spread {
	if len(t.options.DefaultSpreads) == 0 {
		return nil
	}
	deduced := t.index.deducedSelector(pod)
	if len(deduced.Expressions) == 0 {
		return nil
	}
	var out []snapshot.Spread
	for i := range t.options.DefaultSpreads {
		out = append(out, t.spread(&t.options.DefaultSpreads[i], deduced))
	}
	return out
}

// deducedSelector is what kube-scheduler deduces: the labels of all Services that select the pod,
// overwritten by those of a ReplicationController, with the expressions of a ReplicaSet or
// StatefulSet added.
func (x *Index) deducedSelector(pod *corev1.Pod) model.Selector {
	labels := map[string]string{}
	for _, service := range x.services.in(namespaceOf(pod)) {
		if service.Spec.Selector != nil && labelsInclude(pod.Labels, service.Spec.Selector) {
			maps.Copy(labels, service.Spec.Selector)
		}
	}
	replicated, expressions := x.controllerSelector(pod)
	maps.Copy(labels, replicated)
	var out model.Selector
	for _, key := range order.Keys(labels) {
		out = withExpression(out, model.Expression{Key: key, Operator: "In", Values: []string{labels[key]}})
	}
	for _, e := range expressions.Expressions {
		out = withExpression(out, e)
	}
	return out
}

func labelsInclude(labels, want map[string]string) bool {
	for name, value := range want {
		if has, ok := labels[name]; !ok || has != value {
			return false
		}
	}
	return true
}

func (x *Index) controllerSelector(pod *corev1.Pod) (map[string]string, model.Selector) {
	ref := owner.Of(pod)
	if c, ok := x.replicators[key{ref.Namespace, ref.Name}]; ok && owner.Is("v1", "ReplicationController", c) == ref {
		return c.Spec.Selector, model.Selector{}
	}
	if c, ok := named(x.replicaSets, "ReplicaSet", ref); ok {
		return nil, selector(c.Spec.Selector)
	}
	if c, ok := named(x.deployments, "Deployment", ref); ok { // a replica that has no ReplicaSet yet
		return nil, selector(c.Spec.Selector)
	}
	if c, ok := named(x.statefulSets, "StatefulSet", ref); ok {
		return nil, selector(c.Spec.Selector)
	}
	return nil, model.Selector{}
}
