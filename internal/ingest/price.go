package ingest

import (
	"fmt"
	"math"
	"strconv"

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

// PriceCeiling is how many hundredths of the price of what would do a new node of the pool may cost
// while that is out of stock, 0 without a ceiling. With an annotation that is no such number there is
// none, and the error names the annotation.
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

// highestCeiling is far beyond what machines differ in.
const highestCeiling = 1_000_000

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
