package invariant

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/plan"
	"tenon/sim/store"
)

// The rules about capacity buffers.
const (
	RestBuffers = "at rest every buffer has its room or says why not"
	RestYields  = "at rest no pod waits for what a buffer's nodes have of a limit"
)

// virtual returns the pods that stand for the room of all buffers.
func (w *Watch) virtual() []*corev1.Pod {
	var all []*corev1.Pod
	for _, b := range store.All[*autoscalingv1beta1.CapacityBuffer](w.Store) {
		all = append(all, w.standIns(b)...)
	}
	return all
}

// standIns returns the pods that stand for the room of one buffer: in the simulation, users ask for a
// number of pods of a PodTemplate, or for a share of a Deployment.
func (w *Watch) standIns(b *autoscalingv1beta1.CapacityBuffer) []*corev1.Pod {
	template, wanted := (*corev1.PodTemplateSpec)(nil), ptr.Deref(b.Spec.Replicas, 0)
	if ref := b.Spec.PodTemplateRef; ref != nil {
		if found := store.One[*corev1.PodTemplate](w.Store, types.NamespacedName{Namespace: b.Namespace, Name: ref.Name}); found != nil {
			template = &found.Template
		}
	}
	if ref := b.Spec.ScalableRef; ref != nil {
		if found := store.One[*appsv1.Deployment](w.Store, types.NamespacedName{Namespace: b.Namespace, Name: ref.Name}); found != nil {
			template = &found.Spec.Template
			share := ptr.Deref(found.Spec.Replicas, 1) * ptr.Deref(b.Spec.Percentage, 0)
			wanted = max(wanted, (share+99)/100)
		}
	}
	if template == nil || b.DeletionTimestamp != nil {
		return nil
	}
	pods := make([]*corev1.Pod, wanted)
	for i := range pods {
		pods[i] = &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: template.Spec}
		pods[i].Namespace, pods[i].Name = b.Namespace, fmt.Sprintf("%s-%d", b.Name, i)
		pods[i].UID = types.UID(fmt.Sprintf("%s-%d", b.UID, i))
	}
	return pods
}

// buffersAtRest checks the conditions of buffers. When jobs ended only now, decisions are still to come.
func (w *Watch) buffersAtRest() {
	if !w.settled() {
		return
	}
	var roomy []*corev1.Pod // of buffers that say that they have room
	for _, b := range store.All[*autoscalingv1beta1.CapacityBuffer](w.Store) {
		pods := w.standIns(b)
		c := meta.FindStatusCondition(b.Status.Conditions, autoscalingv1beta1.ConditionProvisioning)
		switch {
		case len(pods) == 0:
		case c == nil:
			w.report(RestBuffers, "buffer %s says nothing", b.Name)
		case c.Status == "True" && plain(pods[0]):
			roomy = append(roomy, pods...)
		case c.Status == "True":
		case !strings.Contains(c.Message, " failed: ") || pods[0].Annotations[Infeasible] == "" && !w.limitsReached(pods[0]) && !w.limitsAwaited():
			w.report(RestBuffers, "buffer %s has no room for %d pods: %s %s", b.Name, len(pods), c.Reason, c.Message)
		}
	}
	if !mayHold(slices.Concat(w.rooms(0), w.memberRooms()), roomy) {
		w.report(RestBuffers, "%d pods of buffers that say that they have room have none", len(roomy))
	}
	w.pastBuffers()
}

// memberRooms returns nodes of groups that are in service and take pods, with the room that is free on them. An unneeded node has a taint
// that kube-scheduler only prefers to avoid.
func (w *Watch) memberRooms() []*room {
	var rooms []*room
	for _, node := range store.All[*corev1.Node](w.Store) {
		closed := slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule })
		if node.Annotations[tenonv1alpha1.AnnotationGroup] == "" || closed || node.Spec.Unschedulable || node.DeletionTimestamp != nil || !readyNode(node) {
			continue
		}
		free := sizeOf(node)
		for _, pod := range w.podsOn[node.Name] { // a sum, in any order
			if !finished(pod) {
				free = free.less(demand(pod))
			}
		}
		rooms = append(rooms, &room{node: node, free: free, size: free})
	}
	return rooms
}

// mayHold reports whether rooms may have a place for every pod: each fits somewhere, and together they
// request no more than is free. It does not check whether one packing has a place for all of them.
func mayHold(rooms []*room, pods []*corev1.Pod) bool {
	var free space
	for _, r := range rooms {
		free = free.less(space{-r.free.cpu, -r.free.memory, -r.free.pods})
	}
	for _, pod := range pods {
		if placeAll([]*corev1.Pod{pod}, copied(rooms)) == "" {
			return false
		}
		free = free.less(demand(pod))
	}
	return free.holds(space{})
}

func copied(rooms []*room) []*room {
	out := make([]*room, len(rooms))
	for i, r := range rooms {
		one := *r
		out[i] = &one
	}
	return out
}

// pastBuffers looks for pods that wait for a limit although nodes without pods are kept.
func (w *Watch) pastBuffers() {
	if len(w.virtual()) == 0 {
		return
	}
	for _, pool := range store.All[*karpenterv1.NodePool](w.Store) {
		limit, has := pool.Spec.Limits[corev1.ResourceCPU]
		if !has {
			continue
		}
		empty := w.mayEmpty(pool)
		free := limit.MilliValue() - w.has(pool.Name)
		for _, i := range empty {
			free += i.Capacity.CPU
		}
		for _, pod := range w.podsOn[""] { // each on its own: the order does not matter
			if !finished(pod) && !daemon(pod) && pod.Annotations[Infeasible] == "" && w.Now().Sub(pod.CreationTimestamp.Time) > settles && free > mostNeeded(pod) && !w.totalsReached(pod, empty...) {
				w.report(RestYields, "pod %s/%s waits, and pool %s has %dm of CPU beside nodes without pods", pod.Namespace, pod.Name, pool.Name, free)
			}
		}
	}
}

// mayEmpty returns the machines of the nodes of a pool that serve, have no pods and may go.
func (w *Watch) mayEmpty(pool *karpenterv1.NodePool) []cloud.Instance {
	if !w.budgetLeft(pool) {
		return nil
	}
	var out []cloud.Instance
	for _, i := range w.Cloud.Instances() {
		claim := w.claimOf(i)
		if i.Pool != pool.Name || i.State == cloud.Terminating || claim == nil || w.Now().Sub(i.Launched) < settles {
			continue
		}
		if name := claim.Status.NodeName; !protectedNode(w.nodeOf(name)) && !w.holds(name) && !w.used(claim) {
			out = append(out, i)
		}
	}
	return out
}

// budgetLeft reports whether the budgets of a pool let a node without pods go. Nodes that are not ready use
// them up for good.
func (w *Watch) budgetLeft(pool *karpenterv1.NodePool) bool {
	total, unready := 0, 0
	for _, c := range store.All[*karpenterv1.NodeClaim](w.Store) {
		if poolOf(c) != pool.Name || !meta.IsStatusConditionTrue(c.Status.Conditions, karpenterv1.ConditionInitialized) || w.over(c) {
			continue
		}
		total++
		if node := w.nodeOf(c.Status.NodeName); node == nil || !readyNode(node) {
			unready++
		}
	}
	return unready < allowed(pool, string(plan.Empty), total)
}

// used reports whether a claim's node has pods beside daemons.
func (w *Watch) used(claim *karpenterv1.NodeClaim) bool {
	for _, pod := range w.podsOn[claim.Status.NodeName] { // one is enough, in any order
		if !finished(pod) && !daemon(pod) {
			return true
		}
	}
	return false
}

// protectedNode reports whether a node must not be disrupted.
func protectedNode(node *corev1.Node) bool {
	return node == nil || node.Annotations[karpenterv1.AnnotationDoNotDisrupt] == "true"
}
