package fleet

import (
	"testing"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
)

// A live picture keeps templates of pods that have gone: there may be more of them than pods.
func TestTemplatesWithoutPods(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{}
	same := snapshot.Template{Namespace: "default", Requests: model.Resources{CPU: 100, Memory: 1 << 20, Pods: 1}}
	s.Templates = []snapshot.Template{same, same, same, same, same}
	s.Nodes = append(s.Nodes, snapshot.Node{Name: "n", Claim: "n", Initialized: true})
	for i, name := range []string{"a", "b"} {
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: name, Template: snapshot.TemplateIndex(3 + i), Node: "n"})
	}
	f := New(snapshot.Sort(s, nil), &plan.Plan{}, nil)
	for pod := range s.Pods {
		if f.Ruled(snapshot.PodIndex(pod)) {
			t.Errorf("pod %d is said to have rules", pod)
		}
	}
}

// A fleet does not change when an answer comes true: the one that has it is another.
func TestWithLeavesTheFleetAsItIs(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{Templates: []snapshot.Template{{Namespace: "default", Requests: model.Resources{CPU: 100, Memory: 1 << 20, Pods: 1}}}}
	for _, name := range []string{"a", "b"} {
		s.Nodes = append(s.Nodes, snapshot.Node{Name: name, Initialized: true, Allocatable: model.Resources{CPU: 1000, Memory: 1 << 30, Pods: 10}})
	}
	s.Pods = []snapshot.Pod{{Namespace: "default", Name: "x", Node: "a"}}
	f := New(snapshot.Sort(s, nil), nil, nil)
	moved := f.With(Question{Nodes: []snapshot.NodeIndex{0}, Pods: []snapshot.PodIndex{0}}, Answer{Existing: []HostPods{{Node: 1, Pods: []snapshot.PodIndex{0}}}})
	if moved.Stays(0) || moved.Room(1)[0] != 900 {
		t.Errorf("a stays: %t, b has %d", moved.Stays(0), moved.Room(1)[0])
	}
	if !f.Stays(0) || f.Room(1)[0] != 1000 {
		t.Errorf("the fleet itself: a stays: %t, b has %d", f.Stays(0), f.Room(1)[0])
	}
}
