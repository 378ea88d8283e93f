package removal

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/snapshot"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// DeleteNode deletes a node of a group as it was seen, and reports whether it did. The finalizer, without which the
// object would be gone at once, comes first: so the node is drained, and its instance ended, before the object goes.
func DeleteNode(ctx context.Context, kit reconcile.Kit, node *corev1.Node, why Reason) (bool, error) {
	if node.DeletionTimestamp != nil {
		return false, nil
	}
	held := node.DeepCopy()
	if controllerutil.AddFinalizer(held, karpenterv1.FinalizerTermination) {
		if err := patch.IfUnchanged(ctx, kit, node, held); err != nil {
			return false, goneIsNone("hold node "+node.Name, err)
		}
	}
	seen := client.Preconditions{UID: &held.UID, ResourceVersion: &held.ResourceVersion}
	if err := kit.Client.Delete(ctx, held.DeepCopy(), seen); err != nil {
		return false, goneIsNone("delete node "+node.Name, err)
	}
	pool := snapshot.GroupPool(node.Annotations[tenonv1alpha1.AnnotationGroup])
	labels := []string{string(why), pool, node.Labels[karpenterv1.LabelCapacityType], "", "graceful"}
	kit.Metrics.NodeclaimsDisruptedTotal.WithLabelValues(labels...).Inc()
	if moved := moving(ctx, kit, node.Name); moved > 0 {
		kit.Metrics.PodsDisruptionInitiatedTotal.WithLabelValues(labels...).Add(float64(moved))
	}
	return true, nil
}

// goneIsNone is no error if the object is gone.
func goneIsNone(attempt string, err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("%s: %w", attempt, err)
}
