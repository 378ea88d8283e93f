package pod

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/departure"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// stateLabels are those of the gauge with the state of each pod.
var stateLabels = []string{
	"name", "namespace", "owner", "node", "scheduled", "nodepool", "zone", "arch", "capacity_type", "instance_type", "phase", "ready", "managed",
}

// refresh sets the gauges again, and asks for the next time.
func (c *controller) refresh(ctx context.Context) (reconcile.Result, error) {
	now := c.kit.Clock.Now()
	var nodes corev1.NodeList
	if err := c.kit.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, fmt.Errorf("list nodes: %w", err)
	}
	var pods corev1.PodList
	if err := c.kit.Client.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, fmt.Errorf("list pods: %w", err)
	}
	byName := make(map[string]*corev1.Node, len(nodes.Items))
	for i := range nodes.Items {
		byName[nodes.Items[i].Name] = &nodes.Items[i]
	}
	c.tellStates(pods.Items, byName)
	c.tellWaits(pods.Items, now)
	return reconcile.In(every), nil
}

func (c *controller) share() int { return telemetry.Share(c.kit.Settings.MetricsSeries) }

func (c *controller) tellStates(pods []corev1.Pod, nodes map[string]*corev1.Node) {
	states := telemetry.NewJoinedGauge("state", c.share(), stateLabels...)
	for i := range pods {
		states.Add(1, c.state(&pods[i], nodes[pods[i].Spec.NodeName])...)
	}
	c.shown[0] = states.Replace(c.kit.Metrics.PodsState, c.shown[0])
}

// state is the values of a pod's labels, in the order of stateLabels. The node may be nil.
func (c *controller) state(pod *corev1.Pod, node *corev1.Node) []string {
	var labels map[string]string
	managed := false
	if node != nil {
		labels, managed = node.Labels, departure.Managed(c.description, node)
	}
	now := progressOf(pod)
	return []string{
		pod.Name, pod.Namespace, owner(pod), pod.Spec.NodeName, strconv.FormatBool(pod.Spec.NodeName != ""),
		labels[karpenterv1.LabelNodePool], labels[corev1.LabelTopologyZone], labels[corev1.LabelArchStable],
		labels[karpenterv1.LabelCapacityType], labels[corev1.LabelInstanceTypeStable],
		string(now.phase), strconv.FormatBool(now.ready), strconv.FormatBool(managed),
	}
}

// owner is spelled like the path of the owner in the API, nearly.
func owner(pod *corev1.Pod) string {
	if len(pod.OwnerReferences) == 0 {
		return ""
	}
	o := pod.OwnerReferences[0]
	return fmt.Sprintf("/apis/%s/namespaces/%s/%ss/%s", o.APIVersion, pod.Namespace, strings.ToLower(o.Kind), o.Name)
}

// tellWaits tells for how long pods have been waiting that still do.
func (c *controller) tellWaits(pods []corev1.Pod, now time.Time) {
	m := c.kit.Metrics
	const unstarted, unbound, placedUnstarted, placedUnbound, undecided = 0, 1, 2, 3, 4
	var joined [5]*telemetry.JoinedGauge
	for i := range joined {
		joined[i] = telemetry.NewJoinedGauge("time_seconds", c.share(), "name", "namespace")
	}
	alive := map[types.UID]bool{}
	for i := range pods {
		pod := &pods[i]
		at := progressOf(pod)
		if at.over || at.ready {
			continue
		}
		alive[pod.UID] = true
		add := func(which int, since time.Time) {
			if !since.IsZero() {
				joined[which].Add(max(now.Sub(since), 0).Seconds(), pod.Name, pod.Namespace)
			}
		}
		steps := m.PodProgress.Of(pod.UID)
		if _, seen := c.waiting[client.ObjectKeyFromObject(pod)]; seen || at.phase == corev1.PodPending { // not ready for the second time
			add(unstarted, pod.CreationTimestamp.Time)
			add(placedUnstarted, steps.Placed)
		}
		if !at.bound {
			add(unbound, pod.CreationTimestamp.Time)
			add(placedUnbound, steps.Placed)
			if steps.Decided.IsZero() {
				add(undecided, steps.Seen)
			}
		}
	}
	for _, w := range c.waiting {
		alive[w.uid] = true // it is ready, and was not looked at before
	}
	m.PodProgress.Keep(alive)
	c.shown[1] = joined[unstarted].Replace(m.PodsUnstartedTimeSeconds, c.shown[1])
	c.shown[2] = joined[unbound].Replace(m.PodsUnboundTimeSeconds, c.shown[2])
	c.shown[3] = joined[placedUnstarted].Replace(m.PodsProvisioningUnstartedTimeSeconds, c.shown[3])
	c.shown[4] = joined[placedUnbound].Replace(m.PodsProvisioningUnboundTimeSeconds, c.shown[4])
	c.shown[5] = joined[undecided].Replace(m.PodsProvisioningSchedulingUndecidedTimeSeconds, c.shown[5])
}
