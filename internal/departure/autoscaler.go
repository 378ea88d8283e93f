package departure

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/drain"
	"tenon/internal/podpolicy"
	"tenon/internal/settings"
)

// AnnotationDaemonEviction is Cluster Autoscaler's: whether a pod of a DaemonSet is evicted from a node that is removed.
const AnnotationDaemonEviction = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"

// delayPrefix is Cluster Autoscaler's prefix of annotations by which other programs delay the end of a node's instance.
const delayPrefix = "delay-deletion.cluster-autoscaler.kubernetes.io/"

// ByAutoscaler reports whether a node is removed by the rules of Cluster Autoscaler, because its group is in mode cas.
func ByAutoscaler(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == tenonv1alpha1.TaintToBeDeleted })
}

// Delayed reports whether an annotation keeps the instance of a node.
func Delayed(node *corev1.Node) bool {
	for key := range node.Annotations {
		if strings.HasPrefix(key, delayPrefix) {
			return true
		}
	}
	return false
}

// Heed applies the rules of Cluster Autoscaler, if the node is removed by them: they say which pods of DaemonSets are evicted, and in
// which order pods leave.
func (d *Departure) Heed(rules settings.GroupDrain) {
	if !ByAutoscaler(d.Node) {
		return
	}
	var record struct { // of command.Record
		Evictions int `json:"evictions"`
	}
	_ = json.Unmarshal([]byte(d.Node.Annotations[karpenterv1.AnnotationDisruption]), &record) // without a record it counts as empty
	leave := rules.DaemonsOfEmpty
	if record.Evictions > 0 {
		leave = rules.DaemonsOfOccupied
	}
	for _, p := range rules.Priorities {
		d.State.Priorities = append(d.State.Priorities, p.Priority)
	}
	d.State.Stays = func(pod *corev1.Pod) bool {
		if !podpolicy.Daemon(pod) {
			return false
		}
		switch pod.Annotations[AnnotationDaemonEviction] {
		case "true":
			return false
		case "false":
			return true
		}
		return !leave
	}
}

// Grace is the grace period of an evicted pod in seconds; nil means the pod's own.
func (d *Departure) Grace(pod *corev1.Pod, rules settings.GroupDrain) *int64 {
	most := int64(rules.MaxGraceSeconds)
	if len(d.State.Priorities) > 0 {
		most = rules.Priorities[drain.RankOf(d.State.Priorities, pod)].GraceSeconds
	}
	if own := pod.Spec.TerminationGracePeriodSeconds; !ByAutoscaler(d.Node) || most == 0 || own == nil || *own <= most {
		return nil
	}
	return &most
}
