package evaluation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/decide"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

var start = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// evaluated puts prospects as of some minutes after the start.
func evaluated(b *Nodes, minutes int, list ...plan.Prospect) {
	s := &snapshot.Snapshot{Now: start.Add(time.Duration(minutes) * time.Minute)}
	b.Put(s, &decide.Decision{Plan: plan.Plan{Prospects: list}})
}

func of(kind plan.Kind, why plan.Reason, code reason.Code) plan.Prospect {
	return plan.Prospect{Node: "node-a", Claim: "a", Pool: "web", Kind: kind, Reason: why, Cause: reason.Cause{Code: code}}
}

func skipped() plan.Prospect { return of(plan.Waiting, plan.Underutilized, reason.NotLookedAt) }

// A node that an evaluation did not reach keeps its earlier verdict, if that still holds, and the
// age of the verdict counts.
func TestWhatWasNotLookedAt(t *testing.T) {
	t.Parallel()
	kept := of(plan.Kept, plan.Underutilized, reason.NotCheaper)
	cases := map[string]struct {
		rounds []plan.Prospect // a minute apart
		code   reason.Code
		age    time.Duration
		since  int
	}{
		"looked at every time":       {[]plan.Prospect{kept, kept, kept}, reason.NotCheaper, 0, 0},
		"what keeps it stands":       {[]plan.Prospect{kept, skipped(), skipped()}, reason.NotCheaper, 2 * time.Minute, 0},
		"never looked at":            {[]plan.Prospect{skipped(), skipped(), skipped()}, reason.NotLookedAt, 2 * time.Minute, 0},
		"no longer blocked":          {[]plan.Prospect{of(plan.Blocked, "", reason.NodeNominated), skipped()}, reason.NotLookedAt, 0, 1},
		"chosen, and then forgotten": {[]plan.Prospect{of(plan.Chosen, plan.Underutilized, ""), skipped()}, reason.NotLookedAt, 0, 1},
		"looked at at last":          {[]plan.Prospect{skipped(), kept}, reason.NotCheaper, 0, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := NewNodes()
			for minute, p := range tc.rounds {
				evaluated(b, minute, p)
			}
			page := b.Page()
			entry, found := page.Find("a")
			if !found || entry.Cause.Code != tc.code || page.At.Sub(page.Oldest()) != tc.age || !entry.Since.Equal(start.Add(time.Duration(tc.since)*time.Minute)) {
				t.Errorf("found %t %+v, oldest %s", found, entry, page.Oldest())
			}
			if o, found := b.Of("a"); !found || o.Cause.Code != tc.code {
				t.Errorf("found %t %+v", found, o)
			}
		})
	}
}

// A page is about the nodes that there are, and says nothing of those without a claim.
func TestPageForgets(t *testing.T) {
	t.Parallel()
	b := NewNodes()
	evaluated(b, 0, of(plan.Kept, plan.Underutilized, reason.NotCheaper))
	evaluated(b, 1, plan.Prospect{Node: "node-b", Claim: "b", Kind: plan.Blocked}, plan.Prospect{Node: "by-hand", Kind: plan.Blocked})
	if _, found := b.Of("a"); found {
		t.Error("a is gone")
	}
	if page := b.Page(); len(page.Entries) != 1 || page.Entries[0].Claim != "b" {
		t.Errorf("%+v", page.Entries)
	}
	b.Put(&snapshot.Snapshot{Now: start, Nodes: make([]snapshot.Node, 1)}, &decide.Decision{})
	if _, found := b.Of("b"); !found {
		t.Error("a decision that was not about the fleet has changed the page")
	}
}

// The message about a chosen node has the numbers of the whole disruption.
func TestMessageOfChosen(t *testing.T) {
	t.Parallel()
	removals := func(n int) []plan.Removal { return make([]plan.Removal, n) }
	cases := map[string]struct {
		d    plan.Disruption
		want string
	}{
		"an empty node": {plan.Disruption{Nodes: removals(1), Savings: 200_000}, "Will be deleted: no pod has to move, saves 0.20 an hour"},
		"pods find places on other nodes": {
			plan.Disruption{Nodes: removals(2), Moves: []plan.Placement{{Pods: []snapshot.PodIndex{1}}}, Savings: model.Money(1_250_000)},
			"Will be deleted, together with 1 other node: 1 pod moves, saves 1.25 an hour",
		},
		"three become one": {
			plan.Disruption{Nodes: removals(3), Replacements: []plan.Claim{{Pods: []snapshot.PodIndex{1, 2}}}, Moves: []plan.Placement{{Pods: []snapshot.PodIndex{3}}}, Savings: 10_000},
			"Will be replaced by 1 node, together with 2 other nodes: 3 pods move, saves 0.01 an hour",
		},
		"drift may cost": {
			plan.Disruption{Nodes: removals(1), Replacements: make([]plan.Claim, 2), Savings: -10_000},
			"Will be replaced by 2 nodes: no pod has to move",
		},
	}
	for name, tc := range cases {
		p := plan.Plan{Disruptions: []plan.Disruption{{}, tc.d}}
		if got := message(&p, &plan.Prospect{Kind: plan.Chosen, Disruption: 1}); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tc.want)
		}
	}
}

// A budget of zero is reported only if it holds a node back, and a budget that is used up is not.
func TestClosed(t *testing.T) {
	t.Parallel()
	pool := func(name string, empty, drifted, underutilized int) snapshot.Pool {
		return snapshot.Pool{Name: name, Consolidation: snapshot.Consolidation{
			Allowed: snapshot.Allowance{Empty: empty, Drifted: drifted, Underutilized: underutilized},
		}}
	}
	s := &snapshot.Snapshot{Pools: []snapshot.Pool{pool("web", 0, 0, 0), pool("db", 5, 1, 0), pool("idle", 0, 0, 0)}}
	waits := func(pool string, reason plan.Reason) plan.Prospect {
		return plan.Prospect{Claim: pool + string(reason), Pool: pool, Kind: plan.Waiting, Reason: reason}
	}
	b := NewNodes()
	woken := 0
	b.Subscribe(func() { woken++ })
	b.Put(s, &decide.Decision{Plan: plan.Plan{Prospects: []plan.Prospect{
		waits("web", plan.Underutilized), waits("web", plan.Drifted), waits("db", plan.Drifted), waits("db", plan.Underutilized),
		{Claim: "c", Pool: "idle", Kind: plan.Blocked}, {Claim: "d", Pool: "web", Kind: plan.Kept, Reason: plan.Underutilized},
	}}})
	page := b.Page()
	if diff := cmp.Diff([]Closed{{"db", plan.Underutilized}, {"web", plan.Drifted}, {"web", plan.Underutilized}}, page.Closed); diff != "" {
		t.Errorf("closed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[plan.Reason]int{plan.Drifted: 2, plan.Underutilized: 3}, page.Eligible); diff != "" {
		t.Errorf("eligible (-want +got):\n%s", diff)
	}
	if woken != 1 {
		t.Errorf("woken %d times", woken)
	}
}
