package cluster

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/internal/reconcile"
)

// machine is one that runs, or ran.
type machine struct {
	memory.Machine
	stopped bool
}

var _ memory.Launcher = (*Cluster)(nil)

// Launch implements memory.Launcher: the machine boots and joins.
func (c *Cluster) Launch(m memory.Machine) {
	c.machines[m.Node] = &machine{Machine: m}
	if c.Dud != nil && c.Dud(m.Instance.ProviderID) {
		return
	}
	c.Later(m.Boots, "boot "+m.Node, func() { c.join(m.Node) })
}

// Terminate implements memory.Launcher: the kubelet of the node stops answering.
func (c *Cluster) Terminate(providerID string) {
	for _, m := range c.machines { // one has it: the order does not matter
		if m.Instance.ProviderID == providerID {
			m.stopped = true
			c.silence(m.Node)
		}
	}
}

// noticed is how long a node may be silent before it counts as lost.
const noticed = 40 * time.Second

func (c *Cluster) silence(node string) {
	c.Later(c.Clock.Now().Add(noticed), "lose "+node, func() {
		c.setReady(node, corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status.")
	})
}

// join makes the node of a machine.
func (c *Cluster) join(name string) {
	m := c.machines[name]
	if m.stopped {
		return
	}
	labels := maps.Clone(m.Labels)
	labels[corev1.LabelHostname] = name
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: maps.Clone(m.Annotations)},
		Spec:       corev1.NodeSpec{ProviderID: m.Instance.ProviderID, Taints: taintsOf(m.Taints)},
		Status: corev1.NodeStatus{
			Capacity: resourcesOf(m.Instance.Capacity), Allocatable: resourcesOf(m.Instance.Allocatable),
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady",
				LastHeartbeatTime: c.now(), LastTransitionTime: c.now()}},
			NodeInfo: corev1.NodeSystemInfo{Architecture: labels[corev1.LabelArchStable], OperatingSystem: "linux"},
		},
	}
	if c.Client.Create(context.Background(), node) != nil {
		return // the machine joined before
	}
	_ = c.setDriver(name) // the object may exist already
	c.Later(c.Clock.Now().Add(c.between(2*time.Second, 15*time.Second)), "ready "+name, func() {
		if !m.stopped {
			c.setReady(name, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status")
		}
	})
	if c.Sick != nil {
		if after, ill := c.Sick(m.Instance.ProviderID); ill {
			c.Later(c.Clock.Now().Add(after), "fall ill "+name, func() {
				if c.Calm == nil || !c.Calm() {
					c.setReady(name, corev1.ConditionFalse, "KubeletNotReady", "ill")
				}
			})
		}
	}
}

func taintsOf(taints []model.Taint) []corev1.Taint {
	out := make([]corev1.Taint, len(taints))
	for i, t := range taints {
		out[i] = corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)}
	}
	return out
}

// resourcesOf returns a vector as a resource list.
func resourcesOf(r model.Resources) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, a := range r.Amounts() {
		switch {
		case a.Name == model.CPU:
			list[corev1.ResourceCPU] = *resource.NewMilliQuantity(a.Value, resource.DecimalSI)
		case a.Name == model.Memory, a.Name == model.EphemeralStorage:
			list[corev1.ResourceName(a.Name)] = *resource.NewQuantity(a.Value, resource.BinarySI)
		default:
			list[corev1.ResourceName(a.Name)] = *resource.NewQuantity(a.Value, resource.DecimalSI)
		}
	}
	return list
}

func (c *Cluster) setReady(name string, status corev1.ConditionStatus, reason, message string) {
	var node corev1.Node
	if c.Client.Get(context.Background(), client.ObjectKey{Name: name}, &node) != nil {
		return // the node is gone
	}
	for i := range node.Status.Conditions {
		if condition := &node.Status.Conditions[i]; condition.Type == corev1.NodeReady && condition.Status != status {
			*condition = corev1.NodeCondition{Type: corev1.NodeReady, Status: status, Reason: reason, Message: message,
				LastHeartbeatTime: c.now(), LastTransitionTime: c.now()}
			node.ResourceVersion = ""
			_ = c.Client.Status().Update(context.Background(), &node) // it is there, and no version can be wrong
		}
	}
}

// RunsFor is the annotation of pods that end on their own after a duration.
const RunsFor = "sim.tenon.dev/runs-for"

// StopsIn is the annotation of pods that take this long to stop.
const StopsIn = "sim.tenon.dev/stops-in"

// stopsIn is how long a pod takes to stop without the annotation.
const stopsIn = 2 * time.Second

// kubelets run the pods of the machines that run.
func (c *Cluster) kubelets() reconcile.Controller {
	return reconcile.Controller{
		Name:    "kubelets",
		Workers: reconcile.Workers{Min: 1000, Max: 1000},
		Watches: []reconcile.Watch{
			{Kind: &corev1.Pod{}, Matters: func(_, pod client.Object) bool {
				return pod != nil && pod.(*corev1.Pod).Spec.NodeName != ""
			}},
			{Kind: &storagev1.VolumeAttachment{}, Keys: c.podsOfAttachment},
		},
		Reconcile: c.runPod,
	}
}

func (c *Cluster) podsOfAttachment(ctx context.Context, object client.Object) []reconcile.Key {
	var keys []reconcile.Key
	for _, claim := range c.claimOfAttachment(ctx, object) {
		for _, pod := range c.users(claim) {
			keys = append(keys, client.ObjectKeyFromObject(pod))
		}
	}
	return keys
}

func (c *Cluster) runPod(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var pod corev1.Pod // a version of its own, that shares what it points to
	if err := c.Client.Get(ctx, key, &pod, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	m, known := c.machines[pod.Spec.NodeName]
	switch {
	case !known || m.stopped:
		return reconcile.Never, nil
	case pod.DeletionTimestamp != nil:
		return c.stopPod(ctx, &pod)
	case pod.Status.Phase == corev1.PodPending:
		return c.startPod(ctx, &pod)
	case pod.Status.Phase == corev1.PodRunning:
		return c.finishPod(ctx, &pod)
	}
	return reconcile.Never, nil
}

// stopPod waits for the pod to stop, but no longer than its grace period.
func (c *Cluster) stopPod(ctx context.Context, pod *corev1.Pod) (reconcile.Result, error) {
	grace := time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second
	takes := min(grace, duration(pod, StopsIn, stopsIn))
	if Finished(pod) {
		takes = 0
	}
	if left := pod.DeletionTimestamp.Add(-grace).Add(takes).Sub(c.Clock.Now()); left > 0 {
		return reconcile.In(left), nil
	}
	uid := pod.UID
	return reconcile.Never, client.IgnoreNotFound(c.Client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &uid}))
}

func duration(pod *corev1.Pod, annotation string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(pod.Annotations[annotation]); err == nil {
		return d
	}
	return otherwise
}

// startsIn is how long images and containers take to start.
const startsIn = 3 * time.Second

func (c *Cluster) startPod(ctx context.Context, pod *corev1.Pod) (reconcile.Result, error) {
	bound := pod.CreationTimestamp
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && !condition.LastTransitionTime.IsZero() {
			bound = condition.LastTransitionTime
		}
	}
	if left := bound.Add(startsIn).Sub(c.Clock.Now()); left > 0 {
		return reconcile.In(left), nil
	}
	if len(claimsOf(pod)) > 0 && !c.mounted(pod) {
		return reconcile.Never, nil // an attachment will wake it
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.StartTime = ptr.To(c.now())
	setPodCondition(pod, corev1.PodReady, corev1.ConditionTrue, "", "", c.now())
	pod.ResourceVersion = ""
	if err := c.Client.Status().Update(ctx, pod); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	return c.finishPod(ctx, pod)
}

func (c *Cluster) finishPod(ctx context.Context, pod *corev1.Pod) (reconcile.Result, error) {
	if _, ends := pod.Annotations[RunsFor]; !ends {
		return reconcile.Never, nil
	}
	if left := pod.Status.StartTime.Add(duration(pod, RunsFor, 0)).Sub(c.Clock.Now()); left > 0 {
		return reconcile.In(left), nil
	}
	pod.Status.Phase = corev1.PodSucceeded
	setPodCondition(pod, corev1.PodReady, corev1.ConditionFalse, "PodCompleted", "", c.now())
	pod.ResourceVersion = ""
	return reconcile.Never, client.IgnoreNotFound(c.Client.Status().Update(ctx, pod))
}

func setPodCondition(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, reason, message string, now metav1.Time) (changed bool) {
	next := corev1.PodCondition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: now}
	at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if at < 0 {
		pod.Status.Conditions = append(slices.Clip(pod.Status.Conditions), next)
		return true
	}
	old := pod.Status.Conditions[at]
	if old.Status == status {
		next.LastTransitionTime = old.LastTransitionTime
	}
	if old.Status == status && old.Reason == reason && old.Message == message {
		return false
	}
	pod.Status.Conditions = slices.Clone(pod.Status.Conditions)
	pod.Status.Conditions[at] = next
	return true
}
