package lifecycle

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/lookup"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
)

// registrationTimeout counts from the claim's creation, not from its launch.
const registrationTimeout = 15 * time.Minute

// readyTimeout is how long the kubelet of a node that has never been initialized may say that it is not
// ready. Pods have their places there meanwhile, and no node repair has to be switched on to take an
// instance back that was of no use yet. A node that is ready may wait for its start-up taints to go as long
// as they take.
const readyTimeout = 15 * time.Minute

// overdue is why a claim is given up now, or else how long it still has; zero is for ever. The node is that
// of a registered claim. Launch and registration count from the claim's creation. The reference counts from
// the conditions' last transitions, which is the same as long as they cannot be put back.
func overdue(claim *karpenterv1.NodeClaim, node *corev1.Node, now time.Time, launchTimeout time.Duration) (removal.Reason, time.Duration) {
	is := func(condition string) bool { return meta.IsStatusConditionTrue(claim.Status.Conditions, condition) }
	if is(karpenterv1.ConditionRegistered) {
		if is(karpenterv1.ConditionInitialized) || node == nil || ready(node) {
			return "", 0
		}
		if left := readyTimeout - now.Sub(unreadySince(node)); left > 0 {
			return "", left
		}
		return removal.Unhealthy, 0
	}
	age := now.Sub(claim.CreationTimestamp.Time)
	launched := is(karpenterv1.ConditionLaunched)
	switch {
	case !launched && age >= launchTimeout:
		return removal.LaunchTimeout, 0
	case age >= registrationTimeout:
		return removal.RegistrationTimeout, 0
	case !launched:
		return "", min(launchTimeout, registrationTimeout) - age
	}
	return "", registrationTimeout - age
}

// unreadySince is when a node that is not ready became so; a node that says nothing has been so since it joined.
func unreadySince(node *corev1.Node) time.Time {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady && c.LastTransitionTime.After(node.CreationTimestamp.Time) {
			return c.LastTransitionTime.Time
		}
	}
	return node.CreationTimestamp.Time
}

// orTooLate gives the claim up if its time is over, and otherwise sees to it that it is
// looked at when it is. What went wrong before does not keep it from its end.
func (l *lifecycle) orTooLate(ctx context.Context, claim *karpenterv1.NodeClaim, result reconcile.Result, trouble error) (reconcile.Result, error) {
	nodes, err := lookup.NodesOfClaim(ctx, l.kit.Client, claim)
	if err != nil {
		return result, errors.Join(trouble, err)
	}
	var node *corev1.Node
	if len(nodes) == 1 {
		node = nodes[0]
	}
	why, left := overdue(claim, node, l.kit.Clock.Now(), l.about.LaunchTimeout)
	if why == "" {
		if left > 0 {
			result = result.Sooner(reconcile.In(left))
		}
		return result, trouble
	}
	reconcile.Log(ctx).V(1).Info("terminating due to timeout",
		"reason", string(why), "duration", l.kit.Clock.Since(claim.CreationTimestamp.Time))
	deleted, err := removal.Delete(ctx, l.kit, claim, why)
	if err != nil {
		return reconcile.Never, errors.Join(trouble, err)
	}
	if deleted {
		l.record(ctx, claim, false)
	}
	return reconcile.Never, nil
}
