package opencost_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/model"
	"tenon/internal/cost"
	"tenon/internal/opencost"
	"tenon/internal/view"
)

// fleet is one machine for 0.80 an hour, of which a half is idle.
func fleet() *view.Fleet {
	price := func(cents int) model.Money { return model.Money(cents) * model.Unit / 100 }
	pod := func(namespace, name, owner string, cpu int64, gib int64, cents int, daemon bool) *view.Pod {
		return &view.Pod{Namespace: namespace, Name: name, Owner: owner, Requests: model.Resources{CPU: cpu, Memory: gib << 30}, Cost: price(cents), Daemon: daemon}
	}
	return &view.Fleet{Nodes: []*view.Node{
		{
			Name: "n", Instance: "i-1", Type: "m5.xlarge", Region: "us-west-2", Arch: "amd64", CapacityType: "spot", Price: price(80), Source: view.FromCatalog, Idle: price(40), Overhead: price(10),
			Allocatable: model.Resources{CPU: 4000, Memory: 16 << 30},
			Pods: []*view.Pod{
				pod("kube-system", "proxy-1", "DaemonSet/proxy", 500, 1, 10, true), pod("shop", "web-1", "Deployment/web", 1000, 2, 20, false), pod("shop", "lone", "", 500, 1, 10, false),
			},
		},
		{Name: "unknown"},
	}}
}

var noon = time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC)

// TestAllocations checks names, sums and fields by each aggregate.
func TestAllocations(t *testing.T) {
	t.Parallel()
	for by, want := range map[cost.Dimension]map[string]float64{
		cost.ByNamespace: {"__idle__": 0.4, "kube-system": 0.1, "shop": 0.3},
		cost.ByOwner:     {"__idle__": 0.4, "__unallocated__": 0.1, "kube-system/daemonset:proxy": 0.1, "shop/deployment:web": 0.2},
	} {
		answer := opencost.Allocations(fleet(), "lab", by, noon)
		got := map[string]float64{}
		for name, a := range answer.Data[0] {
			got[name] = math.Round(1e6*a.TotalCost) / 1e6
			if a.Name != name || a.Minutes != 60 || a.Properties.Cluster != "lab" || !a.End.Equal(noon) || math.Abs(a.CPUCost+a.RAMCost-a.TotalCost) > 1e-9 {
				t.Errorf("%s: %+v", name, a)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", by, diff)
		}
	}
	text, err := json.Marshal(opencost.Allocations(fleet(), "lab", cost.ByOwner, noon).Data[0]["shop/deployment:web"])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"controller":"web","controllerKind":"deployment"`, `"cpuCoreRequestAverage":1,`, `"ramByteRequestAverage":2147483648,`, `"window":{"start":"2026-11-01T11:00:00Z","end":"2026-11-01T12:00:00Z"}`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s lacks %s", text, part)
		}
	}
}

// TestMetrics checks that the units of a node add up to its price, and that nodes without a price are left out.
func TestMetrics(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := opencost.WriteMetrics(&out, fleet()); err != nil {
		t.Fatal(err)
	}
	const labels = `{instance="n",node="n",instance_type="m5.xlarge",region="us-west-2",provider_id="i-1",arch="amd64"} `
	want := []string{"node_total_hourly_cost" + labels + "0.8", "node_cpu_hourly_cost" + labels + "0.133333333", "node_ram_hourly_cost" + labels + "0.016666667", "kubecost_node_is_spot" + labels + "1"}
	var got []string
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, "#") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
