package disrupt

import (
	"testing"
	"time"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// decided is a cluster in which node a goes, and its pod moves to node b.
func decided(why plan.Reason) (*snapshot.Snapshot, *plan.Disruption) {
	s := &snapshot.Snapshot{
		Now: time.Unix(1_800_000_000, 0), Pools: []snapshot.Pool{{Name: "web"}}, Catalogs: []catalog.Catalog{{Types: make([]catalog.Type, 1)}},
		Templates: []snapshot.Template{{Requests: model.Resources{CPU: 1000}, Selector: requirement.FromLabels(map[string]string{"disk": "ssd"})}},
		Pods:      []snapshot.Pod{{Namespace: "default", Name: "p", UID: "p", Node: "a", Tie: snapshot.Tie{Returns: true, Asked: true}}},
	}
	for _, name := range []string{"a", "b"} {
		s.Nodes = append(s.Nodes, snapshot.Node{Name: name, Claim: "claim-" + name, Pool: "web", Labels: map[string]string{"disk": "ssd"}, Initialized: true, Allocatable: model.Resources{CPU: 1000}})
	}
	return s, &plan.Disruption{
		Reason: why, Nodes: []plan.Removal{{Node: "a", Claim: "claim-a", Pool: "web", Pods: []snapshot.PodIndex{0}}}, Moves: []plan.Placement{{Node: "b", Pods: []snapshot.PodIndex{0}}},
	}
}

// What was decided is dropped when a node may go no more, a pod has come, or a place is taken.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		why    plan.Reason
		change func(*snapshot.Snapshot)
		want   reason.Code
	}{
		"nothing has changed":            {plan.Underutilized, func(*snapshot.Snapshot) {}, reason.None},
		"the node has gone":              {plan.Underutilized, func(s *snapshot.Snapshot) { s.Nodes = s.Nodes[1:] }, reason.NodeGone},
		"the node is another one":        {plan.Underutilized, func(s *snapshot.Snapshot) { s.Nodes[0].Claim = "other" }, reason.NodeGone},
		"the node leaves":                {plan.Underutilized, func(s *snapshot.Snapshot) { s.Nodes[0].Leaving = true }, reason.NodeLeaving},
		"another command takes the node": {plan.Underutilized, func(s *snapshot.Snapshot) { s.Nodes[0].Life.Underway = "Empty" }, reason.BeingDisrupted},
		"the node is protected":          {plan.Underutilized, func(s *snapshot.Snapshot) { s.Nodes[0].Life.Protected = true }, reason.NodeProtected},
		"the node waits for pods":        {plan.Underutilized, func(s *snapshot.Snapshot) { s.Nodes[0].Life.Nominated = s.Now.Add(time.Second) }, reason.NodeNominated},
		"the pool has gone":              {plan.Underutilized, func(s *snapshot.Snapshot) { s.Pools = nil }, reason.PoolNotFound},
		"another pod has come":           {plan.Underutilized, func(s *snapshot.Snapshot) { s.Pods[0].UID = "q" }, reason.PodCame},
		"a daemon has come":              {plan.Underutilized, func(s *snapshot.Snapshot) { s.Pods[0].UID, s.Pods[0].Tie = "q", snapshot.Tie{Asked: true} }, reason.None},
		"the pod is protected":           {plan.Underutilized, func(s *snapshot.Snapshot) { s.Pods[0].Tie.Protected = true }, reason.PodProtected},
		"its removal is bounded, for money": {plan.Underutilized, func(s *snapshot.Snapshot) {
			s.Pods[0].Tie.Protected, s.Nodes[0].Life.Bounded = true, true
		}, reason.PodProtected},
		"its removal is bounded, for drift": {plan.Drifted, func(s *snapshot.Snapshot) {
			s.Pods[0].Tie.Protected, s.Nodes[0].Life.Bounded = true, true
		}, reason.None},
		"a budget allows nothing": {plan.Underutilized, func(s *snapshot.Snapshot) {
			s.Budgets, s.Pods[0].Tie.Budgets = []snapshot.Budget{{Namespace: "default", Name: "web"}}, []string{"web"}
		}, reason.PodDisruptionBudget},
		"a budget allows nothing, and bounds say little for money": {plan.Underutilized, func(s *snapshot.Snapshot) {
			s.Nodes[0].Life.Bounded = true
			s.Budgets, s.Pods[0].Tie.Budgets = []snapshot.Budget{{Namespace: "default", Name: "web"}}, []string{"web"}
		}, reason.PodDisruptionBudget},
		"the receiver is closed": {plan.Underutilized, func(s *snapshot.Snapshot) { s.Nodes[1].Unschedulable = true }, reason.ReceiverClosed},
		"the receiver is full":   {plan.Underutilized, func(s *snapshot.Snapshot) { s.Nodes[1].Allocatable.CPU = 900 }, reason.ReceiverFull},
		"the receiver waits for a daemon that takes the room": {plan.Underutilized, func(s *snapshot.Snapshot) {
			s.Daemons = []snapshot.Daemon{{Name: "agent", Template: 1}}
			s.Templates = append(s.Templates, snapshot.Template{Daemon: true, Requests: model.Resources{CPU: 100}})
		}, reason.ReceiverFull},
		"the receiver is tainted":        {plan.Underutilized, func(s *snapshot.Snapshot) { s.Nodes[1].Taints = []model.Taint{{Key: "gpu", Effect: model.NoSchedule}} }, reason.ReceiverClosed},
		"the receiver has another label": {plan.Underutilized, func(s *snapshot.Snapshot) { s.Nodes[1].Labels = map[string]string{"disk": "hdd"} }, reason.ReceiverClosed},
		"templates have other numbers, and nothing moved": {plan.Underutilized, func(s *snapshot.Snapshot) {
			s.Templates = append([]snapshot.Template{{}}, s.Templates...)
			s.Pods[0].Template = 1
		}, reason.None},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was, d := decided(tc.why)
			is, _ := decided(tc.why)
			tc.change(is)
			if got := NewCurrent(is).Overtaken(was, d); got.Code != tc.want {
				t.Errorf("%q, want %q", got.Code, tc.want)
			}
		})
	}
}
