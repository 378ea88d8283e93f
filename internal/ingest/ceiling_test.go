package ingest_test

import (
	"testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/ingest"
)

// A ceiling is a multiple of a price, in hundredths; other texts are refused.
func TestPriceCeiling(t *testing.T) {
	t.Parallel()
	if got, err := ingest.PriceCeiling(&karpenterv1.NodePool{}); got != 0 || err != nil {
		t.Errorf("without an annotation: %d, %v", got, err)
	}
	for text, want := range map[string]int64{"4": 400, "2.5": 250, "1": 100, "0.5": 0, "": 0, "NaN": 0, "1e9": 0, "four": 0} {
		pool := &karpenterv1.NodePool{}
		pool.Annotations = map[string]string{karpenterv1.AnnotationPriceCeiling: text}
		if got, err := ingest.PriceCeiling(pool); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
