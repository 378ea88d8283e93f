package nodegroup

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/api/condition"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
)

// A group is unhealthy when more nodes than these, and more than this part of its nodes, are missing. (As in Cluster Autoscaler.)
const (
	missingAllowed        = 3
	missingAllowedPercent = 45
)

// Reasons of the condition Healthy.
const (
	reasonHealthy   = "NodesReady"
	reasonUnhealthy = "NodesMissing"
)

// tellHealth sets the condition Healthy. An instance is missing if it has had its time and is not in service: it has no node, or one that is not Ready.
// Instances that start are not missing, however many they are.
func (w watcher) tellHealth(o *tenonv1alpha1.NodeGroup, g *cloud.Group, nodes map[string]*corev1.Node, now time.Time) {
	if g.Missing {
		return
	}
	i := o.Status.Instances
	absent, unready := int64(0), int64(0)
	for _, u := range o.Status.Unregistered {
		if w.late(o, u, now) {
			absent++
		}
	}
	for at := range g.Instances {
		node := nodes[g.Instances[at].ProviderID]
		if g.Instances[at].State != cloud.Terminating && node != nil && node.DeletionTimestamp == nil && w.joined(node, o) && !inService(node, &w.kit.Settings.GroupTaints) {
			unready++
		}
	}
	set := conditions.Read(o.Status.Conditions, condition.SubjectOf(o), now)
	missing, alive := absent+unready, i.Total-i.Leaving
	if missing > missingAllowed && missing*100 > alive*missingAllowedPercent {
		text := fmt.Sprintf("%d instances have no node and %d have one that is not Ready, of %d", absent, unready, alive)
		set.SetFalse(tenonv1alpha1.ConditionHealthy, reasonUnhealthy, withRemedy(text, "see whether instances can reach the API server and may join the cluster"))
	} else {
		text := fmt.Sprintf("%d of %d instances have a node that is Ready", i.Ready, alive)
		if more := o.Status.Size.Desired - alive; more > 0 {
			text += fmt.Sprintf(", %d more are to come", more)
		}
		set.SetTrueBecause(tenonv1alpha1.ConditionHealthy, reasonHealthy, text)
	}
	o.Status.Conditions = set.List()
}

// late reports whether an instance has had no node for longer than a group's instances may take.
func (w watcher) late(o *tenonv1alpha1.NodeGroup, u tenonv1alpha1.UnregisteredInstance, now time.Time) bool {
	return now.Sub(u.Since.Time) >= w.provisions(o)
}
