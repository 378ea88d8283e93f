// Package nodegroup writes on the object of a node group the desired size that the cloud has just been told to keep, so that
// the next decision counts it.
package nodegroup

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// Show writes the size, and returns the object with it. If the write fails, the controller that shows groups writes the
// size; until then the cloud refuses what is decided from the former one.
func Show(ctx context.Context, kit reconcile.Kit, g *tenonv1alpha1.NodeGroup, desired int64) (*tenonv1alpha1.NodeGroup, error) {
	var shown *tenonv1alpha1.NodeGroup
	err := patch.Retry(ctx, kit, g, func(now *tenonv1alpha1.NodeGroup) error {
		if now.Status.Size == nil {
			return patch.Gone(g)
		}
		shown = now.DeepCopy()
		shown.Status.Size.Desired, shown.Status.Size.Since = desired, metav1.NewTime(kit.Clock.Now())
		if err := patch.StatusIfUnchanged(ctx, kit, now, shown); err != nil {
			return fmt.Errorf("write the size of node group %s: %w", g.Name, err)
		}
		return nil
	})
	return shown, err
}
