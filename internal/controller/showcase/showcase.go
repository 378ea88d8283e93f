// Package showcase publishes what can be bought, as metrics: what types there are, which
// offerings can be had by any pool, and their prices.
//
// It changes nothing and decides nothing.
package showcase

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/internal/class"
	"tenon/internal/reconcile"
)

const (
	period  = time.Minute
	mebiFor = 1 << 20
)

// New makes the controller.
func New(kit reconcile.Kit) reconcile.Controller {
	return reconcile.Controller{
		Name: "cloudprovider.metrics", Workers: reconcile.One,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
			if err := publish(ctx, kit); err != nil {
				return reconcile.Never, err
			}
			return reconcile.In(period), nil
		},
	}
}

func publish(ctx context.Context, kit reconcile.Kit) error {
	var pools karpenterv1.NodePoolList
	if err := kit.Client.List(ctx, &pools, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the pools: %w", err)
	}
	seen := map[*catalog.Catalog]bool{}
	shown := offers{}
	for i := range pools.Items {
		offered, err := kit.Cloud.Catalog(ctx, class.Of(&pools.Items[i]))
		if err != nil {
			// One class that is not ready hides nothing of the others.
			reconcile.Log(ctx).V(1).Info("no metrics of what a nodepool can buy", "NodePool", pools.Items[i].Name, "err", err.Error())
			continue
		}
		if !seen[offered] {
			seen[offered] = true
			showTypes(kit, offered)
			shown.add(offered, kit.Settings.FeatureGates.ReservedCapacity)
		}
	}
	for o, s := range shown {
		available := 0.0
		if s.available {
			available = 1
		}
		kit.Metrics.CloudproviderInstanceTypeOfferingAvailable.WithLabelValues(o.InstanceType, o.CapacityType, o.Zone).Set(available)
		kit.Metrics.CloudproviderInstanceTypeOfferingPriceEstimate.WithLabelValues(o.InstanceType, o.CapacityType, o.Zone).Set(float64(s.price) / float64(model.Unit))
	}
	return nil
}

// showTypes publishes what types were said to have, not what is left for pods.
func showTypes(kit reconcile.Kit, c *catalog.Catalog) {
	for i := range c.Types {
		t := &c.Types[i]
		if cores, known := number(t.Requirements, awsv1.LabelInstanceCPU); known {
			kit.Metrics.CloudproviderInstanceTypeCpuCores.WithLabelValues(t.Name).Set(cores)
		}
		if mebi, known := number(t.Requirements, awsv1.LabelInstanceMemory); known {
			kit.Metrics.CloudproviderInstanceTypeMemoryBytes.WithLabelValues(t.Name).Set(mebi * mebiFor)
		}
	}
}

func number(labels requirement.Set, key string) (float64, bool) {
	text, single := labels.Get(key).Single()
	n, err := strconv.ParseFloat(text, 64)
	return n, single && err == nil
}

// offers are what any pool can buy, without the reservation in their names.
type offers map[cloud.Offer]offer

type offer struct {
	available bool
	price     model.Money
}

// add takes in a catalogue. With reservations in use, a type without one in a zone shows
// as nothing that can be had.
func (s offers) add(c *catalog.Catalog, reserved bool) {
	for i := range c.Types {
		t := &c.Types[i]
		for j := range t.Offerings {
			o := &t.Offerings[j]
			name := cloud.Offer{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType}
			s[name] = offer{s[name].available || o.Available, o.Price}
			none := cloud.Offer{InstanceType: t.Name, Zone: o.Zone, CapacityType: catalog.Reserved}
			if _, known := s[none]; reserved && !known {
				s[none] = offer{}
			}
		}
	}
}
