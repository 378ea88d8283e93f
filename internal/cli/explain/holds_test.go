package explain_test

import (
	"slices"
	"testing"
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/cli/document"
	"tenon/internal/cli/explain"
)

// A node says all that holds it, and not only what the plan met first: its pods, PodDisruptionBudgets, pods without
// another place, and the budgets of its pool.
func TestNodeSaysAllThatHoldsIt(t *testing.T) {
	until := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pod := func(name, node string, tie snapshot.Tie) snapshot.Pod {
		return snapshot.Pod{Namespace: "shop", Name: name, Node: node, Tie: tie}
	}
	p := document.Planned{Snapshot: &snapshot.Snapshot{
		Pools:     []snapshot.Pool{{Name: "default", Consolidation: snapshot.Consolidation{Allowed: snapshot.Allowance{Empty: 2, Underutilized: snapshot.Unlimited}}}},
		Templates: make([]snapshot.Template, 1),
		Nodes:     []snapshot.Node{{Name: "a", Pool: "default", Life: snapshot.Life{Protected: true}}, {Name: "b"}},
		Pods: []snapshot.Pod{
			pod("db-0", "a", snapshot.Tie{Protected: true, Budgets: []string{"db"}}), pod("job-1", "a", snapshot.Tie{Protected: true, Until: until}),
			pod("old-1", "a", snapshot.Tie{Protected: true, Unsafe: true}), pod("web-1", "a", snapshot.Tie{Asked: true, Budgets: []string{"one", "web"}}),
			pod("web-2", "b", snapshot.Tie{Protected: true}), pod("free", "a", snapshot.Tie{}),
		},
		Budgets: []snapshot.Budget{{Namespace: "shop", Name: "db", Never: true}, {Namespace: "shop", Name: "one", Allowed: 1}, {Namespace: "shop", Name: "other"}, {Namespace: "shop", Name: "web"}},
	}}
	p.Plan.Prospects = []plan.Prospect{{Node: "a", Kind: plan.Blocked, Cause: reason.Cause{Code: reason.PodsWithoutOtherPlace, Pods: []reason.Stranded{{Pod: "shop/free"}}}}}
	answer, err := explain.Of(p, "node", "a")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range answer.Facts {
		if f.About == "holds" {
			got = append(got, f.Text)
		}
	}
	stranded := reason.Refusal{}
	want := []string{
		"the node itself: its annotation forbids to disrupt it",
		"pod shop/db-0: its annotation do-not-disrupt",
		"pod shop/job-1: its annotation do-not-disrupt holds until 2026-03-01T12:00:00Z",
		"pod shop/old-1: its annotation says that it is not safe to evict",
		"pod shop/web-1: 2 PodDisruptionBudgets cover it, and eviction refuses such pods",
		"PodDisruptionBudget shop/db never lets go of db-0",
		"PodDisruptionBudget shop/web lets none of its pods go now: web-1",
		"pod shop/free has no place elsewhere: " + stranded.Text(),
		"the budgets of pool default let no node go as Drifted",
	}
	if !slices.Equal(got, want) {
		t.Errorf("held by\n%q\nwant\n%q", got, want)
	}
}
