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
	b := New(snapshot.Sort(s, nil), &plan.Plan{}, nil)
	for pod := range s.Pods {
		if b.Ruled(snapshot.PodIndex(pod)) {
			t.Errorf("pod %d is said to have rules", pod)
		}
	}
}
