package termination

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/departure"
	"tenon/internal/drain"
	"tenon/internal/lookup"
	"tenon/internal/podpolicy"
	"tenon/internal/reconcile"
	"tenon/internal/surge"
)

// Reasons of conditions.
const (
	reasonDraining = "Draining"
	reasonVolumes  = "AwaitingVolumeDetachment"
	reasonElapsed  = "TerminationGracePeriodElapsed"
)

// patience is how long pods may take to leave before the claim says what holds them. Most
// leave sooner, and a status that is written for each of them is of no use.
const patience = 10 * time.Second

// drain waits for pods.
func (c *controller) drain(ctx context.Context, p *pass) (progress, error) {
	decision := drain.Decide(p.State)
	c.announce(p.State)
	if len(decision.Waiting) > 0 {
		if err := c.refused(ctx, p, decision); err != nil {
			return progress{}, err
		}
		explanation, err := c.explain(ctx, p, decision)
		if err != nil {
			return progress{}, err
		}
		p.conditions.SetUnknown(karpenterv1.ConditionDrained, reasonDraining, cmp.Or(explanation, reasonDraining))
		if slices.ContainsFunc(decision.Waiting, surge.Wanted) {
			return waitFor(p.pace(surgeAgain)), nil
		}
		return waitFor(p.pace(drainAgain)), nil
	}
	switch {
	case p.conditions.HasStatus(karpenterv1.ConditionDrained, metav1.ConditionTrue):
		return finished, nil
	case !p.State.Over(decision):
		p.conditions.SetUnknown(karpenterv1.ConditionDrained, reasonDraining, reasonDraining)
		return waitFor(min(p.State.Left(), drainAgain)), nil
	}
	return c.drained(ctx, p)
}

// drained looks once more, past our cache: a pod that the scheduler bound just before the taint may not
// have come to it yet. A view that is as new as the node, which has the taint, has every such pod.
func (c *controller) drained(ctx context.Context, p *pass) (progress, error) {
	state := p.State
	var err error
	if state.Pods, err = lookup.PodsSince(ctx, c.Uncached(reconcile.BeforeRemoval), p.Node.Name, p.Node.ResourceVersion); err != nil {
		return progress{}, err
	}
	if len(drain.Decide(state).Waiting) > 0 {
		return waitFor(drainAgain), nil
	}
	if p.conditions.SetTrue(karpenterv1.ConditionDrained) {
		pool := poolOf(p.Node)
		p.after = append(p.after, func() { c.Metrics.NodesDrainedTotal.WithLabelValues(pool).Inc() })
	}
	return finished, nil
}

// announce tells the owners of pods how long their annotation counts.
func (c *controller) announce(s drain.State) {
	for _, pod := range s.Pods {
		if podpolicy.Drainable(pod, s.Now) && podpolicy.Active(pod) {
			c.Events.Publish(podpolicy.ProtectionOf(pod).Events(pod, s.Now)...)
		}
	}
}

// explain publishes what a drain waits for, and gives the text for the claim.
func (c *controller) explain(ctx context.Context, p *pass, decision drain.Decision) (string, error) {
	c.Events.Publish(drain.Waits(p.Node, len(decision.Waiting)))
	if p.State.Since.IsZero() || p.State.Now.Sub(p.State.Since) < patience {
		return "", nil
	}
	budgets, err := c.budgets(ctx, decision.Waiting)
	if err != nil {
		return "", err
	}
	rolls, err := departure.Rolls(ctx, c.Client, c.Uncached(reconcile.BeforeRemoval), decision.Waiting)
	if err != nil {
		return "", err
	}
	holds := drain.Holds(p.State, decision, budgets, rolls)
	explanation := drain.Explain(p.State, holds)
	if explanation != "" {
		c.Events.Publish(drain.Blocked(p.Node, explanation))
		c.Events.Publish(drain.NeverAllows(p.Node, p.State, holds)...)
	}
	return explanation, nil
}

// budgets are those of the pods' namespaces. The pods are in order of namespace.
func (c *controller) budgets(ctx context.Context, pods []*corev1.Pod) ([]*policyv1.PodDisruptionBudget, error) {
	var out []*policyv1.PodDisruptionBudget
	for i, pod := range pods {
		if i > 0 && pod.Namespace == pods[i-1].Namespace {
			continue
		}
		var list policyv1.PodDisruptionBudgetList
		if err := c.Client.List(ctx, &list, client.InNamespace(pod.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list the budgets of namespace %s: %w", pod.Namespace, err)
		}
		for j := range list.Items {
			out = append(out, &list.Items[j])
		}
	}
	return out, nil
}

// detach waits for volumes, as long as there is time.
func (c *controller) detach(ctx context.Context, p *pass) (progress, error) {
	attached, err := c.attached(ctx, p)
	if err != nil {
		return progress{}, err
	}
	deadline := p.State.Deadline
	switch {
	case len(attached) == 0:
		p.conditions.SetTrue(karpenterv1.ConditionVolumesDetached)
		return finished, nil
	case !deadline.IsZero() && p.State.Now.After(deadline):
		p.conditions.SetFalse(karpenterv1.ConditionVolumesDetached, reasonElapsed, drain.AwaitedVolumes(attached))
		return finished, nil
	}
	c.Events.Publish(drain.Attached(p.Node, attached))
	p.conditions.SetUnknown(karpenterv1.ConditionVolumesDetached, reasonVolumes, drain.AwaitedVolumes(attached))
	return waitFor(p.pace(volumesAgain)), nil
}

// attached are the attachments that have to go first.
func (c *controller) attached(ctx context.Context, p *pass) ([]string, error) {
	attachments, err := lookup.AttachmentsTo(ctx, c.Client, p.Node.Name)
	if err != nil || len(attachments) == 0 {
		return nil, err
	}
	var retained []string
	for _, key := range drain.Retained(p.State.Pods, p.State.Now) {
		claim := &corev1.PersistentVolumeClaim{}
		if err := c.Client.Get(ctx, key, claim); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("get volume claim %s: %w", key, err)
		}
		if claim.Spec.VolumeName != "" {
			retained = append(retained, claim.Spec.VolumeName)
		}
	}
	return drain.StillAttached(attachments, retained), nil
}

// end removes the instance. Without a claim, and outside of a group, it is not known what it was bought for: it is left
// to garbage collection, which removes instances without a claim.
func (c *controller) end(ctx context.Context, p *pass) (progress, error) {
	switch {
	case p.Claim == nil && departure.Group(p.Node) != "":
		return c.endMember(ctx, p)
	case p.Claim == nil:
		return finished, nil
	}
	err := c.Cloud.Delete(ctx, p.Node.Spec.ProviderID)
	if throttled, is := errors.AsType[*cloud.Throttled](err); is {
		return waitFor(max(throttled.RetryAfter, instanceAgain)), nil
	}
	switch {
	case cloud.IsNotFound(err):
		return finished, nil
	case err != nil:
		return progress{}, fmt.Errorf("delete the instance of node %s: %w", p.Node.Name, err)
	}
	p.conditions.SetTrue(karpenterv1.ConditionInstanceTerminating)
	return waitFor(departure.EndPause(p.conditions, p.State.Now)), nil
}
