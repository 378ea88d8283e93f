package stopwatch

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/testing/workload"
	"tenon/lab/measure"
)

// The pools: one as in tutorials, and one of small machines for the steady state.
const (
	anyPool   = workload.AnyPool
	smallPool = "small"
)

// prepare makes a node class and the pools, and waits until they are ready.
func (r run) prepare(ctx context.Context) error {
	for _, o := range []client.Object{workload.Class(), workload.Pool(anyPool), workload.Pool(smallPool, workload.In("karpenter.k8s.aws/instance-size", "4xlarge"), workload.In("pool", smallPool))} {
		if err := r.client.Create(ctx, o); err != nil {
			return fmt.Errorf("make %T %s: %w", o, o.GetName(), err)
		}
	}
	return r.poolsReady(ctx)
}

func (r run) poolsReady(ctx context.Context) error {
	return r.until(ctx, time.Minute, "the pools are ready", func() (bool, error) {
		var pools karpenterv1.NodePoolList
		if err := r.client.List(ctx, &pools); err != nil {
			return false, err
		}
		for i := range pools.Items {
			conditions := pools.Items[i].Conditions(time.Now())
			if c, ok := conditions.Get("Ready"); !ok || c.Status != metav1.ConditionTrue {
				return false, nil
			}
		}
		return true, nil
	})
}

// apart returns a pod that shares its node with no other of its kind.
func apart(number int) *corev1.Pod {
	template := workload.Deployment("single", 1, "100m").Spec.Template
	template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: template.Labels},
		}},
	}}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("single-%d", number), Labels: template.Labels,
	}, Spec: template.Spec}
}

// clear removes workloads and claims, and waits until nothing is left.
func (r run) clear(ctx context.Context) error {
	inDefault := client.InNamespace(metav1.NamespaceDefault)
	if err := r.client.DeleteAllOf(ctx, &appsv1.Deployment{}, inDefault, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		return err
	}
	return r.until(ctx, 5*time.Minute, "everything is cleared", func() (bool, error) {
		var pods corev1.PodList
		var claims karpenterv1.NodeClaimList
		if err := r.client.List(ctx, &pods, inDefault, client.Limit(handful)); err != nil {
			return false, err
		}
		if err := r.client.List(ctx, &claims, client.Limit(handful)); err != nil {
			return false, err
		}
		if err := r.remove(ctx, &pods, client.GracePeriodSeconds(0)); err != nil {
			return false, err
		}
		return len(pods.Items)+len(claims.Items) == 0, r.remove(ctx, &claims)
	})
}

// handful is how many objects are removed at a time. A single request could remove all at once, but the API
// server gives up on one that takes a minute, as five thousand pods do on two busy cores.
const handful = 200

// remove deletes the objects of a list that are not being deleted yet.
func (r run) remove(ctx context.Context, list client.ObjectList, options ...client.DeleteOption) error {
	return apimeta.EachListItem(list, func(o runtime.Object) error {
		object := o.(client.Object)
		if !object.GetDeletionTimestamp().IsZero() {
			return nil
		}
		return client.IgnoreNotFound(r.client.Delete(ctx, object, options...))
	})
}

func (r run) until(ctx context.Context, within time.Duration, what string, done func() (bool, error)) error {
	for limit := time.Now().Add(within); ; {
		ok, err := done()
		if err != nil || ok {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("wait until %s: %s were not enough", what, within)
		}
		if err := measure.Pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}
