package trim

import (
	"sync"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
)

// shared lets pods of one owner have the very same containers, tolerations and so on in
// memory, and nodes of one type and claims of one pool what they have in common. Objects of a
// cache must not be changed, so that is not seen.
type shared struct {
	mu     sync.Mutex
	models map[types.UID]*corev1.Pod // by owner: its pod that was trimmed first
	nodes  map[string]*corev1.Node   // by instance type
	claims map[string]*karpenterv1.NodeClaim
}

func newShared() shared {
	return shared{models: map[types.UID]*corev1.Pod{}, nodes: map[string]*corev1.Node{}, claims: map[string]*karpenterv1.NodeClaim{}}
}

// mostModels is how many owners are remembered. When there are more, all are forgotten:
// those that matter come back with their next pod.
const mostModels = 10_000

// adopt takes over from the model what is equal.
func (s *shared) adopt(p *corev1.Pod) {
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := model(s.models, owner.UID, p)
	take(&p.OwnerReferences, m.OwnerReferences)
	take(&p.Labels, m.Labels)
	take(&p.Spec.NodeSelector, m.Spec.NodeSelector)
	take(&p.Spec.Affinity, m.Spec.Affinity)
	take(&p.Spec.Tolerations, m.Spec.Tolerations)
	take(&p.Spec.TopologySpreadConstraints, m.Spec.TopologySpreadConstraints)
	take(&p.Spec.InitContainers, m.Spec.InitContainers)
	take(&p.Spec.Containers, m.Spec.Containers)
	take(&p.Spec.Volumes, m.Spec.Volumes)
	take(&p.Spec.Priority, m.Spec.Priority)
	take(&p.Spec.PreemptionPolicy, m.Spec.PreemptionPolicy)
	take(&p.Spec.TerminationGracePeriodSeconds, m.Spec.TerminationGracePeriodSeconds)
	take(&p.Status.ContainerStatuses, m.Status.ContainerStatuses)
	p.Namespace, p.GenerateName, p.Spec.SchedulerName, p.Spec.NodeName = one(p.Namespace), one(p.GenerateName), one(p.Spec.SchedulerName), one(p.Spec.NodeName)
}

// model is the one that was kept for a key first, or this one if it is the first.
func model[K comparable, T any](models map[K]*T, key K, own *T) *T {
	if known := models[key]; known != nil {
		return known
	}
	if len(models) >= mostModels {
		clear(models)
	}
	models[key] = own
	return own
}

// adoptNode: a node is mostly text that all nodes have, decoded anew for each.
func (s *shared) adoptNode(n *corev1.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.Labels, n.Annotations = interned(n.Labels), interned(n.Annotations)
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		c.Type, c.Status, c.Reason, c.Message = one(c.Type), one(c.Status), one(c.Reason), one(c.Message)
	}
	m := model(s.nodes, n.Labels[corev1.LabelInstanceTypeStable], n)
	take(&n.Spec.Taints, m.Spec.Taints)
	take(&n.Status.Capacity, m.Status.Capacity)
	take(&n.Status.Allocatable, m.Status.Allocatable)
	take(&n.Finalizers, m.Finalizers)
}

// adoptClaim: the types that a claim may become are hundreds of words, and those of its pool.
func (s *shared) adoptClaim(c *karpenterv1.NodeClaim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Labels, c.Annotations = interned(c.Labels), interned(c.Annotations)
	for i := range c.Status.Conditions {
		d := &c.Status.Conditions[i]
		d.Type, d.Status, d.Reason, d.Message = one(d.Type), one(d.Status), one(d.Reason), one(d.Message)
	}
	pool, kind := c.Labels[karpenterv1.LabelNodePool], c.Labels[corev1.LabelInstanceTypeStable]
	m := model(s.claims, pool+"/"+kind, c)
	take(&c.OwnerReferences, m.OwnerReferences)
	take(&c.Finalizers, m.Finalizers)
	take(&c.Spec, m.Spec)
	take(&c.Spec.Requirements, m.Spec.Requirements)
	take(&c.Spec.Resources, m.Spec.Resources)
	take(&c.Spec.NodeClassRef, m.Spec.NodeClassRef)
	take(&c.Status.Capacity, m.Status.Capacity)
	take(&c.Status.Allocatable, m.Status.Allocatable)
}

// interned is the map with texts that are in memory once.
func interned(texts map[string]string) map[string]string {
	if texts == nil {
		return nil
	}
	out := make(map[string]string, len(texts))
	for key, value := range texts {
		out[one(key)] = one(value)
	}
	return out
}

func one[T ~string](text T) T { return unique.Make(text).Value() }

func take[T any](own *T, model T) {
	if equality.Semantic.DeepEqual(*own, model) {
		*own = model
	}
}
