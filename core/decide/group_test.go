package decide_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/catalog"
	"tenon/core/check"
	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
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

// shrinking is a group with nodes, of which each has so many of the pods, in service for long.
func shrinking(floor int64, pods ...int) *snapshot.Snapshot {
	s := groupCluster(0, 5000, nil)
	after := time.Minute
	pool := &s.Pools[0]
	pool.Group.Desired, pool.Group.Floor = int64(len(pods)), floor
	pool.Consolidation = snapshot.Consolidation{Policy: snapshot.WhenEmptyOrUnderutilized, After: &after,
		Allowed: snapshot.Allowance{Empty: snapshot.Unlimited, Underutilized: snapshot.Unlimited}}
	room, long := s.Catalogs[0].Types[0].Capacity, s.Now.Add(-time.Hour)
	for i, n := range pods {
		name := fmt.Sprintf("n%04d", i)
		s.Nodes = append(s.Nodes, snapshot.Node{
			Name: name, Pool: pool.Name, Labels: map[string]string{requirement.KeyArch: "amd64", requirement.KeyZone: "a", requirement.KeyHostname: name},
			Capacity: room, Allocatable: room, Initialized: true, InstanceType: "m5.large", Zone: "a", Price: 96_000, Created: long,
			Life: snapshot.Life{Quiet: long},
		})
		for k := range n {
			s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: fmt.Sprintf("%s-%d", name, k), UID: fmt.Sprintf("%s-%d", name, k),
				Node: name, Created: long, Tie: snapshot.Tie{Returns: true, Asked: true, Cost: snapshot.OrdinaryCost}})
		}
	}
	return s
}

// Nodes of a group go when they are empty, or when their pods fit on others, but the group does not get smaller than its
// floor: nodes that leave already count.
func TestGroupsShrink(t *testing.T) {
	t.Parallel()
	leaving := func(s *snapshot.Snapshot) { s.Nodes[0].Leaving, s.Nodes[0].Life.Awaits = true, true }
	cases := map[string]struct {
		s      *snapshot.Snapshot
		change func(*snapshot.Snapshot)
		want   int
		keeps  reason.Code // one of the nodes
	}{
		"empty nodes go":            {s: shrinking(0, 4, 0, 0), want: 2},
		"not below the floor":       {s: shrinking(2, 4, 0, 0), want: 1, keeps: reason.GroupFloor},
		"at the floor":              {s: shrinking(3, 4, 0, 0), keeps: reason.GroupFloor},
		"one leaves already":        {s: shrinking(2, 0, 4, 0, 4), change: leaving, want: 1},
		"the last one leaves":       {s: shrinking(3, 0, 4, 0, 4), change: leaving, keeps: reason.GroupFloor},
		"an instance ends":          {s: shrinking(3, 0, 4, 0, 4), change: func(s *snapshot.Snapshot) { leaving(s); s.Nodes[0].Life.Terminating = true }, want: 1},
		"pods move together":        {s: shrinking(0, 2, 2, 2, 2), want: 2},
		"and stay at the floor":     {s: shrinking(4, 2, 2, 2, 2), keeps: reason.GroupFloor},
		"more than were asked for":  {s: shrinking(0, 0, 0), change: func(s *snapshot.Snapshot) { s.Pools[0].Group.Desired = 1 }, want: 1},
		"the group may not shrink":  {s: shrinking(0, 0, 0), change: func(s *snapshot.Snapshot) { s.Pools[0].Consolidation.After = nil }, keeps: reason.ConsolidationDisabled},
		"a budget allows one":       {s: shrinking(0, 0, 0), change: func(s *snapshot.Snapshot) { s.Pools[0].Consolidation.Allowed.Empty = 1 }, want: 1, keeps: reason.DisruptionBudget},
		"no new one takes its pods": {s: shrinking(0, 4, 4, 1), keeps: reason.PodsWithoutOtherPlace},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.change != nil {
				tc.change(tc.s)
			}
			p := decide.Decide(tc.s, decide.Budget{Disrupt: true}).Plan
			for _, v := range check.Plan(tc.s, &p) {
				t.Error(v)
			}
			got := 0
			for _, d := range p.Disruptions {
				got += len(d.Nodes)
			}
			kept := slices.ContainsFunc(p.Prospects, func(n plan.Prospect) bool { return n.Cause.Code == tc.keeps })
			if got != tc.want || tc.keeps != reason.None && !kept {
				t.Errorf("%d nodes go, want %d; %+v", got, tc.want, p.Prospects)
			}
		})
	}
}

// Nodes of a group that is handed over are replaced by nodes of a pool, as budgets and the pause allow, down to the floor, and take no
// pods of each other.
func TestGroupsAreHandedOver(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		floor  int64
		pods   []int
		change func(*snapshot.Snapshot)
		want   int // nodes that go
		bought int
		keeps  reason.Code // one of the nodes
	}{
		"every node gets a replacement": {pods: []int{1, 1, 1}, want: 3, bought: 3},
		"empty nodes go first":          {pods: []int{1, 0}, change: func(s *snapshot.Snapshot) { s.Pools[0].Consolidation.Allowed.Drifted = 1 }, want: 1, keeps: reason.DisruptionBudget},
		"down to the floor":             {floor: 2, pods: []int{1, 1, 1}, want: 1, bought: 1, keeps: reason.GroupFloor},
		"paused": {pods: []int{1, 1}, change: func(s *snapshot.Snapshot) {
			s.Pools[0].Consolidation.Pace = &snapshot.Pace{Rollout: reason.Rollout{Phase: reason.RolloutHeld}}
		}, keeps: reason.RolloutPace},
		"no pool may launch": {pods: []int{1, 1}, change: func(s *snapshot.Snapshot) { s.Pools[1].Unready.Code = reason.PoolDeleted }, keeps: reason.PodsWithoutOtherPlace},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shrinking(tc.floor, tc.pods...)
			s.Pools[0].Consolidation.After = nil // it only hands over
			s.Pools[0].Consolidation.Allowed.Drifted = snapshot.Unlimited
			s.Pools[0].Unready.Code = reason.GroupHandedOver
			for i := range s.Nodes {
				s.Nodes[i].Life.Drifted = "HandedOver"
			}
			pool := s.Pools[0]
			pool.Name, pool.Group, pool.Unready, pool.Limits = "own", nil, reason.Unready{}, nil
			kind := s.Catalogs[pool.Catalog].Types[0]
			kind.Offerings = []catalog.Offering{{Zone: "a", CapacityType: catalog.OnDemand, Price: 96_000, Available: true}}
			pool.Catalog = s.AddCatalog(&catalog.Catalog{Types: []catalog.Type{kind}})
			s.Pools = append(s.Pools, pool)
			if tc.change != nil {
				tc.change(s)
			}
			p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
			for _, v := range check.Plan(s, &p) {
				t.Error(v)
			}
			going, bought := 0, 0
			for _, d := range p.Disruptions {
				going, bought = going+len(d.Nodes), bought+len(d.Replacements)
				for _, c := range d.Replacements {
					if c.Pool != "own" {
						t.Errorf("a node of %s is bought", c.Pool)
					}
				}
			}
			kept := slices.ContainsFunc(p.Prospects, func(n plan.Prospect) bool { return n.Cause.Code == tc.keeps })
			if going != tc.want || bought != tc.bought || tc.keeps != reason.None && !kept {
				t.Errorf("%d nodes go and %d are bought, want %d and %d; %+v", going, bought, tc.want, tc.bought, p.Prospects)
			}
		})
	}
}

// A group of 2,000 nodes, of which every tenth is empty and every fifth has one pod, by the rules of each mode.
func BenchmarkShrink(b *testing.B) {
	pods := make([]int, 2000)
	for i := range pods {
		if pods[i] = 3; i%10 == 0 {
			pods[i] = 0
		} else if i%5 == 0 {
			pods[i] = 1
		}
	}
	for _, tc := range []struct {
		mode string
		s    *snapshot.Snapshot
		want int
	}{
		{"native", shrinking(0, pods...), 750},
		{"cas", fleetOf(pods, 4), 400}, // the others are used too much
		{"cas, all used little", fleetOf(repeat(2000, 10), 100), 1800},
	} {
		b.Run(tc.mode, func(b *testing.B) {
			for b.Loop() {
				p := decide.Decide(tc.s, decide.Budget{Disrupt: true, Unadvised: true, Unproven: true}).Plan
				if gone := removed(&p); gone != tc.want {
					b.Fatalf("%d nodes go", gone)
				}
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
