// Package termination takes nodes down that are being deleted: closed to new pods, drained,
// volumes detached, instance ended, and only then the finalizer. How far it has come is
// written on the claim, so that a restart goes on where it was, and so that people see what
// a node waits for. A node of a group has no claim: that its instance was ended is written on the node itself, and events
// say what it waits for.
//
//	deleted ─▶ tainted ─▶ Drained ─▶ VolumesDetached ─▶ InstanceTerminating ─▶ finalizer gone
//	   └── the instance is gone already ──────────────────────────────────────▶──┘
//
// The package does not evict: it says whom it waits for, and the eviction queue asks the
// same decision. It must not keep anything between calls.
package termination

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/internal/departure"
	"tenon/internal/drain"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// How long to wait before looking again. To say how a roll-out goes takes a question to the
// API server for each pod that waits for one, which is not asked every second.
const (
	drainAgain    = time.Second
	surgeAgain    = 5 * time.Second
	volumesAgain  = time.Second
	instanceAgain = 5 * time.Second
)

type controller struct {
	reconcile.Kit
	o           Options
	description cloud.Description
}

// Options are what the controller needs beside the kit.
type Options struct {
	// Ended is told of the node of a group as it will be and as it is written that its instance was ended, before the group's smaller size
	// is shown: the watch of groups may be faster than that of nodes, or than the write, and the instance would be missing twice. It may be nil.
	Ended func(*corev1.Node)
	// Shown is told of a group's object as its smaller size has been written. The watch may bring it much later, and until then the instance that has ended
	// would count as one to come. It may be nil.
	Shown func(*tenonv1alpha1.NodeGroup)
}

// New makes the controller.
func New(kit reconcile.Kit, o Options) reconcile.Controller {
	c := &controller{Kit: kit, o: o, description: kit.Cloud.Describe()}
	return reconcile.Controller{
		Name: "node.termination",
		Watches: []reconcile.Watch{
			{Kind: &corev1.Node{}, Matters: c.nodeMatters},
			{Kind: &karpenterv1.NodeClaim{}, Keys: c.ofClaim, Matters: claimMatters},
		},
		Workers:   reconcile.Workers{Min: 50, Max: 5000},
		Reconcile: c.reconcile,
	}
}

func (c *controller) nodeMatters(_, changed client.Object) bool {
	return changed != nil && departure.Leaves(c.description, changed.(*corev1.Node))
}

// claimMatters lets through claims on their way out, for the sake of their deadlines.
func claimMatters(_, changed client.Object) bool {
	return changed != nil && changed.GetDeletionTimestamp() != nil
}

func (c *controller) ofClaim(ctx context.Context, object client.Object) []reconcile.Key {
	nodes, err := lookup.NodesOfClaim(ctx, c.Client, object.(*karpenterv1.NodeClaim))
	if err != nil {
		reconcile.Log(ctx).Error(err, "looking for the nodes of a claim")
	}
	var keys []reconcile.Key
	for _, node := range nodes {
		if departure.Leaves(c.description, node) {
			keys = append(keys, client.ObjectKeyFromObject(node))
		}
	}
	return keys
}

// pass is one look at a node that leaves. The steps change the conditions; the pass writes
// them when it ends.
type pass struct {
	departure.Departure
	conditions condition.Set
	// after says what to do once the conditions are written, and only then.
	after []func()
}

// progress is what a step says: whether the next one may begin, and if not, when to look
// again.
type progress struct {
	done  bool
	again time.Duration
}

// pace is how soon to look again. Each look at a node that is not ready asks the cloud
// whether its machine is still there, and clouds count calls.
func (p *pass) pace(again time.Duration) time.Duration {
	if isReady(p.Node) {
		return again
	}
	return max(again, instanceAgain)
}

var finished = progress{done: true}

func waitFor(d time.Duration) progress { return progress{again: d} }

func (c *controller) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	node := &corev1.Node{}
	if err := c.Client.Get(ctx, key, node); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !departure.Leaves(c.description, node) {
		return reconcile.Never, nil
	}
	// 1. Its claim goes with it, also when the rest fails.
	if err := c.deleteClaim(ctx, node); err != nil {
		return reconcile.Never, err
	}
	// 2. A machine that is gone has nothing to drain.
	if gone, err := c.instanceGone(ctx, node); err != nil || gone {
		if gone {
			err = c.release(ctx, node)
		}
		return reconcile.Never, err
	}
	p, err := c.gather(ctx, node)
	if err != nil {
		return reconcile.Never, err
	}
	if !p.State.Deadline.IsZero() {
		c.Events.Publish(drain.Expiring(node, p.State.Deadline))
	}
	// 3. No new pods.
	if err := c.close(ctx, node); err != nil {
		return reconcile.Never, err
	}
	// 4. Drain, detach, end: the first that is not finished ends the pass.
	result, err := c.takeDown(ctx, p)
	if err != nil {
		return reconcile.Never, err
	}
	// 5. Say how far it has come; then let go.
	if err := c.write(ctx, p); err != nil || !result.done {
		return reconcile.In(result.again), err
	}
	return reconcile.Never, c.release(ctx, node)
}

func (c *controller) gather(ctx context.Context, node *corev1.Node) (*pass, error) {
	leave, err := departure.Read(ctx, c.Client, node, c.Clock.Now())
	if err != nil {
		return nil, err
	}
	leave.Heed(c.Settings.GroupDrain)
	p := &pass{Departure: leave}
	if p.Claim != nil {
		p.conditions = p.Claim.Conditions(leave.State.Now)
	}
	return p, nil
}

// takeDown runs the steps in order. What has been told to end is not drained any more: its
// pods are objects without a machine.
func (c *controller) takeDown(ctx context.Context, p *pass) (progress, error) {
	steps := []func(context.Context, *pass) (progress, error){c.drain, c.detach, c.end}
	if p.Claim == nil && p.Node.Annotations[tenonv1alpha1.AnnotationEnded] != "" {
		steps = steps[2:]
	}
	if p.Claim != nil && p.conditions.HasStatus(karpenterv1.ConditionInstanceTerminating, metav1.ConditionTrue) {
		steps = steps[2:]
	}
	for _, step := range steps {
		if result, err := step(ctx, p); err != nil || !result.done {
			return result, err
		}
	}
	return finished, nil
}

// write puts the conditions on the claim, unless they are there already.
func (c *controller) write(ctx context.Context, p *pass) error {
	if p.Claim == nil || slices.Equal(p.conditions.List(), p.Claim.Status.Conditions) {
		return nil
	}
	changed := p.Claim.DeepCopy()
	changed.Status.Conditions = p.conditions.List()
	if err := patch.StatusIfUnchanged(ctx, c.Kit, p.Claim, changed); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of claim %s: %w", p.Claim.Name, err)
	}
	for _, f := range p.after {
		f()
	}
	return nil
}
