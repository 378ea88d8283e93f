package whatif_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/decide"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/whatif"
)

// A pool that is added to a snapshot without offerings for its class buys nothing, and does not break the
// decision.
func TestAPoolForWhichNothingIsSold(t *testing.T) {
	t.Parallel()
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	pool.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "example.com", Kind: "ExampleClass", Name: "c"}
	trial := whatif.Trial{With: &ingest.Objects{NodePools: []*karpenterv1.NodePool{pool}}, Options: ingest.Options{Vocabulary: requirement.Core(), Files: true}}
	s, _, err := trial.Apply(&snapshot.Snapshot{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Pools) != 1 || s.Pools[0].MayLaunch() {
		t.Errorf("the pools are %+v", s.Pools)
	}
	if d := decide.Decide(s, decide.Budget{Disrupt: true}); len(d.Plan.Claims) != 0 {
		t.Errorf("it buys %+v", d.Plan.Claims)
	}
}
