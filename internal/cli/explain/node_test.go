package explain_test

import (
	"slices"
	"testing"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/rulecost"
	"tenon/core/snapshot"
	"tenon/internal/cli/document"
	"tenon/internal/cli/explain"
)

// A pool's nodes stay or go for reasons in words; nodes alike are counted together.
func TestPoolSaysWhatKeepsItsNodes(t *testing.T) {
	prospect := func(node string, kind plan.Kind, cause reason.Cause) plan.Prospect {
		return plan.Prospect{Node: node, Claim: "claim-" + node, Pool: "default", Kind: kind, Cause: cause}
	}
	cases := map[string]struct {
		prospects []plan.Prospect
		want      string
	}{
		"one node": {[]plan.Prospect{prospect("", plan.Blocked, reason.Cause{Code: reason.NodeMissing})},
			"1 node may not be disrupted: Nodeclaim does not have an associated node"},
		"two with one cause": {[]plan.Prospect{prospect("a", plan.Kept, reason.Cause{Code: reason.NotCheaper}), prospect("b", plan.Kept, reason.Cause{Code: reason.NotCheaper})},
			"2 nodes stay: Can't replace with a cheaper node"},
		"two whose causes name different pods": {
			[]plan.Prospect{prospect("a", plan.Blocked, reason.Cause{Code: reason.PodProtected, Where: "web-1"}), prospect("b", plan.Blocked, reason.Cause{Code: reason.PodProtected, Where: "web-2"})},
			`2 nodes may not be disrupted, such as a: Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=web-1)`},
		"one that goes": {[]plan.Prospect{{Node: "a", Pool: "default", Kind: plan.Chosen, Reason: plan.Underutilized}}, "1 node goes: Underutilized"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := document.Planned{Snapshot: &snapshot.Snapshot{Pools: []snapshot.Pool{{Name: "default"}}, Catalogs: make([]catalog.Catalog, 1)}}
			p.Plan.Prospects = tc.prospects
			answer, err := explain.Of(p, "nodepool", "default")
			if err != nil || !slices.Contains(answer.Facts, explain.Fact{About: "stay or go", Text: tc.want}) {
				t.Errorf("explained as %v, %v", answer.Facts, err)
			}
		})
	}
}

// Prices have their currency, if it is known.
func TestPricesHaveTheirCurrency(t *testing.T) {
	for currency, want := range map[string]string{"": "1, 0.25 an hour", "CNY": "1, 0.25 CNY an hour"} {
		p := document.Planned{Snapshot: &snapshot.Snapshot{Pools: []snapshot.Pool{{Name: "default"}}, Catalogs: make([]catalog.Catalog, 1), Nodes: []snapshot.Node{{Name: "n", Pool: "default", Price: model.Unit / 4}}}}
		p.Prices.Currency = currency
		answer, err := explain.Of(p, "nodepool", "default")
		if err != nil || !slices.Contains(answer.Facts, explain.Fact{About: "nodes", Text: want}) || answer.Currency != currency {
			t.Errorf("explained as %v, %v, want %q", answer, err, want)
		}
	}
}

// The last change of a user is told of a node, of its claim and of a pool.
func TestChangesByHandAreTold(t *testing.T) {
	p := document.Planned{Snapshot: &snapshot.Snapshot{
		Pools: []snapshot.Pool{{Name: "default"}, {Name: "idle"}}, Catalogs: make([]catalog.Catalog, 1),
		Nodes: []snapshot.Node{{Name: "n", Claim: "c", Pool: "default"}, {Name: "o", Claim: "d", Pool: "default"}},
	}}
	p.Interventions = map[string]string{"node/n": "cordon, by alice", "nodeclaim/c": "pin, by bob", "nodepool/default": "pause, by alice"}
	node := []explain.Fact{{About: "by hand", Text: "node/n: cordon, by alice"}, {About: "by hand", Text: "nodeclaim/c: pin, by bob"}}
	for object, want := range map[[2]string][]explain.Fact{
		{"node", "n"}: node, {"nodeclaim", "c"}: node, {"node", "o"}: nil, {"nodepool", "idle"}: nil,
		{"nodepool", "default"}: {{About: "by hand", Text: "nodepool/default: pause, by alice"}},
	} {
		answer, err := explain.Of(p, object[0], object[1])
		got := slices.DeleteFunc(answer.Facts, func(f explain.Fact) bool { return f.About != "by hand" })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %v, %v", object, got, err)
		}
	}
}

// A rule that leaves pods without a place is not said to cost less than nothing.
func TestRulesThatKeepPodsOut(t *testing.T) {
	limit := rulecost.Cost{Rule: rulecost.Rule{Pool: "default"}, Savings: -model.Unit / 4, Places: 2}
	p := document.Planned{Snapshot: &snapshot.Snapshot{Pools: []snapshot.Pool{{Name: "default"}}, Catalogs: make([]catalog.Catalog, 1)}}
	p.RuleCosts.Costs = []rulecost.Cost{limit}
	answer, err := explain.Of(p, "nodepool", "default")
	want := limit.Rule.Text() + " keeps 2 pods from having a place; with them the price is 0.25 an hour more"
	if err != nil || !slices.Contains(answer.Facts, explain.Fact{About: "rule", Text: want}) {
		t.Errorf("explained as %v, %v, want %q", answer.Facts, err, want)
	}
}
