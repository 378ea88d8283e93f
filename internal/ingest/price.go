package ingest

import (
	"fmt"
	"math"
	"strconv"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/model"
)

// Prices say what the nodes of a pool cost. The zero value has no prices.
type Prices struct {
	// Offers is the pool's catalogue, nil if there is none.
	Offers *catalog.Catalog
	// NodePrice is what each node costs an hour beyond its machine.
	NodePrice model.Money
}

// PriceCeiling limits the price of a new node of the pool while a cheaper suitable offering is out of
// stock, in hundredths of the price of that offering; 0 is no limit. An annotation with an invalid
// number sets no limit, and the error names it.
func PriceCeiling(pool *karpenterv1.NodePool) (int64, error) {
	text, said := pool.Annotations[karpenterv1.AnnotationPriceCeiling]
	if !said {
		return 0, nil
	}
	times, err := strconv.ParseFloat(text, 64)
	if err != nil || !(times >= 1 && times <= highestCeiling) {
		return 0, fmt.Errorf("annotation %s: %q is no number from 1 to %d, such as 4 or 2.5", karpenterv1.AnnotationPriceCeiling, text, highestCeiling)
	}
	return int64(math.Round(times * 100)), nil
}

// highestCeiling is far above any ratio of prices between machines.
const highestCeiling = 1_000_000

// NodePrice is what each node of the pool costs an hour beyond its machine: the value of the pool's
// annotation or, without one, the setting. If the annotation is not a price, the setting counts
// too, and the error names the annotation.
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
