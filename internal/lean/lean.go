// Package lean keeps caches small: of every object only what some part of the product
// reads stays in memory. A cluster of 60,000 pods would otherwise fill a gigabyte with
// environment variables and volume mounts that nobody looks at.
//
// Because of this, nobody may write a whole Pod, Node or ReplicaSet back that came from a
// cache: what was left out would be lost. All writes to these kinds are patches.
package lean

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// Keeper trims objects, and lets pods of one workload share what they have in common. It
// belongs to one cache.
type Keeper struct{ shared shared }

// NewKeeper makes one.
func NewKeeper() *Keeper { return &Keeper{shared: newShared()} }

// Trim is a transformation for caches: it changes the object that it is given.
func (k *Keeper) Trim(object any) (any, error) {
	if o, ok := object.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	switch o := object.(type) {
	case *corev1.Pod:
		trimPod(o)
		k.shared.adopt(o)
	case *corev1.Node:
		o.Status.Images = nil
		o.Status.VolumesInUse = nil
		o.Status.VolumesAttached = nil
	case *appsv1.ReplicaSet:
		o.Annotations = nil
		o.Spec.Template = corev1.PodTemplateSpec{}
		o.Status = appsv1.ReplicaSetStatus{Conditions: o.Status.Conditions}
	case *appsv1.StatefulSet:
		o.Annotations = nil
		o.Spec.Template = corev1.PodTemplateSpec{}
		o.Spec.VolumeClaimTemplates = nil
		o.Status = appsv1.StatefulSetStatus{}
	case *corev1.Namespace:
		o.Annotations = nil
	case *corev1.Service:
		o.Annotations = nil
		o.Spec = corev1.ServiceSpec{Selector: o.Spec.Selector}
		o.Status = corev1.ServiceStatus{}
	}
	return object, nil
}

func trimPod(p *corev1.Pod) {
	p.Annotations = annotations(p.Annotations)
	s := &p.Spec
	trimContainers(s.InitContainers)
	trimContainers(s.Containers)
	kept := corev1.PodSpec{
		NodeName: s.NodeName, NodeSelector: s.NodeSelector, Affinity: s.Affinity, Tolerations: s.Tolerations,
		TopologySpreadConstraints: s.TopologySpreadConstraints, InitContainers: s.InitContainers, Containers: s.Containers,
		Overhead: s.Overhead, Resources: s.Resources, ResourceClaims: s.ResourceClaims, SchedulingGates: s.SchedulingGates,
		Priority: s.Priority, PriorityClassName: s.PriorityClassName, PreemptionPolicy: s.PreemptionPolicy,
		SchedulerName: s.SchedulerName, HostNetwork: s.HostNetwork, OS: s.OS,
		TerminationGracePeriodSeconds: s.TerminationGracePeriodSeconds, Volumes: volumes(s.Volumes),
	}
	p.Spec = kept
	trimStatus(&p.Status)
}

// annotations keeps those that say something about disruption.
func annotations(all map[string]string) map[string]string {
	var kept map[string]string
	for name, value := range all {
		if strings.HasPrefix(name, karpenterv1.Group+"/") || name == corev1.PodDeletionCost || strings.HasPrefix(name, "cluster-autoscaler.kubernetes.io/") ||
			strings.HasPrefix(name, "tenon.") {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[name] = value
		}
	}
	return kept
}

func trimContainers(list []corev1.Container) {
	for i := range list {
		c := &list[i]
		ports := c.Ports[:0]
		for _, p := range c.Ports {
			if p.HostPort != 0 {
				ports = append(ports, p)
			}
		}
		if len(ports) == 0 {
			ports = nil
		}
		list[i] = corev1.Container{Name: c.Name, Resources: c.Resources, Ports: ports, RestartPolicy: c.RestartPolicy}
	}
}

// volumes keeps those that have to do with where a pod can run.
func volumes(list []corev1.Volume) []corev1.Volume {
	var kept []corev1.Volume
	for _, v := range list {
		if v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			kept = append(kept, v)
		}
	}
	return kept
}

func trimStatus(s *corev1.PodStatus) {
	kept := corev1.PodStatus{
		Phase: s.Phase, StartTime: s.StartTime, NominatedNodeName: s.NominatedNodeName, Resize: s.Resize,
		Resources: s.Resources, AllocatedResources: s.AllocatedResources,
		ContainerStatuses: statuses(s.ContainerStatuses), InitContainerStatuses: statuses(s.InitContainerStatuses),
	}
	for _, c := range s.Conditions {
		c.Message = ""
		c.LastProbeTime = metav1.Time{}
		kept.Conditions = append(kept.Conditions, c)
	}
	*s = kept
}

// statuses keeps what a resize in place leaves behind; nearly no pod has any.
func statuses(list []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, s := range list {
		if s.Resources != nil || s.AllocatedResources != nil {
			kept = append(kept, corev1.ContainerStatus{Name: s.Name, Resources: s.Resources, AllocatedResources: s.AllocatedResources, Ready: s.Ready})
		}
	}
	return kept
}
