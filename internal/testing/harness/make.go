package harness

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
)

// Pool returns a pool of the cloud in memory.
func Pool(name string) *karpenterv1.NodePool {
	return &karpenterv1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 1},
		Spec:       karpenterv1.NodePoolSpec{Template: karpenterv1.NodeClaimTemplate{Spec: karpenterv1.NodeClaimTemplateSpec{NodeClassRef: class()}}},
	}
}

func class() *karpenterv1.NodeClassReference {
	return &karpenterv1.NodeClassReference{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"}
}

// Requirement returns a requirement that a key is In some values.
func Requirement(key string, values ...string) karpenterv1.Requirement {
	return karpenterv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// Named makes a claim of a pool (of none if that is empty) for a machine with four cores. It was made just
// now, by the harness's clock.
func (r *Harness) Named(name, pool string, change ...func(*karpenterv1.NodeClaim)) *karpenterv1.NodeClaim {
	r.t.Helper()
	claim := &karpenterv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 1,
			CreationTimestamp: metav1.NewTime(r.Clock.Now()), Labels: map[string]string{}},
		Spec: karpenterv1.NodeClaimSpec{
			NodeClassRef: class(),
			Requirements: []karpenterv1.Requirement{Requirement(corev1.LabelInstanceTypeStable, "general-4")},
			Resources: karpenterv1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourcePods: resource.MustParse("3")}},
		},
	}
	if pool != "" {
		claim.Labels[karpenterv1.LabelNodePool] = pool
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: karpenterv1.GroupVersion.String(), Kind: "NodePool",
			Name: pool, UID: types.UID("uid-" + pool)}}
	}
	for _, c := range change {
		c(claim)
	}
	r.Must(r.API.Create(context.Background(), claim))
	return claim
}

// Join makes the node of an instance, as its kubelet would: with the unregistered taint, and not ready.
func (r *Harness) Join(i cloud.Instance, change ...func(*corev1.Node)) *corev1.Node {
	r.t.Helper()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-" + i.ClaimName, UID: types.UID("uid-node-" + i.ClaimName),
			CreationTimestamp: metav1.NewTime(r.Clock.Now()), Labels: map[string]string{}},
		Spec: corev1.NodeSpec{ProviderID: i.ProviderID, Taints: []corev1.Taint{karpenterv1.TaintUnregistered()}},
	}
	for _, c := range change {
		c(node)
	}
	r.Must(r.API.Create(context.Background(), node))
	return node
}

// Ready marks a node as ready, with its resources.
func Ready(node *corev1.Node) {
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	node.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("110")}
	node.Status.Allocatable = node.Status.Capacity.DeepCopy()
}

// Put writes an object as it is, status included, over what the API server has.
func (r *Harness) Put(object client.Object) {
	r.t.Helper()
	ctx := context.Background()
	now := object.DeepCopyObject().(client.Object)
	r.Must(r.API.Get(ctx, client.ObjectKeyFromObject(object), now))
	wanted := object.DeepCopyObject().(client.Object)
	wanted.SetResourceVersion(now.GetResourceVersion())
	r.Must(r.API.Update(ctx, wanted))
	status := object.DeepCopyObject().(client.Object)
	status.SetResourceVersion(wanted.GetResourceVersion())
	if err := r.API.Status().Update(ctx, status); err != nil && !apierrors.IsNotFound(err) {
		r.t.Fatal(err)
	}
}
