package rulecost

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"tenon/core/catalog"
	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// shop is so many workloads of four pods each, every pod of which wants a node for itself.
func shop(workloads int) *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Settings: snapshot.Settings{Preferences: snapshot.Respect, WellKnown: requirement.Core().WellKnown()},
		Catalogs: []catalog.Catalog{{Types: []catalog.Type{{
			Name: "large", Capacity: model.Resources{CPU: 16_000, Memory: 64 << 30, Pods: 100},
			Requirements: requirement.FromLabels(map[string]string{requirement.KeyInstanceType: "large", requirement.KeyOS: "linux", requirement.KeyArch: "amd64"}),
			Offerings:    []catalog.Offering{{Zone: "a", CapacityType: catalog.OnDemand, Price: model.Unit, Available: true}},
		}}}},
		Pools: []snapshot.Pool{{Name: "default", Requirements: requirement.FromLabels(map[string]string{requirement.KeyNodePool: "default"})}},
	}
	for w := range workloads {
		name := fmt.Sprint("web-", w)
		apart := snapshot.AffinityTerm{Key: requirement.KeyHostname, Namespaces: []string{"shop"}, Selector: model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: []string{name}}}}}
		s.Templates = append(s.Templates, snapshot.Template{
			Namespace: "shop", Owner: "Deployment/" + name, Labels: map[string]string{"app": name},
			Requests: model.Resources{CPU: 500, Memory: 1 << 30, Pods: 1}, AntiAffinity: []snapshot.AffinityTerm{apart},
		})
		for i := range 4 + w%2 { // the longest of them decide how many nodes there are
			s.Pods = append(s.Pods, snapshot.Pod{Namespace: "shop", Name: fmt.Sprint(name, "-", i), Template: snapshot.TemplateIndex(w), Pending: true})
		}
	}
	return s
}

// When the effort ends amid a kind, the kind is told as a whole, and how many were not examined.
func TestEffortThatEndsAmidAKind(t *testing.T) {
	t.Parallel()
	s := shop(6)
	p := decide.Decide(s, decide.Budget{}).Plan
	r := Of(s, &p, Budget{Steps: 3 * p.Solve.Steps})
	if r.Examined == 0 || r.Unexamined == 0 || r.Examined+r.Unexamined != 6 {
		t.Fatalf("%d examined, %d not", r.Examined, r.Unexamined)
	}
	last := r.Costs[len(r.Costs)-1]
	if text := last.Rule.Text(); text != "anti-affinity of 6 workloads together by hostname" || last.Savings != 4*model.Unit || last.Rule.Pods != 27 {
		t.Errorf("%s saves %s, for %d pods", text, last.Savings, last.Rule.Pods)
	}
	if r.Steps > 4*p.Solve.Steps {
		t.Errorf("%d steps for an effort of three plans of %d", r.Steps, p.Solve.Steps)
	}
}

// Questions are asked about copies: the snapshot stays as it was given.
func TestTheSnapshotIsNotChanged(t *testing.T) {
	t.Parallel()
	s, want := shop(3), shop(3)
	s.Pools[0].Limits, want.Pools[0].Limits = []model.Amount{{Name: model.CPU, Value: 90_000}}, []model.Amount{{Name: model.CPU, Value: 90_000}}
	p := decide.Decide(s, decide.Budget{}).Plan
	if r := Of(s, &p, Budget{}); r.Examined != 4 {
		t.Errorf("%d rules examined, want 4", r.Examined)
	}
	if !reflect.DeepEqual(want, s) {
		t.Error("the snapshot was changed")
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Rule{
		"soft spread of Deployment shop/web over hostnames":       {Kind: Spread, Soft: true, Key: requirement.KeyHostname, Namespace: "shop", Workload: "Deployment/web"},
		"spread of Pod shop/web-0 over rack domains":              {Kind: Spread, Key: "rack", Namespace: "shop", Workload: "Pod/web-0"},
		"preferred anti-affinity of 3 workloads together by zone": {Kind: AntiAffinity, Soft: true, Key: requirement.KeyZone, Workloads: 3},
		"affinity of StatefulSet a/db by capacity type":           {Kind: Affinity, Key: requirement.KeyCapacityType, Namespace: "a", Workload: "StatefulSet/db"},
		"preferred node affinity of Job a/b":                      {Kind: NodePreference, Soft: true, Namespace: "a", Workload: "Job/b"},
		"zone rule of NodePool default":                           {Kind: Zone, Pool: "default"},
		"capacity type rule of 2 NodePools together":              {Kind: CapacityType, Pool: "default", Workloads: 2},
		"weight of NodePool first":                                {Kind: Weight, Pool: "first"},
		"limit cpu of NodePool first":                             {Kind: Limit, Key: "cpu", Pool: "first"},
	} {
		if got := r.Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A limit that no plan comes near costs nothing, even if a plan without it happens to be cheaper.
func TestAPlanThatKeepsTheRuleSaysNothing(t *testing.T) {
	t.Parallel()
	s := shop(2)
	s.Pools[0].Limits = []model.Amount{{Name: model.CPU, Value: 1_000_000}}
	p := decide.Decide(s, decide.Budget{}).Plan
	p.Cost.New += model.Unit // as a worse rounding would have it
	for _, c := range Of(s, &p, Budget{}).Costs {
		if c.Rule.Kind == Limit {
			t.Errorf("%s saves %s", c.Rule.Text(), c.Savings)
		}
	}
	s.Pools[0].Limits[0].Value = 48_000
	p = decide.Decide(s, decide.Budget{}).Plan
	if costs := Of(s, &p, Budget{}).Costs; len(costs) == 0 || !slices.ContainsFunc(costs, func(c Cost) bool { return c.Rule.Kind == Limit && c.Places > 0 }) {
		t.Errorf("the limit keeps pods waiting: %v", costs)
	}
}
