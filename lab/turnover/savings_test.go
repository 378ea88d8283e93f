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

// Nodes that are not needed any more go, also by the policy WhenEmpty, and the one with a pod stays.
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

// Three large machines that are nearly empty become one that is half as large, which is in service
// before the first of them goes.
func TestThreeScatteredNodesAreMerged(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(onDemand("m5.2xlarge", "m5.xlarge"))
	before := s.scatter(3, "1", "6500m")
	history := s.observe()
	s.open(pool)
	after := s.replaced(before, 1)
	if kind := after[0].Labels[v1.LabelInstanceTypeStable]; kind != "m5.xlarge" {
		t.Errorf("what is left is a %s", kind)
	}
	s.Running("web", 3)
	if n := history.readyFirst(); n < 1 {
		t.Errorf("%d nodes were ready for the pods when the first was deleted", n)
	}
	s.clean()
}

// A machine that is too large for what it runs is replaced by one that costs less.
func TestReplacedByACheaperOne(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(onDemand("m5.2xlarge", "m5.large"))
	before := s.scatter(1, "1", "6500m")
	history := s.observe()
	s.open(pool)
	after := s.replaced(before, 1)
	if kind := after[0].Labels[v1.LabelInstanceTypeStable]; kind != "m5.large" {
		t.Errorf("what is left is a %s", kind)
	}
	if n := history.readyFirst(); n != 1 {
		t.Errorf("%d nodes were ready when the old one was deleted", n)
	}
	s.Running("web", 1)
}

// spot asks for spot capacity of some types.
func spot(types ...string) asks {
	asks := onDemand(types...)
	asks[karpenterv1.LabelCapacityType] = "spot"
	return asks
}

// many are an m5.4xlarge and more than fifteen types that cost less in any zone.
func many() []string {
	types := []string{"m5.4xlarge"}
	for _, family := range []string{"m5", "m5a", "m6a", "m6i", "m7a", "m7i", "c5", "c6a", "c6i", "c7a", "r5", "r6a"} {
		types = append(types, family+".large", family+".xlarge")
	}
	return types
}

// A single spot machine is replaced by a cheaper one if there are fifteen types that the new one may
// become, so that it is not the one that is interrupted next.
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
		t.Errorf("what is left is a %s, %s", kind, after[0].Labels[karpenterv1.LabelCapacityType])
	}
	s.Running("web", 1)
}

// With fewer than fifteen types to choose from a single spot machine stays.
func TestSpotStaysWithoutChoice(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(spot("m5.2xlarge"))
	before := s.scatter(1, "1", "6500m")
	s.require(pool, spot("m5.2xlarge", "m5.large", "m5.xlarge"))
	s.open(pool)
	s.kept(before, "SpotToSpotConsolidation requires 15 cheaper instance type options than the current candidate to consolidate, got")
}

// Without the gate, which is how Tenon comes, no spot machine takes the place of one.
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

// A budget that lets no pod go keeps its node, which says so; when it does, the node goes.
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
