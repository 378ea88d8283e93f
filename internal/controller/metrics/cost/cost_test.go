package cost_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/internal/controller/metrics/cost"
	"tenon/internal/testing/harness"
)

// fakeCatalog sells one type in two ways, unless it is closed.
type fakeCatalog struct{ closed bool }

func (s fakeCatalog) Catalog(context.Context, *karpenterv1.NodePool) (*catalog.Catalog, error) {
	if s.closed {
		return nil, errors.New("closed")
	}
	return &catalog.Catalog{Types: []catalog.Type{{Name: "big", Offerings: []catalog.Offering{
		{Zone: "z", CapacityType: "spot", Price: model.Unit / 4},
		{Zone: "z", CapacityType: "on-demand", Price: model.Unit},
	}}}}, nil
}

// The price that each node has beyond its machine is part of what a pool costs, for nodes whose
// machine's price is known.
func TestNodesPricesCount(t *testing.T) {
	t.Parallel()
	pool := harness.Pool("p")
	pool.Annotations = map[string]string{karpenterv1.AnnotationNodePrice: "0.125"}
	r := harness.New(t, memory.Options{}, pool)
	machine(t, r, "a", "p", "big", "spot")
	machine(t, r, "b", "p", "big", "on-demand")
	machine(t, r, "c", "p", "unknown", "on-demand")
	r.Run(cost.New(r.Kit, fakeCatalog{})[0], "")
	want := []string{"cost_total{nodepool=p} 1.5"}
	if diff := cmp.Diff(want, r.Series("karpenter_nodepools_", r.Kit.Metrics.NodepoolsCostTotal)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// machine makes a claim with an instance, and a node of 4 cores.
func machine(t *testing.T, r *harness.Harness, name, pool, instanceType, capacityType string, change ...func(*karpenterv1.NodeClaim)) {
	t.Helper()
	claim := r.Named(name, pool, func(c *karpenterv1.NodeClaim) {
		c.Finalizers = []string{karpenterv1.FinalizerTermination}
		c.Labels[corev1.LabelInstanceTypeStable] = instanceType
		c.Labels[karpenterv1.LabelCapacityType] = capacityType
		c.Labels[corev1.LabelTopologyZone] = "z"
		for _, change := range change {
			change(c)
		}
	})
	status := claim.DeepCopy().Status
	status.ProviderID, status.NodeName = "memory://"+name, "node-"+name
	status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi")}
	claim.Status = status
	r.Must(r.API.Status().Update(t.Context(), claim))
}

// What cannot be priced is an error that is counted; the sum is of the others, or there is none.
func TestCostThatIsUnknown(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		shop fakeCatalog
		want []string
	}{
		"a type that is no longer sold": {want: []string{"cost_total{nodepool=p} 0.25", "cost_tracker_errors_total{nodepool=p} 1"}},
		"a cloud that does not answer":  {shop: fakeCatalog{closed: true}, want: []string{"cost_tracker_errors_total{nodepool=p} 1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{}, harness.Pool("p"))
			machine(t, r, "a", "p", "big", "spot")
			machine(t, r, "b", "p", "old", "spot")
			r.Run(cost.New(r.Kit, tc.shop)[0], "")
			if diff := cmp.Diff(tc.want, r.Series("karpenter_nodepools_", r.Kit.Metrics.NodepoolsCostTotal, r.Kit.Metrics.NodepoolsCostTrackerErrorsTotal)); diff != "" {
				t.Errorf("series (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParts checks what an hour pays for: pods by namespace and owner, daemons, and the idle rest.
func TestParts(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("p"))
	machine(t, r, "a", "p", "big", "on-demand")
	pod := func(name, kind, owner, cpu string) {
		r.Bound(name, "node-a", func(p *corev1.Pod) {
			yes := true
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: owner, UID: "u", Controller: &yes}}
			p.Labels = map[string]string{"pod-template-hash": "5d4"}
			p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}}
		})
	}
	pod("web-1", "ReplicaSet", "web-5d4", "1")
	pod("web-2", "ReplicaSet", "web-5d4", "500m")
	pod("agent", "DaemonSet", "agent", "500m")
	c, m := cost.New(r.Kit, fakeCatalog{})[0], r.Kit.Metrics
	r.Run(c, "")
	want := []string{
		"per_hour{capacity_type=on-demand nodepool=p part=daemons} 0.125",
		"per_hour{capacity_type=on-demand nodepool=p part=idle} 0.5",
		"per_hour{capacity_type=on-demand nodepool=p part=pods} 0.375",
		"pods_per_hour{namespace=default owner=Deployment/web} 0.375",
	}
	if diff := cmp.Diff(want, r.Series("karpenter_cost_", m.CostPerHour, m.CostPodsPerHour)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	r.Must(r.API.Delete(t.Context(), harness.Pool("p")))
	if r.Run(c, ""); len(r.Series("karpenter_nodepools_", m.NodepoolsCostTotal)) != 0 {
		t.Error("a pool that is gone still has a cost")
	}
}

// TestSpent checks that machines are paid for from launch to end, also while their cloud does not answer, and that it is said
// until when they are.
func TestSpent(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("p"))
	market := &fakeCatalog{}
	c, m := cost.New(r.Kit, market)[0], r.Kit.Metrics
	r.Run(c, "")
	machine(t, r, "a", "p", "big", "on-demand")
	for range 6 {
		r.Clock.Step(10 * time.Minute)
		market.closed = !market.closed
		r.Run(c, "")
	}
	want := []string{"spent_total{capacity_type=on-demand nodepool=p} 1"}
	if diff := cmp.Diff(want, r.Series("karpenter_cost_", m.CostSpentTotal)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if at, now := only(t, m.CostSpentTimestampSeconds).GetGauge().GetValue(), float64(r.Clock.Now().UnixMilli())/1000; at != now {
		t.Errorf("it counts until %.3f, and it is %.3f", at, now)
	}
}

// TestSpentOfFractions checks that machines that were launched within a second cost what they did to a thousandth,
// although the API server cuts the times of their launches to whole seconds.
func TestSpentOfFractions(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("p"))
	c, m := cost.New(r.Kit, &fakeCatalog{})[0], r.Kit.Metrics
	r.Run(c, "")
	const step = 100 * time.Millisecond
	var lived time.Duration // of all
	for i := range 10 {
		name := fmt.Sprintf("m%d", i)
		machine(t, r, name, "p", "big", "on-demand")
		claim := r.Claim(name)
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{
			Type: karpenterv1.ConditionLaunched, Status: metav1.ConditionTrue, Reason: "Launched", LastTransitionTime: metav1.NewTime(r.Clock.Now()),
		})
		r.Must(r.API.Status().Update(t.Context(), claim))
		lived += time.Duration(i) * step // of those before
		r.Clock.Step(step)
	}
	lived += 10 * step
	r.Clock.Step(99 * time.Second)
	lived += 10 * 99 * time.Second
	r.Run(c, "")
	spent, want := only(t, m.CostSpentTotal).GetCounter().GetValue(), lived.Hours() // at 1 an hour
	if off := math.Abs(spent-want) / want; off > 0.001 {
		t.Errorf("spent %.5f, want %.5f: off by %.2f %%", spent, want, 100*off)
	}
}

// only returns the one series of a metric.
func only(t *testing.T, of prometheus.Collector) *dto.Metric {
	t.Helper()
	all := make(chan prometheus.Metric, 1)
	of.Collect(all)
	var out dto.Metric
	if err := (<-all).Write(&out); err != nil {
		t.Fatal(err)
	}
	return &out
}
