package stories

import (
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// A budget blocks a drain, and claim, node and budget say so. Once the budget is raised, the node goes and
// the pods move.
func TestBudgetBlocksADrainUntilItIsRaised(t *testing.T) {
	s := tell(t)
	s.apply("basic.yaml", "inflate.yaml", "budget.yaml")
	s.Scale("inflate", 2)
	pods := s.Running("inflate", 2)
	claim, node := s.claimOf(pods[0]), s.nodeOf(pods[0])
	s.Delete(claim)
	s.AwaitCondition(claim, karpenterv1.ConditionDrained, metav1.ConditionUnknown,
		"Draining since", "PodDisruptionBudget "+s.Namespace+"/inflate", "can never allow a disruption", pods[0].Name)
	s.AwaitEvent(node, "DrainBlocked", s.Namespace+"/inflate")
	s.AwaitEvent(node, "FailedDraining", "violates a PDB")
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "inflate"}}
	s.AwaitEvent(budget, "NeverAllowsDisruption", "minAvailable is 2 of 2", node.Name)
	for i, pod := range s.Running("inflate", 2) {
		if pod.Name != pods[i].Name || pod.Spec.NodeName != pods[i].Spec.NodeName {
			t.Errorf("against the budget %s of %s is gone; there is %s on %s", pods[i].Name, pods[i].Spec.NodeName, pod.Name, pod.Spec.NodeName)
		}
	}
	s.Patch(budget, `{"spec":{"minAvailable":1}}`)
	s.Lab.AwaitGone(t, claim)
	s.Lab.AwaitGone(t, node)
	s.Running("inflate", 2)
}

// A pod with the annotation do-not-disrupt blocks the drain until the annotation goes.
func TestDoNotDisrupt(t *testing.T) {
	s := tell(t)
	s.apply("basic.yaml", "precious.yaml")
	pod := s.Running("precious", 1)[0]
	claim, node := s.claimOf(pod), s.nodeOf(pod)
	s.Delete(claim)
	s.AwaitCondition(claim, karpenterv1.ConditionDrained, metav1.ConditionUnknown, "do-not-disrupt", pod.Name)
	s.Running("precious", 1)
	s.Patch(&pod, `{"metadata":{"annotations":{"karpenter.sh/do-not-disrupt":null}}}`)
	s.Lab.AwaitGone(t, claim)
	s.Lab.AwaitGone(t, node)
}

// With a terminationGracePeriod the same pod goes in time, and its node says when.
func TestTerminationGracePeriod(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "graceful.yaml", "precious.yaml")
	pod := s.Running("precious", 1)[0]
	claim, node := s.claimOf(pod), s.nodeOf(pod)
	s.Delete(claim)
	s.AwaitEvent(claim, "TerminationGracePeriodExpiring", "All pods will be deleted by")
	s.Lab.AwaitGone(t, &pod)
	if deleted := claim.DeletionTimestamp; deleted != nil && time.Since(deleted.Time) < 5*time.Second {
		t.Errorf("the pod was gone %s after the deletion; its grace period ends the wait at 7s", time.Since(deleted.Time))
	}
	s.Lab.AwaitGone(t, claim)
	s.Lab.AwaitGone(t, node)
}

// kubectl delete node does the same as kubectl delete nodeclaim: the node is drained, and no machine
// remains.
func TestDeleteNode(t *testing.T) {
	s := tell(t)
	s.apply("basic.yaml", "inflate.yaml")
	s.Scale("inflate", 2)
	pods := s.Running("inflate", 2)
	claim, node := s.claimOf(pods[0]), s.nodeOf(pods[0])
	s.Delete(node)
	s.Lab.AwaitGone(t, claim)
	s.Lab.AwaitGone(t, node)
	for _, pod := range s.Running("inflate", 2) {
		if s.nodeOf(pod).UID == node.UID { // AWS may give the next node the same address and so the same name
			t.Errorf("%s is still on the node", pod.Name)
		}
	}
	s.machineGone(claim.Status.ProviderID)
}

// A node older than its expireAfter is drained, and its pods get another one. The expireAfter of the claim
// counts, even if the pool has been edited since.
func TestExpiry(t *testing.T) {
	s := tell(t)
	s.apply("class.yaml", "shortlived.yaml", "inflate.yaml")
	s.Scale("inflate", 1)
	claim := &s.awaitClaims(1)[0]
	s.Patch(s.pool("shortlived"), `{"spec":{"template":{"spec":{"expireAfter":"Never"}}}}`)
	s.Lab.AwaitGone(t, claim)
	if pod := s.Running("inflate", 1)[0]; s.claimOf(pod).UID == claim.UID {
		t.Errorf("%s is on node %s, which has expired", pod.Name, pod.Spec.NodeName)
	}
	s.machineGone(claim.Status.ProviderID)
}
