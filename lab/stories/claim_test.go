package stories

import (
	"context"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// An instance that never joins is bought once: the claim says what is missing, its pods wait for it, and
// nothing is bought for them again. When the claim is deleted by hand, its machine goes too.
//
// The test that the claim is given up after 15 minutes is in internal/testing/harness, which has a fake
// clock.
func TestInstanceNeverJoins(t *testing.T) {
	s := tell(t)
	s.breakBoots("t3.*")
	s.apply("class.yaml", "broken.yaml", "inflate.yaml")
	s.Scale("inflate", 1)
	claim := &s.awaitClaims(1)[0]
	s.AwaitCondition(claim, karpenterv1.ConditionLaunched, metav1.ConditionTrue)
	s.AwaitCondition(claim, karpenterv1.ConditionRegistered, metav1.ConditionUnknown, "Node not registered with cluster")
	s.Lab.Never(t, "another claim for the same pod", 3*time.Second, func(context.Context) (bool, string) {
		n := len(s.claims())
		return n > 1, "there are more"
	})
	s.pending("inflate", 1)
	s.Scale("inflate", 0)
	s.pending("inflate", 0)
	s.Delete(claim)
	s.Lab.AwaitGone(t, claim)
	s.machineGone(claim.Status.ProviderID)
}

// A claim made by hand, without a pool, becomes a node as it asks, and the node goes when the claim is
// deleted.
func TestStandaloneClaim(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml")
	s.awaitClass("default")
	s.apply("standalone.yaml")
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: s.named("mine")}}
	s.AwaitCondition(claim, "Ready", metav1.ConditionTrue)
	node, err := s.Lab.Clients.CoreV1().Nodes().Get(t.Context(), claim.Status.NodeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		v1.LabelInstanceTypeStable: "m5.large", v1.LabelTopologyZone: "us-west-2b", "owner": "somebody", karpenterv1.LabelNodePool: "",
	} {
		if got := node.Labels[key]; got != want {
			t.Errorf("the node's %s is %q, want %q", key, got, want)
		}
	}
	s.Delete(claim)
	s.Lab.AwaitGone(t, claim)
	s.Lab.AwaitGone(t, node)
	s.machineGone(claim.Status.ProviderID)
}
