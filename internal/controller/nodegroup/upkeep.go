package nodegroup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/internal/nodegroup"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// How long a group does not grow after instances did not come: longer after each failure, and as after the first one again after a
// while without a failure. (As in Cluster Autoscaler.)
const (
	firstBackoff   = 5 * time.Minute
	longestBackoff = 30 * time.Minute
	backoffEnds    = 3 * time.Hour
)

// Reasons of the condition BackedOff.
const (
	reasonNoFailure = "NoFailure"
	reasonTooLate   = "ProvisionTimeout"
)

// tellUpkeep writes into an object which instances have no node, since when, and whether further instances do not come.
func (w watcher) tellUpkeep(o *tenonv1alpha1.NodeGroup, g *cloud.Group, nodes map[string]*corev1.Node, now time.Time) {
	if g.Missing {
		return
	}
	o.Status.Unregistered = unregistered(o.Status.Unregistered, g, nodes, now)
	set := conditions.Read(o.Status.Conditions, condition.SubjectOf(o), now)
	reason, message := w.shortage(o, g, now)
	if reason != "" {
		o.Status.Backoff = backOff(o.Status.Backoff, now)
		set.SetTrueBecause(tenonv1alpha1.ConditionBackedOff, reason, withRemedy(message, "other groups and pools are tried"))
	}
	switch b := o.Status.Backoff; {
	case b != nil && !now.Before(b.Until.Add(backoffEnds)):
		o.Status.Backoff = nil
		fallthrough
	case b == nil || !now.Before(b.Until.Time):
		set.SetFalse(tenonv1alpha1.ConditionBackedOff, reasonNoFailure, "")
	}
	o.Status.Conditions = set.List()
}

// unregistered are the instances without a node, each with the time since which it has been seen without one.
func unregistered(before []tenonv1alpha1.UnregisteredInstance, g *cloud.Group, nodes map[string]*corev1.Node, now time.Time) []tenonv1alpha1.UnregisteredInstance {
	var out []tenonv1alpha1.UnregisteredInstance
	for i := range g.Instances {
		id := g.Instances[i].ProviderID
		if g.Instances[i].State == cloud.Terminating || g.Instances[i].State == cloud.Stopped || nodes[id] != nil {
			continue
		}
		at := slices.IndexFunc(before, func(u tenonv1alpha1.UnregisteredInstance) bool { return u.ProviderID == id })
		if at >= 0 {
			out = append(out, before[at])
			continue
		}
		out = append(out, tenonv1alpha1.UnregisteredInstance{ProviderID: id, Since: metav1.NewTime(now)})
	}
	return out
}

// shortage says why missing instances of the group do not come. The reason is empty if none is missing, if they may still come, or
// if the failure was counted already. Only failures since the last change of the size count.
func (w watcher) shortage(o *tenonv1alpha1.NodeGroup, g *cloud.Group, now time.Time) (reason, message string) {
	lacks, b := g.Desired-g.Alive(), o.Status.Backoff
	if lacks <= 0 || b != nil && now.Before(b.Until.Time) {
		return "", ""
	}
	since := o.Status.Size.Since.Time
	if b != nil && b.Until.After(since) {
		since = b.Until.Time
	}
	switch f := g.Failure; {
	case f != nil && !f.At.Before(since.Truncate(time.Second)):
		return f.Reason, f.Message
	case now.Sub(since) >= w.provisions(o):
		return reasonTooLate, fmt.Sprintf("%d instances did not come within %s", lacks, w.provisions(o))
	}
	return "", ""
}

// backOff counts one more failure.
func backOff(b *tenonv1alpha1.NodeGroupBackoff, now time.Time) *tenonv1alpha1.NodeGroupBackoff {
	out := &tenonv1alpha1.NodeGroupBackoff{Failures: 1, Since: metav1.NewTime(now)}
	if b != nil && now.Before(b.Until.Add(backoffEnds)) {
		out.Failures = b.Failures + 1
	}
	pause := firstBackoff
	for n := int64(1); n < out.Failures && pause < longestBackoff; n++ {
		pause *= 2
	}
	out.Until = metav1.NewTime(now.Add(min(pause, longestBackoff)))
	return out
}

// maintain lowers the size of a group that may be changed to the number of existing instances if no more come, and ends
// instances that did not become nodes in time. The object records both before.
func (w watcher) maintain(ctx context.Context, o *tenonv1alpha1.NodeGroup, g *cloud.Group) error {
	if w.kit.Groups == nil || o == nil || o.Observed() || !o.Free() || g.Missing || o.Status.Size == nil {
		return nil
	}
	var wrong []error
	now := w.kit.Clock.Now()
	for _, u := range o.Status.Unregistered {
		if w.late(o, u, now) {
			wrong = append(wrong, w.endUnregistered(ctx, o, u))
		}
	}
	if to := max(g.Alive(), g.Min); o.BackedOff() && to < g.Desired && len(wrong) == 0 {
		wrong = append(wrong, w.lower(ctx, o, g.Desired, to))
	}
	return errors.Join(wrong...)
}

// usualTime is what counts for instances and nodes if no setting says it. (As in Cluster Autoscaler.)
const usualTime = 15 * time.Minute

// provisions is how long an instance of a group may take to become a node.
func (w watcher) provisions(o *tenonv1alpha1.NodeGroup) time.Duration {
	return o.Provisions(cmp.Or(w.kit.Settings.MaxNodeProvisionTime, usualTime))
}

func (w watcher) lower(ctx context.Context, o *tenonv1alpha1.NodeGroup, from, to int64) error {
	why := ""
	for _, c := range o.Status.Conditions {
		if c.Type == tenonv1alpha1.ConditionBackedOff {
			why = c.Reason + ": " + c.Message
		}
	}
	err := w.kit.Groups.Resize(ctx, o.Spec.GroupName, from, to)
	if _, changed := errors.AsType[*cloud.GroupChanged](err); changed {
		return nil // the next reconciliation sees the change
	}
	if err != nil {
		nodegroup.Failed(w.kit, o)
		nodegroup.Tell(ctx, w.kit, o, telemetry.Warning(nil, "FailedToRevertScaleUp", err.Error(), string(o.UID)))
		return fmt.Errorf("lower node group %s from %d to %d: %w", o.Name, from, to, err)
	}
	text := fmt.Sprintf("The desired size is lowered from %d to %d, because instances do not come: %s", from, to, why)
	timedOut := backedBy(o) == reasonTooLate
	event := "ScaleUpFailed"
	if timedOut {
		event = "ScaleUpTimedOut"
	}
	nodegroup.Tell(ctx, w.kit, o, telemetry.Warning(nil, event, text, string(o.UID), fmt.Sprint(to)))
	switch metrics := w.kit.Metrics; {
	case o.Spec.Mode != tenonv1alpha1.ModeCAS:
	case timedOut:
		metrics.ClusterAutoscalerFailedScaleUpsTotal.WithLabelValues("timeout", "", "", "").Inc()
	default:
		metrics.ClusterAutoscalerFailedNodeCreationsTotal.WithLabelValues(backedBy(o)).Add(float64(from - to))
	}
	reconcile.Log(ctx).Info("lowered the size of a node group whose instances do not come", "NodeGroup", o.Name, "from", from, "to", to, "cause", why)
	_, err = nodegroup.Show(ctx, w.kit, o, to, nodegroup.Corrected)
	return err
}

// backedBy says why a group does not grow for a while; empty if it may grow.
func backedBy(o *tenonv1alpha1.NodeGroup) string {
	if c := meta.FindStatusCondition(o.Status.Conditions, tenonv1alpha1.ConditionBackedOff); c != nil && c.Status == metav1.ConditionTrue {
		return c.Reason
	}
	return ""
}

func (w watcher) endUnregistered(ctx context.Context, o *tenonv1alpha1.NodeGroup, u tenonv1alpha1.UnregisteredInstance) error {
	desired, err := w.kit.Groups.End(ctx, o.Spec.GroupName, u.ProviderID)
	if cloud.IsNotFound(err) {
		return nil
	}
	if err != nil {
		nodegroup.Failed(w.kit, o)
		nodegroup.Tell(ctx, w.kit, o, telemetry.Warning(nil, "DeleteUnregisteredFailed", err.Error(), string(o.UID)))
		return fmt.Errorf("end instance %s of node group %s, which has no node: %w", u.ProviderID, o.Name, err)
	}
	text := fmt.Sprintf("Instance %s is ended: it had no node within %s", u.ProviderID, w.provisions(o))
	nodegroup.Tell(ctx, w.kit, o, telemetry.Warning(nil, "DeleteUnregistered", text, string(o.UID), u.ProviderID))
	if o.Spec.Mode == tenonv1alpha1.ModeCAS {
		w.kit.Metrics.ClusterAutoscalerOldUnregisteredNodesRemovedCount.WithLabelValues().Inc()
	}
	reconcile.Log(ctx).Info("ended an instance without a node", "NodeGroup", o.Name, "provider-id", u.ProviderID, "desired", desired)
	_, err = nodegroup.Show(ctx, w.kit, o, desired, nodegroup.Corrected)
	return err
}
