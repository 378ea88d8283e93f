package execute

import (
	"context"
	"errors"
	"fmt"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/internal/nodegroup"
	"tenon/internal/telemetry"
)

// Reasons of events on groups, with Cluster Autoscaler's names.
const (
	eventScaledUp = "ScaledUpGroup"
	eventFailed   = "FailedToScaleUpGroup"
)

// Resized is the result of an increase.
type Resized struct {
	Increase plan.Increase
	// Group is the object; nil if it no longer exists.
	Group *tenonv1alpha1.NodeGroup
	// Dropped is why it was not carried out although no error occurred: it no longer meets plan.ToResize.
	Dropped reason.Cause
	Err     error
}

// Done reports whether the cloud was asked for the size.
func (r *Resized) Done() bool { return r.Err == nil && r.Dropped.Code == reason.None }

// Resize raises the sizes of groups, each with one write. An error with one group does not keep the others.
func (e *Executor) Resize(ctx context.Context, increases []plan.Increase) []Resized {
	out := make([]Resized, len(increases))
	for i := range increases {
		out[i] = e.resize(ctx, increases[i])
	}
	return out
}

func (e *Executor) resize(ctx context.Context, i plan.Increase) Resized {
	r := Resized{Increase: i}
	r.Group, _ = e.world.Group(i.Group)
	for _, need := range plan.ToResize() {
		if r.Dropped = e.unmet(r.Group, i, need); r.Dropped.Code != reason.None {
			return r
		}
	}
	cas := r.Group.Spec.Mode == tenonv1alpha1.ModeCAS
	asked, err := e.askSize(ctx, r.Group, i.From, i.To)
	if err != nil {
		e.world.Put(r.Group)
		r.Dropped, r.Err = asDropped(i, err)
		return r
	}
	err = e.kit.Groups.Resize(ctx, i.Group, i.From, i.To)
	if r.Dropped, _ = asDropped(i, err); r.Dropped.Code != reason.None {
		r.Err = e.showChanged(ctx, asked, i)
		return r
	}
	if err != nil {
		nodegroup.Failed(e.kit, r.Group)
		nodegroup.Tell(ctx, e.kit, r.Group, telemetry.Warning(nil, eventFailed, err.Error(), string(r.Group.UID)))
		if cas {
			e.kit.Metrics.ClusterAutoscalerFailedScaleUpsTotal.WithLabelValues("cloudProviderError", "", "", "").Inc()
		}
		_, unshown := e.showSize(ctx, r.Group, i.To, nodegroup.Corrected)
		r.Err = errors.Join(fmt.Errorf("raise node group %s from %d to %d: %w", r.Group.Name, i.From, i.To, err), unshown)
		return r
	}
	text := fmt.Sprintf("The desired size is raised from %d to %d", i.From, i.To)
	nodegroup.Tell(ctx, e.kit, r.Group, telemetry.Normal(nil, eventScaledUp, text, string(r.Group.UID), fmt.Sprint(i.To)))
	if cas {
		e.kit.Metrics.ClusterAutoscalerScaledUpNodesTotal.WithLabelValues("", "", "").Add(float64(i.To - i.From))
	}
	_, r.Err = e.showSize(ctx, r.Group, i.To, nodegroup.Grown)
	return r
}

// askSize shows a size before the cloud is told to keep it.
func (e *Executor) askSize(ctx context.Context, g *tenonv1alpha1.NodeGroup, from, to int64) (*tenonv1alpha1.NodeGroup, error) {
	asked, err := nodegroup.Ask(ctx, e.kit, g, from, to)
	if err == nil {
		e.world.Put(asked)
	}
	return asked, err
}

// showChanged shows the size of a group that the cloud did not find as decided, so that the next decision starts from it, and tells it. An earlier
// process may have ended between showing a size and setting it, so that the change may be Tenon's own.
func (e *Executor) showChanged(ctx context.Context, asked *tenonv1alpha1.NodeGroup, i plan.Increase) error {
	shown, err := e.showSize(ctx, asked, i.From, nodegroup.Corrected)
	if err == nil && shown.Status.Size.Desired != i.From {
		nodegroup.TellForeign(e.kit, shown, i.From, shown.Status.Size.Desired, false)
	}
	return err
}

// showSize shows the size that the cloud keeps; without its answer, the given one.
func (e *Executor) showSize(ctx context.Context, g *tenonv1alpha1.NodeGroup, desired int64, why nodegroup.Why) (*tenonv1alpha1.NodeGroup, error) {
	shown, err := nodegroup.Show(ctx, e.kit, g, desired, why)
	if err == nil {
		e.world.Put(shown)
	}
	return shown, err
}

// asDropped tells the answer that a group has changed from errors.
func asDropped(i plan.Increase, err error) (reason.Cause, error) {
	if _, changed := errors.AsType[*cloud.GroupChanged](err); changed {
		return reason.Cause{Code: reason.GroupChanged, Where: i.Group}, nil
	}
	return reason.Cause{}, err
}

// unmet says why an increase does not meet a precondition.
func (e *Executor) unmet(g *tenonv1alpha1.NodeGroup, i plan.Increase, need plan.Precondition) reason.Cause {
	switch need {
	case plan.GroupUnchanged:
		if e.kit.Groups == nil || g == nil || g.Observed() || !g.Free() || g.DeletionTimestamp != nil {
			return reason.Cause{Code: reason.GroupChanged, Where: i.Group}
		}
		return reason.Cause{}
	case plan.LimitsKept:
		return e.world.Grow(g.Name, i.From, i.To)
	}
	panic("not a precondition of a group that is raised: " + string(need))
}
