package disruption

import (
	"fmt"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
)

// view is a snapshot by names, to compare another one with it.
type view struct {
	s       *snapshot.Snapshot
	nodes   map[string]*snapshot.Node
	pods    map[string][]*snapshot.Pod // by node
	budgets map[string]int32           // how many of a PodDisruptionBudget's pods may go
}

func newView(s *snapshot.Snapshot) *view {
	v := &view{s: s, nodes: make(map[string]*snapshot.Node, len(s.Nodes)), pods: map[string][]*snapshot.Pod{}, budgets: map[string]int32{}}
	for i := range s.Nodes {
		v.nodes[s.Nodes[i].Name] = &s.Nodes[i]
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node != "" {
			v.pods[p.Node] = append(v.pods[p.Node], p)
		}
	}
	for i := range s.Budgets {
		v.budgets[s.Budgets[i].Key()] = s.Budgets[i].Allowed
	}
	return v
}

// changed is why a disruption that was decided about an earlier snapshot does not hold any
// more; empty if it does.
func (v *view) changed(was *snapshot.Snapshot, d *plan.Disruption) string {
	for i := range d.Nodes {
		if why := v.leaves(was, &d.Nodes[i]); why != "" {
			return why
		}
	}
	for i := range d.Moves {
		if why := v.receives(was, &d.Moves[i]); why != "" {
			return why
		}
	}
	return ""
}

// leaves: the node is as it was, and no pod has come.
func (v *view) leaves(was *snapshot.Snapshot, r *plan.Removal) string {
	n := v.nodes[r.Node]
	switch {
	case n == nil || n.Claim != r.Claim:
		return fmt.Sprintf("node %s is gone", r.Node)
	case n.Leaving || n.Life.Protected || n.Life.Nominated.After(v.s.Now):
		return fmt.Sprintf("node %s may not be disrupted any more", r.Node)
	}
	expected := make(map[string]bool, len(r.Pods))
	for _, p := range r.Pods {
		pod := &was.Pods[p]
		expected[pod.UID] = true
	}
	for _, p := range v.pods[r.Node] {
		switch {
		case !expected[p.UID]:
			return fmt.Sprintf("pod %s has come to node %s", p.Key(), r.Node)
		case !p.Terminating && p.Tie.Holds(v.s.Now):
			return fmt.Sprintf("pod %s may not be disrupted any more", p.Key())
		}
		for _, name := range p.Tie.Budgets {
			key := p.Namespace + "/" + name
			if left, known := v.budgets[key]; known && left <= 0 && p.Tie.Asked && !p.Terminating && !n.Life.Bounded {
				return fmt.Sprintf("budget %s allows no disruption any more", key)
			}
		}
	}
	return ""
}

// receives: the node still has room for the pods that are to come.
func (v *view) receives(was *snapshot.Snapshot, m *plan.Placement) string {
	n := v.nodes[m.Node]
	if n == nil || n.Leaving || !n.Initialized || n.Life.Unready || n.Unschedulable {
		return fmt.Sprintf("node %s takes no pods any more", m.Node)
	}
	room := n.Allocatable
	for _, p := range v.pods[m.Node] {
		room = room.Sub(v.s.Templates[p.Template].Requests)
	}
	var need model.Resources
	for _, p := range m.Pods {
		need = need.Add(was.Templates[was.Pods[p].Template].Requests)
	}
	if !need.Fits(room) {
		return fmt.Sprintf("node %s has no room any more", m.Node)
	}
	return ""
}
