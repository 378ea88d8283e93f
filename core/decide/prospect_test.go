package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/decide"
	"tenon/core/disrupt"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// tell writes a prospect with all that people are told by it.
func tell(o *plan.Prospect) string {
	words := []string{string(o.Kind), string(o.Reason), o.Event(), o.Cause.Text()}
	if !o.Until.IsZero() {
		words = append(words, "until +"+o.Until.Sub(present).String())
	}
	return strings.Join(words, "|")
}

// What keeps a node is told in the words that users know from Karpenter, with the name of
// what keeps it and until when that is so; what is so for good is told before what passes.
func TestProspects(t *testing.T) {
	t.Parallel()
	const types = "consolidate\ntype small cpu=2 mem=8Gi price=0.1\ntype large cpu=8 mem=32Gi price=0.4\n"
	life := func(change func(*snapshot.Life)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { change(&s.Nodes[0].Life) }
	}
	cases := map[string]struct {
		given  string
		change func(*snapshot.Snapshot)
		want   string // of the first node
	}{
		"a node that is not managed": {"node a cpu=4", nil, "Blocked|||Node isn't managed by karpenter"},
		"no node yet": {
			"node a type=small", life(func(l *snapshot.Life) { l.Unborn = true }),
			"Blocked||DisruptionBlocked|Nodeclaim does not have an associated node",
		},
		"not initialized": {
			"node a type=small", func(s *snapshot.Snapshot) { s.Nodes[0].Initialized = false },
			"Blocked||DisruptionBlocked|Node isn't initialized",
		},
		"leaving": {"node a type=small leaving=yes", nil, "Blocked||DisruptionBlocked|Node is deleting or marked for deletion"},
		"promised to pods": {
			"node a type=small", life(func(l *snapshot.Life) { l.Nominated = present.Add(20 * time.Second) }),
			"Blocked||DisruptionBlocked|Node is nominated for a pending pod|until +20s",
		},
		"an annotation": {
			"node a type=small held=yes", nil,
			`Blocked||DisruptionBlocked|Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation`,
		},
		"a node without the label": {
			"node a type=small", func(s *snapshot.Snapshot) { s.Nodes[0].Pool = "" },
			"Blocked||DisruptionBlocked|Node doesn't have required label (label=karpenter.sh/nodepool)",
		},
		"a pool that is gone": {"node a type=small pool=gone", nil, "Blocked||DisruptionBlocked|NodePool not found (NodePool=gone)"},
		"a protected pod": {
			"node a type=small\npods web cpu=1 on=a held=yes", nil,
			`Blocked||DisruptionBlocked|Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=default/web-0)`,
		},
		"a pod that is protected for a while": {
			"node a type=small\npods web cpu=1 on=a held=yes", func(s *snapshot.Snapshot) { s.Pods[0].Tie.Until = present.Add(time.Hour) },
			`Blocked||DisruptionBlocked|Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=default/web-0)|until +1h0m0s`,
		},
		"a budget of pods": {
			"budget none allowed=0\nnode a type=small\npods web cpu=1 on=a budget=none", nil,
			"Blocked||DisruptionBlocked|Pdb prevents pod evictions (PodDisruptionBudget=[default/none])",
		},
		"two budgets of pods": {
			"budget one allowed=1\nbudget two allowed=1\nnode a type=small\npods web cpu=1 on=a budget=one budget=two", nil,
			"Blocked||DisruptionBlocked|Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[default/one default/two])",
		},
		"a pool with consolidation disabled": {
			"pool default after=Never\nnode a type=small", nil,
			`Kept||Unconsolidatable|NodePool "default" has consolidation disabled`,
		},
		"a static pool, which is not expected to": {
			"node a type=small", func(s *snapshot.Snapshot) { s.Pools[0].Replicas = new(int64) },
			`Kept|||NodePool "default" is static`,
		},
		"a policy that will not change tomorrow comes before a pod that came today": {
			"pool default after=1h policy=WhenEmpty\nnode a type=small quiet=10m\npods web cpu=1 on=a", nil,
			`Kept||Unconsolidatable|NodePool "default" has consolidation policy WhenEmpty, but node is not empty`,
		},
		"an unknown type": {
			"node a type=small\npods web cpu=1 on=a", func(s *snapshot.Snapshot) { s.Nodes[0].Price, s.Nodes[0].InstanceType = 0, "m1.tiny" },
			`Kept||Unconsolidatable|Instance Type "m1.tiny" not found`,
		},
		"a missing label": {
			"node a type=small\npods web cpu=1 on=a", func(s *snapshot.Snapshot) { delete(s.Nodes[0].Labels, "topology.kubernetes.io/zone") },
			`Kept||Unconsolidatable|Node does not have label "topology.kubernetes.io/zone"`,
		},
		"a pod that came": {
			"pool default after=1h\nnode a type=small quiet=10m\npods web cpu=1 on=a", nil,
			"Waiting|||A pod has come or gone within consolidateAfter|until +50m0s",
		},
		"it is not known when a pod came": {
			"node a type=small", life(func(l *snapshot.Life) { l.Quiet = time.Time{} }),
			"Waiting|||It is not known yet when a pod has last come or gone",
		},
		"a budget of nodes": {
			"pool default allow=0\nnode a type=large\npods web cpu=1 on=a", nil,
			"Waiting|Underutilized||No allowed disruptions for disruption reason Underutilized due to blocking budget",
		},
		"a budget of nodes that is closed until tonight": {
			"pool default allow=5 allow.Empty=0\nnode a type=large", func(s *snapshot.Snapshot) { s.Pools[0].Consolidation.Turns = present.Add(6 * time.Hour) },
			"Waiting|Empty||No allowed disruptions for disruption reason Empty due to blocking budget|until +6h0m0s",
		},
		"a budget of nodes that cannot be read": {
			"pool default allow=0\nnode a type=large", func(s *snapshot.Snapshot) {
				s.Pools[0].Consolidation.Broken = &reason.BrokenBudgets{Pool: "default", Faults: []reason.BudgetFault{{Code: reason.BudgetNodesUnreadable, Value: "x"}}}
			},
			"Waiting|Empty||No allowed disruptions for disruption reason Empty due to blocking budget: " +
				`invalid disruption budgets in nodepool default, budget nodes "x": want a number or a percentage`,
		},
		"a budget of nodes that is used up": {
			"pool default allow=1\nnode a type=large drifted=1h\nnode b type=large drifted=2h\npods web cpu=1 on=a\npods api cpu=1 on=b",
			func(s *snapshot.Snapshot) { s.Pools[0].Consolidation.Turns = present.Add(6 * time.Hour) },
			"Waiting|Drifted||No allowed disruptions for disruption reason Drifted due to blocking budget",
		},
		"a drifted node waits only for what drift waits for": {
			"pool default after=1h allow=0\nnode a type=large drifted=1h quiet=10m\npods web cpu=1 on=a", nil,
			"Waiting|Drifted||No allowed disruptions for disruption reason Drifted due to blocking budget",
		},
		"a full node": {"node a type=small\npods web cpu=2 on=a", nil, "Kept|Underutilized|Unconsolidatable|Can't replace with a cheaper node"},
		"savings that are not worth the evictions": {
			"type middle cpu=2 mem=8Gi price=0.104\nnode a type=middle\npods web cpu=1900m mem=1Gi on=a", nil,
			"Kept|Underutilized|Unconsolidatable|Can't replace with a cheaper node: too little would be saved to move its pods",
		},
		"pods that have just been moved": {
			"type middle cpu=2 mem=8Gi price=0.150\nnode a type=middle\npods web cpu=1900m mem=1Gi on=a",
			func(s *snapshot.Snapshot) {
				s.Nodes[0].Life.Rearranged, s.Pods[0].Created = []time.Time{present.Add(-time.Hour)}, present.Add(-time.Hour)
			},
			"Kept|Underutilized|Unconsolidatable|Can't replace with a cheaper node: its pods have been moved here recently",
		},
		"pods that belong on this very node": {
			"node a type=large label.rack=7\npods web x7 cpu=100m on=a select.rack=7", nil,
			"Kept|Underutilized|Unconsolidatable|Not all pods would schedule, " + strings.Repeat(`default/web-N => no other node has a place for it; pool default: incompatible requirements, label "rack" does not have known values `, 5) + "and 2 other(s)",
		},
		"drift of a node whose pods have no other place": {
			"node a type=large label.rack=7 drifted=1h\npods web cpu=100m on=a select.rack=7", nil,
			`Blocked|Drifted|DisruptionBlocked|Not all pods would schedule, default/web-0 => no other node has a place for it; pool default: incompatible requirements, label "rack" does not have known values`,
		},
		"too few types for the pool": {
			"pool default require=node.kubernetes.io/instance-type:Exists min.node.kubernetes.io/instance-type=2\nnode a type=large\npods web cpu=1 on=a", nil,
			"Kept|Underutilized|Unconsolidatable|Filtering by price: minValues requirement is not met for label(s) (label(s)=[node.kubernetes.io/instance-type]): 2 wanted, 1 possible",
		},
		"no spot for spot": {
			"type cheap cpu=2 mem=8Gi price=0.1 spot=0.03\ntype big cpu=8 mem=32Gi price=0.4 spot=0.12\nnode a type=big capacity=spot\npods web cpu=1 on=a", nil,
			"Kept|Underutilized|Unconsolidatable|SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := parseScenario(t, types+tc.given)
			if tc.change != nil {
				tc.change(s)
			}
			p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
			got := tell(&p.Prospects[0])
			for _, n := range "0123456" {
				got = strings.ReplaceAll(got, "web-"+string(n)+" => ", "web-N => ")
			}
			want := tc.want
			if !strings.Contains(want, "web-N") {
				want = strings.ReplaceAll(want, "web-0 => ", "web-N => ")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Without effort the answer is that there is none yet, and that is no news for people.
func TestProspectsWithoutEffort(t *testing.T) {
	t.Parallel()
	s := parseScenario(t, "consolidate\ntype large cpu=8 mem=32Gi price=0.4\nnode a type=large label.rack=7\nnode b type=large label.rack=8\n"+
		"pods web cpu=1 on=a select.rack=7\npods api cpu=1 on=b select.rack=8")
	d := decide.Decide(s, decide.Budget{Disrupt: true, Sweep: disrupt.Budget{Steps: 1}})
	if a, b := d.Plan.Prospects[0], d.Plan.Prospects[1]; a.Skipped() || !b.Skipped() || tell(&b) != "Waiting|Underutilized||Not looked at yet" {
		t.Errorf("a %+v, b %+v", a, b)
	}
	if d.Coverage.Skipped != 1 || d.Coverage.Next != "a" {
		t.Errorf("%+v", d.Coverage)
	}
}

// Moves that would have to wait for pods on their way are not looked for; empty nodes go.
func TestMovesAreNotLookedForWhilePodsAreOnTheirWay(t *testing.T) {
	t.Parallel()
	for _, lost := range []int{0, 1} {
		s := parseScenario(t, "consolidate\ntype large cpu=8 mem=32Gi price=0.4\nnode a type=large\nnode b type=large\nnode c type=large\n"+
			"pods web cpu=1 on=a\npods api cpu=1 on=b")
		s.Waiting.Lost = make([]snapshot.Lost, lost)
		d := decide.Decide(s, decide.Budget{Disrupt: true})
		got := map[string]plan.Reason{}
		for _, disruption := range d.Plan.Disruptions {
			for _, n := range disruption.Nodes {
				got[n.Node] = disruption.Reason
			}
		}
		skipped := d.Plan.Prospects[0].Skipped() && d.Plan.Prospects[1].Skipped()
		if moved := len(got) > 1; got["c"] != plan.Empty || moved != (lost == 0) || skipped != (lost == 1) {
			t.Errorf("%d pods have lost their places: disrupted %v, skipped %v", lost, got, skipped)
		}
	}
}
