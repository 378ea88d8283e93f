package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/sim/cluster"
	"tenon/sim/store"
)

// Removing is called before the product deletes or evicts a pod.
func (w *Watch) Removing(pod *corev1.Pod, evicts bool) {
	if pod.DeletionTimestamp != nil || finished(pod) {
		return
	}
	if pod.Spec.NodeName != "" && !w.goesOrIsGone(pod.Spec.NodeName) {
		w.report(PodNamed, "pod %s/%s on %s, which was never deleted", pod.Namespace, pod.Name, pod.Spec.NodeName)
	}
	if w.outOfTime(pod) {
		return
	}
	if pod.Annotations[karpenterv1.AnnotationDoNotDisrupt] == "true" {
		w.report(PodGrace, "pod %s/%s on %s", pod.Namespace, pod.Name, pod.Spec.NodeName)
	}
	if evicts { // the server asks the budgets
		return
	}
	if budget := w.exhausted(pod); budget != "" {
		w.report(PodBudgets, "pod %s/%s is deleted while budget %s allows nothing", pod.Namespace, pod.Name, budget)
	}
}

// goesOrIsGone reports whether a node is being deleted, which shows the decision about its pods, or is
// gone, in which case nothing can be checked.
func (w *Watch) goesOrIsGone(node string) bool {
	n := w.nodeOf(node)
	return n == nil || n.DeletionTimestamp != nil
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// slack allows for times in whole seconds.
const slack = 2 * time.Second

// outOfTime reports whether the claim's deadline overrides the pod's protection: with its own grace period
// the pod would not be gone by then.
func (w *Watch) outOfTime(pod *corev1.Pod) bool {
	end, limited := w.deadline(pod.Spec.NodeName)
	if !limited {
		return false
	}
	if grace := pod.Spec.TerminationGracePeriodSeconds; grace != nil {
		end = end.Add(-time.Duration(*grace) * time.Second)
	}
	return !w.Now().Before(end.Add(-slack))
}

// deadline returns when the pods of a node have to be gone, if there is such a time.
func (w *Watch) deadline(node string) (time.Time, bool) {
	claim := w.claimFor(w.nodeOf(node))
	if claim == nil {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, claim.Annotations[karpenterv1.AnnotationTerminationTimestamp])
	return at, err == nil
}

func (w *Watch) nodeOf(name string) *corev1.Node {
	return store.One[*corev1.Node](w.Store, types.NamespacedName{Name: name})
}

// claimFor returns the claim of a node's machine, if there is one.
func (w *Watch) claimFor(node *corev1.Node) *karpenterv1.NodeClaim {
	if node == nil || node.Spec.ProviderID == "" {
		return nil
	}
	if w.machines == nil {
		w.machines = machinesOf(w.Store)
	}
	return w.machines[node.Spec.ProviderID]
}

// exhausted returns a budget that allows no further disruption, counted now, because its status may lag
// behind.
func (w *Watch) exhausted(pod *corev1.Pod) string {
	if !cluster.Ready(pod) {
		return ""
	}
	for _, b := range store.All[*policyv1.PodDisruptionBudget](w.Store) {
		s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || b.Namespace != pod.Namespace || !s.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if w.healthy(b.Namespace, s) <= b.Status.DesiredHealthy {
			return b.Name
		}
	}
	return ""
}

func (w *Watch) healthy(namespace string, s labels.Selector) int32 {
	n := int32(0)
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if pod.Namespace == namespace && pod.DeletionTimestamp == nil && cluster.Ready(pod) && s.Matches(labels.Set(pod.Labels)) {
			n++
		}
	}
	return n
}

// Ending is called before the product ends a machine.
func (w *Watch) Ending(id string) {
	instances := w.Cloud.Instances()
	at := slices.IndexFunc(instances, func(i cloud.Instance) bool { return i.ProviderID == id && i.State != cloud.Terminating })
	if at < 0 {
		return
	}
	claim := w.claimOf(instances[at])
	if claim == nil { // without an owner: it goes as it is
		return
	}
	if claim.DeletionTimestamp == nil {
		w.report(ClaimInUse, "%s of claim %s", id, claim.Name)
	}
	for _, node := range store.All[*corev1.Node](w.Store) {
		if node.Spec.ProviderID != id {
			continue
		}
		if pod := w.loses(node); pod != nil {
			w.report(PodsFirst, "%s ends, and pod %s/%s runs on it", id, pod.Namespace, pod.Name)
		}
	}
}

// vanished checks a node that is gone. A node that a user opened and deleted before it was taken in has nothing that
// could have held it.
func (w *Watch) vanished(node *corev1.Node) {
	pod := w.loses(node)
	takenIn := node.Labels[karpenterv1.LabelRegistered] == "true" || controllerutil.ContainsFinalizer(node, karpenterv1.FinalizerTermination)
	if pod == nil || !takenIn {
		return
	}
	for _, i := range w.Cloud.Instances() {
		if i.ProviderID == node.Spec.ProviderID && i.State != cloud.Terminating {
			w.report(NodeStays, "node %s is gone, and pod %s/%s runs on it", node.Name, pod.Namespace, pod.Name)
		}
	}
}

// loses returns a pod that should have been drained from a node before its end.
func (w *Watch) loses(node *corev1.Node) *corev1.Pod {
	if end, limited := w.deadline(node.Name); limited && !w.Now().Before(end.Add(-slack)) {
		return nil
	}
	var first *corev1.Pod
	for _, pod := range w.podsOn[node.Name] { // the first by name, in any order
		if pod.DeletionTimestamp == nil && !finished(pod) && !stays(pod) && (first == nil || byName(pod, first) < 0) {
			first = pod
		}
	}
	return first
}

// stays returns pods that asked to be on their node until its end.
func stays(pod *corev1.Pod) bool {
	taint := karpenterv1.TaintDisrupted()
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(klog.Background(), &taint, false)
	}) || slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Node" })
}

// forgotten records that a claim is gone. A claim that never learned of its machine finds it by the cluster's tag; garbage
// collection looks for a machine that has lost this tag.
func (w *Watch) forgotten(claim *karpenterv1.NodeClaim) {
	for _, i := range w.Cloud.Instances() {
		hidden := claim.Status.ProviderID == "" && slices.Contains(w.Cloud.Lacks(i.ProviderID), memory.TagCluster)
		if i.ClaimName == claim.Name && i.State != cloud.Terminating && !hidden {
			w.report(ClaimRemembers, "claim %s is gone, and %s is %s", claim.Name, i.ProviderID, i.State)
		}
	}
}
