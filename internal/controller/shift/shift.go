// Package shift keeps the provider informed of zones that traffic is led away from, and
// tells the pools that cannot use them meanwhile. Running pods are not moved.
package shift

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/detour"
	"tenon/core/requirement"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// period is between two looks.
const period = 30 * time.Second

// Watch looks for shifts, and gives out each change once.
type Watch interface {
	Poll(ctx context.Context) (detour.Change, error)
}

type controller struct {
	kit   reconcile.Kit
	watch Watch
}

// New makes the controller.
func New(kit reconcile.Kit, w Watch) reconcile.Controller {
	c := controller{kit, w}
	return reconcile.Controller{
		Name:      "zonalshift",
		Workers:   reconcile.One,
		Retry:     reconcile.Backoff{First: time.Second, Longest: period},
		Reconcile: c.reconcile,
	}
}

func (c controller) reconcile(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	change, err := c.watch.Poll(ctx)
	if err != nil {
		return reconcile.Never, err
	}
	if len(change.Began)+len(change.Ended) == 0 {
		return reconcile.In(period), nil
	}
	var pools karpenterv1.NodePoolList
	if err := c.kit.Client.List(ctx, &pools); err != nil {
		return reconcile.Never, fmt.Errorf("list pools: %w", err)
	}
	for i := range pools.Items {
		pool := &pools.Items[i]
		var class awsv1.EC2NodeClass
		ref := pool.Spec.Template.Spec.NodeClassRef
		if ref == nil || ref.Kind != awsv1.KindEC2NodeClass || c.kit.Client.Get(ctx, client.ObjectKey{Name: ref.Name}, &class) != nil {
			continue // of such a pool nobody knows the zones
		}
		c.kit.Events.Publish(tell(pool, class.Status.Subnets, change)...)
	}
	return reconcile.In(period), nil
}

// tell says what a change means for a pool.
func tell(pool *karpenterv1.NodePool, subnets []awsv1.Subnet, change detour.Change) []telemetry.Event {
	var events []telemetry.Event
	for _, id := range change.Began {
		if zone, uses := uses(pool, subnets, id); uses {
			events = append(events, telemetry.Warning(pool, "ZonalShiftActive", fmt.Sprintf(
				"Zonal shift detected: offerings in zone %s (%s) are unavailable for this NodePool", zone, id), string(pool.UID), id))
		}
	}
	for _, id := range change.Ended {
		if zone, uses := uses(pool, subnets, id); uses {
			events = append(events, telemetry.Normal(pool, "ZonalShiftCleared", fmt.Sprintf(
				"Zonal shift cleared: offerings in zone %s (%s) are restored for this NodePool", zone, id), string(pool.UID), id))
		}
	}
	return events
}

// uses reports whether a pool may have nodes in a zone, and what the zone is called.
func uses(pool *karpenterv1.NodePool, subnets []awsv1.Subnet, id string) (zone string, may bool) {
	for _, s := range subnets {
		if s.ZoneID == id {
			return s.Zone, allows(pool, corev1.LabelTopologyZone, s.Zone) && allows(pool, awsv1.LabelZoneID, id)
		}
	}
	return "", false
}

func allows(pool *karpenterv1.NodePool, key, value string) bool {
	if label, set := pool.Spec.Template.Labels[key]; set && label != value {
		return false
	}
	for _, r := range pool.Spec.Template.Spec.Requirements {
		if r.Key == key && !requirement.New(r.Key, requirement.Operator(r.Operator), r.Values...).Has(value) {
			return false
		}
	}
	return true
}
