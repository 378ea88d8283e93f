package view_test

import (
	"testing"
	"time"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/cost"
	"tenon/internal/view"
)

// TestPastIsThePictureOfADecision checks the picture of a recorded decision: nodes with their state, price, pods and
// verdict, pools with what counts towards limits, and pods that wait with the reason of the plan.
func TestPastIsThePictureOfADecision(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	dime := model.Unit / 10
	size := model.Resources{CPU: 4000, Memory: 16 << 30}
	s := &snapshot.Snapshot{
		Now:       noon,
		Pools:     []snapshot.Pool{{Name: "default", Limits: []model.Amount{{Name: "cpu", Value: 8000}}}, {Name: snapshot.GroupPool("base")}},
		Templates: []snapshot.Template{{Owner: "Deployment/web", Requests: model.Resources{CPU: 1000, Memory: 1 << 30}}, {Owner: "DaemonSet/agent", Daemon: true, Requests: model.Resources{CPU: 400, Memory: 1 << 30}}},
		Nodes: []snapshot.Node{
			{Name: "b", Pool: "nodegroup/base", Allocatable: size, Capacity: size, Life: snapshot.Life{Unready: true}},
			{Name: "a", Claim: "c-a", Pool: "default", Allocatable: size, Capacity: size, Initialized: true, Price: dime, InstanceType: "m5.xlarge", Zone: "z1", CapacityType: "spot", Labels: map[string]string{"team": "web"}},
			{Name: "c-new", Claim: "c-new", Pool: "default", Allocatable: size, Capacity: size, Price: dime, Life: snapshot.Life{Unborn: true}},
		},
		Pods: []snapshot.Pod{
			{Namespace: "shop", Name: "web-1", Node: "a", Tie: snapshot.Tie{Protected: true}},
			{Namespace: "kube-system", Name: "agent-1", Node: "a", Template: 1},
			{Namespace: "shop", Name: "web-3", Pending: true, Created: noon},
			{Namespace: "shop", Name: "web-2", Pending: true, Created: noon.Add(-time.Minute)},
			{Namespace: "shop", Name: "room", Node: "a", Tie: snapshot.Tie{Virtual: true}},
		},
	}
	p := &plan.Plan{
		Prospects: []plan.Prospect{{Node: "a", Kind: plan.Kept, Cause: reason.Cause{Code: reason.TakesPods}}, {Node: "b", Kind: plan.Chosen, Reason: plan.Empty}},
		Unplaced:  []plan.Unplaced{{Pod: 2, Verdict: &reason.Verdict{}}},
	}
	f := view.Past(s, p, "USD")
	if f.Currency != "USD" || f.Total.Price != 2*dime || f.Total.Unpriced != 1 || f.Total.Ready != 1 || len(f.Nodes) != 3 {
		t.Errorf("the fleet is %+v", f.Total)
	}
	a := f.Find("c-a")
	if a == nil || a.Phase != view.Ready || a.Type != "m5.xlarge" || a.Labels["team"] != "web" || len(a.Pods) != 2 || a.Verdict.Word != "Kept" || a.Verdict.Message == "" {
		t.Fatalf("node a is %+v", a)
	}
	if web := a.Pods[1]; web.Owner != "Deployment/web" || web.Cost != dime/4 || len(web.Flags) != 1 || a.Overhead != dime/10 || a.Daemons.CPU != 400 {
		t.Errorf("pod %+v, daemons %v", web, a.Overhead)
	}
	if b, fresh := f.Find("b"), f.Find("c-new"); b.Phase != view.NotReady || b.PoolKind != "NodeGroup" || b.Verdict.Word != "Empty" || fresh.Phase != view.Registering {
		t.Errorf("node b is %+v, the new claim %+v", b, fresh)
	}
	if len(f.Pools) != 2 || f.Pools[0].Name != "base" || f.Pools[1].Limited("cpu") != 8000 || len(f.Pools[1].Nodes) != 2 {
		t.Errorf("pools: %+v", f.Pools)
	}
	if len(f.Pending) != 2 || f.Pending[0].Name != "web-2" || f.Pending[0].Why != "It has a place in the plan of this decision" {
		t.Errorf("pending: %+v", f.Pending)
	}
	if lines := f.Cost(cost.ByPool); len(lines) == 0 || lines[0].Price == 0 {
		t.Errorf("costs: %+v", lines)
	}
	if plain := view.Past(s, nil, ""); plain.Find("a").Verdict.Word != "" || plain.Total.Nodes != 3 {
		t.Errorf("without a plan: %+v", plain.Total)
	}
}
