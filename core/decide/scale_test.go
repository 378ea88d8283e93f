package decide_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tenon/core/check"
	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// scaleScenario is one of the six scenarios with which Cluster Autoscaler's scalability was measured, or a variant of one, for
// a group of any size: the numbers of pods and nodes grow with the size of the group.
type scaleScenario struct {
	name string
	// cluster is the question; grows and shrinks are the answer, in nodes, and helpless pods get no node. In mode native the
	// group shrinks by native instead, if that is set.
	cluster                          func(nodes int) *snapshot.Snapshot
	grows, shrinks, helpless, native func(nodes int) int
}

var scaleScenarios = []scaleScenario{
	{name: "pods for all nodes at once", grows: all, cluster: func(nodes int) *snapshot.Snapshot {
		return arriving(30*nodes, nil)
	}},
	{name: "the last 30 % while the nodes for 70 % are on their way", grows: part(30), cluster: func(nodes int) *snapshot.Snapshot {
		s := fleetOf(repeat(70*nodes/100, 30), 30)
		for i := range s.Nodes {
			s.Nodes[i].Initialized = i%2 == 0
		}
		return wait30(s, 30*(30*nodes/100))
	}},
	{name: "30 % are empty", shrinks: part(30), cluster: func(nodes int) *snapshot.Snapshot {
		return fleetOf(slices.Concat(repeat(70*nodes/100, 30), repeat(30*nodes/100, 0)), 30)
	}},
	{name: "30 % are little used and the floor is at 97 %", shrinks: part(3), cluster: func(nodes int) *snapshot.Snapshot {
		s := fleetOf(slices.Concat(repeat(70*nodes/100, 61), repeat(30*nodes/100, 31)), 100)
		s.Pools[0].Group.Floor = int64(97 * nodes / 100)
		return s
	}},
	// Busy nodes are no candidates in mode cas. In mode native their pods move to the room on the others.
	{name: "30 % are little used and cannot be drained", native: part(20), cluster: func(nodes int) *snapshot.Snapshot {
		s := fleetOf(slices.Concat(repeat(70*nodes/100, 30), repeat(30*nodes/100, 10)), 30)
		first := fmt.Sprintf("n%04d", 70*nodes/100)
		for i := range s.Pods {
			if s.Pods[i].Node >= first {
				s.Pods[i].Tie.Drain, s.Pods[i].Tie.Protected = &snapshot.DrainFacts{Bare: true}, true
			}
		}
		return s
	}},
	{name: "pods for all nodes beside pods that no node can hold", grows: all, helpless: all, cluster: func(nodes int) *snapshot.Snapshot {
		s := arriving(30*nodes, nil)
		s.Templates = append(s.Templates, snapshot.Template{Namespace: "default", Labels: map[string]string{"app": "huge"},
			Requests: model.Resources{CPU: 64_000, Memory: 1 << 30, Pods: 1}})
		for i := range nodes {
			s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: fmt.Sprintf("huge-%d", i), Template: 1, Pending: true})
		}
		return s
	}},
	{name: "pods for all nodes, one of each workload a node", grows: all, cluster: func(nodes int) *snapshot.Snapshot {
		return workloads(nodes, func(t *snapshot.Template, own model.Selector) {
			t.AntiAffinity = []snapshot.AffinityTerm{{Key: requirement.KeyHostname, Selector: own, Namespaces: []string{"default"}}}
		})
	}},
	{name: "pods for all nodes, spread over nodes", grows: all, cluster: func(nodes int) *snapshot.Snapshot {
		return workloads(nodes, func(t *snapshot.Template, own model.Selector) {
			t.Spreads = []snapshot.Spread{{Key: requirement.KeyHostname, MaxSkew: 1, Selector: own}}
		})
	}},
}

func all(nodes int) int { return nodes }

func part(percent int) func(int) int { return func(nodes int) int { return percent * nodes / 100 } }

// repeat is a list of nodes with so many pods each.
func repeat(nodes, pods int) []int { return slices.Repeat([]int{pods}, nodes) }

// ofNode is what a pod asks for if a node holds so many of them.
func ofNode(pods int64) model.Resources {
	return model.Resources{CPU: 4000 / pods, Memory: 16 << 30 / pods, Pods: 1}
}

// arriving is an empty group, and so many pods of which a node holds thirty.
func arriving(pods int, ask func(*snapshot.Template)) *snapshot.Snapshot {
	s := groupCluster(pods, 10_000, func(t *snapshot.Template) {
		t.Requests = ofNode(30)
		if ask != nil {
			ask(t)
		}
	})
	s.Pools[0].Group.Desired = 0
	return ruled(s)
}

// workloads are thirty workloads with a pod for each node and a rule about their own pods.
func workloads(nodes int, rule func(*snapshot.Template, model.Selector)) *snapshot.Snapshot {
	s := arriving(30*nodes, nil)
	template := s.Templates[0]
	s.Templates = nil
	for i := range 30 {
		t, app := template, fmt.Sprintf("app-%d", i)
		t.Labels = map[string]string{"app": app}
		rule(&t, model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: []string{app}}}})
		s.Templates = append(s.Templates, t)
	}
	for i := range s.Pods {
		s.Pods[i].Template = snapshot.TemplateIndex(i % 30)
	}
	return s
}

// fleetOf is a group with nodes of so many pods, of which a node holds full. Nothing has needed the nodes for an hour, and all may
// go at once.
func fleetOf(pods []int, full int64) *snapshot.Snapshot {
	s := shrinking(0, pods...)
	s.Pools[0].Limits[0].Value = 10_000
	s.Templates[0].Requests = ofNode(full)
	for i := range s.Nodes {
		s.Nodes[i].Life.Unneeded = s.Now.Add(-time.Hour)
	}
	return ruled(s)
}

// wait30 adds pending pods to a fleet.
func wait30(s *snapshot.Snapshot, pods int) *snapshot.Snapshot {
	for i := range pods {
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: fmt.Sprintf("late-%d", i), Pending: true})
	}
	return s
}

// ruled puts the group in mode cas, with no bound on how many nodes leave at a time.
func ruled(s *snapshot.Snapshot) *snapshot.Snapshot {
	s.Pools[0].Group.ScaleDown = &snapshot.ScaleDown{
		Enabled: true, UnreadyEnabled: true, UtilizationThreshold: 500, GPUUtilizationThreshold: 500,
		UnneededTime: 10 * time.Minute, UnreadyTime: 20 * time.Minute, MaxParallelism: 10_000, MaxDrainParallelism: 10_000,
	}
	return s
}

// answer compares a plan with what the scenario wants.
func (c *scaleScenario) answer(p *plan.Plan, nodes int) error {
	want := func(of func(int) int) int {
		if of == nil {
			return 0
		}
		return of(nodes)
	}
	gone := removed(p)
	if grows, shrinks, helpless := want(c.grows), want(c.shrinks), want(c.helpless); len(p.Claims) != grows || gone != shrinks || len(p.Unplaced) != helpless {
		return fmt.Errorf("%d nodes more, %d less, %d pods without a place; want %d, %d and %d", len(p.Claims), gone, len(p.Unplaced), grows, shrinks, helpless)
	}
	return nil
}

// removed is the number of nodes that go.
func removed(p *plan.Plan) int {
	n := 0
	for i := range p.Disruptions {
		n += len(p.Disruptions[i].Nodes)
	}
	return n
}

// In each scenario the group grows and shrinks by as many nodes as Cluster Autoscaler's documentation expects, in both modes, and the
// plan is valid.
func TestScaleScenarios(t *testing.T) {
	t.Parallel()
	const nodes = 100
	for _, tc := range scaleScenarios {
		for _, mode := range []string{"cas", "native"} {
			t.Run(tc.name+", "+mode, func(t *testing.T) {
				t.Parallel()
				s, want := tc.cluster(nodes), tc
				if mode == "native" {
					s.Pools[0].Group.ScaleDown = nil
					if tc.native != nil {
						want.shrinks = tc.native
					}
				}
				p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
				for _, v := range check.Plan(s, &p) {
					t.Error(v)
				}
				if err := want.answer(&p, nodes); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// BenchmarkScaleScenarios takes the time of one decision about new nodes and about removals, as the controllers make it.
func BenchmarkScaleScenarios(b *testing.B) {
	for _, nodes := range []int{1000, 5000} {
		for _, tc := range scaleScenarios {
			b.Run(fmt.Sprintf("%d/%s", nodes, tc.name), func(b *testing.B) {
				s := tc.cluster(nodes)
				for b.Loop() {
					p := decide.Decide(s, decide.Budget{Disrupt: tc.grows == nil}).Plan
					if err := tc.answer(&p, nodes); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
