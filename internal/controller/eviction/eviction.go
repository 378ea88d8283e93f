// Package eviction evicts pods from nodes that are being deleted, and deletes pods whose time is over. It
// is a queue without a memory: its keys are pods, and for each pod it asks again what the drain of its node
// wants now. So it survives restarts, evicts only pods that the drain names, and no pod waits because
// another is held.
//
// A pod that asks for another one in its place first is not evicted where its Deployment
// can make one: the Deployment is asked to roll; see package surge.
//
// The API server checks budgets: it is asked again, less and less often, and at once when a budget has
// changed. The package must not decide which pods leave, and must not touch nodes or claims.
package eviction

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/departure"
	"tenon/internal/drain"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/surge"
)

// Waits between attempts for one pod, and the longest time without a look at a pod for
// which a node waits, should a watch have told us nothing.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 10 * time.Second
)

type queue struct {
	reconcile.Kit
	description cloud.Description
	Options
}

// Options are what the controller exchanges with others beside objects. Each may be nil.
type Options struct {
	// Rolled gets each Deployment after its roll-out was asked for, as the API server returned it: its new
	// pods may be seen before the watch shows the Deployment.
	Rolled func(*appsv1.Deployment)
	// Turn is how long a pod that could be evicted waits for others, on whichever nodes they are.
	Turn func(pod types.UID) time.Duration
	// SubscribeTurns registers wake, which is called with pods whose turn has come.
	SubscribeTurns func(wake func(...types.NamespacedName))
}

// New makes the controller.
func New(kit reconcile.Kit, o Options) reconcile.Controller {
	if o.Rolled == nil {
		o.Rolled = func(*appsv1.Deployment) {}
	}
	if o.Turn == nil {
		o.Turn = func(types.UID) time.Duration { return 0 }
	}
	q := &queue{Kit: kit, description: kit.Cloud.Describe(), Options: o}
	return reconcile.Controller{
		Name: "eviction-queue",
		Watches: []reconcile.Watch{
			{Kind: &corev1.Pod{}, Keys: q.ofPod, Matters: podMatters},
			{Kind: &corev1.Node{}, Keys: q.ofNode, Matters: q.nodeMatters},
			{Kind: &karpenterv1.NodeClaim{}, Keys: q.ofClaim, Matters: claimMatters},
			{Kind: &policyv1.PodDisruptionBudget{}, Keys: q.ofBudget, Matters: budgetMatters},
		},
		SubscribeKeys: o.SubscribeTurns,
		Workers:       reconcile.Workers{Min: 50, Max: 5000},
		Retry:         reconcile.Backoff{First: firstWait, Longest: longestWait},
		Reconcile:     q.reconcile,
	}
}

func (q *queue) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	// 1. Gather: the pod, and its node's departure.
	pod := &corev1.Pod{}
	if err := q.Client.Get(ctx, key, pod); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	node, err := q.leaving(ctx, pod.Spec.NodeName)
	if err != nil || node == nil {
		return reconcile.Never, err
	}
	leave, err := departure.Read(ctx, q.Client, node, q.Clock.Now())
	if err != nil {
		return reconcile.Never, err
	}
	leave.Heed(q.Settings.GroupDrain)
	// 2. Decide: what the drain wants done about this pod.
	decision := drain.Decide(leave.State)
	if !decision.Awaits(pod.UID) {
		return reconcile.Never, nil
	}
	step, todo := decision.StepFor(pod.UID)
	// 3. Act, when it is the pod's turn.
	if todo && !step.Forced {
		if wait := q.Turn(pod.UID); wait > 0 {
			return reconcile.In(wait), nil
		}
	}
	switch {
	case !todo:
		return again(leave.State, decision), nil
	case step.Forced:
		return again(leave.State, decision), q.remove(ctx, leave, step)
	case surge.Wanted(pod):
		return q.surge(ctx, leave, decision, step)
	}
	return q.evict(ctx, leave, step)
}

// leaving is the node if it is one of ours that is being deleted, and closed to new pods;
// otherwise nil.
func (q *queue) leaving(ctx context.Context, name string) (*corev1.Node, error) {
	if name == "" {
		return nil, nil
	}
	node := &corev1.Node{}
	if err := q.Client.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if !q.drains(node) {
		return nil, nil
	}
	return node, nil
}

func (q *queue) drains(node *corev1.Node) bool {
	return departure.Leaves(q.description, node) && departure.Closed(node)
}

// again is when to look at a pod for which there is nothing to do now.
func again(s drain.State, d drain.Decision) reconcile.Result {
	result := reconcile.In(longestWait)
	if !d.Next.IsZero() {
		result = result.Sooner(reconcile.In(d.Next.Sub(s.Now)))
	}
	return result
}

// remove deletes a pod whose time is over, past everything that would hold it.
func (q *queue) remove(ctx context.Context, leave departure.Departure, step drain.Step) error {
	pod := step.Pod.DeepCopy()
	err := q.Client.Delete(ctx, pod, client.GracePeriodSeconds(step.Grace), client.Preconditions{UID: &pod.UID})
	if patch.Outdated(err) { // gone, or another pod of that name
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	q.Events.Publish(drain.Deleted(pod, step.Grace, leave.State.Deadline))
	q.Metrics.PodsDrainedTotal.WithLabelValues(leave.Reason()).Inc()
	return nil
}

// evict asks a pod to leave, if it still is as it was when this was decided: since then it may have been
// protected by an annotation.
func (q *queue) evict(ctx context.Context, leave departure.Departure, step drain.Step) (reconcile.Result, error) {
	pod := step.Pod.DeepCopy()
	err := q.Client.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{
			Preconditions:      &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion},
			GracePeriodSeconds: leave.Grace(pod, q.Settings.GroupDrain),
		},
	})
	outcome := judge(err)
	if code := outcome.code; code != "" {
		q.Metrics.PodsEvictionRequestsTotal.WithLabelValues(code).Inc()
	}
	switch outcome.answer {
	case left:
		q.Events.Publish(drain.Evicted(pod, leave.Reason()))
		if departure.ByAutoscaler(leave.Node) {
			q.Events.Publish(drain.ScaledDown(leave.Node, pod))
			q.Metrics.ClusterAutoscalerEvictedPodsTotal.WithLabelValues("succeeded").Inc()
		}
		q.Metrics.PodsDrainedTotal.WithLabelValues(leave.Reason()).Inc()
		return reconcile.In(longestWait), nil
	case gone:
		return reconcile.In(longestWait), nil
	case changed:
		return patch.LookAgain(err)
	case held:
		q.Events.Publish(drain.Violates(leave.Node, pod))
		return reconcile.In(patience(leave, pod)), nil
	case overlapped:
		q.Events.Publish(drain.Overlaps(leave.Node, pod))
		return reconcile.In(patience(leave, pod)), nil
	case throttled, ending:
		return reconcile.In(max(outcome.wait, patience(leave, pod))), nil
	}
	return reconcile.Never, fmt.Errorf("evict pod %s/%s: %w", pod.Namespace, pod.Name, err)
}
