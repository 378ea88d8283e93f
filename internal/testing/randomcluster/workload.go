package randomcluster

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	karpenterv1 "tenon/api/karpenter/v1"
)

// addWorkloads makes workloads until about size pods want a place. Some of their pods
// run already.
func (w *world) addWorkloads(size int) {
	names := []string{"web", "api", "db", "cache", "queue", "batch", "proxy", "search", "mail", "cron", "auth", "ads"}
	w.d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	w.apps = names[:w.d.between(2, 6)]
	waiting := 0
	for i := 0; waiting < size; i++ {
		app := w.apps[i%len(w.apps)]
		round := i / len(w.apps)
		waiting += w.addWorkload(app, fmt.Sprintf("%s-%d", app, round))
	}
}

// addWorkload makes one workload of an app and returns how many of its pods want a place.
func (w *world) addWorkload(app, name string) int {
	pattern := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	pattern.Namespace = one(w.d, "default", "default", "default", "shop", "bank")
	pattern.Labels = map[string]string{"app": app, "layer": one(w.d, "front", "back")}
	pattern.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: "uid-rs", Controller: pointer(true),
	}}
	w.chooseSize(pattern)
	w.chooseNodeRules(pattern)
	w.choosePodRules(pattern, app)
	w.chooseRest(pattern)
	hasVolumes := w.d.percent(15)
	replica := 0
	next := func() *corev1.Pod {
		pod := pattern.DeepCopy()
		own := meta(pattern.Namespace, fmt.Sprintf("%s-%d", name, replica))
		pod.Name, pod.UID, pod.CreationTimestamp = own.Name, own.UID, own.CreationTimestamp
		if replica++; w.d.percent(30) {
			pod.Labels = maps.Clone(pod.Labels)
			pod.Labels["version"] = one(w.d, "v1", "v2")
		}
		return pod
	}
	for range w.d.IntN(3) + 3*w.crowd {
		w.addRunning(next(), hasVolumes)
	}
	waiting := w.d.between(1, 5)
	for range waiting {
		pod := next()
		pod.Status.Phase = corev1.PodPending
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		if hasVolumes {
			w.volume(pod)
		}
		w.add(pod)
	}
	w.protect(pattern)
	return waiting
}

// addRunning puts a pod onto a node that has room for it, regardless of its other rules:
// labels and rules change while pods run.
func (w *world) addRunning(pod *corev1.Pod, hasVolumes bool) {
	cpu, memory := requestsOf(pod)
	for _, i := range w.d.Perm(len(w.nodes)) {
		n := &w.nodes[i]
		if n.cpu < cpu || n.memory < memory || n.pods < 1 {
			continue
		}
		n.cpu, n.memory, n.pods = n.cpu-cpu, n.memory-memory, n.pods-1
		pod.Spec.NodeName = n.name
		pod.Status.Phase = corev1.PodRunning
		pod.Status.StartTime = pointer(metav1.NewTime(Now.Add(-1800e9)))
		if w.d.percent(8) {
			pod.DeletionTimestamp = pointer(metav1.NewTime(Now))
		}
		if n.leaving && w.d.percent(20) {
			pod.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}
		}
		if hasVolumes {
			w.volume(pod)
		}
		w.add(pod)
		return
	}
}

// protect gives some workloads a budget, sometimes one that allows nothing.
func (w *world) protect(pattern *corev1.Pod) {
	if !w.d.percent(10) {
		return
	}
	most := intstr.FromInt32(int32(w.d.IntN(2)))
	w.add(&policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: meta(pattern.Namespace, pattern.OwnerReferences[0].Name),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: &most,
			Selector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app": pattern.Labels["app"]}},
		},
	})
}

func container(name, cpu, memory string) corev1.Container {
	return corev1.Container{Name: name, Image: "example.com/" + name, Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
	}}
}

func requestsOf(pod *corev1.Pod) (cpu, memory int64) {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			cpu += list[i].Resources.Requests.Cpu().MilliValue()
			memory += list[i].Resources.Requests.Memory().Value()
		}
	}
	return cpu, memory
}

func (w *world) chooseSize(pod *corev1.Pod) {
	cpu := one(w.d, "100m", "250m", "500m", "900m", "1500m", "3")
	if w.d.percent(4) {
		cpu = "40" // more than any node has
	}
	pod.Spec.Containers = []corev1.Container{container("main", cpu, one(w.d, "128Mi", "512Mi", "1Gi", "3Gi"))}
	if w.d.percent(10) {
		pod.Spec.Containers = append(pod.Spec.Containers, container("second", "50m", "64Mi"))
	}
	if w.d.percent(10) {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, container("init", one(w.d, "200m", "2"), "256Mi"))
	}
	if w.d.percent(10) {
		sidecar := container("sidecar", "100m", "64Mi")
		sidecar.RestartPolicy = pointer(corev1.ContainerRestartPolicyAlways)
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, sidecar)
	}
	if w.d.percent(5) {
		pod.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("70m")}
	}
	if w.d.percent(6) {
		gpu := corev1.ResourceList{gpuResource: *resource.NewQuantity(int64(w.d.between(1, 2)), resource.DecimalSI)}
		pod.Spec.Containers[0].Resources.Limits = gpu
		maps.Copy(pod.Spec.Containers[0].Resources.Requests, gpu)
	}
}
