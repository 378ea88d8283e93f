package fleet

import (
	"slices"
	"testing"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
)

// A pod that would be moved finds no room if the scheduler puts a smaller one where it was to go: it
// puts pods on the node of which most is free.
func TestStrays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		large int64 // what the large pod asks for, in milli-cores
		after int64 // what the small node has left beside
		want  int
	}{
		"room for all wherever they go":          {large: 300, after: 1200, want: 0},
		"small pods go where the large one fits": {large: 1200, after: 1200, want: 1},
		"there is enough room for them, too":     {large: 1200, after: 2000, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &snapshot.Snapshot{}
			size := func(cpu int64) model.Resources {
				return model.Resources{CPU: cpu, Memory: 8 << 30, Pods: 10}
			}
			s.Templates = []snapshot.Template{
				{Namespace: "default", Requests: model.Resources{CPU: 400, Memory: 1 << 30, Pods: 1}},
				{Namespace: "default", Requests: model.Resources{CPU: c.large, Memory: 1 << 30, Pods: 1}},
				{Namespace: "default", Requests: model.Resources{CPU: 7200, Memory: 1 << 30, Pods: 1}},
			}
			for name, r := range map[string]model.Resources{"a": size(2000), "b": size(c.after), "c": size(8000)} {
				s.Nodes = append(s.Nodes, snapshot.Node{Name: name, Claim: name, Initialized: true, Capacity: r, Allocatable: r})
			}
			slices.SortFunc(s.Nodes, func(a, b snapshot.Node) int { return int(a.Name[0]) - int(b.Name[0]) })
			for _, pod := range []snapshot.Pod{{Name: "x", Node: "a"}, {Name: "y", Node: "a"}, {Name: "z", Node: "a", Template: 1}, {Name: "z-stays", Node: "c", Template: 2}} {
				pod.Namespace, pod.UID = "default", pod.Name
				s.Pods = append(s.Pods, pod)
			}
			f := New(snapshot.Sort(s, nil), &plan.Plan{}, nil)
			small, large := []snapshot.PodIndex{0, 1}, snapshot.PodIndex(2)
			question := Question{Nodes: []snapshot.NodeIndex{0}, Pods: append(slices.Clone(small), large)}
			got := f.NewForecast().Try(question, Answer{Existing: []HostPods{{Node: 1, Pods: []snapshot.PodIndex{large}}, {Node: 2, Pods: small}}})
			if len(got.Strays) != c.want || c.want > 0 && got.Strays[0] != large {
				t.Errorf("strays %v, want %d", got.Strays, c.want)
			}
			if c.want > 0 && got.Evict[0] != large {
				t.Errorf("pods are evicted in the order %v; %d finds room only if it comes first", got.Evict, large)
			}
		})
	}
}

// The scheduler puts a pod that would be moved on the node that is kept free for a buffer: it knows nothing of
// virtual pods. These find room elsewhere, or a node is bought for them.
func TestVirtualPodsAreDisplaced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free   int64 // what the nodes of pods have left, in milli-cores
		volume bool  // of the pod that moves
		limit  int64 // how many volumes the node for the buffer takes; 0 is without limit
		want   int
	}{
		"no room elsewhere":                        {free: 500, want: 1},
		"room on the other node":                   {free: 1500},
		"no room elsewhere for a pod with volumes": {free: 500, volume: true, want: 1},
		"the other node takes no more volumes":     {free: 500, volume: true, limit: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := func(cpu int64) model.Resources { return model.Resources{CPU: cpu, Memory: 1 << 30, Pods: 1} }
			s := &snapshot.Snapshot{Templates: []snapshot.Template{
				{Namespace: "default", Requests: of(400)}, {Namespace: "default", Requests: of(1000)}, {Namespace: "default", Requests: of(2000 - c.free)},
			}}
			if c.volume {
				s.Templates[0].Volumes = []snapshot.Volume{{ID: "own", Driver: "csi"}}
			}
			s.Templates = append(s.Templates, snapshot.Template{Namespace: "default", Requests: of(1), Volumes: []snapshot.Volume{{ID: "another", Driver: "csi"}}})
			for _, name := range []string{"a", "b", "c"} { // of which c is kept free
				size := model.Resources{CPU: 2000, Memory: 8 << 30, Pods: 10}
				if name == "c" {
					size.CPU = 1300
				}
				node := snapshot.Node{Name: name, Claim: name, Initialized: true, Capacity: size, Allocatable: size}
				if name == "c" && c.limit > 0 {
					node.VolumeLimits = []model.Amount{{Name: "csi", Value: c.limit}}
				}
				s.Nodes = append(s.Nodes, node)
			}
			for _, pod := range []snapshot.Pod{{Name: "moves", Node: "a"}, {Name: "holds", Node: "c", Template: 3}, {Name: "stays", Node: "b", Template: 2}, {Name: "virtual", Node: "c", Template: 1, Tie: snapshot.Tie{Virtual: true}}} {
				pod.Namespace, pod.UID = "default", pod.Name
				s.Pods = append(s.Pods, pod)
			}
			f := New(snapshot.Sort(s, nil), &plan.Plan{}, nil)
			question := Question{Nodes: []snapshot.NodeIndex{0}, Pods: []snapshot.PodIndex{1}}
			got := f.NewForecast().Try(question, Answer{Existing: []HostPods{{Node: 1, Pods: []snapshot.PodIndex{1}}}})
			if len(got.Strays) != c.want || c.want > 0 && got.Strays[0] != 3 {
				t.Errorf("strays %v, want %d", got.Strays, c.want)
			}
			if !slices.Equal(got.Evict, []snapshot.PodIndex{1}) {
				t.Errorf("%v are evicted, want the real pod alone", got.Evict)
			}
		})
	}
}

// kube-scheduler prefers nodes with fewer pods of the same workload, also where the pods are of several templates.
// Constraints that must hold take the place of this preference.
func TestCrowds(t *testing.T) {
	t.Parallel()
	must := []snapshot.Spread{{Key: feasible.ZoneKey, MaxSkew: 1}}
	for name, c := range map[string]struct {
		owner  string
		spread []snapshot.Spread
		want   siteIndex // the site: the first has more room, and a pod of the workload
	}{
		"pods of another workload do not count":  {owner: "StatefulSet/other", want: 1},
		"pods of another template count":         {owner: "StatefulSet/web", want: 2},
		"a constraint that must hold is no wish": {owner: "StatefulSet/web", spread: must, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := model.Resources{CPU: 100, Memory: 1 << 30, Pods: 1}
			s := &snapshot.Snapshot{Templates: []snapshot.Template{
				{Namespace: "default", Owner: c.owner, Requests: requests, Spreads: c.spread, Volumes: []snapshot.Volume{{ID: "one"}}},
				{Namespace: "default", Owner: "StatefulSet/web", Requests: requests, Volumes: []snapshot.Volume{{ID: "two"}}},
			}}
			for name, cpu := range map[string]int64{"a": 1000, "b": 16000, "c": 1000} {
				size := model.Resources{CPU: cpu, Memory: cpu * (8 << 20), Pods: 10}
				s.Nodes = append(s.Nodes, snapshot.Node{Name: name, Claim: name, Initialized: true, Capacity: size, Allocatable: size})
			}
			slices.SortFunc(s.Nodes, func(a, b snapshot.Node) int { return int(a.Name[0]) - int(b.Name[0]) })
			s.Pods = []snapshot.Pod{{Namespace: "default", Name: "moves", Node: "a"}, {Namespace: "default", Name: "stays", Node: "b", Template: 1}}
			f := New(snapshot.Sort(s, nil), &plan.Plan{}, nil).NewForecast()
			f.Try(Question{Nodes: []snapshot.NodeIndex{0}, Pods: []snapshot.PodIndex{0}}, Answer{Existing: []HostPods{{Node: 1, Pods: []snapshot.PodIndex{0}}}})
			if len(f.tried) != 1 || f.tried[0].site != c.want {
				t.Errorf("the pod goes to %v, want site %d", f.tried, c.want)
			}
		})
	}
}
