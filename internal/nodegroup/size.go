// Package nodegroup writes on the object of a node group the desired size that the cloud is told to keep, so that the next
// decision counts it.
package nodegroup

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// Ask writes a size that the cloud is about to be told to keep, if the object still shows the one from which that was decided;
// otherwise it returns a cloud.GroupChanged. A process that ends right after the cloud has raised the size, or gets no answer,
// would otherwise leave instances that no limit counts.
func Ask(ctx context.Context, kit reconcile.Kit, g *tenonv1alpha1.NodeGroup, from, to int64) (*tenonv1alpha1.NodeGroup, error) {
	return write(ctx, kit, g, func(s *tenonv1alpha1.NodeGroupStatus, now metav1.Time) error {
		if s.Size.Desired != from {
			return &cloud.GroupChanged{Group: g.Spec.GroupName, Message: fmt.Sprintf("its object shows a desired size of %d and no longer %d", s.Size.Desired, from)}
		}
		s.Size.Desired, s.Size.Since = to, now
		return nil
	})
}

// Show writes the size that the cloud has just been told to keep, and returns the object with it. Others may have told the cloud a size since, and have shown it; then
// that is written, which the provider remembers. If the write fails, the controller that shows groups writes the size.
func Show(ctx context.Context, kit reconcile.Kit, g *tenonv1alpha1.NodeGroup, desired int64, why Why) (*tenonv1alpha1.NodeGroup, error) {
	return write(ctx, kit, g, func(s *tenonv1alpha1.NodeGroupStatus, now metav1.Time) error {
		before := s.Size.Desired
		s.Size.Desired, s.Size.Since = latest(ctx, kit, g.Spec.GroupName, desired), now
		switch why {
		case Grown:
			scaled(s).Up = now
		case Shrunk:
			scaled(s).Down = now
			leave(s.Instances, before-s.Size.Desired)
		case Corrected:
		}
		return nil
	})
}

// leave counts instances that had a node as leaving: the size no longer includes them, and counts and size have to be of the same moment, since what
// is still to come is computed from both.
func leave(i *tenonv1alpha1.NodeGroupInstances, n int64) {
	if i == nil {
		return
	}
	for _, part := range []*int64{&i.Ready, &i.Unready} {
		moved := max(min(n, *part), 0)
		*part, i.Leaving, n = *part-moved, i.Leaving+moved, n-moved
	}
}

// latest is the size that the cloud keeps, as the provider knows it; without an answer it is the given one.
func latest(ctx context.Context, kit reconcile.Kit, group string, desired int64) int64 {
	if kit.Groups == nil {
		return desired
	}
	list, err := kit.Groups.Groups(ctx)
	if err != nil {
		return desired
	}
	for i := range list {
		if list[i].Name == group && !list[i].Missing {
			return list[i].Desired
		}
	}
	return desired
}

// Why is the reason for a change of size.
type Why int

// The reasons: pods need nodes, nodes are not needed, or instances fail to launch.
const (
	Grown Why = iota
	Shrunk
	Corrected
)

// Refused records that the cloud has just refused to end an unneeded instance.
func Refused(ctx context.Context, kit reconcile.Kit, g *tenonv1alpha1.NodeGroup) error {
	_, err := write(ctx, kit, g, func(s *tenonv1alpha1.NodeGroupStatus, now metav1.Time) error {
		scaled(s).Failed = now
		return nil
	})
	return err
}

func scaled(s *tenonv1alpha1.NodeGroupStatus) *tenonv1alpha1.NodeGroupScaled {
	if s.Scaled == nil {
		s.Scaled = &tenonv1alpha1.NodeGroupScaled{}
	}
	return s.Scaled
}

func write(ctx context.Context, kit reconcile.Kit, g *tenonv1alpha1.NodeGroup, change func(*tenonv1alpha1.NodeGroupStatus, metav1.Time) error) (*tenonv1alpha1.NodeGroup, error) {
	var shown *tenonv1alpha1.NodeGroup
	err := patch.Retry(ctx, kit, g, func(now *tenonv1alpha1.NodeGroup) error {
		if now.Status.Size == nil {
			return patch.Gone(g)
		}
		shown = now.DeepCopy()
		if err := change(&shown.Status, metav1.NewTime(kit.Clock.Now())); err != nil {
			return err
		}
		if err := patch.StatusIfUnchanged(ctx, kit, now, shown); err != nil {
			return fmt.Errorf("write the status of node group %s: %w", g.Name, err)
		}
		return nil
	})
	return shown, err
}
