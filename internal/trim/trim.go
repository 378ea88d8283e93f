// Package trim keeps caches small: of every object only what some part of the product
// reads stays in memory. A cluster of 60,000 pods would otherwise fill a gigabyte with
// environment variables and volume mounts that are never looked at.
//
// Because of this, no caller may write a whole Pod, Node or ReplicaSet back that came from a
// cache: what was left out would be lost. All writes to these kinds are patches.
package trim

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1 "tenon/api/autoscaling/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/clusterautoscaler"
)

// Keeper trims objects, and lets pods of one workload share what they have in common. It
// belongs to one cache.
type Keeper struct {
	shared    shared
	templates bool
}

// NewKeeper makes one. It keeps the templates of workloads only if they are read: buffers may keep
// room for pods of a workload.
func NewKeeper(templates bool) *Keeper { return &Keeper{shared: newShared(), templates: templates} }

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
		trimNode(o)
		k.shared.adoptNode(o)
	case *karpenterv1.NodeClaim:
		k.shared.adoptClaim(o)
	case *appsv1.ReplicaSet:
		o.Annotations = nil
		o.Spec.Template = k.template(&o.Spec.Template)
		o.Status = appsv1.ReplicaSetStatus{Conditions: o.Status.Conditions}
	case *appsv1.Deployment:
		o.Annotations = nil
		kept := annotations(o.Spec.Template.Annotations)
		if _, foreign := clusterautoscaler.CommandOf(o); !foreign { // which groups it changes is read from its containers
			o.Spec.Template = k.template(&o.Spec.Template)
		}
		o.Spec.Template.Annotations = kept
		o.Status = appsv1.DeploymentStatus{}
	case *appsv1.StatefulSet:
		o.Annotations = nil
		o.Spec.Template = k.template(&o.Spec.Template)
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

// template is what is kept of a workload's template.
func (k *Keeper) template(t *corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	if !k.templates {
		return corev1.PodTemplateSpec{}
	}
	return *t
}

// trimNode leaves out what only kubelets and schedulers use.
func trimNode(n *corev1.Node) {
	s := &n.Status
	n.Status = corev1.NodeStatus{
		Capacity: s.Capacity, Allocatable: s.Allocatable, Phase: s.Phase, Conditions: s.Conditions,
	}
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
		SchedulerName: s.SchedulerName, HostNetwork: s.HostNetwork, OS: s.OS, RestartPolicy: s.RestartPolicy,
		ActiveDeadlineSeconds:         s.ActiveDeadlineSeconds,
		TerminationGracePeriodSeconds: s.TerminationGracePeriodSeconds, Volumes: Volumes(s.Volumes),
	}
	p.Spec = kept
	trimStatus(p)
}

// annotations keeps those that say something about disruption, or whose room a pod uses.
func annotations(all map[string]string) map[string]string {
	var kept map[string]string
	for name, value := range all {
		if strings.HasPrefix(name, karpenterv1.Group+"/") || name == corev1.PodDeletionCost || strings.HasPrefix(name, "cluster-autoscaler.kubernetes.io/") ||
			strings.HasPrefix(name, "tenon.") || name == autoscalingv1.AnnotationConsume {
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

// Volumes keeps those that have to do with where a pod can run, and says of those that are lost with the node what they are.
func Volumes(list []corev1.Volume) []corev1.Volume {
	var kept []corev1.Volume
	for _, v := range list {
		switch {
		case v.PersistentVolumeClaim != nil || v.Ephemeral != nil:
		case v.HostPath != nil:
			v.VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}
		case v.EmptyDir != nil:
			v.VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: v.EmptyDir.Medium}}
		default:
			continue
		}
		kept = append(kept, v)
	}
	return kept
}

func trimStatus(p *corev1.Pod) {
	s := &p.Status
	kept := corev1.PodStatus{
		Phase: s.Phase, StartTime: s.StartTime, NominatedNodeName: s.NominatedNodeName, Resize: s.Resize,
		ContainerStatuses:     statuses(s.ContainerStatuses, p.Spec.Containers),
		InitContainerStatuses: statuses(s.InitContainerStatuses, p.Spec.InitContainers),
		Conditions:            conditions(s.Conditions),
	}
	if asked := p.Spec.Resources; differs(s.Resources, s.AllocatedResources, asked) {
		kept.Resources, kept.AllocatedResources = s.Resources, s.AllocatedResources
	}
	*s = kept
}

// looked are the conditions of pods that are looked at. A pod has six, and they would be
// the largest part of what is kept of it.
var looked = [...]corev1.PodConditionType{corev1.PodScheduled, corev1.PodReady, corev1.PodResizePending}

// conditions are those that are looked at, without the texts for people.
func conditions(list []corev1.PodCondition) []corev1.PodCondition {
	var found [len(looked)]corev1.PodCondition
	n := 0
	for i := range list {
		if at := slices.Index(looked[:], list[i].Type); at >= 0 && n < len(found) {
			found[n] = corev1.PodCondition{
				Type: looked[at], Status: status(list[i].Status), Reason: list[i].Reason, LastTransitionTime: list[i].LastTransitionTime,
			}
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return slices.Clone(found[:n])
}

// status is the same text, without memory of its own.
func status(s corev1.ConditionStatus) corev1.ConditionStatus {
	for _, usual := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse} {
		if s == usual {
			return usual
		}
	}
	return s
}

// statuses keeps what a resize in place leaves behind; nearly no pod has any.
func statuses(list []corev1.ContainerStatus, asked []corev1.Container) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for i := range list {
		s := &list[i]
		at := slices.IndexFunc(asked, func(c corev1.Container) bool { return c.Name == s.Name })
		if s.Resources == nil || at >= 0 && !differs(s.Resources, s.AllocatedResources, &asked[at].Resources) {
			continue // what was allocated counts only beside what is in use
		}
		kept = append(kept, corev1.ContainerStatus{Name: s.Name, Resources: s.Resources, AllocatedResources: s.AllocatedResources, Ready: s.Ready})
	}
	return kept
}

// differs reports whether the allocated or actual resources differ from the requested ones. Since
// Kubernetes 1.33 every container's status has them, and they are nearly always equal.
func differs(there *corev1.ResourceRequirements, aside corev1.ResourceList, asked *corev1.ResourceRequirements) bool {
	if there == nil {
		there = &corev1.ResourceRequirements{}
	}
	if asked == nil {
		asked = &corev1.ResourceRequirements{}
	}
	return !equal(there.Requests, asked.Requests) || !equal(there.Limits, asked.Limits) ||
		len(aside) > 0 && !equal(aside, asked.Requests)
}

func equal(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}
