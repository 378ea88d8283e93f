package cluster

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// preemption is a node with the pods that would have to leave it.
type preemption struct {
	room    *room
	victims []*placedPod
	broken  int // the number of budgets that would be violated
}

// preempt makes room for a pod by ending pods of lower priority, where that is enough, and nominates the
// pod to that node. It removes the nomination of a pod that preemption cannot help. It reports whether the
// pod is nominated.
func (c *Cluster) preempt(ctx context.Context, a *ask) (bool, error) {
	node := c.nominated.nodes[a.pod.UID]
	if ptr.Deref(a.pod.Spec.PreemptionPolicy, "") == corev1.PreemptNever {
		return node != "", nil // the pod never preempts, and keeps its nomination
	}
	if r := c.nodes.byName[node]; r != nil && a.missing == "" && a.welcome(r) && clearing(a.pod, r) {
		return true, nil
	}
	var all []preemption
	tight := c.tightness()
	for _, r := range c.nodes.rooms {
		if a.missing != "" {
			break
		}
		if s, enough := victims(a, r, tight); enough {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		c.nominated.set(a.pod, "")
		return false, nil
	}
	best := slices.MinFunc(all, func(x, y preemption) int {
		return cmp.Or(dearer(x, y), cmp.Compare(x.room.node.Name, y.room.node.Name))
	})
	for _, victim := range best.victims {
		if err := c.dismissFor(ctx, victim.Pod); err != nil {
			return false, err
		}
	}
	c.nominated.set(a.pod, best.room.node.Name)
	return true, c.clearNominations(ctx, best.room.node.Name, a.pod)
}

// clearing reports whether pods are ending on a node to make room for this pod, or for others of higher
// priority than theirs.
func clearing(pod *corev1.Pod, r *room) bool {
	return slices.ContainsFunc(r.pods, func(g *placedPod) bool {
		return g.Pod.DeletionTimestamp != nil && g.priority < priority(pod) && slices.ContainsFunc(g.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler
		})
	})
}

// dearer compares the cost of preemption on two nodes in kube-scheduler's order.
func dearer(x, y preemption) int {
	sum := func(s preemption) (most int32, total int64) {
		most = -1 << 31
		for _, v := range s.victims {
			most, total = max(most, v.priority), total+int64(v.priority)+1<<31
		}
		return most, total
	}
	mostX, totalX := sum(x)
	mostY, totalY := sum(y)
	return cmp.Or(cmp.Compare(x.broken, y.broken), cmp.Compare(mostX, mostY), cmp.Compare(totalX, totalY), cmp.Compare(len(x.victims), len(y.victims)))
}

// tightness returns a function that reports whether a budget allows no disruption of a pod. It checks each
// podGroup once, so it is valid only while no budget changes.
func (c *Cluster) tightness() func(*placedPod) bool {
	known := map[string]bool{}
	return func(g *placedPod) bool {
		tight, seen := known[g.group]
		if !seen {
			tight = c.allowsNone(g.Pod)
			known[g.group] = tight
		}
		return tight
	}
}

// victims returns the fewest pods of a node whose removal makes room for the pod.
func victims(a *ask, r *room, tight func(*placedPod) bool) (preemption, bool) {
	var lesser []*placedPod
	free := r.free
	for _, g := range r.pods {
		if g.priority < priority(a.pod) {
			lesser = append(lesser, g)
			free.add(1, vector{cpu: g.takes.cpu, memory: g.takes.memory, pods: g.takes.pods})
		}
	}
	if len(lesser) == 0 || a.lacks(r, free) != "" || !a.welcome(r) {
		return preemption{}, false
	}
	// Pods of the highest priority stay if they can, and before them those whose budget is used up.
	protected := map[*placedPod]bool{}
	for _, g := range lesser {
		protected[g] = tight(g)
	}
	slices.SortFunc(lesser, func(x, y *placedPod) int {
		return cmp.Or(-cmp.Compare(rankOf(protected[x]), rankOf(protected[y])), cmp.Compare(y.priority, x.priority), cmp.Compare(x.Name, y.Name))
	})
	s := preemption{room: r}
	for _, g := range lesser {
		less := free
		less.add(-1, vector{cpu: g.takes.cpu, memory: g.takes.memory, pods: g.takes.pods})
		if a.lacks(r, less) == "" {
			free = less
			continue
		}
		s.victims = append(s.victims, g)
		s.broken += rankOf(protected[g])
	}
	return s, len(s.victims) > 0
}

func rankOf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// welcome reports whether the pod fits on a node apart from its free room.
func (a *ask) welcome(r *room) bool {
	return (!r.node.Spec.Unschedulable || tolerates(a.pod, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})) &&
		!a.tainted(r.node) && a.allowed(r.node) && a.spreadHolds(r.node) && a.affinityHolds(r.node) && !clashing(a.ports, r.pods) &&
		(len(a.volumes) == 0 || a.volumesFit(r) && !a.tooManyVolumes(r))
}

// dismissFor deletes a pod to make room, and sets a condition that says so.
func (c *Cluster) dismissFor(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	next := pod.DeepCopy()
	setPodCondition(next, corev1.DisruptionTarget, corev1.ConditionTrue, corev1.PodReasonPreemptionByScheduler, "preempting to accommodate a higher priority pod", c.now())
	next.ResourceVersion = ""
	if err := c.Client.Status().Update(ctx, next); err != nil {
		return client.IgnoreNotFound(err)
	}
	return client.IgnoreNotFound(c.Client.Delete(ctx, next))
}
