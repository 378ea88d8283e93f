package turnover

import (
	"context"
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/facts"
	"tenon/core/model"
	"tenon/lab/labtest"
)

// Two hundred nodes that are used by two fifths cost less step by step; never are more than a fifth
// of them on their way out, and no pod is moved twice.
func TestHalfEmptyFleet(t *testing.T) {
	const nodes = 200
	s := begin(t, labtest.Start(t))
	s.class()
	pool := s.pool(onDemand("m6a.xlarge", "m6a.2xlarge"))
	// Four processors are 3.92 for pods: one pod that fills, and one that stays.
	before := s.scatter(nodes, "1500m", "2200m")
	was := fee(before)
	history := s.observe()
	s.open(pool, `{"nodes":"20%"}`)
	// A machine of four processors has room for two of the pods, one of eight for five.
	bound := was * 2 / 5
	var after []karpenterv1.NodeClaim
	s.lab.EventuallyWithin(s, 3*long, "the fleet costs what it should", func(context.Context) (bool, string) {
		after = s.claims()
		return fee(after) <= bound*1.03 && settled(after), fmt.Sprintf("%d claims for %.3f an hour, which should be %.3f", len(after), fee(after), bound)
	})
	s.running("web", nodes)
	t.Logf("%d nodes for %.3f an hour became %d for %.3f", len(before), was, len(after), fee(after))
	for _, m := range history.all() {
		if m.leaving*5 > m.inService+4 { // percentages of a budget are rounded up
			t.Fatalf("%d of %d nodes were leaving", m.leaving, m.inService)
		}
	}
	if most := history.mostLeaving(); most < nodes/10 {
		t.Errorf("the budget allows %d at a time, and no more than %d ever were leaving", nodes/5, most)
	}
}

// fee is what claims cost an hour.
func fee(claims []karpenterv1.NodeClaim) float64 {
	prices, sum := facts.PricesFor("us-west-2").Hourly, model.Money(0)
	for _, c := range claims {
		sum += prices[c.Labels[v1.LabelInstanceTypeStable]]
	}
	return sum.Float()
}
