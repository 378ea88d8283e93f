package disruption

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
)

// conditionOf finds a condition of any generation: the first releases that wrote
// claims did not write one, and a claim's spec never changes.
func conditionOf(claim *karpenterv1.NodeClaim, name string) (metav1.Condition, bool) {
	c := meta.FindStatusCondition(claim.Status.Conditions, name)
	return ptr.Deref(c, metav1.Condition{}), c != nil
}

// claimMatters: what the marks depend on, and the marks themselves should they be removed
// by hand. Our own writes wake us once more, which then writes nothing.
func claimMatters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	a, b := old.(*karpenterv1.NodeClaim), changed.(*karpenterv1.NodeClaim)
	for _, name := range []string{karpenterv1.ConditionLaunched, karpenterv1.ConditionInitialized,
		karpenterv1.ConditionDrifted, karpenterv1.ConditionConsolidatable} {
		if meta.IsStatusConditionTrue(a.Status.Conditions, name) != meta.IsStatusConditionTrue(b.Status.Conditions, name) {
			return true
		}
	}
	return !equality.Semantic.DeepEqual(a.Labels, b.Labels) || !equality.Semantic.DeepEqual(a.Annotations, b.Annotations) ||
		a.Status.ImageID != b.Status.ImageID || !a.Status.LastPodEventTime.Equal(&b.Status.LastPodEventTime)
}

// poolMatters: edits, and the hash that follows them. The status changes all the time.
func poolMatters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	return old.GetGeneration() != changed.GetGeneration() || !equality.Semantic.DeepEqual(old.GetAnnotations(), changed.GetAnnotations())
}
