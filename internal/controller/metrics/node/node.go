// Package node publishes as gauges what nodes have, how much of it pods request, and how old nodes are.
// It is the controller `metrics.node`.
//
// It writes nothing, and nothing that it tells is read back to decide something.
package node

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/cloud"
	"tenon/internal/departure"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

const (
	// every is how old the gauges get in a small cluster.
	every = 5 * time.Second
	// small and usual are the numbers of pods in such clusters. Above small, the gauges get older in
	// proportion, up to the usual scrape interval; above usual, older still. So adding up requests never
	// takes more than a small part of the CPU: 5,000 pods every five seconds were a fifth of the process's
	// work.
	small, usual = 1_000, 10_000
	// scrape is how often most people look.
	scrape = 30 * time.Second
)

// pause is how long to wait until the next round in a cluster of so many pods.
func pause(pods int) time.Duration {
	return max(min(every*time.Duration(1+pods/small), scrape), every*time.Duration(1+pods/usual))
}

// New makes the controller; none when its metrics are switched off.
func New(kit reconcile.Kit) []reconcile.Controller {
	if kit.Settings.DisableClusterStateObservability {
		return nil
	}
	c := &controller{kit: kit, description: kit.Cloud.Describe()}
	return []reconcile.Controller{{
		Name: "metrics.node", Workers: reconcile.One,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) { return c.tell(ctx) },
	}}
}

type controller struct {
	kit         reconcile.Kit
	description cloud.Description
	shown       [8][][]string // the series of each gauge, to remove those of nodes that are gone
}

func (c *controller) tell(ctx context.Context) (reconcile.Result, error) {
	var nodes corev1.NodeList
	if err := c.kit.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, fmt.Errorf("list nodes: %w", err)
	}
	var pods corev1.PodList
	if err := c.kit.Client.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, fmt.Errorf("list pods: %w", err)
	}
	loads := weigh(pods.Items)
	c.tellNodes(nodes.Items, loads)
	c.tellUtilization(nodes.Items, loads)
	return reconcile.In(pause(len(pods.Items))), nil
}

func (c *controller) tellNodes(nodes []corev1.Node, loads map[string]*load) {
	m := c.kit.Metrics
	each := make([]string, 0, len(m.NodeLabels)+4)
	for _, key := range m.NodeLabels {
		each = append(each, telemetry.LabelName(key))
	}
	each = append(each, "node_name", "phase", "managed")
	share := telemetry.Share(c.kit.Settings.MetricsSeries)
	ages := telemetry.NewJoinedGauge("current_lifetime_seconds", share, each...)
	gauges := c.gauges()
	joined := make([]*telemetry.JoinedGauge, len(gauges))
	for i := range gauges {
		joined[i] = telemetry.NewJoinedGauge(gauges[i].name, share, append(each, "resource_type")...)
	}
	for i := range nodes {
		node := &nodes[i]
		row := c.row(node)
		ages.Add(c.kit.Clock.Since(node.CreationTimestamp.Time).Seconds(), row...)
		for g := range gauges {
			for name, value := range gauges[g].amounts(node, loads[node.Name]) { // each is a series of its own
				joined[g].Add(value, append(row, telemetry.ResourceName(string(name)))...)
			}
		}
	}
	for g := range gauges {
		c.shown[g] = joined[g].Replace(gauges[g].vec, c.shown[g])
	}
	c.shown[6] = ages.Replace(m.NodesCurrentLifetimeSeconds, c.shown[6])
}

// row is the values of a node's labels, with room for one more.
func (c *controller) row(node *corev1.Node) []string {
	row := make([]string, 0, len(c.kit.Metrics.NodeLabels)+4)
	for _, key := range c.kit.Metrics.NodeLabels {
		row = append(row, node.Labels[key])
	}
	managed := "false"
	if departure.Managed(c.description, node) {
		managed = "true"
	}
	return append(row, node.Name, string(node.Status.Phase), managed)
}

func (c *controller) tellUtilization(nodes []corev1.Node, loads map[string]*load) {
	have, asked := amounts{}, amounts{}
	for i := range nodes {
		have.add(nodes[i].Status.Allocatable, 1)
		if l := loads[nodes[i].Name]; l != nil {
			asked.join(l.requests)
		}
	}
	percent := telemetry.NewJoinedGauge("cluster_utilization_percent", 0, "resource_type")
	for name, value := range have { // each is a series of its own
		if value > 0 {
			percent.Add(100*asked[name]/value, telemetry.ResourceName(string(name)))
		}
	}
	c.shown[7] = percent.Replace(c.kit.Metrics.ClusterUtilizationPercent, c.shown[7])
}
