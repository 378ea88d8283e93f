package randomcluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// Shrink finds a cluster that still fails and from which nothing more can be removed: no object, no
// instance type, no offering, and no single rule of a pod, node or pool. fails must give the same answer
// for the same cluster, and be true for c. Shrink calls it a few hundred times.
func Shrink(c *Cluster, fails func(*Cluster) bool) *Cluster {
	for {
		before := c.weight()
		c = withoutParts(c, fails)
		c = simplified(c, fails)
		if c.weight() == before {
			return c
		}
	}
}

// weight is the measure that shrinking lowers.
func (c *Cluster) weight() int { return len(c.YAML()) }

// withoutParts removes parts, in large pieces first: half of them, a quarter, and so on down to single
// parts.
func withoutParts(c *Cluster, fails func(*Cluster) bool) *Cluster {
	for size := max(c.parts()/2, 1); ; size = max(size/2, 1) {
		for from := 0; from < c.parts(); {
			if smaller := c.without(from, from+size); fails(smaller) {
				c = smaller
			} else {
				from += size
			}
		}
		if size == 1 {
			return c
		}
	}
}

// parts counts what can be removed: objects, then types.
func (c *Cluster) parts() int { return len(c.Objects) + len(c.Types) }

// without leaves out the parts from from up to, but not including, to.
func (c *Cluster) without(from, to int) *Cluster {
	out := &Cluster{Seed: c.Seed, Settings: c.Settings}
	for i, o := range c.Objects {
		if i < from || i >= to {
			out.Objects = append(out.Objects, o)
		}
	}
	for i, t := range c.Types {
		if at := i + len(c.Objects); at < from || at >= to {
			out.Types = append(out.Types, t)
		}
	}
	return out
}

// simplified tries every simplification of every part.
func simplified(c *Cluster, fails func(*Cluster) bool) *Cluster {
	try := func(change func(*Cluster) bool) bool {
		simpler := c.clone()
		if !change(simpler) || !fails(simpler) {
			return false
		}
		c = simpler
		return true
	}
	for t := range c.Types {
		for o := len(c.Types[t].Offerings) - 1; o >= 0; o-- {
			try(func(c *Cluster) bool {
				c.Types[t].Offerings = slices.Delete(c.Types[t].Offerings, o, o+1)
				return true
			})
		}
	}
	for i := range c.Objects {
		for step := range simplifications {
			for try(func(c *Cluster) bool { return simplifications[step](c.Objects[i]) }) {
			}
		}
	}
	return c
}

// simplifications each remove one thing from an object, and report whether there was one.
var simplifications = []func(Object) bool{
	ofPod(func(p *corev1.Pod) bool { return dropAffinity(p.Spec.Affinity) }),
	ofPod(func(p *corev1.Pod) bool { return dropLast(&p.Spec.TopologySpreadConstraints) }),
	ofPod(func(p *corev1.Pod) bool { return dropLast(&p.Spec.Tolerations) }),
	ofPod(func(p *corev1.Pod) bool { return dropLast(&p.Spec.Volumes) }),
	ofPod(func(p *corev1.Pod) bool { return dropLast(&p.Spec.InitContainers) }),
	ofPod(func(p *corev1.Pod) bool { return dropLast(&p.Spec.Containers[0].Ports) }),
	ofPod(func(p *corev1.Pod) bool { return dropMap(&p.Spec.NodeSelector) }),
	ofPod(func(p *corev1.Pod) bool { return dropMap(&p.Spec.Containers[0].Resources.Requests) }),
	ofPod(func(p *corev1.Pod) bool { return dropMap(&p.Annotations) }),
	ofPod(func(p *corev1.Pod) bool { return dropLast(&p.OwnerReferences) }),
	ofPod(func(p *corev1.Pod) bool { return dropPointer(&p.Spec.Priority) }),
	ofPod(func(p *corev1.Pod) bool { return dropPointer(&p.DeletionTimestamp) }),
	ofNode(func(n *corev1.Node) bool { return dropLast(&n.Spec.Taints) }),
	ofNode(func(n *corev1.Node) bool { was := n.Spec.Unschedulable; n.Spec.Unschedulable = false; return was }),
	ofPool(func(p *karpenterv1.NodePool) bool { return dropLast(&p.Spec.Template.Spec.Taints) }),
	ofPool(func(p *karpenterv1.NodePool) bool { return dropLast(&p.Spec.Template.Spec.StartupTaints) }),
	ofPool(func(p *karpenterv1.NodePool) bool { return dropFirst(&p.Spec.Template.Spec.Requirements) }),
	ofPool(func(p *karpenterv1.NodePool) bool { return dropLast(&p.Spec.Template.Spec.Requirements) }),
	ofPool(func(p *karpenterv1.NodePool) bool { return dropMap(&p.Spec.Template.Labels) }),
	ofPool(func(p *karpenterv1.NodePool) bool { return dropMap(&p.Spec.Limits) }),
	ofPool(func(p *karpenterv1.NodePool) bool { return dropPointer(&p.Spec.Weight) }),
}

func ofPod(change func(*corev1.Pod) bool) func(Object) bool {
	return func(o Object) bool { p, ok := o.(*corev1.Pod); return ok && change(p) }
}

func ofNode(change func(*corev1.Node) bool) func(Object) bool {
	return func(o Object) bool { n, ok := o.(*corev1.Node); return ok && change(n) }
}

func ofPool(change func(*karpenterv1.NodePool) bool) func(Object) bool {
	return func(o Object) bool { p, ok := o.(*karpenterv1.NodePool); return ok && change(p) }
}

// dropAffinity removes the last term of the first list that has one.
func dropAffinity(a *corev1.Affinity) bool {
	if a == nil {
		return false
	}
	if n := a.NodeAffinity; n != nil {
		if dropLast(&n.PreferredDuringSchedulingIgnoredDuringExecution) {
			return true
		}
		if r := n.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
			if dropLast(&r.NodeSelectorTerms); len(r.NodeSelectorTerms) == 0 {
				n.RequiredDuringSchedulingIgnoredDuringExecution = nil // an empty list would match nothing
			}
			return true
		}
	}
	if p := a.PodAffinity; p != nil {
		if dropLast(&p.PreferredDuringSchedulingIgnoredDuringExecution) || dropLast(&p.RequiredDuringSchedulingIgnoredDuringExecution) {
			return true
		}
	}
	p := a.PodAntiAffinity
	return p != nil && (dropLast(&p.PreferredDuringSchedulingIgnoredDuringExecution) || dropLast(&p.RequiredDuringSchedulingIgnoredDuringExecution))
}

func dropLast[T any](list *[]T) bool {
	if len(*list) == 0 {
		return false
	}
	*list = slices.Clip((*list)[:len(*list)-1])
	if len(*list) == 0 {
		*list = nil
	}
	return true
}

func dropFirst[T any](list *[]T) bool {
	if len(*list) == 0 {
		return false
	}
	*list = slices.Clone((*list)[1:])
	return true
}

func dropMap[M ~map[K]V, K comparable, V any](m *M) bool {
	had := len(*m) > 0
	*m = nil
	return had
}

func dropPointer[T any](p **T) bool {
	had := *p != nil
	*p = nil
	return had
}
