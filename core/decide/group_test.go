package decide_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/catalog"
	"tenon/core/check"
	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// groupCluster has one group of machines with four processors in two zones, of which the cloud chooses one, and so many pods that ask
// for one processor and something else.
func groupCluster(pods int, ceiling int64, ask func(*snapshot.Template)) *snapshot.Snapshot {
	zones := []string{"a", "b"}
	room := model.Resources{CPU: 4000, Memory: 16 << 30, Pods: 110}
	labels := map[string]string{requirement.KeyArch: "amd64"}
	s := &snapshot.Snapshot{
		Now:      time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC),
		Settings: snapshot.Settings{WellKnown: requirement.Core().WellKnown()},
		Catalogs: []catalog.Catalog{{Types: []catalog.Type{{
			Name: "m5.large", Capacity: room,
			Requirements: requirement.FromLabels(labels).With(requirement.New(requirement.KeyZone, requirement.In, zones...)),
			Offerings: []catalog.Offering{{Zone: "a, b", CapacityType: catalog.OnDemand, Price: 96_000, Available: true,
				Extra: requirement.NewSet(requirement.New(requirement.KeyZone, requirement.In, zones...), requirement.New(requirement.KeyCapacityType, requirement.DoesNotExist))}},
		}}}},
		Pools: []snapshot.Pool{{Name: snapshot.GroupPool("web"), Labels: labels, Requirements: requirement.FromLabels(labels),
			Group: &snapshot.Group{Name: "Web", Desired: 1, Chosen: map[string][]string{requirement.KeyZone: zones}}, Limits: []model.Amount{{Name: model.Nodes, Value: ceiling}}}},
		Templates: []snapshot.Template{{Namespace: "default", Labels: map[string]string{"app": "web"}, Requests: model.Resources{CPU: 1000, Memory: 1 << 30, Pods: 1}}},
	}
	if ask != nil {
		ask(&s.Templates[0])
	}
	for i := range pods {
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: fmt.Sprintf("web-%d", i), Pending: true})
	}
	return s
}

// A group grows by what the pods need, in one increase, not above its ceiling, and never for what the cloud chooses.
func TestGroupsGrow(t *testing.T) {
	t.Parallel()
	in := func(operator requirement.Operator, values ...string) func(*snapshot.Template) {
		return func(t *snapshot.Template) {
			t.Selector = requirement.NewSet(requirement.New(requirement.KeyZone, operator, values...))
		}
	}
	everyWeb := model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: []string{"web"}}}}
	cases := map[string]struct {
		pods     int
		ceiling  int64
		ask      func(*snapshot.Template)
		want     int64 // the size that is asked for; 0 is no increase
		unplaced int
	}{
		"two nodes for eight pods": {pods: 8, ceiling: 9, want: 3},
		"not above the ceiling":    {pods: 8, ceiling: 2, want: 2, unplaced: 4},
		"a ceiling below the size": {pods: 8, ceiling: 0, unplaced: 8},
		"one of its zones":         {pods: 1, ceiling: 9, ask: in(requirement.In, "a"), unplaced: 1},
		"not one of its zones":     {pods: 1, ceiling: 9, ask: in(requirement.NotIn, "a"), unplaced: 1},
		"all of its zones":         {pods: 1, ceiling: 9, ask: in(requirement.In, "a", "b", "c"), want: 2},
		"not a zone of others":     {pods: 1, ceiling: 9, ask: in(requirement.NotIn, "c"), want: 2},
		"a capacity type that it has not": {pods: 1, ceiling: 9, unplaced: 1, ask: func(t *snapshot.Template) {
			t.Selector = requirement.NewSet(requirement.New(requirement.KeyCapacityType, requirement.In, catalog.OnDemand))
		}},
		"a capacity type that it can avoid": {pods: 1, ceiling: 9, want: 2, ask: func(t *snapshot.Template) {
			t.Selector = requirement.NewSet(requirement.New(requirement.KeyCapacityType, requirement.NotIn, catalog.Spot))
		}},
		"a spread over zones": {pods: 2, ceiling: 9, unplaced: 2, ask: func(t *snapshot.Template) {
			t.Spreads = []snapshot.Spread{{Key: requirement.KeyZone, MaxSkew: 1, Selector: everyWeb}}
		}},
		"a spread over hosts": {pods: 2, ceiling: 9, want: 3, ask: func(t *snapshot.Template) {
			t.Spreads = []snapshot.Spread{{Key: requirement.KeyHostname, MaxSkew: 1, Selector: everyWeb}}
		}},
		"a zone of its own": {pods: 1, ceiling: 9, unplaced: 1, ask: func(t *snapshot.Template) {
			t.AntiAffinity = []snapshot.AffinityTerm{{Key: requirement.KeyZone, Selector: everyWeb, Namespaces: []string{"default"}}}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := groupCluster(tc.pods, tc.ceiling, tc.ask)
			p := decide.Decide(s, decide.Budget{}).Plan
			for _, v := range check.Plan(s, &p) {
				t.Error(v)
			}
			var want []plan.Increase
			if tc.want > 0 {
				want = []plan.Increase{{Group: "Web", From: 1, To: tc.want}}
			}
			if diff := cmp.Diff(want, p.Increases(s)); diff != "" || len(p.Unplaced) != tc.unplaced {
				t.Errorf("%d pods have no place, want %d; increases (-want +got):\n%s", len(p.Unplaced), tc.unplaced, diff)
			}
		})
	}
}

// 50,000 like pods onto 1,000 nodes of one group.
func BenchmarkGroup(b *testing.B) {
	s := groupCluster(50_000, 2000, func(t *snapshot.Template) { t.Requests = model.Resources{CPU: 80, Memory: 64 << 20, Pods: 1} })
	for b.Loop() {
		if p := decide.Decide(s, decide.Budget{}).Plan; len(p.Claims) != 1000 {
			b.Fatalf("%d nodes", len(p.Claims))
		}
	}
}
