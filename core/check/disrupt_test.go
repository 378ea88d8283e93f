package check

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// emptying is a cluster whose node goes, with one pod of which moves to a node that stays.
func (w *world) emptying() *plan.Disruption {
	after := time.Duration(0)
	w.s.Now = time.Unix(1_800_000_000, 0)
	w.s.Pools[0].Consolidation = snapshot.Consolidation{
		Policy: snapshot.WhenEmptyOrUnderutilized, After: &after, Allowed: snapshot.Allowance{Empty: 1, Drifted: 1, Underutilized: 1},
	}
	w.node("goes", "a").Price = usd
	w.node("stays", "a").Price = usd
	for i := range w.s.Nodes {
		w.s.Nodes[i].Life.Quiet = w.s.Now.Add(-time.Hour)
	}
	var pods []snapshot.PodIndex
	for range 3 {
		pods = append(pods, w.bound("goes", "web"))
	}
	keeps := w.bound("stays", "api")
	for _, p := range append(slices.Clone(pods), keeps) {
		w.s.Pods[p].Tie = snapshot.Tie{Returns: true, Asked: true, Cost: snapshot.OrdinaryCost}
	}
	w.s.Pods[pods[2]].Tie = snapshot.Tie{} // a daemon
	w.p.Disruptions = []plan.Disruption{{
		Reason: plan.Underutilized, Savings: usd,
		Nodes: []plan.Removal{{Node: "goes", Pool: "default", Price: usd, Pods: pods}},
		Moves: []plan.Placement{{Node: "stays", Pods: slices.Clone(pods[:2])}},
	}}
	return &w.p.Disruptions[0]
}

func TestDisruptions(t *testing.T) {
	cases{
		"a node whose pods find room":       {build: func(w *world) { w.emptying() }},
		"a list of pods that is not sorted": {build: func(w *world) { slices.Reverse(w.emptying().Nodes[0].Pods) }, want: []Rule{PodForgotten}},
		"a pod that is not in the list": {
			build: func(w *world) { d := w.emptying(); d.Nodes[0].Pods = d.Nodes[0].Pods[:2] }, want: []Rule{PodForgotten},
		},
		"a pod that gets no place": {build: func(w *world) { d := w.emptying(); d.Moves[0].Pods = d.Moves[0].Pods[:1] }, want: []Rule{PodForgotten}},
		"an order of evictions":    {build: func(w *world) { w.emptying().Evict = []snapshot.PodIndex{1, 0} }},
		"an order without a pod":   {build: func(w *world) { w.emptying().Evict = []snapshot.PodIndex{1} }, want: []Rule{PodUninvited}},
		"a protected pod":          {build: func(w *world) { w.emptying(); w.s.Pods[0].Tie.Protected = true }, want: []Rule{PodHeld}},
		"a protected node":         {build: func(w *world) { w.emptying(); w.s.Nodes[0].Life.Protected = true }, want: []Rule{NodeUntouchable}},
		"a node that was not quiet": {
			build: func(w *world) { w.emptying(); w.s.Nodes[0].Life.Quiet = w.s.Now.Add(time.Second) }, want: []Rule{NodeUntouchable},
		},
		"a node of a pool that is not ready": {
			build: func(w *world) { w.emptying(); w.s.Pools[0].Unready.Code = reason.NotReady }, want: []Rule{NodeUntouchable},
		},
		"more than the pool's budget": {
			build: func(w *world) { w.emptying(); w.s.Pools[0].Consolidation.Allowed.Underutilized = 0 }, want: []Rule{DisruptionBudget},
		},
		"more than a budget of pods": {
			build: func(w *world) {
				w.emptying()
				w.s.Budgets, w.s.Pods[0].Tie.Budgets = []snapshot.Budget{{Namespace: "default", Name: "web"}}, []string{"web"}
			},
			want: []Rule{PodBudget},
		},
		"savings that are none": {build: func(w *world) { w.emptying().Savings = 0 }, want: []Rule{SavingsWrong}},
		"the same node twice": {
			build: func(w *world) { d := w.emptying(); d.Nodes = append(d.Nodes, d.Nodes[0]) },
			want:  []Rule{NodeTwice, PodForgotten, SavingsWrong, DisruptionBudget},
		},
		"a node that takes pods and goes": {
			build: func(w *world) { w.emptying().Moves[0].Node = "goes" }, want: []Rule{NodeCrossed},
		},
		"pods are guided to nodes of claims": {
			build: func(w *world) { w.guide("stays").Claim = "claim" },
		},
		"a mark on a node without a claim": {
			build: func(w *world) { w.guide("stays") }, want: []Rule{NodeNotOurs},
		},
		"a mark on a node that goes": {
			build: func(w *world) { w.guide("goes").Claim = "claim" }, want: []Rule{NodeNotOurs},
		},
		"a mark although pods are not to be guided": {
			build: func(w *world) { w.guide("stays").Claim, w.s.Settings.GuideMoves = "claim", false }, want: []Rule{NodeNotOurs},
		},
		"no answer for a node": {
			build: func(w *world) { w.emptying(); w.p.Prospects = make([]plan.Prospect, 1) }, want: []Rule{ProspectMissing},
		},
	}.run(t)
}

// guide is emptying with a mark on a node, while the pods move.
func (w *world) guide(name string) *snapshot.Node {
	w.emptying().Guide, w.s.Settings.GuideMoves = []string{name}, true
	return &w.s.Nodes[slices.IndexFunc(w.s.Nodes, func(n snapshot.Node) bool { return n.Name == name })]
}

// What is judged is not changed by it.
func TestCheckChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	slices.Reverse(w.emptying().Nodes[0].Pods)
	before := slices.Clone(w.p.Disruptions[0].Nodes[0].Pods)
	w.found()
	if diff := cmp.Diff(before, w.p.Disruptions[0].Nodes[0].Pods); diff != "" {
		t.Errorf("the pods of the plan (-before +after):\n%s", diff)
	}
}

// Two moves that save money do not both buy nodes for more than a twentieth of the fleet's price at the same time.
func TestMovesThatBuyTooMuchAtOnce(t *testing.T) {
	s := &snapshot.Snapshot{Nodes: []snapshot.Node{{Price: 100 * usd}}}
	buying := func(price model.Money, delay reason.Code) plan.Disruption {
		return plan.Disruption{Reason: plan.Underutilized, Delay: plan.Delay{Code: delay}, Replacements: []plan.Claim{{Offer: plan.Offer{Price: price}}}}
	}
	for name, tc := range map[string]struct {
		second plan.Disruption
		want   int
	}{
		"both buy":         {buying(2*usd, ""), 1},
		"both buy little":  {buying(usd, ""), 0},
		"the second waits": {buying(2*usd, reason.OthersReplaced), 0},
	} {
		f := &finding{}
		newJudge(s, &plan.Plan{Disruptions: []plan.Disruption{buying(4*usd, ""), tc.second}}, f).checkSurge()
		if len(f.list) != tc.want {
			t.Errorf("%s: %v", name, f.list)
		}
	}
}
