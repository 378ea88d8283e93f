// Package cost publishes what nodes cost as metrics: an hour by pool, by kind of machine, by what it pays for, and
// by namespace and owner of pods; and all that was spent since the process began. It is the controller
// `metrics.cost`.
//
// It writes nothing, and nothing that it tells is read back to decide something.
package cost

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/internal/cost"
	"tenon/internal/ingest"
	"tenon/internal/owner"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// Catalogs knows what pools can buy, with their overlays on prices.
type Catalogs interface {
	Catalog(ctx context.Context, pool *karpenterv1.NodePool) (*catalog.Catalog, error)
}

// every is how old the metrics get, and as much more for each steady pods: a round looks at all of them.
const (
	every  = 10 * time.Second
	steady = 10_000
)

// New makes the controller; none when its metrics are switched off.
func New(kit reconcile.Kit, market Catalogs) []reconcile.Controller {
	if kit.Settings.DisableClusterStateObservability {
		return nil
	}
	c := &controller{kit: kit, market: market, description: kit.Cloud.Describe(), told: map[cost.Spending]model.Money{}}
	return []reconcile.Controller{{
		Name: "metrics.cost", Workers: reconcile.One,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) { return c.tell(ctx) },
	}}
}

type controller struct {
	kit         reconcile.Kit
	market      Catalogs
	description cloud.Description
	shown       [3][][]string // the series of each gauge, to remove those of what is gone
	// meter has what was spent, and told how much of that the counter has, by a Spending without its cost.
	meter cost.Meter
	told  map[cost.Spending]model.Money
}

// pricedClaim is a claim with an instance, and its price an hour; zero if that is unknown.
type pricedClaim struct {
	claim *karpenterv1.NodeClaim
	price model.Money
}

func (c *controller) tell(ctx context.Context) (reconcile.Result, error) {
	var pools karpenterv1.NodePoolList
	if err := c.kit.Client.List(ctx, &pools, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, fmt.Errorf("list pools: %w", err)
	}
	var pods corev1.PodList
	if err := c.kit.Client.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, fmt.Errorf("list pods: %w", err)
	}
	bought, err := c.bought(ctx)
	if err != nil {
		return reconcile.Never, err
	}
	totals := telemetry.NewJoinedGauge("cost_total", 0, "nodepool")
	for i := range pools.Items {
		if pool := &pools.Items[i]; c.ours(pool.Spec.Template.Spec.NodeClassRef) && c.price(ctx, pool, bought[pool.Name]) {
			sum := model.Money(0)
			for _, m := range bought[pool.Name] {
				sum += m.price
			}
			totals.Add(sum.Float(), pool.Name)
		}
	}
	c.shown[0] = totals.Replace(c.kit.Metrics.NodepoolsCostTotal, c.shown[0])
	var machines []pricedClaim
	for _, pool := range order.Keys(bought) {
		machines = append(machines, bought[pool]...)
	}
	c.tellParts(machines, pods.Items)
	c.tellSpent(machines)
	return reconcile.In(every * time.Duration(1+len(pods.Items)/steady)), nil
}

func (c *controller) ours(ref *karpenterv1.NodeClassReference) bool {
	return ref != nil && c.description.Supports(cloud.ClassRef{Group: ref.Group, Kind: ref.Kind, Name: ref.Name})
}

// bought returns the claims that have an instance, by pool, with the prices that they were bought for.
func (c *controller) bought(ctx context.Context) (map[string][]pricedClaim, error) {
	var claims karpenterv1.NodeClaimList
	if err := c.kit.Client.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	out := map[string][]pricedClaim{}
	for i := range claims.Items {
		claim := &claims.Items[i]
		if claim.Status.ProviderID == "" || !c.ours(claim.Spec.NodeClassRef) {
			continue
		}
		recorded, err := model.ParsePrice(claim.Annotations[karpenterv1.AnnotationPrice])
		if err != nil {
			recorded = 0
		}
		pool := claim.Labels[karpenterv1.LabelNodePool]
		out[pool] = append(out[pool], pricedClaim{claim, recorded})
	}
	return out, nil
}

// price sets the present prices of a pool's machines; false if the cloud knows none. A type that is no longer
// sold keeps the price that its claim was bought for. Each case without a price is an error of the pool.
func (c *controller) price(ctx context.Context, pool *karpenterv1.NodePool, machines []pricedClaim) bool {
	if len(machines) == 0 {
		return true
	}
	offers, err := c.market.Catalog(ctx, pool)
	if err != nil {
		c.kit.Metrics.NodepoolsCostTrackerErrorsTotal.WithLabelValues(pool.Name).Inc()
		return false
	}
	prices := pricesOf(offers)
	each, _ := ingest.NodePrice(pool, c.kit.Settings.NodePrice) // annotations that are refused are reported where pools are checked
	missing := false
	for i := range machines {
		m := &machines[i]
		if price, sold := prices[c.offerOf(m.claim)]; sold {
			m.price = price + each
		} else if m.price == 0 {
			missing = true
		}
	}
	if missing {
		c.kit.Metrics.NodepoolsCostTrackerErrorsTotal.WithLabelValues(pool.Name).Inc()
	}
	return true
}

// offer is what tells offerings of a catalogue apart.
type offer struct {
	instanceType, zone, capacityType, reservation string
}

func (c *controller) offerOf(claim *karpenterv1.NodeClaim) offer {
	return offer{
		claim.Labels[corev1.LabelInstanceTypeStable], claim.Labels[corev1.LabelTopologyZone],
		claim.Labels[karpenterv1.LabelCapacityType], claim.Labels[c.description.ReservationLabel],
	}
}

// pricesOf lists the prices of a catalogue. Of an offering that is listed twice, the first price counts.
func pricesOf(offers *catalog.Catalog) map[offer]model.Money {
	out := map[offer]model.Money{}
	for i := range offers.Types {
		t := &offers.Types[i]
		for _, o := range t.Offerings {
			key := offer{t.Name, o.Zone, o.CapacityType, o.ReservationID}
			if _, listed := out[key]; !listed {
				out[key] = o.Price
			}
		}
	}
	return out
}

// tellParts tells what an hour pays for.
func (c *controller) tellParts(machines []pricedClaim, pods []corev1.Pod) {
	on := map[string][]*corev1.Pod{}
	for i := range pods {
		if p := &pods[i]; p.Spec.NodeName != "" && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			on[p.Spec.NodeName] = append(on[p.Spec.NodeName], p)
		}
	}
	parts := telemetry.NewJoinedGauge("cost_per_hour", 0, "nodepool", "capacity_type", "part")
	shares := telemetry.NewJoinedGauge("cost_pods_per_hour", telemetry.Share(c.kit.Settings.MetricsSeries), "namespace", "owner")
	for i := range machines {
		for _, part := range partsOf(&machines[i], on[machines[i].claim.Status.NodeName]) {
			parts.Add(part.Price.Float(), part.Pool, part.CapacityType, string(part.Kind))
			if part.Kind == cost.Pods {
				shares.Add(part.Price.Float(), part.Namespace, part.Owner)
			}
		}
	}
	c.shown[1] = parts.Replace(c.kit.Metrics.CostPerHour, c.shown[1])
	c.shown[2] = shares.Replace(c.kit.Metrics.CostPodsPerHour, c.shown[2])
}

func partsOf(m *pricedClaim, pods []*corev1.Pod) []cost.Part {
	requests := make([]model.Resources, len(pods))
	for i, p := range pods {
		requests[i] = ingest.Requests(p)
	}
	prices, idle := cost.Divide(m.price, ingest.Resources(m.claim.Status.Allocatable), requests)
	part := cost.Part{Pool: m.claim.Labels[karpenterv1.LabelNodePool], CapacityType: m.claim.Labels[karpenterv1.LabelCapacityType], Kind: cost.Idle, Price: idle}
	out := []cost.Part{part}
	for i, p := range pods {
		part.Kind, part.Namespace, part.Price = cost.Pods, p.Namespace, prices[i]
		var daemon bool
		if part.Owner, daemon = owner.Workload(p); daemon {
			part.Kind = cost.Daemons
		}
		out = append(out, part)
	}
	return out
}

// tellSpent adds what was spent since the last round.
func (c *controller) tellSpent(machines []pricedClaim) {
	all := make([]cost.Machine, len(machines))
	for i, m := range machines {
		all[i] = cost.Machine{
			Name: m.claim.Name, Pool: m.claim.Labels[karpenterv1.LabelNodePool], CapacityType: m.claim.Labels[karpenterv1.LabelCapacityType], Price: m.price,
			From: since(m.claim, karpenterv1.ConditionLaunched), Until: since(m.claim, karpenterv1.ConditionInstanceTerminating),
		}
	}
	now := c.kit.Clock.Now()
	c.meter.Read(now, all)
	for _, spent := range c.meter.Spent() {
		sum := spent.Cost
		spent.Cost = 0
		c.kit.Metrics.CostSpentTotal.WithLabelValues(spent.Pool, spent.CapacityType).Add((sum - c.told[spent]).Float())
		c.told[spent] = sum
	}
	c.kit.Metrics.CostSpentTimestampSeconds.WithLabelValues().Set(float64(now.UnixMilli()) / 1000)
}

// withinASecond is what a time in the API server has lost on average: it is cut to whole seconds. Over the few minutes
// that some machines live, half a second is more than a thousandth.
const withinASecond = time.Second / 2

// since returns since when a condition of a claim is true; zero if it is not.
func since(claim *karpenterv1.NodeClaim, kind string) time.Time {
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == kind && c.Status == metav1.ConditionTrue {
			return c.LastTransitionTime.Time.Add(withinASecond)
		}
	}
	return time.Time{}
}
