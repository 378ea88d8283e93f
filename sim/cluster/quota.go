package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
	"tenon/sim/store"
)

// quotas are counted again whenever a pod comes or goes, because admission only adds.
func (c *Cluster) quotas() reconcile.Controller {
	return reconcile.Controller{
		Name:    "quotas",
		Workers: reconcile.Workers{Min: 5, Max: 5},
		Watches: []reconcile.Watch{{Kind: &corev1.ResourceQuota{}}, {Kind: &corev1.Pod{}, Keys: func(_ context.Context, pod client.Object) []reconcile.Key {
			var keys []reconcile.Key
			for _, object := range c.Client.Find(&corev1.ResourceQuota{}, "", "") {
				if object.GetNamespace() == pod.GetNamespace() {
					keys = append(keys, client.ObjectKeyFromObject(object))
				}
			}
			return keys
		}}},
		Reconcile: c.recount,
	}
}

func (c *Cluster) recount(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var q corev1.ResourceQuota
	if err := c.Client.Get(ctx, key, &q); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	status := corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: corev1.ResourceList{}}
	for name := range q.Spec.Hard {
		sum := q.Spec.Hard[name].DeepCopy()
		sum.Set(0)
		for _, object := range c.Client.Find(&corev1.Pod{}, "", "") {
			if pod := object.(*corev1.Pod); pod.Namespace == q.Namespace && !Finished(pod) {
				sum.Add(store.Counted(pod)[name])
			}
		}
		status.Used[name] = sum
	}
	if equality.Semantic.DeepEqual(status, q.Status) {
		return reconcile.Never, nil
	}
	q.Status, q.ResourceVersion = status, ""
	return reconcile.Never, client.IgnoreNotFound(c.Client.Status().Update(ctx, &q))
}
