package decide_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tenon/core/check"
	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Limits of the cluster bound pools and groups together, besides their own limits; all nodes count, those of no pool too, and pods that get
// no node for that are told which limit it is.
func TestLimitsOfTheCluster(t *testing.T) {
	t.Parallel()
	small, pool := member{name: "small", cpu: 2, price: 10, ceiling: 9}, member{name: "pool", cpu: 4, price: 30}
	nodes := func(most int64) []model.Amount { return []model.Amount{{Name: model.Nodes, Value: most}} }
	cores := func(most int64) []model.Amount { return []model.Amount{{Name: model.CPU, Value: most * 1000}} }
	six := []int64{2, 2, 2, 2, 2, 2}
	cases := map[string]struct {
		members []member
		cores   []int64
		limits  []model.Amount
		outside int64 // cores of a node that belongs to no pool
		want    string
		waiting int
		where   string // the limit that keeps a pod waiting
	}{
		"without a limit":            {members: []member{small}, cores: six, want: "6 small"},
		"as many nodes as there may": {members: []member{small}, cores: six, limits: nodes(4), want: "4 small", waiting: 2, where: model.Nodes},
		"a group and a pool":         {members: []member{tainted(small, "only-0"), tainted(pool, "only-1")}, cores: []int64{2, 2}, limits: nodes(1), want: "1 small", waiting: 1, where: model.Nodes},
		"larger nodes save nodes":    {members: []member{small, pool}, cores: []int64{2, 2, 2, 2}, limits: nodes(2), want: "2 pool"},
		"cores":                      {members: []member{small}, cores: six, limits: cores(7), want: "3 small", waiting: 3, where: model.CPU},
		"a limit above the group's":  {members: []member{{name: "small", cpu: 2, price: 10, ceiling: 2}}, cores: six, limits: nodes(4), want: "2 small", waiting: 4},
		"a node of no pool counts":   {members: []member{small}, cores: six, limits: nodes(4), outside: 1, want: "3 small", waiting: 3, where: model.Nodes},
		"reached already":            {members: []member{small}, cores: six, limits: cores(8), outside: 8, waiting: 6, where: model.CPU},
		"both":                       {members: []member{small}, cores: six, limits: append(nodes(5), cores(4)...), want: "2 small", waiting: 4, where: model.CPU},
		"memory":                     {members: []member{small}, cores: six, limits: []model.Amount{{Name: model.Memory, Value: 17 << 30}}, want: "2 small", waiting: 4, where: model.Memory},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := among("", tc.members, tc.cores...)
			s.Settings.Limits = tc.limits
			if tc.outside > 0 {
				s.Nodes = append(s.Nodes, outside(tc.outside))
			}
			p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
			for _, v := range check.Plan(s, &p) {
				t.Error(v)
			}
			if got := grown(p.Claims); got != tc.want || len(p.Unplaced) != tc.waiting {
				t.Errorf("%s and %d pods without a place, want %s and %d", got, len(p.Unplaced), tc.want, tc.waiting)
			}
			if tc.where == "" {
				return
			}
			found := ""
			for i := range p.Unplaced {
				for _, v := range p.Unplaced[i].Verdict.Pools {
					if v.Reason.Code == reason.ClusterLimitReached {
						found = v.Reason.Where
					}
				}
			}
			if text := p.Unplaced[0].Verdict.Text(); found != tc.where || !strings.Contains(text, "the limit on all nodes of the cluster, "+reason.TotalFlag(tc.where)) {
				t.Errorf("%q is reached, want %q: %s", found, tc.where, text)
			}
		})
	}
}

// outside is a full node that belongs to no pool.
func outside(cores int64) snapshot.Node {
	room := model.Resources{CPU: cores * 1000, Memory: cores << 32}
	return snapshot.Node{Name: "outside", Labels: map[string]string{}, Capacity: room, Initialized: true}
}

// The checker accepts plans for clusters with limits of all kinds; it counts for itself.
func TestLimitsOfTheClusterAreKept(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 17))
			var members []member
			for i := range 1 + r.IntN(4) {
				m := member{name: fmt.Sprint("m", i), cpu: 1 << (1 + r.IntN(4)), price: model.Money(10 + r.IntN(90))}
				if r.IntN(2) == 0 {
					m.ceiling = int64(1 + r.IntN(4))
				}
				if m.ceiling > 0 && r.IntN(3) == 0 {
					m.priority = int64(1 + r.IntN(3))
				}
				members = append(members, m)
			}
			var cores []int64
			for range 1 + r.IntN(12) {
				cores = append(cores, int64(1+r.IntN(3)))
			}
			s := among([]string{"", "least-waste", "priority,least-waste"}[r.IntN(3)], members, cores...)
			if r.IntN(2) == 0 {
				s.Nodes = append(s.Nodes, outside(1))
			}
			for _, limit := range []model.Amount{{Name: model.Nodes, Value: int64(r.IntN(6))}, {Name: model.CPU, Value: int64(r.IntN(40_000))}, {Name: model.Memory, Value: int64(r.IntN(128)) << 30}} {
				if r.IntN(2) == 0 {
					s.Settings.Limits = append(s.Settings.Limits, limit)
				}
			}
			for i := range s.Pools {
				if s.Pools[i].Group == nil && r.IntN(2) == 0 {
					s.Pools[i].Limits = []model.Amount{{Name: model.CPU, Value: int64(r.IntN(40_000))}}
				}
			}
			p := decide.Decide(s, decide.Budget{}).Plan
			for _, v := range check.Plan(s, &p) {
				if !v.Rule.IsAdvice() {
					t.Error(v)
				}
			}
		})
	}
}

// Groups in mode cas keep their nodes where the cluster would have less of a resource than its minimum.
func TestFloorsOfTheCluster(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		floor model.Amount
		want  int
	}{
		"no floor":           {want: 2},
		"two may go":         {model.Amount{Name: model.CPU, Value: 4000}, 2},
		"one may":            {model.Amount{Name: model.CPU, Value: 5000}, 1},
		"none may":           {model.Amount{Name: model.CPU, Value: 9000}, 0},
		"below it already":   {model.Amount{Name: model.CPU, Value: 90_000}, 0},
		"memory":             {model.Amount{Name: model.Memory, Value: 40 << 30}, 0},
		"another resource":   {model.Amount{Name: "nvidia.com/gpu", Value: 1}, 2},
		"memory, one may go": {model.Amount{Name: model.Memory, Value: 32 << 30}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ruled(shrinking(0, 4, 0, 0))
			s.Pools[0].Consolidation.After = new(time.Duration)
			for i := range s.Nodes {
				s.Nodes[i].Life.Unneeded = s.Now.Add(-time.Hour)
			}
			if tc.floor.Name != "" {
				s.Settings.Floors = []model.Amount{tc.floor}
			}
			p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
			for _, v := range check.Plan(s, &p) {
				t.Error(v)
			}
			kept := 0
			for i := range p.Prospects {
				if o := &p.Prospects[i]; o.Cause.Code == reason.MinimalResourceLimitExceeded && o.Unneeded {
					kept++
				}
			}
			if got := removed(&p); got != tc.want || kept != 2-tc.want {
				t.Errorf("%d nodes go and %d are kept for it, want %d and %d", got, kept, tc.want, 2-tc.want)
			}
		})
	}
}
