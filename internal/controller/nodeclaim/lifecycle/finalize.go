package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/departure"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// ending is the next thing to do for a claim that is being deleted.
type ending int

// The endings, in the order in which they come.
const (
	released  ending = iota // nothing: the finalizer is gone
	setLimit                // say until when its pods may take to leave
	drain                   // delete its nodes, whose own finalizer drains them
	search                  // find out whether there is an instance that the claim does not know of
	terminate               // remove the instance, and then the finalizer
)

// next is the next ending of a deleted claim. A node that is registered or open may have pods, which are
// drained first. Whether it is follows from the node, because the claim may not know it yet.
func next(claim *karpenterv1.NodeClaim, nodes []*corev1.Node) ending {
	_, limited := claim.Annotations[karpenterv1.AnnotationTerminationTimestamp]
	switch {
	case !controllerutil.ContainsFinalizer(claim, karpenterv1.FinalizerTermination):
		return released
	case claim.Spec.TerminationGracePeriod != nil && !limited:
		return setLimit
	case len(nodes) > 0 && (meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionRegistered) || slices.ContainsFunc(nodes, open)):
		return drain
	case claim.Status.ProviderID == "":
		return search
	}
	return terminate
}

// open reports whether pods may have come to a node: it is registered, or lacks the taint that keeps pods
// away until then. A user may have removed the taint, or the node never had it.
func open(node *corev1.Node) bool {
	return node.Labels[karpenterv1.LabelRegistered] == "true" || !tainted(node, karpenterv1.TaintUnregistered())
}

// finalize brings a deleted claim to its end, a step at a time.
func (l *lifecycle) finalize(ctx context.Context, claim *karpenterv1.NodeClaim) (reconcile.Result, error) {
	nodes, err := l.nodesLeft(ctx, claim)
	if err != nil {
		return reconcile.Never, err
	}
	step := next(claim, nodes)
	if step == setLimit {
		if err := l.limit(ctx, claim); err != nil {
			return reconcile.Never, err
		}
		step = next(claim, nodes)
	}
	switch step {
	case released:
		return reconcile.Never, nil
	case drain:
		return reconcile.Never, l.drainNodes(ctx, claim, nodes) // which wake us when they are gone
	case search:
		return l.search(ctx, claim)
	default:
		return l.terminate(ctx, claim, nodes)
	}
}

// nodesLeft are the nodes of the claim's instance. If there are none, or none that pods may have come to,
// the instance is removed. Before that, they are read past the cache, because otherwise pods could be lost
// without notice.
func (l *lifecycle) nodesLeft(ctx context.Context, claim *karpenterv1.NodeClaim) ([]*corev1.Node, error) {
	nodes, err := lookup.NodesOfClaim(ctx, l.kit.Client, claim)
	if err != nil || meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionInstanceTerminating) {
		return nodes, err
	}
	var names []string
	switch {
	case len(nodes) == 0 && claim.Status.NodeName != "":
		names = []string{claim.Status.NodeName}
	case meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionRegistered) || slices.ContainsFunc(nodes, open):
		return nodes, nil
	}
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	return l.asTheyAre(ctx, claim, names)
}

// asTheyAre are nodes of the claim's instance as the API server has them, those that are gone
// left out.
func (l *lifecycle) asTheyAre(ctx context.Context, claim *karpenterv1.NodeClaim, names []string) ([]*corev1.Node, error) {
	var out []*corev1.Node
	for _, name := range names {
		node := &corev1.Node{}
		err := l.kit.Uncached(reconcile.BeforeRemoval).Get(ctx, client.ObjectKey{Name: name}, node)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("look for node %s of claim %s: %w", name, claim.Name, err)
		case node.Spec.ProviderID == claim.Status.ProviderID: // else another machine by the same name
			out = append(out, node)
		}
	}
	return out, nil
}

// limit writes until when the claim's pods may take. It counts from the deletion, so it is
// the same however often it is written.
func (l *lifecycle) limit(ctx context.Context, claim *karpenterv1.NodeClaim) error {
	before := claim.DeepCopy()
	until := claim.DeletionTimestamp.Add(claim.Spec.TerminationGracePeriod.Duration).Format(time.RFC3339)
	claim.Annotations = merged(claim.Annotations, map[string]string{karpenterv1.AnnotationTerminationTimestamp: until})
	if err := l.save(ctx, before, claim); err != nil {
		return fmt.Errorf("annotate claim %s with its end: %w", claim.Name, err)
	}
	reconcile.Log(ctx).Info("annotated nodeclaim", karpenterv1.AnnotationTerminationTimestamp, until)
	if claim.Status.ProviderID != "" { // a claim without a machine has no pods
		l.kit.Events.Publish(telemetry.Warning(claim, "TerminationGracePeriodExpiring",
			"All pods will be deleted by "+until, claim.Name))
	}
	return nil
}

// drainNodes deletes nodes with the finalizer that drains them. A node that was never registered may lack
// the finalizer.
func (l *lifecycle) drainNodes(ctx context.Context, claim *karpenterv1.NodeClaim, nodes []*corev1.Node) error {
	for _, node := range nodes {
		if node.DeletionTimestamp == nil && node.Labels[karpenterv1.LabelRegistered] != "true" {
			if err := l.saveNode(ctx, node, withClaim(node, claim)); err != nil {
				return err
			}
		}
	}
	return l.deleteNodes(ctx, nodes)
}

func (l *lifecycle) deleteNodes(ctx context.Context, nodes []*corev1.Node) error {
	var trouble []error
	for _, node := range nodes {
		if node.DeletionTimestamp != nil {
			continue
		}
		if err := patch.Delete(ctx, l.kit, node); err != nil {
			trouble = append(trouble, fmt.Errorf("delete node %s: %w", node.Name, err))
		}
	}
	return errors.Join(trouble...)
}

// search finds out whether an instance was bought for a claim that knows of none: a crash or a lost
// connection may have prevented the write. The instance carries the claim's UID, so a current list shows
// it. No purchase begins once the claim is being deleted; garbage collection finds what a stray process may
// still buy.
func (l *lifecycle) search(ctx context.Context, claim *karpenterv1.NodeClaim) (reconcile.Result, error) {
	// The time of a deletion is cut to seconds.
	visible := claim.DeletionTimestamp.Add(time.Second + l.about.VisibleWithin)
	late := l.kit.Clock.Now() // before the list, which shows what was bought until then
	instances, err := l.kit.Cloud.List(ctx)
	if err != nil {
		return reconcile.Never, fmt.Errorf("look for an instance of claim %s: %w", claim.Name, err)
	}
	for _, i := range instances {
		if i.ClaimUID == string(claim.UID) {
			return l.adopt(ctx, claim, i)
		}
	}
	if wait := visible.Sub(late); wait > 0 {
		return reconcile.In(wait), nil
	}
	return reconcile.Never, l.release(ctx, claim)
}

// adopt writes down an instance that was found, and goes on as if it had been known.
func (l *lifecycle) adopt(ctx context.Context, claim *karpenterv1.NodeClaim, i cloud.Instance) (reconcile.Result, error) {
	before := claim.DeepCopy()
	claim.Status.ProviderID = i.ProviderID
	if err := l.save(ctx, before, claim); err != nil {
		return reconcile.Never, fmt.Errorf("write instance %s of claim %s: %w", i.ProviderID, claim.Name, err)
	}
	return l.finalize(ctx, claim)
}

// terminate removes the instance and, once it is gone, the finalizer.
func (l *lifecycle) terminate(ctx context.Context, claim *karpenterv1.NodeClaim, nodes []*corev1.Node) (reconcile.Result, error) {
	err := l.kit.Cloud.Delete(ctx, claim.Status.ProviderID)
	if cloud.IsNotFound(err) {
		return reconcile.Never, l.finish(ctx, claim, nodes)
	}
	if throttled, is := errors.AsType[*cloud.Throttled](err); is {
		return reconcile.In(throttled.RetryAfter), nil
	}
	if err != nil {
		return reconcile.Never, fmt.Errorf("remove instance %s: %w", claim.Status.ProviderID, err)
	}
	before := claim.DeepCopy()
	conditions := claim.Conditions(l.kit.Clock.Now())
	conditions.SetTrue(karpenterv1.ConditionInstanceTerminating)
	claim.Status.Conditions = conditions.List()
	if err := l.save(ctx, before, claim); err != nil {
		return reconcile.Never, fmt.Errorf("write that instance %s is terminating: %w", claim.Status.ProviderID, err)
	}
	return reconcile.In(departure.EndPause(conditions, l.kit.Clock.Now())), nil
}

// finish ends a claim whose instance is gone. A node that joined and was never registered
// would stay behind without an instance, so it goes too.
func (l *lifecycle) finish(ctx context.Context, claim *karpenterv1.NodeClaim, nodes []*corev1.Node) error {
	if err := l.deleteNodes(ctx, nodes); err != nil {
		return err
	}
	terminating, _ := claim.Conditions(l.kit.Clock.Now()).Get(karpenterv1.ConditionInstanceTerminating)
	if err := l.release(ctx, claim); err != nil {
		return err
	}
	if terminating.Status == metav1.ConditionTrue {
		l.kit.Metrics.NodeclaimsInstanceTerminationDurationSeconds.
			WithLabelValues(claim.Labels[karpenterv1.LabelNodePool]).
			Observe(l.kit.Clock.Since(terminating.LastTransitionTime.Time).Seconds())
	}
	return nil
}

// release lets the API server forget the claim.
func (l *lifecycle) release(ctx context.Context, claim *karpenterv1.NodeClaim) error {
	before := claim.DeepCopy()
	if !controllerutil.RemoveFinalizer(claim, karpenterv1.FinalizerTermination) {
		return nil
	}
	if err := patch.IfUnchanged(ctx, l.kit, before, claim); err != nil {
		return fmt.Errorf("remove the finalizer of claim %s: %w", claim.Name, err)
	}
	reconcile.Log(ctx).Info("deleted nodeclaim", "provider-id", before.Status.ProviderID, "Node", before.Status.NodeName)
	pool := before.Labels[karpenterv1.LabelNodePool]
	l.kit.Metrics.NodeclaimsTerminationDurationSeconds.WithLabelValues(pool).
		Observe(l.kit.Clock.Since(before.DeletionTimestamp.Time).Seconds())
	l.kit.Metrics.NodeclaimsTerminatedTotal.
		WithLabelValues(pool, before.Labels[karpenterv1.LabelCapacityType], before.Labels[corev1.LabelTopologyZone]).Inc()
	return nil
}
