package harness

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
)

// Settled makes a claim of a pool whose node has joined and is ready, in the state after registration and
// initialization.
func (r *Harness) Settled(name, pool string, change ...func(*karpenterv1.NodeClaim)) (*karpenterv1.NodeClaim, *corev1.Node) {
	r.t.Helper()
	claim := r.Named(name, pool, append(change, func(c *karpenterv1.NodeClaim) {
		c.Finalizers = []string{karpenterv1.FinalizerTermination}
	})...)
	instance, err := r.Far.Connect().Create(context.Background(), cloud.Claim{
		UID: string(claim.UID), Name: name, Pool: pool, Class: cloud.ClassRef{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"},
	})
	r.Must(err)
	conditions := claim.Conditions(r.Clock.Now())
	for _, is := range karpenterv1.NodeClaimConditions().Dependents {
		conditions.SetTrue(is)
	}
	claim.Status.ProviderID, claim.Status.NodeName, claim.Status.Conditions = instance.ProviderID, "node-"+name, conditions.List()
	r.Must(r.API.Status().Update(context.Background(), claim))
	node := r.Join(instance, Ready, func(n *corev1.Node) {
		n.Spec.Taints = nil
		n.Finalizers = []string{karpenterv1.FinalizerTermination}
		n.Labels[karpenterv1.NodeClassLabel(memory.Group, "MemoryNodeClass")] = "default"
		n.Labels[karpenterv1.LabelNodePool] = pool
		n.Labels[karpenterv1.LabelRegistered], n.Labels[karpenterv1.LabelInitialized] = "true", "true"
	})
	return claim, node
}

// Bound makes a pod in namespace default that has run on a node for ten minutes.
func (r *Harness) Bound(name, node string, change ...func(*corev1.Pod)) *corev1.Pod {
	r.t.Helper()
	started, grace := metav1.NewTime(r.Clock.Now().Add(-10*time.Minute)), int64(30)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{NodeName: node, TerminationGracePeriodSeconds: &grace},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &started},
	}
	for _, c := range change {
		c(pod)
	}
	r.Must(r.API.Create(context.Background(), pod))
	return pod
}

// Delete deletes an object, as a user would.
func (r *Harness) Delete(object client.Object) {
	r.t.Helper()
	r.Must(client.IgnoreNotFound(r.API.Delete(context.Background(), object)))
}

// Vanish deletes an object for which no finalizer has anything left to do.
func (r *Harness) Vanish(object client.Object) {
	r.t.Helper()
	object.SetFinalizers(nil)
	r.Put(object)
	r.Delete(object)
}
