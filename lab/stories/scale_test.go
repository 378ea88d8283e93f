package stories

import (
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
)

// Five pods get one node that fits the pool. After they are deleted, no more nodes are bought.
func TestScaleUpAndDown(t *testing.T) {
	s := tell(t)
	// The pool comes after the pods: on a busy machine they are created seconds apart, and Tenon would
	// decide about the first ones alone.
	s.apply("inflate.yaml")
	s.Scale("inflate", 5)
	s.pending("inflate", 5)
	s.apply("basic.yaml")
	pods := s.Running("inflate", 5)
	claims := s.claims()
	if len(claims) != 1 {
		t.Errorf("%d NodeClaims for five pods, want 1: %s", len(claims), told(claims))
	}
	s.AwaitCondition(&claims[0], karpenterv1.ConditionInitialized, metav1.ConditionTrue) // pods may run before
	labels := s.nodeOf(pods[0]).Labels
	for key, allowed := range map[string][]string{
		"eks-team":                    {"my-team"},
		awsv1.LabelInstanceCategory:   {"c", "m", "r"},
		v1.LabelArchStable:            {"amd64"},
		karpenterv1.LabelCapacityType: {"on-demand"},
		karpenterv1.LabelNodePool:     {s.named("default")},
		karpenterv1.LabelInitialized:  {"true"},
		awsv1.LabelInstanceTenancy:    {"default"},
	} {
		if !slices.Contains(allowed, labels[key]) {
			t.Errorf("the node's %s is %q, want one of %v", key, labels[key], allowed)
		}
	}
	s.Scale("inflate", 0)
	s.Running("inflate", 0)
	if now := len(s.claims()); now > len(claims) {
		t.Errorf("%d NodeClaims after the pods went, %d before", now, len(claims))
	}
}

// A limit that is reached is never exceeded; pods and pool say so, and what would help. Once it is raised,
// the pods run.
func TestLimitReachedAndRaised(t *testing.T) {
	s := tell(t)
	s.apply("basic.yaml", "inflate.yaml")
	pool := s.pool("default")
	s.AwaitCondition(pool, "Ready", metav1.ConditionTrue) // otherwise the pods' first event would say that it is not
	s.Scale("inflate", 14)
	s.AwaitCondition(pool, karpenterv1.ConditionLimitReached, metav1.ConditionTrue, "raise the limits of pool "+pool.Name, "cpu 10")
	s.AwaitEvent(pool, "LimitReached", "raise the limits")
	waiting := s.pending("inflate", 6)
	s.AwaitEvent(&waiting[0], "FailedScheduling", "exceed limits for nodepool", "raise the limits of pool "+pool.Name)
	if cpu := pool.Status.Resources.Cpu(); cpu.CmpInt64(10) > 0 {
		t.Errorf("the pool has %s processors, its limit is 10", cpu)
	}
	s.Patch(pool, `{"spec":{"limits":{"cpu":"20"}}}`)
	s.Running("inflate", 14)
	s.AwaitConditionGone(pool, karpenterv1.ConditionLimitReached)
	if cpu := pool.Status.Resources.Cpu(); cpu.CmpInt64(20) > 0 {
		t.Errorf("the pool has %s processors, its limit is 20", cpu)
	}
}

// The pool with the greater weight is filled to its limit first; the other pool takes the rest.
func TestWeightedPools(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "weighted.yaml", "inflate.yaml")
	for _, pool := range []string{"committed", "general"} { // Tenon ignores pools that are not ready
		s.AwaitCondition(s.pool(pool), "Ready", metav1.ConditionTrue)
	}
	s.Scale("inflate", 3)
	byPool := s.spread(s.Running("inflate", 3), karpenterv1.LabelNodePool)
	if byPool[s.named("committed")] != 3 {
		t.Errorf("pods by pool: %v, want all in the one with the greater weight", byPool)
	}
	s.Scale("inflate", 6)
	byPool = s.spread(s.Running("inflate", 6), karpenterv1.LabelNodePool)
	if byPool[s.named("committed")] != 3 || byPool[s.named("general")] != 3 {
		t.Errorf("pods by pool: %v, want three in each", byPool)
	}
}

// Sixty small pods need three machines of 29 pods each: Tenon counts the limit of their network interfaces.
func TestDynamicPodDensity(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "dense.yaml")
	byNode := s.spread(s.Running("dense", 60), v1.LabelHostname)
	if len(byNode) != 3 {
		t.Errorf("%d nodes, want 3: %v", len(byNode), byNode)
	}
	for _, claim := range s.claims() {
		room := claim.Status.Allocatable.Pods().Value()
		if room != 29 || int64(byNode[claim.Status.NodeName]) > room {
			t.Errorf("%s has %d pods, and its status has room for %d; want 29", claim.Name, byNode[claim.Status.NodeName], room)
		}
	}
}
