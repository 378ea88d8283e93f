package fleet

import (
	"fmt"
	"slices"
	"testing"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// guided is a fleet in which a small and a large pod leave node a: the scheduler would put both on b, of which most is
// free, but the plan has the small one on c.
func guided(change func(*snapshot.Snapshot)) (*Fleet, Question, Answer) {
	of := func(cpu int64) model.Resources { return model.Resources{CPU: cpu, Memory: 8 << 30, Pods: 10} }
	s := &snapshot.Snapshot{Settings: snapshot.Settings{GuideMoves: true}, Templates: []snapshot.Template{
		{Namespace: "default", Requests: model.Resources{CPU: 400, Memory: 1 << 30, Pods: 1}},
		{Namespace: "default", Requests: model.Resources{CPU: 1200, Memory: 1 << 30, Pods: 1}},
	}}
	for i, cpu := range []int64{2000, 1200, 500} {
		name := string(rune('a' + i))
		s.Nodes = append(s.Nodes, snapshot.Node{Name: name, Claim: name, Zone: "zone-1", Initialized: true, Capacity: of(cpu), Allocatable: of(cpu)})
	}
	s.Pods = []snapshot.Pod{{Namespace: "default", Name: "small", Node: "a"}, {Namespace: "default", Name: "very-large", Node: "a", Template: 1}}
	change(s)
	f := New(snapshot.Sort(s, nil), &plan.Plan{}, nil)
	small, large := snapshot.PodIndex(0), snapshot.PodIndex(1)
	return f, Question{Nodes: []snapshot.NodeIndex{0}, Pods: []snapshot.PodIndex{small, large}},
		Answer{Existing: []HostPods{{Node: 1, Pods: []snapshot.PodIndex{large}}, {Node: 2, Pods: []snapshot.PodIndex{small}}}}
}

// Pods are guided where it matters which goes where, and where that takes no more marks than pods move.
func TestGuide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*snapshot.Snapshot)
		marks  string
		strays int
	}{
		"guided":              {func(*snapshot.Snapshot) {}, "[b c]", 0},
		"switched off":        {func(s *snapshot.Snapshot) { s.Settings.GuideMoves = false }, "[]", 1},
		"pods that are alike": {func(s *snapshot.Snapshot) { s.Pods[1].Template = 0 }, "[]", 0},
		"a pod tolerates all": {func(s *snapshot.Snapshot) {
			s.Templates[0].Tolerations = []model.Toleration{{Operator: "Exists"}}
		}, "[]", 1},
		"more nodes with room than pods": {func(s *snapshot.Snapshot) {
			for _, name := range []string{"d", "e"} {
				n := s.Nodes[2]
				n.Name, n.Claim = name, name
				s.Nodes = append(s.Nodes, n)
			}
		}, "[]", 1},
		"a node without a claim has no mark": {func(s *snapshot.Snapshot) {
			n := s.Nodes[1]
			n.Name, n.Claim = "d", ""
			s.Nodes = append(s.Nodes, n)
		}, "[b c]", 0},
		"a node without room has no mark": {func(s *snapshot.Snapshot) {
			n := s.Nodes[2]
			n.Name, n.Claim, n.Allocatable.CPU = "d", "d", 100
			s.Nodes = append(s.Nodes, n)
		}, "[b c]", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, q, a := guided(c.change)
			got := f.NewForecast().Try(q, a)
			marks := []string{}
			for _, n := range got.Guide {
				marks = append(marks, f.Snapshot.Nodes[n].Name)
			}
			if fmt.Sprint(marks) != c.marks || len(got.Strays) != c.strays {
				t.Errorf("marks %v, %d pods without room, want %s and %d", marks, len(got.Strays), c.marks, c.strays)
			}
		})
	}
}

// Guided pods are evicted receiver by receiver.
func TestGuidedOrder(t *testing.T) {
	t.Parallel()
	f, q, a := guided(func(*snapshot.Snapshot) {})
	a.Existing[0].Pods, a.Existing[1].Pods = a.Existing[1].Pods, a.Existing[0].Pods // the small pod to the first node
	f.Snapshot.Nodes[2].Allocatable.CPU = 1200
	if got := f.NewForecast().Try(q, a); !slices.Equal(got.Evict, q.Pods) {
		t.Errorf("evicted in the order %v, want the one of the receivers, %v", got.Evict, q.Pods)
	}
}

// Pods that must be spread over zones and go to another one are evicted before those that stay in theirs.
func TestPodsThatChangeZonesGoFirst(t *testing.T) {
	t.Parallel()
	const small, large = 0, 1
	for name, c := range map[string]struct {
		key  string
		soft bool
		zone string // of the small pod's new node
		want []snapshot.PodIndex
	}{
		"to another zone":          {requirement.KeyZone, false, "zone-2", []snapshot.PodIndex{small, large}},
		"within the zone":          {requirement.KeyZone, false, "zone-1", []snapshot.PodIndex{large, small}},
		"a preference":             {requirement.KeyZone, true, "zone-2", []snapshot.PodIndex{large, small}},
		"spread over other labels": {"rack", false, "zone-2", []snapshot.PodIndex{large, small}},
	} {
		f, q, a := guided(func(s *snapshot.Snapshot) {
			s.Templates[0].Spreads = []snapshot.Spread{{Key: c.key, MaxSkew: 5, Soft: c.soft}}
			s.Nodes[2].Zone = c.zone
			for i := range s.Nodes {
				s.Nodes[i].Labels = map[string]string{requirement.KeyZone: s.Nodes[i].Zone, "rack": "r"}
			}
		})
		if got := f.NewForecast().Try(q, a); !slices.Equal(got.Evict, c.want) {
			t.Errorf("%s: evicted in the order %v, want %v", name, got.Evict, c.want)
		}
	}
}

// Pods of one template exchange their places, so that as many as possible stay in their zones.
func TestKeepZones(t *testing.T) {
	t.Parallel()
	zones := map[snapshot.PodIndex]string{0: "a", 1: "b", 2: "b", 3: "c"}
	for name, c := range map[string]struct {
		zones string // of the places, which have the pods in order
		want  string
	}{
		"all can stay":           {"bacb", "[1 0 3 2]"},
		"those that stay do":     {"abbc", "[0 1 2 3]"},
		"two must go":            {"aaab", "[0 2 3 1]"},
		"there is no such place": {"dddd", "[0 1 2 3]"},
	} {
		pods := []snapshot.PodIndex{0, 1, 2, 3}
		var places []place
		for i := range pods {
			places = append(places, place{c.zones[i : i+1], &pods[i]})
		}
		keepZones(places, func(p snapshot.PodIndex) string { return zones[p] })
		if got := fmt.Sprint(pods); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
