package turnover

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/labtest"
)

// Nodes that are no longer needed go, with the policy WhenEmpty too, and the one with a pod stays.
func TestEmptyNodesAreDeleted(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(onDemand("m6a.large"), func(p *karpenterv1.NodePool) {
		p.Spec.Disruption.ConsolidationPolicy = karpenterv1.ConsolidateWhenEmpty
	})
	web := s.deploy("web", 3, "1500m")
	s.Running("web", 3)
	s.open(pool)
	s.Scale(web.Name, 1)
	claims := s.awaitClaims("one claim is left", func(c []karpenterv1.NodeClaim) bool { return len(c) == 1 && settled(c) })
	if pod := s.Running("web", 1)[0]; pod.Spec.NodeName != claims[0].Status.NodeName {
		t.Errorf("the pod is on %s, and %s is left", pod.Spec.NodeName, claims[0].Status.NodeName)
	}
	s.Scale(web.Name, 0)
	s.awaitClaims("no claim is left", func(c []karpenterv1.NodeClaim) bool { return len(c) == 0 })
}

// One machine of half the size replaces three large machines that are nearly empty, and is in service
// before the first of them goes.
func TestThreeScatteredNodesAreMerged(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(onDemand("m5.2xlarge", "m5.xlarge"))
	before := s.scatter(3, "1", "6500m")
	s.awaitCandidates()
	history := s.observe()
	s.open(pool)
	after := s.replaced(before, 1)
	if kind := after[0].Labels[v1.LabelInstanceTypeStable]; kind != "m5.xlarge" {
		t.Errorf("the remaining node is a %s", kind)
	}
	s.Running("web", 3)
	if n := history.readyFirst(); n < 1 {
		t.Errorf("%d nodes were ready for the pods when the first was deleted", n)
	}
	s.clean()
}

// A cheaper machine replaces one that is too large for its pods.
func TestReplacedByACheaperOne(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(onDemand("m5.2xlarge", "m5.large"))
	before := s.scatter(1, "1", "6500m")
	history := s.observe()
	s.open(pool)
	after := s.replaced(before, 1)
	if kind := after[0].Labels[v1.LabelInstanceTypeStable]; kind != "m5.large" {
		t.Errorf("the remaining node is a %s", kind)
	}
	if n := history.readyFirst(); n != 1 {
		t.Errorf("%d nodes were ready when the old one was deleted", n)
	}
	s.Running("web", 1)
}

// spot returns requirements for spot capacity of some types.
func spot(types ...string) asks {
	asks := onDemand(types...)
	asks[karpenterv1.LabelCapacityType] = "spot"
	return asks
}

// many returns an m5.4xlarge and more than fifteen types that cost less in any zone.
func many() []string {
	types := []string{"m5.4xlarge"}
	for _, family := range []string{"m5", "m5a", "m6a", "m6i", "m7a", "m7i", "c5", "c6a", "c6i", "c7a", "r5", "r6a"} {
		types = append(types, family+".large", family+".xlarge")
	}
	return types
}

// A single spot machine is replaced by a cheaper one if the new one can be any of fifteen types. With fewer
// types, the new one would likely be interrupted soon.
func TestSpotIsReplacedBySpot(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(spot("m5.4xlarge"))
	before := s.scatter(1, "1", "6500m")
	s.require(pool, spot(many()...))
	s.open(pool)
	after := s.replaced(before, 1)
	kind := after[0].Labels[v1.LabelInstanceTypeStable]
	if kind == "m5.4xlarge" || after[0].Labels[karpenterv1.LabelCapacityType] != "spot" {
		t.Errorf("the remaining node is a %s, %s", kind, after[0].Labels[karpenterv1.LabelCapacityType])
	}
	s.Running("web", 1)
}

// With fewer than fifteen types to choose from, a single spot machine stays.
func TestSpotStaysWithoutChoice(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(spot("m5.2xlarge"))
	before := s.scatter(1, "1", "6500m")
	s.require(pool, spot("m5.2xlarge", "m5.large", "m5.xlarge"))
	s.open(pool)
	s.kept(before, "SpotToSpotConsolidation requires 15 cheaper instance type options than the current candidate to consolidate, got")
}

// Without the feature gate, which is off by default, no spot machine replaces another.
func TestSpotStaysWithoutTheGate(t *testing.T) {
	t.Parallel()
	s := begin(t, labtest.Own(t, labtest.Options{Controller: "tenon"}))
	s.class()
	pool := s.pool(spot("m5.4xlarge"))
	before := s.scatter(1, "1", "6500m")
	s.require(pool, spot(many()...))
	s.open(pool)
	s.kept(before, "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node")
}

// A budget that lets no pod go keeps its node, and the claim says so. Once the budget allows it, the node
// goes.
func TestPodBudgetBlocksAndAllows(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(onDemand("m5.2xlarge", "m5.large"))
	all := intstr.FromInt32(0)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "web"}, Spec: policyv1.PodDisruptionBudgetSpec{
		MaxUnavailable: &all, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}}
	s.Create(budget)
	before := s.scatter(1, "1", "6500m")
	s.open(pool)
	s.kept(before, fmt.Sprintf("Pdb prevents pod evictions (PodDisruptionBudget=[%s/web])", s.Namespace))
	s.Patch(budget, `{"spec":{"maxUnavailable":1}}`)
	after := s.replaced(before, 1)
	if slices.Equal(names(after), names(before)) {
		t.Error("the node has stayed")
	}
	s.Running("web", 1)
}
