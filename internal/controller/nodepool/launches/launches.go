// Package launches reports refused launches where people look: on the pool, with the condition
// LaunchesRefused and an event, on its node class and on the pods that wait for the nodes. A claim that the
// cloud refuses, for example because a permission is missing, is tried again as long as its pods need it;
// without this package, only the claim itself would say so.
//
// It decides nothing about claims, and must not end one.
package launches

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/class"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
	"tenon/internal/world"
)

const (
	eventRefused = "LaunchesRefused"
	eventResumed = "LaunchesResumed"
	// passing is the reason of errors that usually end soon, such as calls without an answer. They are
	// reported once they have lasted.
	passing = "LaunchFailed"
	lasting = time.Minute
	// every is how often the same event is repeated.
	every = 5 * time.Minute
)

type refused struct {
	kit     reconcile.Kit
	world   *world.World
	classes class.Reader
}

// New makes the controller.
func New(kit reconcile.Kit, w *world.World) reconcile.Controller {
	r := refused{kit, w, class.From(kit)}
	return reconcile.Controller{
		Name: "nodepool.launches",
		Watches: []reconcile.Watch{
			{Kind: &karpenterv1.NodePool{}, Matters: poolMatters},
			{Kind: &karpenterv1.NodeClaim{}, Matters: claimMatters, Keys: poolOf},
		},
		Workers:   reconcile.Workers{Min: 10, Max: 1000},
		Reconcile: r.reconcile,
	}
}

// poolMatters: a pool is looked at when it is first seen, and when its condition was written.
func poolMatters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	return shown(old.(*karpenterv1.NodePool)) != shown(changed.(*karpenterv1.NodePool))
}

func shown(pool *karpenterv1.NodePool) string {
	if c := meta.FindStatusCondition(pool.Status.Conditions, karpenterv1.ConditionLaunchesRefused); c != nil {
		return c.Reason + c.Message
	}
	return ""
}

func claimMatters(old, changed client.Object) bool { return refusal(old) != refusal(changed) }

// refusal is why a claim is not launched; the zero value if it is, or if nothing was tried yet.
func refusal(object client.Object) metav1.Condition {
	claim, is := object.(*karpenterv1.NodeClaim)
	if !is || claim == nil || claim.DeletionTimestamp != nil || claim.Status.ProviderID != "" {
		return metav1.Condition{}
	}
	c := meta.FindStatusCondition(claim.Status.Conditions, karpenterv1.ConditionLaunched)
	if c == nil || c.Status != metav1.ConditionUnknown || c.Reason == condition.AwaitingReconciliation {
		return metav1.Condition{}
	}
	return *c
}

func poolOf(_ context.Context, object client.Object) []reconcile.Key {
	if pool := object.GetLabels()[karpenterv1.LabelNodePool]; pool != "" {
		return []reconcile.Key{{Name: pool}}
	}
	return nil
}

func (r refused) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	// 1. Gather: the pool, and its claims that are refused.
	pool := &karpenterv1.NodePool{}
	if err := r.kit.Client.Get(ctx, key, pool); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	claims, err := lookup.ClaimsIn(ctx, r.kit.Client, pool.Name)
	if err != nil {
		return reconcile.Never, err
	}
	list, again := lasted(claims, r.kit.Clock.Now())
	if len(list) == 0 && shown(pool) == "" {
		return again, nil
	}
	// 2. Show it on the pool, and publish an event.
	told := pool.DeepCopy()
	conditions := told.Conditions(r.kit.Clock.Now())
	if len(list) == 0 {
		conditions.Clear(karpenterv1.ConditionLaunchesRefused)
	} else {
		why := refusal(list[0])
		conditions.SetTrueBecause(karpenterv1.ConditionLaunchesRefused, why.Reason, sentence(list))
	}
	told.Status.Conditions = conditions.List()
	result, err := patch.Status(ctx, r.kit, pool, told)
	if err != nil || result != reconcile.Never {
		return result, err
	}
	return again, r.tell(ctx, pool, list)
}

// lasted are the claims whose refusal is to be told, the oldest first; and when to look again.
func lasted(claims []*karpenterv1.NodeClaim, now time.Time) (list []*karpenterv1.NodeClaim, again reconcile.Result) {
	again = reconcile.Never
	for _, claim := range claims {
		why := refusal(claim)
		if why.Type == "" {
			continue
		}
		if wait := lasting - now.Sub(claim.CreationTimestamp.Time); why.Reason == passing && wait > 0 {
			again = again.Sooner(reconcile.In(wait))
			continue
		}
		list = append(list, claim)
	}
	slices.SortFunc(list, func(a, b *karpenterv1.NodeClaim) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	return list, again
}

// sentence leaves out how many claims there are: that changes with every pod.
func sentence(list []*karpenterv1.NodeClaim) string {
	return fmt.Sprintf("NodeClaims cannot be launched, %s since %s: %s. The first is tried again every five seconds, the others once it is launched", list[0].Name,
		list[0].CreationTimestamp.UTC().Format(time.RFC3339), strings.TrimSuffix(refusal(list[0]).Message, "."))
}

func (r refused) tell(ctx context.Context, pool *karpenterv1.NodePool, list []*karpenterv1.NodeClaim) error {
	if len(list) == 0 {
		r.kit.Events.Publish(telemetry.Normal(pool, eventResumed, "NodeClaims are launched again, or wanted no more", string(pool.UID)).Within(every))
		return nil
	}
	text, reason := sentence(list), refusal(list[0]).Reason
	r.kit.Events.Publish(telemetry.Warning(pool, eventRefused, text, string(pool.UID), reason).Within(every))
	if object, found, err := r.classes.Object(ctx, class.Of(pool)); err != nil {
		return err
	} else if found {
		r.kit.Events.Publish(telemetry.Warning(object, eventRefused, fmt.Sprintf("NodePool %s: %s", pool.Name, text), string(object.GetUID()), reason).Within(every))
	}
	for _, claim := range list {
		message := fmt.Sprintf("Failed to schedule pod, nodeclaim/%s cannot be launched: %s", claim.Name, refusal(claim).Message)
		for _, ref := range r.world.PodsOf(claim.Name) {
			if pod, found := r.world.Pod(ref.Namespace, ref.Name); found && pod.UID == ref.UID {
				r.kit.Events.Publish(telemetry.Warning(pod, "FailedScheduling", message, string(pod.UID), reason).Within(every))
			}
		}
	}
	return nil
}
