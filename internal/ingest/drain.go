package ingest

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/snapshot"
	"tenon/internal/owner"
	"tenon/internal/podpolicy"
)

// Annotations of pods, as Cluster Autoscaler reads them.
const (
	annotationDaemonPod    = "cluster-autoscaler.kubernetes.io/daemonset-pod"
	annotationLocalVolumes = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
)

// overdueAfter is how long after the end of its grace period a pod stops to keep its node, even if it still exists. (As in Cluster
// Autoscaler.)
const overdueAfter = 30 * time.Second

// replicators are the kinds of controllers of which Cluster Autoscaler knows that they replace evicted pods.
var replicators = []string{"ReplicationController", "ReplicaSet", "StatefulSet", "Job"}

// drainFacts are the facts about a pod that Cluster Autoscaler's rules use; nil if none of them can keep the pod's node, and the pod counts.
func (t *Translator) drainFacts(pod *corev1.Pod) *snapshot.DrainFacts {
	controller := metav1.GetControllerOfNoCopy(pod)
	out := snapshot.DrainFacts{
		SafeToEvict: pod.Annotations[podpolicy.AnnotationSafeToEvict],
		Bare:        controller == nil,
		System:      pod.Namespace == metav1.NamespaceSystem && len(t.index.budgetsOf(pod)) == 0,
		Local:       hasLocalStorage(pod),
	}
	if controller != nil {
		out.Custom = !slices.Contains(replicators, controller.Kind)
		out.Orphaned, out.Counted, out.Replicas = t.controllerOf(pod)
	}
	out.Expendable = t.index.priority(&pod.Spec) < t.options.ScaleDown.Drain.ExpendableBelow
	if out == (snapshot.DrainFacts{}) {
		return nil
	}
	out.Mirror, out.Daemon = podpolicy.Mirror(pod), podpolicy.Daemon(pod) || pod.Annotations[annotationDaemonPod] == "true"
	out.Ended = pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded && podpolicy.Ends(pod)
	if podpolicy.Terminating(pod) {
		out.Overdue = pod.DeletionTimestamp.Add(overdueAfter).UTC()
	}
	return &out
}

// controllerOf reads a pod's ReplicaSet, the only kind of controller that is read: whether it is gone, and how many replicas it
// should have, if that matters. Pods of other controllers are deleted with their controllers.
func (t *Translator) controllerOf(pod *corev1.Pod) (gone, counted bool, replicas int) {
	ref := owner.Of(pod)
	if t.options.OwnersUnread || t.options.Files || !ref.IsA("apps/v1", "ReplicaSet") {
		return false, false, 0
	}
	set, known := named(t.index.replicaSets, "ReplicaSet", ref)
	if !known {
		return true, false, 0
	}
	wanted := 1
	if set.Spec.Replicas != nil {
		wanted = int(*set.Spec.Replicas)
	}
	if wanted >= t.options.ScaleDown.Drain.MinReplicaCount {
		return false, false, 0
	}
	return false, true, wanted
}

// hasLocalStorage reports whether the pod has a volume that is lost with its node, and that no annotation declares expendable.
func hasLocalStorage(pod *corev1.Pod) bool {
	given := strings.Split(pod.Annotations[annotationLocalVolumes], ",")
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		local := v.HostPath != nil || v.EmptyDir != nil && v.EmptyDir.Medium != corev1.StorageMediumMemory
		return local && !slices.Contains(given, v.Name)
	})
}
