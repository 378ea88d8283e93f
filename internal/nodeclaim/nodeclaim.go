// Package nodeclaim makes NodeClaim objects: from a pool alone, for pools with a number of
// replicas, and from a claim that was planned. The object holds everything that the
// purchase will depend on, because it is in the API server before anything is bought.
//
// It is pure: it must not write objects, and decides neither whether to make a claim nor for which pods.
package nodeclaim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/internal/ingest"
	"tenon/internal/translate"
)

// Maker makes claims for one cloud.
type Maker struct {
	words requirement.Vocabulary
	// grace is the termination grace period of pools that name none.
	grace *time.Duration
}

// New is a maker of claims for the cloud that is described.
func New(d cloud.Description) Maker {
	return Maker{words: d.Vocabulary(), grace: d.TerminationGracePeriod}
}

// ForPool makes a claim straight from the template: nothing is known of its pods, so it
// requests nothing and leaves the choice of the machine to the purchase. An error says
// that the pool's requirements cannot be read.
func (m Maker) ForPool(pool *karpenterv1.NodePool) (*karpenterv1.NodeClaim, error) {
	asked, err := m.words.Parse(ingest.Entries(pool.Spec.Template.Spec.Requirements)...)
	if err != nil {
		return nil, fmt.Errorf("requirements of nodepool %s: %w", pool.Name, err)
	}
	return m.make(pool, asked.Intersect(m.words.FromLabels(poolLabels(pool)))), nil
}

// ForPlan makes the claim that was planned. The pool is the one that the decision saw, and
// so is its catalogue, which may be nil: it tells which types an overlay has changed.
func (m Maker) ForPlan(pool *karpenterv1.NodePool, planned *plan.Claim, offers *catalog.Catalog) *karpenterv1.NodeClaim {
	claim := m.make(pool, planned.Narrowed())
	claim.Spec.Resources.Requests = translate.Quantities(planned.Requests)
	claim.Annotations[karpenterv1.AnnotationMinValuesRelaxed] = fmt.Sprint(planned.MinimumRelaxed)
	for _, key := range overlaid(planned, offers) {
		claim.Annotations[key] = "true"
	}
	return claim
}

// make makes a claim that asks for these labels, the pool's included. The hostname is left
// out: the solver has made it up for a node that has no name yet. The claim has the finalizer from the
// start, so it cannot go while its instance exists.
func (m Maker) make(pool *karpenterv1.NodePool, asked requirement.Set) *karpenterv1.NodeClaim {
	asked = asked.Without(requirement.KeyHostname)
	template := pool.Spec.Template.DeepCopy()
	labels := m.words.Labels(asked)
	maps.Copy(labels, poolLabels(pool))
	return &karpenterv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    pool.Name + "-",
			Labels:          labels,
			Annotations:     annotations(pool),
			OwnerReferences: []metav1.OwnerReference{owner(pool)},
			Finalizers:      []string{karpenterv1.FinalizerTermination},
		},
		Spec: karpenterv1.NodeClaimSpec{
			Taints:                 template.Spec.Taints,
			StartupTaints:          template.Spec.StartupTaints,
			Requirements:           Requirements(fitted(asked, labels)),
			NodeClassRef:           template.Spec.NodeClassRef,
			TerminationGracePeriod: m.gracePeriod(template.Spec.TerminationGracePeriod),
			ExpireAfter:            template.Spec.ExpireAfter,
		},
	}
}

// poolLabels are those of every node of the pool.
func poolLabels(pool *karpenterv1.NodePool) map[string]string {
	labels := maps.Clone(pool.Spec.Template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[karpenterv1.LabelNodePool] = pool.Name
	if ref := pool.Spec.Template.Spec.NodeClassRef; ref != nil {
		labels[karpenterv1.NodeClassLabel(ref.Group, ref.Kind)] = ref.Name
	}
	return labels
}

// annotations are the template's and the hash of this very template. The hash that is
// written on the pool may be of an earlier one, and the claim would drift as soon as it is
// corrected.
func annotations(pool *karpenterv1.NodePool) map[string]string {
	out := maps.Clone(pool.Spec.Template.Annotations)
	if out == nil {
		out = map[string]string{}
	}
	out[karpenterv1.AnnotationNodePoolHash] = pool.Hash()
	out[karpenterv1.AnnotationNodePoolHashVersion] = karpenterv1.NodePoolHashVersion
	return out
}

// owner is the owner reference: the pool's claims are deleted with the pool, and the pool waits for them.
func owner(pool *karpenterv1.NodePool) metav1.OwnerReference {
	block := true
	return metav1.OwnerReference{
		APIVersion:         karpenterv1.GroupVersion.String(),
		Kind:               "NodePool",
		Name:               pool.Name,
		UID:                pool.UID,
		BlockOwnerDeletion: &block,
	}
}

func (m Maker) gracePeriod(own *scalar.Duration) *scalar.Duration {
	if own == nil && m.grace != nil {
		return &scalar.Duration{Duration: *m.grace}
	}
	return own
}

// mostRequirements is how many the API server accepts.
const mostRequirements = 100

// fitted leaves out requirements that only repeat a label of the claim, as far as there
// are more than the API server accepts: a pool may have a hundred labels and a hundred
// requirements, and its claims could otherwise never be made. The node gets the label
// either way, and no machine is chosen by it.
func fitted(asked requirement.Set, labels map[string]string) requirement.Set {
	over := len(asked.Entries()) - mostRequirements
	for _, key := range asked.Keys() {
		if over <= 0 {
			break
		}
		value, single := asked.Get(key).Single()
		if single && key != requirement.KeyNodePool && labels[key] == value && asked.Get(key).MinValues() == 0 {
			asked, over = asked.Without(key), over-1
		}
	}
	return asked
}

// Requirements writes requirements as claims have them, in the order of their keys.
func Requirements(asked requirement.Set) []karpenterv1.Requirement {
	out := []karpenterv1.Requirement{} // the field is required, if only as an empty list
	for _, e := range asked.Entries() {
		r := karpenterv1.Requirement{Key: e.Key, Operator: corev1.NodeSelectorOperator(e.Operator), Values: slices.Clone(e.Values)}
		if e.MinValues > 0 {
			r.MinValues = &e.MinValues
		}
		out = append(out, r)
	}
	return out
}

// overlaid are the annotations that say what overlays have changed about the types that
// the claim may become.
func overlaid(planned *plan.Claim, offers *catalog.Catalog) []string {
	if offers == nil {
		return nil
	}
	changed := changes(offers)
	if len(changed) == 0 {
		return nil // nearly always, and a claim may have thousands of alternatives
	}
	price, capacity := changed[planned.Offer.InstanceType].price, changed[planned.Offer.InstanceType].capacity
	for o := range planned.Alternatives.All() {
		price = price || changed[o.InstanceType].price
		capacity = capacity || changed[o.InstanceType].capacity
	}
	var keys []string
	if price {
		keys = append(keys, karpenterv1.AnnotationPriceOverlayApplied)
	}
	if capacity {
		keys = append(keys, karpenterv1.AnnotationCapacityOverlayApplied)
	}
	return keys
}

type change struct{ price, capacity bool }

// changes are those of overlays, by type.
func changes(offers *catalog.Catalog) map[string]change {
	out := map[string]change{}
	for i := range offers.Types {
		if t := &offers.Types[i]; t.PriceOverlay || t.CapacityOverlay {
			out[t.Name] = change{t.PriceOverlay, t.CapacityOverlay}
		}
	}
	return out
}
