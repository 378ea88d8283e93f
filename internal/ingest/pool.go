package ingest

import (
	"cmp"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Pool translates a pool without its catalogue. The caller sets Catalog, or Unready if the pool
// has none.
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
	out.NodePrice, _ = NodePrice(pool, t.options.NodePrice) // annotations that are refused are reported where pools are checked
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
	out.Unready = t.unready(pool, parsed)
	if pool.IsStatic() {
		out.Held = out.Unready
		if out.MayLaunch() {
			out.Unready.Code = reason.PoolStatic
		}
	}
	return out
}

// poolLabels are the labels that every node of the pool gets: the template's, the pool's name and
// the node class.
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

// unready says why no node may be bought from the pool; reasons that concern only static pools are
// left out.
func (t *Translator) unready(pool *karpenterv1.NodePool, parsed error) reason.Unready {
	ref := pool.Spec.Template.Spec.NodeClassRef
	switch {
	case ref == nil:
		return reason.Unready{Code: reason.NodeClassRefMissing}
	case t.options.Managed != nil && !t.options.Managed(ref.Group, ref.Kind):
		return reason.Unready{Code: reason.NodeClassUnmanaged, Kind: ref.Kind, Group: ref.Group}
	case pool.DeletionTimestamp != nil:
		return reason.Unready{Code: reason.PoolDeleted}
	}
	if err := cmp.Or(t.CheckPool(pool), parsed); err != nil {
		return reason.Unready{Code: reason.PoolInvalid, Message: err.Error()}
	}
	return t.judged(pool)
}

// CheckPool is the run-time validation of a pool.
func (t *Translator) CheckPool(pool *karpenterv1.NodePool) error { return pool.Validate(t.rules) }

// causes are the conditions that make the pool not ready.
func causes(pool *karpenterv1.NodePool) string {
	var out []string
	for _, c := range pool.Status.Conditions {
		if c.Status == metav1.ConditionFalse && c.Message != "" && (c.Type == karpenterv1.ConditionValidationSucceeded || c.Type == karpenterv1.ConditionNodeClassReady) {
			out = append(out, c.Message)
		}
	}
	return strings.Join(out, "; ")
}

// judged is the pool's readiness by its status. A manifest has no status: a pool that no controller
// has judged counts as ready there.
func (t *Translator) judged(pool *karpenterv1.NodePool) reason.Unready {
	for _, c := range pool.Status.Conditions {
		if c.Type != condition.Ready {
			continue
		}
		switch {
		case c.Status == metav1.ConditionTrue:
			return reason.Unready{}
		case c.Status == metav1.ConditionFalse || !t.options.Files:
			return reason.Unready{Code: reason.NotReady, Message: cmp.Or(causes(pool), c.Message, c.Reason, "no reason given")}
		}
	}
	if t.options.Files {
		return reason.Unready{}
	}
	return reason.Unready{Code: reason.PoolUnjudged}
}
