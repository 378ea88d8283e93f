package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
)

// scheduler binds pods to nodes. One pass considers all pods that may have a chance, those of the highest
// priority first, and then the oldest.
func (c *Cluster) scheduler() reconcile.Controller {
	whenever := func(context.Context, client.Object) []reconcile.Key { return []reconcile.Key{{Name: "pass"}} }
	return reconcile.Controller{
		Name:    "scheduler",
		Workers: reconcile.One,
		Watches: []reconcile.Watch{
			{Kind: &corev1.Pod{}, Keys: whenever, Matters: c.mayFreeOrAsk},
			{Kind: &corev1.Node{}, Keys: whenever, Matters: mayHelp},
			{Kind: &corev1.PersistentVolumeClaim{}, Keys: whenever},
		},
		Reconcile: c.schedule,
	}
}

// mayFreeOrAsk: a pod begins to wait, leaves a place, or arrives where another may want to be.
func (c *Cluster) mayFreeOrAsk(old, changed client.Object) bool {
	if changed == nil {
		return old.(*corev1.Pod).Spec.NodeName != ""
	}
	pod := changed.(*corev1.Pod)
	if unscheduled(pod) {
		return old == nil || !unscheduled(old.(*corev1.Pod))
	}
	if before, _ := old.(*corev1.Pod); housed(pod) && !housed(before) {
		return c.queue.looksAround()
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
	var pods []*corev1.Pod
	again := reconcile.Never
	now := c.Clock.Now()
	for _, w := range c.queue { // they are sorted below
		if w.last.count > 0 {
			if left := w.last.next(c.helped(w.pod)).Sub(now); left > 0 {
				again = again.Sooner(reconcile.In(left))
				continue
			}
		}
		pods = append(pods, w.pod)
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(
			cmp.Compare(priority(b), priority(a)),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		)
	})
	p := &pass{c: c, asks: map[string]*ask{}, hopeless: map[string]string{}}
	for _, pod := range pods {
		retry, err := p.place(ctx, pod)
		if err != nil {
			return reconcile.Never, err
		}
		again = again.Sooner(retry)
	}
	return again, nil
}

func priority(pod *corev1.Pod) int32 { return ptr.Deref(pod.Spec.Priority, 0) }

// pass is one pass over the waiting pods. What pods of one controller have in common is computed once.
type pass struct {
	c        *Cluster
	asks     map[string]*ask
	order    []*ask
	hopeless map[string]string // their messages
}

// kindOf returns a key of pods that no filter can tell apart; "" means this pod alone.
func kindOf(pod *corev1.Pod) string {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil || ref.Kind == "DaemonSet" || len(claimsOf(pod)) > 0 {
		return ""
	}
	return string(ref.UID)
}

func (p *pass) ask(pod *corev1.Pod) *ask {
	kind := kindOf(pod)
	a := p.asks[kind]
	if a == nil {
		a = newAsk(p.c, pod)
		p.order = append(p.order, a)
		if kind != "" {
			p.asks[kind] = a
		}
	}
	a.pod = pod
	return a
}

// place binds a pod to the best of the fitting nodes, or reports that there is none.
func (p *pass) place(ctx context.Context, pod *corev1.Pod) (reconcile.Result, error) {
	kind := kindOf(pod)
	why, known := p.hopeless[kind]
	if kind == "" || !known || p.c.nominated.nodes[pod.UID] != "" {
		a := p.ask(pod)
		var best *room
		if best, why = p.c.choose(a); best != nil {
			return reconcile.Never, p.bind(ctx, a, best)
		}
		nominated, err := p.c.preempt(ctx, a)
		if err != nil {
			return reconcile.Never, err
		}
		if kind != "" && !nominated {
			p.hopeless[kind] = why
		}
	}
	return p.refuse(ctx, pod, why)
}

func (p *pass) bind(ctx context.Context, a *ask, best *room) error {
	pod := a.pod
	p.c.nominated.set(pod, "")
	if err := p.c.settleVolumes(ctx, pod, best.node); err != nil {
		return err
	}
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: best.node.Name},
	}
	if err := p.c.Client.SubResource("binding").Create(ctx, pod, binding); err != nil {
		return client.IgnoreNotFound(err)
	}
	for _, other := range p.order {
		other.saw(best, pod)
	}
	return nil
}

// refuse reports why there is no place, and schedules the latest next attempt.
func (p *pass) refuse(ctx context.Context, pod *corev1.Pod, why string) (reconcile.Result, error) {
	p.c.queue.failed(pod, p.c.Clock.Now(), p.c.helped(pod))
	again := reconcile.In(anyway)
	nominated := p.c.nominated.nodes[pod.UID]
	if nominated == pod.Status.NominatedNodeName && told(pod, why) {
		return again, nil
	}
	next := *pod // a shallow copy
	next.Status.NominatedNodeName = nominated
	setPodCondition(&next, corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, why, p.c.now())
	next.ResourceVersion = ""
	return again, client.IgnoreNotFound(p.c.Client.Status().Update(ctx, &next))
}

// told reports whether a pod's condition already says why it has no place.
func told(pod *corev1.Pod, why string) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable && c.Message == why
	})
}

// enough returns how many fitting nodes kube-scheduler collects before it chooses: not all of them in a
// large cluster.
func enough(nodes int) int {
	const fewest, least = 100, 5
	return max(nodes*max(50-nodes/125, least)/100, fewest)
}

// choose returns the node to which the pod is nominated, if that fits, or the fitting node with the highest
// score. Among equal scores the choice is random, as kube-scheduler's is.
func (c *Cluster) choose(a *ask) (*room, string) {
	rooms := c.nodes.rooms
	if name := target(a.pod); name != "" {
		r := c.nodes.byName[name]
		if r == nil {
			return nil, "0/0 nodes are available."
		}
		rooms = []*room{r}
	}
	if r := c.nodes.byName[c.nominated.nodes[a.pod.UID]]; r != nil && slices.Contains(rooms, r) && a.refused(r) == "" {
		return r, ""
	}
	refused := map[string]int{}
	var fit []*room
	for i := range rooms {
		r := rooms[(c.turn+i)%len(rooms)]
		if why := a.refused(r); why != "" {
			refused[why]++
			continue
		}
		if fit = append(fit, r); len(fit) >= enough(len(rooms)) {
			c.turn = (c.turn + i + 1) % len(rooms)
			break
		}
	}
	return c.best(a, fit), tell(len(c.nodes.rooms), refused)
}

func (c *Cluster) best(a *ask, fit []*room) *room {
	var best *room
	most, ties := int64(math.MinInt64), 0
	scores := a.scores(fit)
	for i, r := range fit {
		switch score := scores[i]; {
		case score > most:
			best, most, ties = r, score, 1
		case score == most:
			if ties++; c.Dice.IntN(ties) == 0 {
				best = r
			}
		}
	}
	return best
}

// tell returns kube-scheduler's message, with the reasons in order.
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
