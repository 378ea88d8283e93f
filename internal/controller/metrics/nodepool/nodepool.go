// Package nodepool publishes as gauges what pools have and may have, how much of it their budgets let be
// disrupted, and what disruptions have saved. It is the controller `metrics.nodepool`.
//
// It writes nothing, and nothing that it tells is read back to decide something.
package nodepool

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/lookup"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// every is how old the gauges get.
const every = 10 * time.Second

// New makes the controller; none when its metrics are switched off.
func New(kit reconcile.Kit) []reconcile.Controller {
	if kit.Settings.DisableClusterStateObservability {
		return nil
	}
	c := &controller{kit: kit, description: kit.Cloud.Describe()}
	return []reconcile.Controller{{
		Name: "metrics.nodepool", Workers: reconcile.One,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
			return reconcile.In(every), c.tell(ctx)
		},
	}}
}

type controller struct {
	kit         reconcile.Kit
	description cloud.Description
	shown       [7][][]string // the series of each gauge, to remove those of pools that are gone
}

func (c *controller) tell(ctx context.Context) error {
	var pools karpenterv1.NodePoolList
	if err := c.kit.Client.List(ctx, &pools, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list pools: %w", err)
	}
	nodes, err := c.nodesByProvider(ctx)
	if err != nil {
		return err
	}
	m := c.kit.Metrics
	// There are few pools: nothing bounds them but what bounds all series.
	limit := telemetry.NewJoinedGauge("limit", 0, "resource_type", "nodepool")
	usage := telemetry.NewJoinedGauge("usage", 0, "resource_type", "nodepool")
	allowed := telemetry.NewJoinedGauge("allowed_disruptions", 0, "nodepool", "reason")
	consuming := telemetry.NewJoinedGauge("nodes_consuming_budgets", 0, "nodepool", "reason")
	for i := range pools.Items {
		pool := &pools.Items[i]
		if !c.ours(pool) {
			continue
		}
		claims, err := lookup.ClaimsIn(ctx, c.kit.Client, pool.Name)
		if err != nil {
			return err
		}
		addResources(limit, corev1.ResourceList(pool.Spec.Limits), pool.Name)
		addResources(usage, pool.Status.Resources, pool.Name)
		standing := countNodes(claims, nodes)
		for _, reason := range reasons {
			allowed.Add(float64(standing.allowed(pool, reason, c.kit.Clock.Now())), pool.Name, string(reason))
			consuming.Add(float64(standing.disrupting), pool.Name, string(reason))
		}
	}
	c.shown[0] = limit.Replace(m.NodepoolsLimit, c.shown[0])
	c.shown[1] = usage.Replace(m.NodepoolsUsage, c.shown[1])
	c.shown[2] = allowed.Replace(m.NodepoolsAllowedDisruptions, c.shown[2])
	c.shown[3] = consuming.Replace(m.NodepoolsNodesConsumingBudgets, c.shown[3])
	c.tellSavings(pools.Items)
	return nil
}

func (c *controller) ours(pool *karpenterv1.NodePool) bool {
	ref := pool.Spec.Template.Spec.NodeClassRef
	return ref != nil && c.description.Supports(cloud.ClassRef{Group: ref.Group, Kind: ref.Kind, Name: ref.Name})
}

func (c *controller) nodesByProvider(ctx context.Context) (map[string]*corev1.Node, error) {
	var list corev1.NodeList
	if err := c.kit.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	out := make(map[string]*corev1.Node, len(list.Items))
	for i := range list.Items {
		out[list.Items[i].Spec.ProviderID] = &list.Items[i]
	}
	return out, nil
}

func addResources(f *telemetry.JoinedGauge, list corev1.ResourceList, pool string) {
	for name, quantity := range list { // the order does not matter: each is a series of its own
		f.Add(quantity.AsApproximateFloat64(), telemetry.ResourceName(string(name)), pool)
	}
}
