package verdict

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/evaluation"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// repeatPool is how often the event that a pool's budgets allow no disruption is repeated.
const repeatPool = time.Minute

// announcePools publishes an event for each pool whose budgets hold nodes back: one for the pool, not one
// for each node.
func (c *controller) announcePools(ctx context.Context, page *evaluation.Page, now time.Time) reconcile.Result {
	still := make(map[evaluation.Closed]bool, len(page.Closed))
	next := reconcile.Never
	for _, closed := range page.Closed {
		still[closed] = true
		if at, told := c.closed[closed]; told && now.Sub(at) < repeatPool {
			next = next.Sooner(reconcile.In(at.Add(repeatPool).Sub(now)))
			continue
		}
		if !c.pools.take(now) {
			next = next.Sooner(reconcile.In(spell))
			continue
		}
		c.closed[closed] = now
		name, pool := closed.Pool, client.Object(&karpenterv1.NodePool{})
		if group, is := snapshot.NodeGroup(closed.Pool); is {
			name, pool = group, &tenonv1alpha1.NodeGroup{}
		}
		if c.kit.Client.Get(ctx, client.ObjectKey{Name: name}, pool) != nil {
			continue // it went meanwhile, or its turn comes again
		}
		text := fmt.Sprintf("No allowed disruptions for disruption reason %s due to blocking budget", closed.Reason)
		c.publish(telemetry.Normal(pool, "DisruptionBlocked", text, string(pool.GetUID()), string(closed.Reason)).Within(repeatPool))
	}
	for closed := range c.closed {
		if !still[closed] && now.Sub(c.closed[closed]) >= repeatPool {
			delete(c.closed, closed)
		}
	}
	return next
}

// measure sets the gauges.
func (c *controller) measure(page *evaluation.Page, now time.Time) {
	for _, reason := range []plan.Reason{plan.Empty, plan.Drifted, plan.Underutilized} {
		c.kit.Metrics.VoluntaryDisruptionEligibleNodes.WithLabelValues(strings.ToLower(string(reason))).Set(float64(page.Eligible[reason]))
	}
	age := 0.0
	if !page.At.IsZero() {
		age = max(now.Sub(page.Oldest()).Seconds(), 0)
	}
	c.kit.Metrics.VoluntaryDisruptionCoverageAgeSeconds.WithLabelValues().Set(age)
}
