package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podresource "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
)

// scheduler gives pods their nodes. One pass looks at all pods that wait, the most
// important and then the oldest first.
func (c *Cluster) scheduler() reconcile.Controller {
	whenever := func(context.Context, client.Object) []reconcile.Key { return []reconcile.Key{{Name: "pass"}} }
	return reconcile.Controller{
		Name:    "scheduler",
		Workers: reconcile.One,
		Watches: []reconcile.Watch{
			{Kind: &corev1.Pod{}, Keys: whenever, Matters: mayFreeOrAsk},
			{Kind: &corev1.Node{}, Keys: whenever, Matters: mayHelp},
		},
		Reconcile: c.schedule,
	}
}

// mayFreeOrAsk: a pod begins to wait, or leaves a place.
func mayFreeOrAsk(old, changed client.Object) bool {
	if changed == nil {
		return old.(*corev1.Pod).Spec.NodeName != ""
	}
	pod := changed.(*corev1.Pod)
	if unscheduled(pod) {
		return old == nil || !unscheduled(old.(*corev1.Pod))
	}
	return Finished(pod) && (old == nil || !Finished(old.(*corev1.Pod)))
}

// mayHelp: a node is new, or has other labels, taints or room.
func mayHelp(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	a, b := old.(*corev1.Node), changed.(*corev1.Node)
	return a.Spec.Unschedulable != b.Spec.Unschedulable || !equality.Semantic.DeepEqual(a.Labels, b.Labels) ||
		!equality.Semantic.DeepEqual(a.Spec.Taints, b.Spec.Taints) || !equality.Semantic.DeepEqual(a.Status.Allocatable, b.Status.Allocatable)
}

func (c *Cluster) schedule(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	pods, err := c.pods(ctx, client.MatchingFields{waiting: "yes"})
	if err != nil || len(pods) == 0 {
		return reconcile.Never, err
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(
			cmp.Compare(ptr.Deref(b.Spec.Priority, 0), ptr.Deref(a.Spec.Priority, 0)),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		)
	})
	f, err := c.floor(ctx)
	if err != nil {
		return reconcile.Never, err
	}
	hopeless := map[string]string{} // what pods of one controller were told in this pass
	for _, pod := range pods {
		if err := c.place(ctx, f, pod, hopeless); err != nil {
			return reconcile.Never, err
		}
	}
	return reconcile.Never, nil
}

// place binds a pod to the best of the nodes that will do, or says that there is none.
func (c *Cluster) place(ctx context.Context, f *floor, pod *corev1.Pod, hopeless map[string]string) error {
	kind := ""
	if ref := metav1.GetControllerOf(pod); ref != nil && ref.Kind != "DaemonSet" {
		kind = string(ref.UID)
	}
	why, known := hopeless[kind]
	if kind == "" || !known {
		var best *room
		if best, why = c.choose(f, newAsk(f, pod)); best != nil {
			f.bind(best, pod)
			binding := &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
				Target:     corev1.ObjectReference{Kind: "Node", Name: best.node.Name},
			}
			return client.IgnoreNotFound(c.Client.SubResource("binding").Create(ctx, pod.DeepCopy(), binding))
		}
		if kind != "" {
			hopeless[kind] = why
		}
	}
	next := pod.DeepCopy()
	if !setPodCondition(next, corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, why, c.now()) {
		return nil
	}
	next.ResourceVersion = ""
	return client.IgnoreNotFound(c.Client.Status().Update(ctx, next))
}

// choose is the node with the highest score among those that pass. Of equal ones, dice
// choose, as the real one's do.
func (c *Cluster) choose(f *floor, a *ask) (*room, string) {
	var best *room
	var most int64 = -1
	ties := 0
	refused := map[string]int{}
	for _, r := range f.rooms {
		if why := a.refused(r); why != "" {
			refused[why]++
			continue
		}
		switch score := a.score(r); {
		case score > most:
			best, most, ties = r, score, 1
		case score == most:
			if ties++; c.Dice.IntN(ties) == 0 {
				best = r
			}
		}
	}
	return best, tell(len(f.rooms), refused)
}

// tell is the real one's message, with the reasons in order.
func tell(nodes int, refused map[string]int) string {
	text := fmt.Sprintf("0/%d nodes are available: ", nodes)
	reasons := make([]string, 0, len(refused))
	for why, n := range refused {
		reasons = append(reasons, fmt.Sprintf("%d %s", n, why))
	}
	slices.Sort(reasons)
	for i, why := range reasons {
		if i > 0 {
			text += ", "
		}
		text += why
	}
	return text + "."
}

// room is what is left on a node.
type room struct {
	node *corev1.Node
	free vector
	used vector
	pods []*corev1.Pod
}

// vector is resources as numbers: milli of CPU, units of everything else.
type vector map[corev1.ResourceName]int64

func vectorOf(list corev1.ResourceList) vector {
	v := vector{}
	for name, q := range list {
		if name == corev1.ResourceCPU {
			v[name] = q.MilliValue()
		} else {
			v[name] = q.Value()
		}
	}
	return v
}

// requests of a pod, itself included.
func requests(pod *corev1.Pod) vector {
	v := vectorOf(podresource.PodRequests(pod, podresource.PodResourcesOptions{}))
	v[corev1.ResourcePods] = 1
	return v
}

// floor is all nodes with their pods.
type floor struct {
	rooms  []*room
	byName map[string]*room
}

// floor is looked at once for a pass, and kept up to date within it.
func (c *Cluster) floor(ctx context.Context) (*floor, error) {
	nodes, err := c.nodes(ctx)
	if err != nil {
		return nil, err
	}
	f := &floor{byName: map[string]*room{}}
	for _, node := range nodes {
		r := &room{node: node, free: vectorOf(node.Status.Allocatable), used: vector{}}
		f.rooms, f.byName[node.Name] = append(f.rooms, r), r
	}
	pods, err := c.pods(ctx)
	if err != nil {
		return nil, err
	}
	for _, pod := range pods {
		if r, known := f.byName[pod.Spec.NodeName]; known && !Finished(pod) {
			f.bind(r, pod)
		}
	}
	return f, nil
}

func (f *floor) bind(r *room, pod *corev1.Pod) {
	for name, n := range requests(pod) { // each name is on its own
		r.free[name] -= n
		r.used[name] += n
	}
	r.pods = append(r.pods, pod)
}
