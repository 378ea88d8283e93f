package disruptable_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/disruptable"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// node is in service in a pool that sells, with a pod that may be evicted.
func node(change func(*disruptable.Node), pods ...snapshot.Pod) disruptable.Node {
	pods = append(pods, pod("web"))
	list := make([]*snapshot.Pod, len(pods))
	for i := range pods {
		list[i] = &pods[i]
	}
	n := disruptable.Node{Node: &snapshot.Node{Name: "a", Claim: "a", Pool: "default", Initialized: true}, Sold: true, Pods: slices.Values(list)}
	change(&n)
	return n
}

func pod(name string, changes ...func(*snapshot.Pod)) snapshot.Pod {
	p := snapshot.Pod{Namespace: "shop", Name: name, UID: name, Tie: snapshot.Tie{Returns: true, Asked: true}}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func same(*disruptable.Node) {}

func rules() disruptable.Rules {
	return disruptable.NewRules(noon, []snapshot.Budget{{Namespace: "shop", Name: "none", Allowed: 0}, {Namespace: "shop", Name: "one", Allowed: 1}})
}

// Each rule by itself keeps a node, which is what a decision says of a node that it asks about first.
func TestBlocker(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		node  disruptable.Node
		want  reason.Cause
		until time.Time
	}{
		"nothing speaks against it":      {node: node(same)},
		"it is not ours":                 {node: node(func(n *disruptable.Node) { n.Pool, n.Claim = "", "" }), want: reason.Cause{Code: reason.NotManaged}},
		"it has not joined":              {node: node(func(n *disruptable.Node) { n.Life.Unborn = true }), want: reason.Cause{Code: reason.NodeMissing}},
		"a disruption is under way":      {node: node(func(n *disruptable.Node) { n.Life.Underway = "Empty" }), want: reason.Cause{Code: reason.BeingDisrupted, Where: "Empty"}},
		"it is not initialized":          {node: node(func(n *disruptable.Node) { n.Initialized = false }), want: reason.Cause{Code: reason.NotInitialized}},
		"it is being deleted":            {node: node(func(n *disruptable.Node) { n.Leaving = true }), want: reason.Cause{Code: reason.NodeLeaving}},
		"pods are on their way":          {node: node(func(n *disruptable.Node) { n.Awaited = true }), want: reason.Cause{Code: reason.NodeNominated}},
		"pods were promised a place":     {node: node(func(n *disruptable.Node) { n.Life.Nominated = noon.Add(time.Minute) }), want: reason.Cause{Code: reason.NodeNominated}, until: noon.Add(time.Minute)},
		"the promise is over":            {node: node(func(n *disruptable.Node) { n.Life.Nominated = noon })},
		"its annotation forbids it":      {node: node(func(n *disruptable.Node) { n.Life.Protected = true }), want: reason.Cause{Code: reason.NodeProtected}},
		"scale-down-disabled is named":   {node: node(func(n *disruptable.Node) { n.Life.Protected, n.Life.Kept = true, true }), want: reason.Cause{Code: reason.ScaleDownDisabledAnnotation}},
		"safe-to-evict is named":         {node: node(same, pod("db", protect, unsafe)), want: reason.Cause{Code: reason.NotSafeToEvictAnnotation, Where: "shop/db"}},
		"a bare pod holds no other node": {node: node(same, pod("db", bare))},
		"but one in mode cas":            {node: node(cas, pod("web"), pod("db", bare)), want: reason.Cause{Code: reason.NotReplicated, Where: "shop/db"}},
		"a pod waits for its own time":   {node: node(cas, pod("dns", system)), want: reason.Cause{Code: reason.UnmovableKubeSystemPod, Where: "shop/dns"}, until: noon.Add(time.Hour)},
		"do-not-disrupt counts there":    {node: node(cas, pod("db", protect)), want: reason.Cause{Code: reason.PodProtected, Where: "shop/db"}},
		"budgets count there":            {node: node(cas, pod("db", budgets("none"))), want: reason.Cause{Code: reason.PodDisruptionBudget, Where: "shop/none"}},
		"a daemon may not be unsafe":     {node: node(cas, pod("log", protect, unsafe, daemon, stays))},
		"unless it would be evicted":     {node: node(cas, pod("log", protect, unsafe, daemon)), want: reason.Cause{Code: reason.NotSafeToEvictAnnotation, Where: "shop/log"}},
		"it has no label of a pool":      {node: node(func(n *disruptable.Node) { n.Pool = "" }), want: reason.Cause{Code: reason.PoolLabelMissing}},
		"its pool is gone":               {node: node(func(n *disruptable.Node) { n.Sold = false }), want: reason.Cause{Code: reason.PoolNotFound, Where: "default"}},
		"the first rule is told":         {node: node(func(n *disruptable.Node) { n.Initialized, n.Sold = false, false }), want: reason.Cause{Code: reason.NotInitialized}},
		"what holds it comes last":       {node: node(func(n *disruptable.Node) { n.Sold = false }, pod("db", protect)), want: reason.Cause{Code: reason.PoolNotFound, Where: "default"}},
		"a pod holds it in the end too":  {node: node(same, pod("db", protect)), want: reason.Cause{Code: reason.PodProtected, Where: "shop/db"}},
	}
	for name, tc := range cases {
		cause, until := rules().Blocker(tc.node)
		if diff := cmp.Diff(tc.want, cause); diff != "" || !until.Equal(tc.until) {
			t.Errorf("%s: until %s, cause (-want +got):\n%s", name, until, diff)
		}
	}
}

// cas has a group managed by the rules of Cluster Autoscaler.
func cas(n *disruptable.Node) {
	n.ScaleDown = &snapshot.ScaleDown{Drain: snapshot.DrainRules{SkipNodesWithSystemPods: true, BlockingSystemPodTimeout: time.Hour}}
}

func unsafe(p *snapshot.Pod) { p.Tie.Unsafe = true }
func stays(p *snapshot.Pod)  { p.Tie.Asked = false }
func bare(p *snapshot.Pod)   { p.Tie.Drain = &snapshot.DrainFacts{Bare: true} }
func daemon(p *snapshot.Pod) { p.Tie.Drain = &snapshot.DrainFacts{Daemon: true} }
func system(p *snapshot.Pod) { p.Created, p.Tie.Drain = noon, &snapshot.DrainFacts{System: true} }

func protect(p *snapshot.Pod) { p.Tie.Protected = true }

func budgets(names ...string) func(*snapshot.Pod) {
	return func(p *snapshot.Pod) { p.Tie.Budgets = names }
}

// Pods and their PodDisruptionBudgets hold a node, unless its removal is bounded in time.
func TestHolder(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		node  disruptable.Node
		want  reason.Cause
		until time.Time
	}{
		"a pod is protected for a while": {
			node: node(same, pod("db", func(p *snapshot.Pod) { p.Tie.Protected, p.Tie.Until = true, noon.Add(time.Hour) })),
			want: reason.Cause{Code: reason.PodProtected, Where: "shop/db"}, until: noon.Add(time.Hour),
		},
		"the protection of a pod is over": {node: node(same, pod("db", func(p *snapshot.Pod) { p.Tie.Protected, p.Tie.Until = true, noon }))},
		"a protected pod ends":            {node: node(same, pod("db", func(p *snapshot.Pod) { p.Tie.Protected, p.Terminating = true, true }))},
		"a budget allows no eviction":     {node: node(same, pod("db", budgets("none"))), want: reason.Cause{Code: reason.PodDisruptionBudget, Where: "shop/none"}},
		"a budget allows one":             {node: node(same, pod("db", budgets("one")))},
		"a budget that is gone":           {node: node(same, pod("db", budgets("gone")))},
		"two budgets cover a pod":         {node: node(same, pod("db", budgets("one", "none"))), want: reason.Cause{Code: reason.SeveralPodDisruptionBudgets, Where: "shop/one shop/none"}},
		"a pod leaves without eviction":   {node: node(same, pod("db", func(p *snapshot.Pod) { p.Tie.Budgets, p.Tie.Asked = []string{"none"}, false }))},
		"a pod under a budget ends":       {node: node(same, pod("db", func(p *snapshot.Pod) { p.Tie.Budgets, p.Terminating = []string{"none"}, true }))},
		"the removal is bounded in time":  {node: node(func(n *disruptable.Node) { n.Forced = true }, pod("db", protect), pod("cache", budgets("none")))},
		"its annotation holds it even so": {node: node(func(n *disruptable.Node) { n.Forced, n.Life.Protected = true, true }), want: reason.Cause{Code: reason.NodeProtected}},
	}
	for name, tc := range cases {
		cause, until := rules().Holder(tc.node)
		if diff := cmp.Diff(tc.want, cause); diff != "" || !until.Equal(tc.until) {
			t.Errorf("%s: until %s, cause (-want +got):\n%s", name, until, diff)
		}
	}
}

// Preconditions are asked in their order, and only those that are named.
func TestUnmet(t *testing.T) {
	t.Parallel()
	came := reason.Cause{Code: reason.PodCame, Where: "shop/new"}
	removal := &plan.Removal{}
	cases := map[string]struct {
		node  disruptable.Node
		needs []plan.Precondition
		want  reason.Cause
	}{
		"all are met":                        {node(same), removal.ToBegin(), reason.Cause{}},
		"a pod came":                         {node(same, pod("new", func(*snapshot.Pod) {})), removal.ToBegin(), came},
		"a pod came that ends":               {node(same, pod("new", func(p *snapshot.Pod) { p.Tie.Asked, p.Terminating = false, true })), plan.ToRemove(), came},
		"a pod came that does not come back": {node(same, pod("new", func(p *snapshot.Pod) { p.Tie.Returns = false })), plan.ToRemove(), reason.Cause{}},
		"a pod came that stays":              {node(same, pod("new", func(p *snapshot.Pod) { p.Tie.Asked = false })), plan.ToRemove(), reason.Cause{}},
		"a pod came before what holds it":    {node(same, pod("new", protect)), plan.ToRemove(), came},
		"it goes already, before removal":    {node(func(n *disruptable.Node) { n.Leaving = true }), plan.ToRemove(), reason.Cause{}},
		"it goes already, before it begins":  {node(func(n *disruptable.Node) { n.Leaving = true }), removal.ToBegin(), reason.Cause{Code: reason.NodeLeaving}},
		"it is held before removal":          {node(func(n *disruptable.Node) { n.Life.Protected = true }), plan.ToRemove(), reason.Cause{Code: reason.NodeProtected}},
	}
	known := func(p *snapshot.Pod) bool { return p.Name == "web" }
	for name, tc := range cases {
		if diff := cmp.Diff(tc.want, rules().Unmet(tc.node, known, tc.needs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A precondition of anything but a node that goes is a mistake of the caller.
func TestUnmetRefusesOthers(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a precondition of claims was asked of a node")
		}
	}()
	rules().Unmet(node(same), func(*snapshot.Pod) bool { return true }, plan.ToLaunch())
}
