package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nominations are the nodes that pods name in status.nominatedNodeName, because the scheduler preempts
// other pods there, or because an autoscaler expects the pod there. The scheduler tries that node first,
// and keeps room there from pods of lower priority. The node need not exist.
type nominations struct {
	nodes map[types.UID]string // by pod
	on    map[string]map[types.UID]*placedPod
}

func newNominations() *nominations {
	return &nominations{nodes: map[types.UID]string{}, on: map[string]map[types.UID]*placedPod{}}
}

// set nominates a pod to one node only; "" means none.
func (n *nominations) set(pod *corev1.Pod, node string) {
	if before := n.nodes[pod.UID]; before != "" {
		if delete(n.on[before], pod.UID); len(n.on[before]) == 0 {
			delete(n.on, before)
		}
		delete(n.nodes, pod.UID)
	}
	if node == "" {
		return
	}
	if n.on[node] == nil {
		n.on[node] = map[types.UID]*placedPod{}
	}
	n.nodes[pod.UID], n.on[node][pod.UID] = node, newPlacedPod(pod)
}

// told follows a change of a pod's nomination.
func (n *nominations) told(was, is *corev1.Pod) {
	switch {
	case is == nil:
		n.set(was, "")
	case !unscheduled(is):
		n.set(is, "")
	case was == nil || was.Status.NominatedNodeName != is.Status.NominatedNodeName:
		n.set(is, is.Status.NominatedNodeName)
	}
}

// reserved returns what the pods nominated to a node keep from another pod: the requests of those with at
// least its priority.
func (n *nominations) reserved(node string, from *corev1.Pod) vector {
	var sum vector
	for uid, g := range n.on[node] { // a sum, in any order
		if uid != from.UID && g.priority >= priority(from) {
			sum.add(1, vector{cpu: g.takes.cpu, memory: g.takes.memory, pods: g.takes.pods})
		}
	}
	return sum
}

// clearNominations removes the nominations of pods with lower priority from a node: the pod that preempts
// there comes first, and the others search again.
func (c *Cluster) clearNominations(ctx context.Context, node string, by *corev1.Pod) error {
	for _, w := range c.queue.inOrder() {
		if c.nominated.nodes[w.pod.UID] != node || w.pod.UID == by.UID || priority(w.pod) >= priority(by) {
			continue
		}
		c.nominated.set(w.pod, "")
		if w.pod.Status.NominatedNodeName == "" {
			continue
		}
		next := *w.pod // a shallow copy
		next.Status.NominatedNodeName, next.ResourceVersion = "", ""
		if err := c.Client.Status().Update(ctx, &next); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
