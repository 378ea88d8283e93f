package ingest

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"tenon/api/condition"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	"tenon/core/model"
	"tenon/core/requirement"
)

// NodePrices are the prices of NodeOverlays that are in use, for nodes that exist.
type NodePrices struct{ ranked []correction }

// NewNodePrices reads the overlays that are in use: those that the controller has found valid and without conflict, which
// is what their condition Ready says.
func NewNodePrices(list []*karpenterv1alpha1.NodeOverlay) NodePrices {
	translator := NewTranslator(NewIndex(), Options{Vocabulary: requirement.Core()})
	var out NodePrices
	for _, o := range rankedOverlays(list) {
		if !meta.IsStatusConditionTrue(o.Status.Conditions, condition.Ready) {
			continue
		}
		if c, err := translator.correction(o); err == nil && c.price != nil {
			out.ranked = append(out.ranked, c)
		}
	}
	return out
}

// Of is the price of a node with some labels, if an overlay sets or changes it. The first of the rank counts, as for offerings.
// An overlay that changes the price does nothing if no price is known.
func (p NodePrices) Of(labels map[string]string, price model.Money, known bool) (model.Money, bool) {
	if len(p.ranked) == 0 {
		return 0, false
	}
	node := requirement.FromLabels(labels)
	for _, c := range p.ranked {
		if node.Compatible(c.about, requirement.KeySet{}) {
			return c.price(price), known || c.priced
		}
	}
	return 0, false
}
