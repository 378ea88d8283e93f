package store

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// setDefaults fills in those defaults of a server that the simulation reads.
func (s *Store) setDefaults(object client.Object) {
	switch object := object.(type) {
	case *corev1.Pod:
		s.defaultPod(object)
	case *corev1.Node:
		taintNew(object)
	case *corev1.Namespace:
		object.Status.Phase = corev1.NamespaceActive
		object.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
		object.Labels = with(object.Labels, corev1.LabelMetadataName, object.Name)
	case *appsv1.Deployment:
		defaultDeployment(&object.Spec)
	case *appsv1.ReplicaSet:
		object.Spec.Replicas = orElse(object.Spec.Replicas, 1)
	case *appsv1.StatefulSet:
		object.Spec.Replicas = orElse(object.Spec.Replicas, 1)
	case *batchv1.Job:
		defaultJob(object)
	case *corev1.PersistentVolumeClaim:
		object.Status.Phase = corev1.ClaimPending
	case *schedulingv1.PriorityClass:
		object.PreemptionPolicy = orElse(object.PreemptionPolicy, corev1.PreemptLowerPriority)
	}
}

func with(labels map[string]string, key, value string) map[string]string {
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	return labels
}

func orElse[T any](value *T, other T) *T {
	if value == nil {
		return &other
	}
	return value
}

// lostNode is for how many seconds a pod tolerates a node that is not ready or unreachable, unless the pod says otherwise.
const lostNode = 300

func (s *Store) defaultPod(pod *corev1.Pod) {
	spec := &pod.Spec
	spec.TerminationGracePeriodSeconds = orElse(spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	if spec.RestartPolicy == "" {
		spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	if spec.SchedulerName == "" {
		spec.SchedulerName = corev1.DefaultSchedulerName
	}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerate(spec, key)
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			requestLimits(&containers[i])
		}
	}
	s.setPriority(spec)
	pod.Status.Phase = corev1.PodPending
	pod.Status.QOSClass = quality(spec)
	if len(spec.SchedulingGates) > 0 {
		setCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
			Message: "Scheduling is blocked due to non-empty scheduling gates"})
	}
}

func tolerate(spec *corev1.PodSpec, key string) {
	for _, t := range spec.Tolerations {
		if (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return
		}
	}
	spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
		Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](lostNode),
	})
}

// requestLimits makes the limit of a resource its request where a container requests none.
func requestLimits(c *corev1.Container) {
	for name, limit := range c.Resources.Limits {
		if _, asked := c.Resources.Requests[name]; asked {
			continue
		}
		if c.Resources.Requests == nil {
			c.Resources.Requests = corev1.ResourceList{}
		}
		c.Resources.Requests[name] = limit.DeepCopy()
	}
}

func (s *Store) setPriority(spec *corev1.PodSpec) {
	value, preempt := int32(0), corev1.PreemptLowerPriority
	switch spec.PriorityClassName {
	case "system-cluster-critical":
		value = 2000000000
	case "system-node-critical":
		value = 2000001000
	case "":
	default:
		key := types.NamespacedName{Name: spec.PriorityClassName}
		if class, known := s.tables[priorityKind].objects[key]; known {
			value = class.(*schedulingv1.PriorityClass).Value
			preempt = ptr.Deref(class.(*schedulingv1.PriorityClass).PreemptionPolicy, preempt)
		}
	}
	spec.Priority, spec.PreemptionPolicy = &value, orElse(spec.PreemptionPolicy, preempt)
}

var priorityKind = schedulingv1.SchemeGroupVersion.WithKind("PriorityClass")

// ranked refuses a pod whose PriorityClass does not exist.
func (s *Store) ranked(k *Kind, object client.Object) error {
	pod, is := object.(*corev1.Pod)
	if !is {
		return nil
	}
	switch name := pod.Spec.PriorityClassName; name {
	case "", "system-cluster-critical", "system-node-critical":
		return nil
	default:
		if _, known := s.tables[priorityKind].objects[types.NamespacedName{Name: name}]; known {
			return nil
		}
		return apierrors.NewForbidden(k.Resource, pod.Name, fmt.Errorf("no PriorityClass with name %s was found", name))
	}
}

// quality is a pod's class of quality of service, which decides how it is treated when its node runs out of resources.
func quality(spec *corev1.PodSpec) corev1.PodQOSClass {
	any, guaranteed := false, true
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				request, limit := r.Requests[name], r.Limits[name]
				any = any || !request.IsZero() || !limit.IsZero()
				guaranteed = guaranteed && !limit.IsZero() && request.Equal(limit)
			}
		}
	}
	switch {
	case !any:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

func defaultDeployment(spec *appsv1.DeploymentSpec) {
	spec.Replicas = orElse(spec.Replicas, 1)
	spec.RevisionHistoryLimit = orElse(spec.RevisionHistoryLimit, 10)
	spec.ProgressDeadlineSeconds = orElse(spec.ProgressDeadlineSeconds, 600)
	if spec.Strategy.Type == "" {
		spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	}
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		quarter := intstr.FromString("25%")
		rolling := orElse(spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		rolling.MaxSurge, rolling.MaxUnavailable = orElse(rolling.MaxSurge, quarter), orElse(rolling.MaxUnavailable, quarter)
		spec.Strategy.RollingUpdate = rolling
	}
}

func defaultJob(job *batchv1.Job) {
	spec := &job.Spec
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = ptr.To[int32](1)
	}
	spec.Parallelism = orElse(spec.Parallelism, 1)
	spec.BackoffLimit = orElse(spec.BackoffLimit, 6)
	if spec.Selector == nil {
		uid := string(job.UID)
		spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: uid}}
		spec.Template.Labels = with(spec.Template.Labels, batchv1.ControllerUidLabel, uid)
		spec.Template.Labels = with(spec.Template.Labels, batchv1.JobNameLabel, job.Name)
	}
}

// taintNew taints a new node, so that no pod is bound to it before it is ready.
func taintNew(node *corev1.Node) {
	for _, t := range node.Spec.Taints {
		if t.Key == corev1.TaintNodeNotReady && t.Effect == corev1.TaintEffectNoSchedule {
			return
		}
	}
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
}
