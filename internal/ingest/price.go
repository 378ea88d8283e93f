package ingest

import (
	"fmt"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/model"
)

// Prices say what the nodes of a pool cost. The zero value knows nothing.
type Prices struct {
	// Offers is the pool's catalogue, nil if there is none.
	Offers *catalog.Catalog
	// NodePrice is what each node costs an hour beyond its machine.
	NodePrice model.Money
}

// NodePrice is what each node of the pool costs an hour beyond its machine: what the pool's
// annotation says or, without one, what the setting says. With an annotation that is not a price
// it is the setting's too, and the error names the annotation.
func NodePrice(pool *karpenterv1.NodePool, setting model.Money) (model.Money, error) {
	text, said := pool.Annotations[karpenterv1.AnnotationNodePrice]
	if !said {
		return setting, nil
	}
	price, err := model.ParsePrice(text)
	if err != nil {
		return setting, fmt.Errorf("annotation %s: %q %w", karpenterv1.AnnotationNodePrice, text, err)
	}
	return price, nil
}
