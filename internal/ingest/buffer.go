package ingest

import (
	"fmt"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/snapshot"
)

// mostBuffered bounds what one CapacityBuffer can ask for: a typing error in a manifest must not
// fill the memory or buy thousands of nodes.
const mostBuffered = 20_000

// lowestPriority is the priority of pods that only stand for the room of a buffer.
const lowestPriority = math.MinInt32

// Room is what a CapacityBuffer asks for.
type Room struct {
	// Template describes the pods, and Pods is the number for which there must be room.
	Template *corev1.PodTemplateSpec
	Pods     int32
	// Source is the PodTemplate that the buffer names, nil if it names a workload.
	Source *corev1.PodTemplate
	// Reason and Problem say why the request cannot be determined; empty if it can.
	Reason, Problem string
}

// Room finds out what a buffer asks for.
func (x *Index) Room(b *autoscalingv1beta1.CapacityBuffer) Room {
	replicas := int32(0)
	out := Room{}
	switch spec := &b.Spec; {
	case spec.PodTemplateRef != nil:
		template, found := x.podTemplates[key{namespaceOf(b), spec.PodTemplateRef.Name}]
		if !found {
			return Room{Reason: autoscalingv1beta1.ReasonPodTemplateNotFound, Problem: fmt.Sprintf("PodTemplate %q not found", spec.PodTemplateRef.Name)}
		}
		out.Source, out.Template = template, &template.Template
	case spec.ScalableRef != nil:
		if out.Problem = unsupported(spec.ScalableRef); out.Problem != "" {
			out.Reason = autoscalingv1beta1.ReasonResolutionFailed
			return out
		}
		out.Template, replicas = x.scalable(namespaceOf(b), spec.ScalableRef)
		if out.Template == nil {
			return Room{Reason: autoscalingv1beta1.ReasonScalableRefNotFound, Problem: fmt.Sprintf("%s %q not found", spec.ScalableRef.Kind, spec.ScalableRef.Name)}
		}
	default:
		return Room{Reason: autoscalingv1beta1.ReasonResolutionFailed, Problem: "Neither podTemplateRef nor scalableRef is set"}
	}
	out.Pods = wanted(b, replicas, out.Template)
	return out
}

// Rooms are what all buffers ask for that are not being deleted.
func (x *Index) Rooms() map[types.NamespacedName]Room {
	if len(x.buffers) == 0 {
		return nil
	}
	out := make(map[types.NamespacedName]Room, len(x.buffers))
	for k, b := range x.buffers {
		if b.DeletionTimestamp == nil {
			out[types.NamespacedName{Namespace: k.namespace, Name: k.name}] = x.Room(b)
		}
	}
	return out
}

// unsupported says why a reference to a workload is not followed; empty if it is followed.
func unsupported(ref *autoscalingv1beta1.ScalableRef) string {
	switch {
	case ref.APIGroup != "" && ref.APIGroup != appsv1.GroupName:
		return fmt.Sprintf("unsupported scalableRef API group %q", ref.APIGroup)
	case !slices.Contains([]string{"Deployment", "StatefulSet", "ReplicaSet"}, ref.Kind):
		return fmt.Sprintf("unsupported kind %q", ref.Kind)
	}
	return ""
}

// scalable returns the pod template of a workload, nil if the workload does not exist, and how many pods it wants.
func (x *Index) scalable(namespace string, ref *autoscalingv1beta1.ScalableRef) (*corev1.PodTemplateSpec, int32) {
	k := key{namespace, ref.Name}
	switch ref.Kind {
	case "Deployment":
		if o, found := x.deployments[k]; found {
			return &o.Spec.Template, ptr.Deref(o.Spec.Replicas, 1)
		}
	case "StatefulSet":
		if o, found := x.statefulSets[k]; found {
			return &o.Spec.Template, ptr.Deref(o.Spec.Replicas, 1)
		}
	case "ReplicaSet":
		if o, found := x.replicaSets[k]; found {
			return &o.Spec.Template, ptr.Deref(o.Spec.Replicas, 1)
		}
	}
	return nil, 0
}

// wanted is for how many pods room is to be kept: the larger of the buffer's replicas and its share
// of the workload's, but no more than its limits allow. With limits alone it is the number that these allow.
func wanted(b *autoscalingv1beta1.CapacityBuffer, replicas int32, template *corev1.PodTemplateSpec) int32 {
	bears, limited := borne(b.Spec.Limits, template)
	want, said := int64(0), false
	if b.Spec.Replicas != nil {
		want, said = int64(*b.Spec.Replicas), true
	}
	if b.Spec.Percentage != nil && b.Spec.ScalableRef != nil && replicas > 0 {
		share := (int64(replicas)*int64(*b.Spec.Percentage) + 99) / 100
		want, said = max(want, share, 1), true
	}
	switch {
	case limited && said:
		want = min(want, bears)
	case limited:
		want = bears
	}
	return int32(min(want, mostBuffered))
}

// borne is how many pods limits allow; false if they limit nothing that a pod requests.
func borne(limits autoscalingv1beta1.Limits, template *corev1.PodTemplateSpec) (pods int64, limited bool) {
	asks := requests(&corev1.Pod{Spec: template.Spec})
	pods = math.MaxInt64
	for _, limit := range amounts(corev1.ResourceList(limits)) {
		if each := asks.Get(limit.Name); each > 0 {
			pods, limited = min(pods, limit.Value/each), true
		}
	}
	return pods, limited
}

// Buffers are the CapacityBuffers that ask for room, by namespace and name, and after them ProvisioningRequests.
func (t *Translator) Buffers() []snapshot.Buffer { return append(t.buffers(), t.bookings()...) }

func (t *Translator) buffers() []snapshot.Buffer {
	if !t.options.Buffers {
		return nil
	}
	var out []snapshot.Buffer
	for _, k := range sortedKeys(t.index.buffers) {
		b := t.index.buffers[k]
		room := t.index.Room(b)
		if b.DeletionTimestamp != nil || room.Problem != "" || room.Pods <= 0 {
			continue
		}
		pod := t.admitted(virtual(b, room.Template))
		found := t.template(pod)
		out = append(out, snapshot.Buffer{
			Namespace: k.namespace, Name: k.name, Template: found.template, Pods: int(room.Pods), Refused: found.refused, Created: b.CreationTimestamp.UTC(),
		})
	}
	return out
}

// virtual is a pod that stands for the room of a buffer. Claims for volumes would be made with the
// pod, and there is none.
func virtual(b *autoscalingv1beta1.CapacityBuffer, template *corev1.PodTemplateSpec) *corev1.Pod {
	pod := podOf(b, autoscalingv1beta1.GroupVersion.String(), "CapacityBuffer", template).DeepCopy()
	pod.Annotations = map[string]string{
		karpenterv1.AnnotationBufferFakePod: "true", karpenterv1.AnnotationBufferName: b.Name, karpenterv1.AnnotationBufferNamespace: namespaceOf(b),
	}
	pod.Spec.NodeName, pod.Spec.SchedulingGates = "", nil
	pod.Spec.Priority, pod.Spec.PriorityClassName = ptr.To(int32(lowestPriority)), ""
	pod.Spec.Volumes = withoutClaims(pod.Spec.Volumes)
	return pod
}

func withoutClaims(volumes []corev1.Volume) []corev1.Volume {
	return slices.DeleteFunc(volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}
