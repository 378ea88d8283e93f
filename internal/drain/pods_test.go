package drain_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// change changes a usual pod.
type change func(*corev1.Pod)

// pod has run for ten minutes, with thirty seconds to end.
func pod(name string, changes ...change) *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace, p.Name, p.UID = "default", name, types.UID("uid-"+name)
	p.Labels = map[string]string{"app": name}
	p.Status.Phase = corev1.PodRunning
	started := metav1.NewTime(now.Add(-10 * time.Minute))
	p.Status.StartTime = &started
	grace(30)(p)
	for _, c := range changes {
		c(p)
	}
	return p
}

func asks(cpu, memory string) change {
	return func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}}}}
	}
}

func grace(seconds int64) change {
	return func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = &seconds }
}

func graceless(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = nil }

func owned(apiVersion, kind string) change {
	return func(p *corev1.Pod) {
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "o"})
	}
}

func daemon(p *corev1.Pod) { owned("apps/v1", "DaemonSet")(p) }

func static(p *corev1.Pod) { owned("v1", "Node")(p) }

func critical(p *corev1.Pod) { p.Spec.PriorityClassName = "system-cluster-critical" }

func nodeCritical(p *corev1.Pod) { p.Spec.PriorityClassName = "system-node-critical" }

func stays(p *corev1.Pod) {
	p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
}

func protected(value string) change {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": value} }
}

// ending was deleted, with this much time left to end.
func ending(in time.Duration, promised int64) change {
	return func(p *corev1.Pod) {
		at := metav1.NewTime(now.Add(in))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &promised
	}
}

func phase(is corev1.PodPhase) change { return func(p *corev1.Pod) { p.Status.Phase = is } }

func unready(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
}

func in(namespace string) change { return func(p *corev1.Pod) { p.Namespace = namespace } }

func called(app string) change { return func(p *corev1.Pod) { p.Labels["app"] = app } }

func mounts(claims ...string) change {
	return func(p *corev1.Pod) {
		for _, c := range claims {
			v := corev1.Volume{Name: c}
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c}
			p.Spec.Volumes = append(p.Spec.Volumes, v)
		}
	}
}

// numbers are a budget's status: healthy, wanted, expected, allowed.
type numbers [4]int32

// budget is for the pods of an app, as its controller has counted them.
func budget(name, app, maxUnavailable string, n numbers) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{}
	b.Namespace, b.Name, b.UID = "default", name, types.UID("uid-"+name)
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	most := intstr.Parse(maxUnavailable)
	b.Spec.MaxUnavailable = &most
	b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.ExpectedPods, b.Status.DisruptionsAllowed = n[0], n[1], n[2], n[3]
	return b
}
