package check

import (
	"testing"
	"time"

	"tenon/core/plan"
	"tenon/core/snapshot"
)

// A pod may go without an answer only while another of its workload ends for it, and only if it is new.
func TestHeldPods(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for name, tc := range map[string]struct {
		age, places int
		before      []int // the ages of those before it
		bad         bool
	}{
		"one ends":                        {age: 3, places: 1},
		"none ends":                       {age: 3, bad: true},
		"another one gets the place":      {age: 3, places: 1, before: []int{4}, bad: true},
		"an old one does not wait for it": {age: 3, places: 1, before: []int{10}},
		"it has waited enough":            {age: 10, places: 1, bad: true},
	} {
		created := func(age int) time.Time { return now.Add(-time.Duration(age) * time.Second) }
		of := snapshot.Succession{Places: tc.places}
		for _, age := range tc.before {
			of.Pods = append(of.Pods, snapshot.Successor{UID: "other", Created: created(age)})
		}
		of.Pods = append(of.Pods, snapshot.Successor{UID: "it", Created: created(tc.age)})
		s := &snapshot.Snapshot{
			Now: now, Pods: []snapshot.Pod{{UID: "it", Pending: true, Created: created(tc.age)}},
			Waiting: snapshot.Waiting{Successions: []snapshot.Succession{of}},
		}
		f := &finding{}
		checkAccounts(s, &plan.Plan{Held: []plan.Held{{Pod: 0}}}, f)
		if bad := len(f.list) > 0; bad != tc.bad {
			t.Errorf("%s: %v", name, f.list)
		}
		if f := (&finding{}); tc.places > 0 {
			if checkAccounts(s, &plan.Plan{}, f); len(f.list) == 0 {
				t.Errorf("%s: a pod that the plan does not name is missing", name)
			}
		}
	}
}

// A pod of a node that leaves may go without an answer while a disruption takes the node, and not otherwise.
func TestHeldPodsOfNodesUnderWay(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		node snapshot.Node
		bad  bool
	}{
		"a disruption takes the node":       {node: snapshot.Node{Name: "n", Leaving: true, Life: snapshot.Life{Underway: "Empty"}}},
		"the node leaves for another cause": {node: snapshot.Node{Name: "n", Leaving: true}, bad: true},
		"a disruption takes another node":   {node: snapshot.Node{Name: "m", Leaving: true, Life: snapshot.Life{Underway: "Empty"}}, bad: true},
	} {
		s := &snapshot.Snapshot{Nodes: []snapshot.Node{tc.node}, Pods: []snapshot.Pod{{UID: "it", Node: "n", Movable: true}}}
		f := &finding{}
		checkAccounts(s, &plan.Plan{Held: []plan.Held{{Pod: 0}}}, f)
		if bad := len(f.list) > 0; bad != tc.bad {
			t.Errorf("%s: %v", name, f.list)
		}
	}
}
