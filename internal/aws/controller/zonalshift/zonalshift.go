// Package zonalshift looks for zones that traffic is shifted away from, and tells the pools that could have
// nodes there.
//
// The provider makes sure that no node is launched in these zones.
package zonalshift

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/offering"
	"tenon/core/requirement"
	"tenon/internal/ingest"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// Watch knows which zones are shifted.
type Watch interface {
	Update(ctx context.Context) ([]offering.ZoneShift, error)
}

const period = 30 * time.Second

// New makes the controller. It is of use only with the setting for zonal shifts.
func New(kit reconcile.Kit, watch Watch) reconcile.Controller {
	return reconcile.Controller{
		Name: "zonalshift", Workers: reconcile.One,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
			changes, err := watch.Update(ctx)
			if err != nil {
				return reconcile.Never, err
			}
			for _, c := range changes {
				reconcile.Log(ctx).Info("zonal shift", "zone-id", c.ZoneID, "active", c.Active)
			}
			if len(changes) > 0 {
				told, err := announcements(ctx, kit, changes)
				if err != nil {
					// Said in the log above; the change itself is in force already.
					reconcile.Log(ctx).Error(err, "telling nodepools of a zonal shift")
				}
				kit.Events.Publish(told...)
			}
			return reconcile.In(period), nil
		},
	}
}

func announcements(ctx context.Context, kit reconcile.Kit, changes []offering.ZoneShift) ([]telemetry.Event, error) {
	var pools karpenterv1.NodePoolList
	if err := kit.Client.List(ctx, &pools, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the pools: %w", err)
	}
	var classes awsv1.EC2NodeClassList
	if err := kit.Client.List(ctx, &classes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the node classes: %w", err)
	}
	byName := map[string]*awsv1.EC2NodeClass{}
	for i := range classes.Items {
		byName[classes.Items[i].Name] = &classes.Items[i]
	}
	words := kit.Cloud.Describe().Vocabulary()
	var told []telemetry.Event
	for i := range pools.Items {
		pool := &pools.Items[i]
		ref := pool.Spec.Template.Spec.NodeClassRef
		if ref == nil || ref.Group != awsv1.Group || byName[ref.Name] == nil {
			continue
		}
		for _, c := range changes {
			if zone, concerned := concerns(words, pool, byName[ref.Name], c.ZoneID); concerned {
				told = append(told, announcement(pool, zone, c))
			}
		}
	}
	return told, nil
}

// concerns reports whether the pool can have nodes in a zone, and what the zone is called.
func concerns(words requirement.Vocabulary, pool *karpenterv1.NodePool, class *awsv1.EC2NodeClass, zoneID string) (zone string, concerned bool) {
	for _, s := range class.Status.Subnets {
		if s.ZoneID == zoneID {
			zone = s.Zone
		}
	}
	if zone == "" {
		return "", false
	}
	node := requirement.FromLabels(map[string]string{corev1.LabelTopologyZone: zone, awsv1.LabelZoneID: zoneID})
	asked, err := words.Parse(ingest.Entries(pool.Spec.Template.Spec.Requirements)...)
	if err != nil {
		return zone, false // the pool is not valid, and says so itself
	}
	return zone, node.Intersects(asked) && node.Intersects(words.FromLabels(pool.Spec.Template.Labels))
}

func announcement(pool *karpenterv1.NodePool, zone string, c offering.ZoneShift) telemetry.Event {
	if c.Active {
		return telemetry.Warning(pool, "ZonalShiftActive",
			fmt.Sprintf("Zonal shift detected: offerings in zone %s (%s) are unavailable for this NodePool", zone, c.ZoneID), string(pool.UID), c.ZoneID)
	}
	return telemetry.Normal(pool, "ZonalShiftCleared",
		fmt.Sprintf("Zonal shift cleared: offerings in zone %s (%s) are restored for this NodePool", zone, c.ZoneID), string(pool.UID), c.ZoneID)
}
