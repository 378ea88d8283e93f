package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nominations are the nodes that pods name in status.nominatedNodeName: because the scheduler has
// others make way there, or because an autoscaler expects the pod there. The scheduler tries that
// node first, and keeps room there from pods that are less important. The node need not exist.
type nominations struct {
	nodes map[types.UID]string // by pod
	on    map[string]map[types.UID]*placedPod
}

func newNominations() *nominations {
	return &nominations{nodes: map[types.UID]string{}, on: map[string]map[types.UID]*placedPod{}}
}

// set nominates a pod to a node, and to no other; "" is to none.
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

// told follows what a pod says. What it said before and says still is known already.
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

// reserved is what pods that are nominated to a node keep from another: those that are as important
// as it is.
func (n *nominations) reserved(node string, from *corev1.Pod) vector {
	var sum vector
	for uid, g := range n.on[node] { // a sum, in any order
		if uid != from.UID && g.priority >= priority(from) {
			sum.add(1, vector{cpu: g.takes.cpu, memory: g.takes.memory, pods: g.takes.pods})
		}
	}
	return sum
}

// clearNominations takes a node from the less important pods that are nominated to it: one for which others
// make way there comes first, and they look anew.
func (c *Cluster) clearNominations(ctx context.Context, node string, by *corev1.Pod) error {
	for _, w := range c.queue.inOrder() {
		if c.nominated.nodes[w.pod.UID] != node || w.pod.UID == by.UID || priority(w.pod) >= priority(by) {
			continue
		}
		c.nominated.set(w.pod, "")
		if w.pod.Status.NominatedNodeName == "" {
			continue
		}
		next := *w.pod // which shares what it points to
		next.Status.NominatedNodeName, next.ResourceVersion = "", ""
		if err := c.Client.Status().Update(ctx, &next); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
