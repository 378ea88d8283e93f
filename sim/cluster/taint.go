package cluster

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/lookup"
	"tenon/internal/reconcile"
)

// taints sets taints on nodes according to their conditions.
func (c *Cluster) taints() reconcile.Controller {
	return reconcile.Controller{
		Name:      "taints",
		Workers:   reconcile.Workers{Min: 100, Max: 100},
		Watches:   []reconcile.Watch{{Kind: &corev1.Node{}}},
		Reconcile: c.taint,
	}
}

func (c *Cluster) taint(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var node corev1.Node
	if err := c.Client.Get(ctx, key, &node, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	wanted := taintsFor(readiness(&node))
	kept := slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool {
		return ours(t.Key) && !slices.ContainsFunc(wanted, func(w corev1.Taint) bool { return t.MatchTaint(&w) })
	})
	for _, w := range wanted {
		if !slices.ContainsFunc(kept, func(t corev1.Taint) bool { return t.MatchTaint(&w) }) {
			if w.Effect == corev1.TaintEffectNoExecute {
				w.TimeAdded = ptr.To(c.now())
			}
			kept = append(kept, w)
		}
	}
	if slices.EqualFunc(kept, node.Spec.Taints, func(a, b corev1.Taint) bool { return a.MatchTaint(&b) && a.Value == b.Value }) {
		return reconcile.Never, nil
	}
	node.Spec.Taints = kept
	return reconcile.Never, client.IgnoreNotFound(c.Client.Update(ctx, &node))
}

func ours(key string) bool {
	return key == corev1.TaintNodeNotReady || key == corev1.TaintNodeUnreachable
}

func readiness(node *corev1.Node) corev1.ConditionStatus {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status
		}
	}
	return corev1.ConditionFalse
}

func taintsFor(ready corev1.ConditionStatus) []corev1.Taint {
	key := corev1.TaintNodeNotReady
	switch ready {
	case corev1.ConditionTrue:
		return nil
	case corev1.ConditionUnknown:
		key = corev1.TaintNodeUnreachable
	}
	return []corev1.Taint{{Key: key, Effect: corev1.TaintEffectNoSchedule}, {Key: key, Effect: corev1.TaintEffectNoExecute}}
}

// evictions delete pods from nodes with taints that the pods do not tolerate for ever.
func (c *Cluster) evictions() reconcile.Controller {
	return reconcile.Controller{
		Name:    "taint-evictions",
		Workers: reconcile.Workers{Min: 100, Max: 100},
		Watches: []reconcile.Watch{
			{Kind: &corev1.Node{}, Matters: func(_, node client.Object) bool {
				return node != nil && slices.ContainsFunc(node.(*corev1.Node).Spec.Taints, lasting)
			}},
			{Kind: &corev1.Pod{}, Keys: nodeOf, Matters: func(old, pod client.Object) bool {
				return pod != nil && (old == nil || old.(*corev1.Pod).Spec.NodeName != pod.(*corev1.Pod).Spec.NodeName)
			}},
		},
		Reconcile: c.evictFrom,
	}
}

func lasting(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute }

// nodeOf wakes the node of a pod.
func nodeOf(_ context.Context, object client.Object) []reconcile.Key {
	if name := object.(*corev1.Pod).Spec.NodeName; name != "" {
		return []reconcile.Key{{Name: name}}
	}
	return nil
}

func (c *Cluster) evictFrom(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var node corev1.Node
	if err := c.Client.Get(ctx, key, &node, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !slices.ContainsFunc(node.Spec.Taints, lasting) {
		return reconcile.Never, nil
	}
	pods, err := lookup.PodsOn(ctx, c.Client, node.Name)
	if err != nil {
		return reconcile.Never, err
	}
	again := reconcile.Never
	for _, pod := range pods {
		left, stays := c.tolerated(&node, pod)
		switch {
		case stays || pod.DeletionTimestamp != nil:
		case left > 0:
			again = again.Sooner(reconcile.In(left))
		default:
			if err := c.Client.Delete(ctx, pod); client.IgnoreNotFound(err) != nil {
				return reconcile.Never, err
			}
		}
	}
	return again, nil
}

// tolerated returns how long a pod may still stay, unless it may stay for ever.
func (c *Cluster) tolerated(node *corev1.Node, pod *corev1.Pod) (left time.Duration, forEver bool) {
	forEver = true
	for _, taint := range node.Spec.Taints {
		if !lasting(taint) {
			continue
		}
		at := slices.IndexFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Background(), &taint, false) })
		if at < 0 {
			return 0, false
		}
		seconds := pod.Spec.Tolerations[at].TolerationSeconds
		if seconds == nil {
			continue
		}
		since := c.Clock.Now()
		if taint.TimeAdded != nil {
			since = taint.TimeAdded.Time
		}
		this := since.Add(time.Duration(*seconds) * time.Second).Sub(c.Clock.Now())
		if forEver || this < left {
			left = this
		}
		forEver = false
	}
	return left, forEver
}

// abandoned is how long after the deletion of a node its pods are deleted.
const abandoned = 40 * time.Second

// leftovers deletes the pods of deleted nodes.
func (c *Cluster) leftovers() reconcile.Controller {
	return reconcile.Controller{
		Name: "leftovers",
		Watches: []reconcile.Watch{
			{Kind: &corev1.Node{}, Matters: func(_, node client.Object) bool { return node == nil }},
			{Kind: &corev1.Pod{}, Keys: nodeOf, Matters: func(old, pod client.Object) bool { return old == nil }},
		},
		Reconcile: c.clearAway,
	}
}

func (c *Cluster) clearAway(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var node corev1.Node
	if err := c.Client.Get(ctx, key, &node, client.UnsafeDisableDeepCopy); err == nil {
		return reconcile.Never, nil
	}
	pods, err := lookup.PodsOn(ctx, c.Client, key.Name)
	if err != nil {
		return reconcile.Never, err
	}
	again := reconcile.Never
	for _, pod := range pods {
		since, known := c.lost[pod.UID]
		if !known {
			since = c.Clock.Now()
			c.lost[pod.UID] = since
		}
		if left := since.Add(abandoned).Sub(c.Clock.Now()); left > 0 {
			again = again.Sooner(reconcile.In(left))
			continue
		}
		delete(c.lost, pod.UID)
		if err := c.Client.Delete(ctx, pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			return reconcile.Never, err
		}
	}
	return again, nil
}
