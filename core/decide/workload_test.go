package decide

import (
	"fmt"
	"math/rand"
	"os"
	"testing"
	"time"

	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

func fakeTypes(n int) catalog.Catalog {
	var c catalog.Catalog
	for i := range n {
		cpu, mem := int64(i+1), int64(2*(i+1))<<30
		price := model.MoneyFromFloat(0.1*float64(cpu) + 0.1*float64(mem)/1e9)
		t := catalog.Type{
			Name: fmt.Sprintf("fake-%d", i),
			Requirements: requirement.NewSet(
				requirement.New("node.kubernetes.io/instance-type", requirement.In, fmt.Sprintf("fake-%d", i)),
				requirement.New("kubernetes.io/arch", requirement.In, "amd64"),
				requirement.New("kubernetes.io/os", requirement.In, "linux", "windows", "darwin"),
			),
			Capacity: model.Resources{CPU: cpu * 1000, Memory: mem, Pods: 10 * cpu},
			Overhead: model.Resources{CPU: 100, Memory: 10 << 20},
		}
		for _, o := range [][2]string{{"spot", "test-zone-1"}, {"spot", "test-zone-2"}, {"on-demand", "test-zone-1"}, {"on-demand", "test-zone-2"}, {"on-demand", "test-zone-3"}} {
			t.Offerings = append(t.Offerings, catalog.Offering{Zone: o[1], CapacityType: o[0], Price: price, Available: true})
		}
		c.Types = append(c.Types, t)
	}
	return c
}

var letters = []string{"a", "b", "c", "d", "e", "f", "g"}

func workload(mix string, n int, c catalog.Catalog) *snapshot.Snapshot {
	r := rand.New(rand.NewSource(42))
	s := &snapshot.Snapshot{Settings: snapshot.Settings{Preferences: snapshot.Respect, WellKnown: requirement.Core().WellKnown()}}
	s.Catalogs = []catalog.Catalog{c}
	s.Pools = []snapshot.Pool{{Name: "default", Requirements: requirement.FromLabels(map[string]string{"karpenter.sh/nodepool": "default"})}}
	index := map[string]int32{}
	size := func(t *snapshot.Template) {
		cpu := []int64{100, 250, 500, 1000, 1500}[r.Intn(5)]
		mem := []int64{100, 256, 512, 1024, 2048, 4096}[r.Intn(6)]
		t.Requests = model.Resources{CPU: cpu, Memory: mem << 20, Pods: 1}
	}
	sel := func(k, v string) model.Selector {
		return model.Selector{Expressions: []model.Expression{{Key: k, Operator: "In", Values: []string{v}}}}
	}
	pick := func() string { return letters[r.Intn(7)] }
	add := func(m string, count int) {
		for i := range count {
			t := snapshot.Template{Namespace: "default"}
			switch m {
			case "generic":
				t.Labels = map[string]string{"my-label": pick()}
			case "zonespread", "hostspread":
				key := feasible.ZoneKey
				if m == "hostspread" {
					key = feasible.HostnameKey
				}
				t.Labels = map[string]string{"my-label": pick()}
				t.Spreads = []snapshot.Spread{{Key: key, MaxSkew: 1, Selector: sel("my-label", pick())}}
			case "zoneaffinity":
				l := pick()
				t.Labels = map[string]string{"my-label": l}
				t.Affinity = []snapshot.AffinityTerm{{Key: feasible.ZoneKey, Namespaces: []string{"default"}, Selector: sel("my-label", l)}}
			case "hostanti":
				t.Labels = map[string]string{"app": "nginx"}
				t.AntiAffinity = []snapshot.AffinityTerm{{Key: feasible.HostnameKey, Namespaces: []string{"default"}, Selector: sel("app", "nginx")}}
			}
			size(&t)
			key := fmt.Sprintf("%v", t)
			id, ok := index[key]
			if !ok {
				id = int32(len(s.Templates))
				index[key] = id
				s.Templates = append(s.Templates, t)
			}
			s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: fmt.Sprintf("%s-%d", m, i), Template: id, Pending: true})
		}
	}
	if mix == "diverse" {
		for _, m := range []string{"generic", "zonespread", "hostspread", "zoneaffinity", "hostanti"} {
			add(m, n/5)
		}
	} else {
		add(mix, n)
	}
	return s
}

func TestTry(t *testing.T) {
	if os.Getenv("TRY") == "" {
		t.SkipNow()
	}
	for _, mix := range []string{"generic", "zonespread", "zoneaffinity", "hostspread", "hostanti", "diverse"} {
		for _, n := range []int{10, 50, 100, 500, 1000, 5000, 10000} {
			s := workload(mix, n, fakeTypes(400))
			t0 := time.Now()
			p := Decide(s, Budget{}).Plan
			t1 := time.Now()
			fmt.Printf("%-12s %6d shapes %5d | %6s | nodes %5d unplaced %d price %9.2f bound %9.2f gap %.4f steps %dM\n", mix, n, p.Solve.Shapes,
				t1.Sub(t0).Round(time.Millisecond), len(p.Claims), len(p.Unplaced), p.Cost.New.Float(), p.Cost.LowerBound.Float(), p.Cost.Gap(), p.Solve.Steps/1e6)
		}
	}
}
