// Package metrics publishes what can be bought as metrics: the instance types, the offerings that some pool
// can buy, and their prices. The default bound on time series leaves no room for them; then the package
// publishes nothing.
//
// It changes nothing and decides nothing.
package metrics

import (
	"context"
	"fmt"
	"slices"
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
	"tenon/internal/telemetry"
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
	var catalogs []*catalog.Catalog
	for i := range pools.Items {
		offered, err := kit.Cloud.Catalog(ctx, class.Of(&pools.Items[i]))
		if err != nil {
			// A class that is not ready does not hide the others.
			reconcile.Log(ctx).V(1).Info("no metrics of what a nodepool can buy", "NodePool", pools.Items[i].Name, "err", err.Error())
			continue
		}
		if !slices.Contains(catalogs, offered) {
			catalogs = append(catalogs, offered)
		}
	}
	if hasRoom(catalogs, kit.Settings.MetricsSeries) {
		show(kit, catalogs)
	} else {
		hide(kit.Metrics)
	}
	return nil
}

// hasRoom reports whether metrics may have so many series; zero is without bound. Series without room would
// not be published and would only cost memory: the types and offers of a region are twenty thousand series,
// a third of what the process keeps in a quiet cluster.
func hasRoom(catalogs []*catalog.Catalog, series int) bool {
	if series <= 0 {
		return true
	}
	for _, c := range catalogs { // the largest alone is not more than all of them
		n := 2 * len(c.Types)
		for i := range c.Types {
			n += 2 * len(c.Types[i].Offerings)
		}
		if n > series {
			return false
		}
	}
	return true
}

// hide takes back what was told while there was room.
func hide(m *telemetry.Metrics) {
	m.CloudproviderInstanceTypeCpuCores.Reset()
	m.CloudproviderInstanceTypeMemoryBytes.Reset()
	m.CloudproviderInstanceTypeOfferingAvailable.Reset()
	m.CloudproviderInstanceTypeOfferingPriceEstimate.Reset()
}

func show(kit reconcile.Kit, catalogs []*catalog.Catalog) {
	shown := offers{}
	for _, c := range catalogs {
		showTypes(kit, c)
		shown.add(c, kit.Settings.FeatureGates.ReservedCapacity)
	}
	for o, s := range shown { // each is a series of its own
		available := 0.0
		if s.available {
			available = 1
		}
		kit.Metrics.CloudproviderInstanceTypeOfferingAvailable.WithLabelValues(o.InstanceType, o.CapacityType, o.Zone).Set(available)
		kit.Metrics.CloudproviderInstanceTypeOfferingPriceEstimate.WithLabelValues(o.InstanceType, o.CapacityType, o.Zone).Set(float64(s.price) / float64(model.Unit))
	}
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
