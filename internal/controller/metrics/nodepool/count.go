package nodepool

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// reasons for which nodes are disrupted.
var reasons = []karpenterv1.DisruptionReason{karpenterv1.DisruptionEmpty, karpenterv1.DisruptionDrifted, karpenterv1.DisruptionUnderutilized}

// nodeCount is what budgets see of a pool.
type nodeCount struct {
	nodes, disrupting int
}

// countNodes counts a pool's nodes as budgets do: those that are initialized and whose instance is not
// going yet. Of these, the ones that are going or not ready are being disrupted.
func countNodes(claims []*karpenterv1.NodeClaim, nodes map[string]*corev1.Node) nodeCount {
	var out nodeCount
	for _, claim := range claims {
		node, there := nodes[claim.Status.ProviderID]
		if !there || claim.Status.ProviderID == "" || node.Labels[karpenterv1.LabelInitialized] != "true" || is(claim, karpenterv1.ConditionInstanceTerminating) {
			continue
		}
		out.nodes++
		if claim.DeletionTimestamp != nil || node.DeletionTimestamp != nil || !ready(node) {
			out.disrupting++
		}
	}
	return out
}

// allowed is how many may be disrupted together. A budget that cannot be read allows none.
func (s nodeCount) allowed(pool *karpenterv1.NodePool, reason karpenterv1.DisruptionReason, now time.Time) int {
	allowed, err := pool.AllowedDisruptions(reason, s.nodes, now)
	if err != nil {
		return 0
	}
	return allowed
}

func is(claim *karpenterv1.NodeClaim, condition string) bool {
	return slices.ContainsFunc(claim.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == condition && c.Status == metav1.ConditionTrue
	})
}

func ready(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}
