package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Pool translates a pool, without its catalogue: the caller sets Catalog, or Unready if
// there is none.
func (t *Translator) Pool(pool *karpenterv1.NodePool) snapshot.Pool {
	template := &pool.Spec.Template
	labels := t.poolLabels(pool)
	out := snapshot.Pool{
		Name:          pool.Name,
		Labels:        labels,
		Requirements:  t.options.Vocabulary.FromLabels(labels),
		Annotations:   maps.Clone(template.Annotations),
		Taints:        taints(template.Spec.Taints),
		StartupTaints: taints(template.Spec.StartupTaints),
		Limits:        amounts(corev1.ResourceList(pool.Spec.Limits)),
		Consolidation: consolidation(pool),
	}
	out.NodePrice, _ = NodePrice(pool, t.options.NodePrice) // what is refused is told where pools are checked
	out.PriceCeiling, _ = PriceCeiling(pool)
	if pool.Spec.Weight != nil {
		out.Weight = *pool.Spec.Weight
	}
	if pool.Spec.Replicas != nil {
		replicas := *pool.Spec.Replicas
		out.Replicas = &replicas
	}
	own, parsed := t.options.Vocabulary.Parse(poolEntries(template.Spec.Requirements)...)
	out.Requirements = out.Requirements.Intersect(own)
	problem := t.unready(pool, parsed)
	switch {
	case problem != nil && pool.IsStatic():
		out.Unready, out.Held = problem.Error(), problem.Error()
	case problem != nil:
		out.Unready = problem.Error()
	case pool.IsStatic():
		out.Unready = "is static: its nodes follow spec.replicas, not the pods"
	}
	return out
}

// poolLabels are all that every node of the pool gets: the template's, the pool's name
// and the node class.
func (t *Translator) poolLabels(pool *karpenterv1.NodePool) map[string]string {
	out := maps.Clone(pool.Spec.Template.Labels)
	if out == nil {
		out = map[string]string{}
	}
	out[karpenterv1.LabelNodePool] = pool.Name
	if ref := pool.Spec.Template.Spec.NodeClassRef; ref != nil {
		out[karpenterv1.NodeClassLabel(ref.Group, ref.Kind)] = ref.Name
	}
	return out
}

func poolEntries(list []karpenterv1.Requirement) []requirement.Entry {
	out := make([]requirement.Entry, 0, len(list))
	for _, r := range list {
		e := requirement.Entry{Key: r.Key, Operator: requirement.Operator(r.Operator), Values: r.Values}
		if r.MinValues != nil {
			e.MinValues = *r.MinValues
		}
		out = append(out, e)
	}
	return out
}

// unready is why nothing may be bought from the pool, nil if that is not so.
func (t *Translator) unready(pool *karpenterv1.NodePool, parsed error) error {
	ref := pool.Spec.Template.Spec.NodeClassRef
	switch {
	case ref == nil:
		return errors.New("spec.template.spec.nodeClassRef is missing")
	case t.options.Managed != nil && !t.options.Managed(ref.Group, ref.Kind):
		return fmt.Errorf("its node class is of a kind that is not managed here: %s in group %s", ref.Kind, ref.Group)
	case pool.DeletionTimestamp != nil:
		return errors.New("is being deleted")
	}
	if err := t.CheckPool(pool); err != nil {
		return err
	}
	if parsed != nil {
		return parsed
	}
	return t.checkReady(pool)
}

// CheckPool is the run-time validation of a pool.
func (t *Translator) CheckPool(pool *karpenterv1.NodePool) error { return pool.Validate(t.rules) }

// causes are what the conditions say that make the pool not ready.
func causes(pool *karpenterv1.NodePool) string {
	var out []string
	for _, c := range pool.Status.Conditions {
		if c.Status == metav1.ConditionFalse && c.Message != "" && (c.Type == karpenterv1.ConditionValidationSucceeded || c.Type == karpenterv1.ConditionNodeClassReady) {
			out = append(out, c.Message)
		}
	}
	return strings.Join(out, "; ")
}

// checkReady believes what the status says. A manifest says nothing, and a pool that
// has not been judged yet counts as ready there.
func (t *Translator) checkReady(pool *karpenterv1.NodePool) error {
	for _, c := range pool.Status.Conditions {
		if c.Type != condition.Ready {
			continue
		}
		switch {
		case c.Status == metav1.ConditionTrue:
			return nil
		case c.Status == metav1.ConditionFalse || !t.options.Files:
			return fmt.Errorf("not ready: %s", cmp.Or(causes(pool), c.Message, c.Reason, "no reason given"))
		}
	}
	if t.options.Files {
		return nil
	}
	return errors.New("not ready: awaiting reconciliation")
}
