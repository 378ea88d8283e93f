package decide_test

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tenon/core/check"
	"tenon/core/decide"
	"tenon/core/drainable"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Sections of Cluster Autoscaler's FAQ that say what it decides.
const (
	whenSizes     = "When does Cluster Autoscaler change the size of a cluster?"
	whichPods     = "What types of pods can prevent CA from removing a node?"
	severalZones  = "I'm running cluster with nodes in multiple zones for HA purposes. Is that supported by Cluster Autoscaler?"
	toZero        = "How can I scale a node group to 0?"
	oneNode       = "How can I prevent Cluster Autoscaler from scaling down a particular node?"
	notEmpty      = "How can I prevent Cluster Autoscaler from scaling down non-empty nodes?"
	reactionTime  = "How can I modify Cluster Autoscaler reaction time?"
	scaleUpWorks  = "How does scale-up work?"
	scaleDown     = "How does scale-down work?"
	disruptions   = "Does CA work with PodDisruptionBudget in scale-down?"
	unreadyNodes  = "How does CA deal with unready nodes?"
	expanders     = "What are Expanders?"
	nodeAffinity  = "Does CA respect node affinity when selecting node groups to scale up?"
	parameters    = "What are the parameters to CA?"
	outsideLimits = "My cluster is below minimum / above maximum number of nodes, but CA did not fix that! Why?"
	noQuota       = "What happens in scale-up when I have no more quota in the cloud provider?"
)

// documentedDefaults are those of the flags of Cluster Autoscaler. ("What are the parameters to CA?")
func documentedDefaults() *snapshot.ScaleDown {
	return &snapshot.ScaleDown{
		Enabled: true, UnreadyEnabled: true, UtilizationThreshold: 500, GPUUtilizationThreshold: 500,
		UnneededTime: 10 * time.Minute, UnreadyTime: 20 * time.Minute, MaxParallelism: 10, MaxDrainParallelism: 1,
		DelayAfterAdd: 10 * time.Minute, DelayAfterFailure: 3 * time.Minute,
		Drain: snapshot.DrainRules{
			SkipNodesWithSystemPods: true, SkipNodesWithLocalStorage: true, SkipNodesWithCustomControllerPods: true, BlockingSystemPodTimeout: time.Hour,
			ExpendableBelow: -10,
		},
	}
}

// Cluster Autoscaler's documentation says what it decides about an input; groups in mode cas decide the same, except where the page about
// node groups names the difference.
func TestDecisionsThatClusterAutoscalerDocuments(t *testing.T) {
	t.Parallel()
	type input = func() *snapshot.Snapshot
	page, err := os.ReadFile("../../docs/reference/node-groups.md")
	if err != nil {
		t.Fatal(err)
	}
	spot, demand, wide := member{name: "spot", cpu: 2, price: 10, ceiling: 9}, member{name: "demand", cpu: 8, price: 90, ceiling: 9}, member{name: "wide", cpu: 3, price: 200, ceiling: 9}
	limited := func(m member, ceiling int64) member { m.ceiling = ceiling; return m }
	prior := func(m member, priority int64) member { m.priority = priority; return m }
	grows := func(chain string, cores []int64, groups ...member) input {
		return func() *snapshot.Snapshot { return among(chain, groups, cores...) }
	}
	balanced := func(change func(s *snapshot.Snapshot), sizes ...int64) input {
		return func() *snapshot.Snapshot {
			s := among("", []member{{name: "a", cpu: 2, price: 10, ceiling: 9}, {name: "b", cpu: 2, price: 10, ceiling: 9}, {name: "c", cpu: 2, price: 10, ceiling: 9}}, 2, 2, 2, 2, 2, 2)
			s.Settings.Balance = &snapshot.Balance{Ignored: []string{"zone"}, Memory: 15, Allocatable: 50, Free: 50}
			for i, size := range sizes {
				s.Pools[i].Group.Desired = size
			}
			if change != nil {
				change(s)
			}
			return s
		}
	}
	type change = func(*snapshot.Snapshot)
	rules := func(f func(*snapshot.ScaleDown)) change {
		return func(s *snapshot.Snapshot) { f(s.Pools[0].Group.ScaleDown) }
	}
	// A group of nodes with so many pods of the four that each can hold, none of which anything has needed for an hour.
	shrinks := func(floor int64, pods []int, changes ...change) input {
		return func() *snapshot.Snapshot {
			s := shrinking(floor, pods...)
			s.Pools[0].Group.ScaleDown, s.Pools[0].Consolidation.After = documentedDefaults(), new(time.Duration)
			for i := range s.Nodes {
				s.Nodes[i].Life.Unneeded = s.Now.Add(-time.Hour)
			}
			for _, c := range changes {
				c(s)
			}
			return s
		}
	}
	unneeded := func(node int, age time.Duration) change {
		return func(s *snapshot.Snapshot) { s.Nodes[node].Life.Unneeded = s.Now.Add(-age) }
	}
	unready := func(node int, age time.Duration) change {
		return func(s *snapshot.Snapshot) {
			s.Nodes[node].Life.Unready, s.Nodes[node].Life.Unneeded = true, s.Now.Add(-age)
		}
	}
	pod := func(facts snapshot.DrainFacts) change { // the pod of the last node
		return func(s *snapshot.Snapshot) { s.Pods[len(s.Pods)-1].Tie.Drain = &facts }
	}
	resting := func(left time.Duration) change {
		return func(s *snapshot.Snapshot) { s.Pools[0] = s.Pools[0].Resting(s.Now.Add(left)) }
	}
	guarded := func(allowed int32) change {
		return func(s *snapshot.Snapshot) {
			s.Budgets = []snapshot.Budget{{Namespace: "default", Name: "web", Allowed: allowed}}
			s.Pods[len(s.Pods)-1].Tie.Budgets = []string{"web"}
		}
	}
	prioritized := func(priority int32, input input) input { // all its pods have a priority
		return func() *snapshot.Snapshot {
			s := input()
			for i := range s.Templates {
				s.Templates[i].Priority = priority
			}
			for i := range s.Pools {
				if rules := s.Pools[i].Rules(); rules != nil {
					rules.Drain.ExpendableBelow = -10
				}
			}
			return s
		}
	}
	expendable := func(s *snapshot.Snapshot) { // the pods of the last node
		for i := range s.Pods {
			if p := &s.Pods[i]; p.Node == s.Nodes[len(s.Nodes)-1].Name {
				p.Tie.Drain = &snapshot.DrainFacts{Expendable: true, Bare: true, Local: true, SafeToEvict: drainable.Unsafe}
				p.Tie.Protected, p.Tie.Unsafe = true, true
			}
		}
	}
	three := []int64{1, 1, 1}
	beside := []int{3, 1} // the pod of the second node fits on the first
	cases := map[string]struct {
		section string
		input   input
		want    string // what is documented: groups that grow, or nodes that go by number
		ours    string // what Tenon decides instead; empty is the same
		differs string // the sentence of the page that says so
	}{
		"pods that fit on existing nodes":          {section: whenSizes, input: pendingBeside(1, 3), want: "nothing"},
		"a pod that would fit on no new node":      {section: whenSizes, input: grows("least-waste", []int64{16}, spot, demand), want: "nothing"},
		"as many nodes as the pods need":           {section: scaleUpWorks, input: grows("least-waste", []int64{2, 2, 2}, spot), want: "3 spot"},
		"a group at its maximum":                   {section: outsideLimits, input: grows("least-waste", []int64{2, 2}, limited(spot, 1)), want: "1 spot"},
		"a group above its maximum is not lowered": {section: outsideLimits, input: shrinks(0, []int{4, 4}, func(s *snapshot.Snapshot) { s.Pools[0].Limits[0].Value = 1 }), want: "nothing"},
		"a group without nodes":                    {section: toZero, input: grows("least-waste", []int64{1}, spot), want: "1 spot"},
		"a group in backoff":                       {section: noQuota, input: backedOff(grows("priority", three, prior(spot, 50), prior(demand, 10))), want: "1 demand"},
		"a node selector":                          {section: nodeAffinity, input: grows("least-nodes", []int64{1}, spot, tainted(demand, "only-1")), want: "1 spot"},
		"pods that need two groups":                {section: scaleUpWorks, input: grows("least-waste", []int64{1, 1}, tainted(spot, "only-0"), tainted(demand, "only-1")), want: "1 of the two", ours: "1 demand 1 spot", differs: "All groups that pods need grow in one decision"},
		"expander most-pods":                       {section: expanders, input: grows("most-pods", three, limited(spot, 1), demand), want: "1 demand"},
		"expander least-waste":                     {section: expanders, input: grows("least-waste", three, spot, demand, wide), want: "1 wide"},
		"expander least-nodes":                     {section: expanders, input: grows("least-nodes", []int64{2, 2, 2}, spot, demand), want: "1 demand"},
		"expander price":                           {section: expanders, input: grows("price", three, spot, demand, wide), want: "no start on AWS", ours: "2 spot", differs: "The expander `price` works on AWS"},
		"expander priority":                        {section: expanders, input: grows("priority", three, prior(spot, 10), prior(demand, 50), wide), want: "1 demand"},
		"expander priority, then another":          {section: expanders, input: grows("priority,least-waste", three, prior(demand, 50), prior(wide, 50), spot), want: "1 wide"},
		"expander priority, without a number":      {section: expanders, input: grows("priority", three, limited(prior(wide, 50), 1), demand), want: "1 wide"},
		"expander random, of one":                  {section: expanders, input: grows("random", three, demand), want: "1 demand"},
		"similar groups, evenly":                   {section: severalZones, input: balanced(nil, 0, 0, 0), want: "2 a 2 b 2 c"},
		"similar groups, the smallest first":       {section: severalZones, input: balanced(nil, 2, 0, 5), want: "2 a 4 b"},
		"a group of other machines":                {section: severalZones, input: balanced(func(s *snapshot.Snapshot) { s.Catalogs[1].Types[0].Capacity.CPU += 500 }, 0, 0, 0), want: "3 a 3 c"},
		"an unneeded node":                         {section: scaleDown, input: shrinks(0, beside), want: "goes: 1"},
		"more than half of it is requested":        {section: scaleDown, input: shrinks(0, []int{1, 3}, unneeded(0, 0)), want: "nothing"},
		"exactly half of it is requested":          {section: scaleDown, input: shrinks(0, []int{2, 2}, unneeded(0, 0)), want: "nothing", ours: "goes: 1", differs: "Exactly the threshold is not above it"},
		"its pods have no other place":             {section: scaleDown, input: shrinks(0, []int{4, 1}), want: "nothing"},
		"unneeded for less than ten minutes":       {section: reactionTime, input: shrinks(0, beside, unneeded(1, 10*time.Minute-time.Second)), want: "nothing"},
		"unneeded for ten minutes":                 {section: reactionTime, input: shrinks(0, beside, unneeded(1, 10*time.Minute)), want: "goes: 1"},
		"ten empty nodes at a time":                {section: parameters, input: shrinks(0, []int{4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), want: "goes: 1 2 3 4 5 6 7 8 9 10"},
		"one node with pods at a time":             {section: parameters, input: shrinks(0, []int{3, 3, 1, 1}), want: "goes: 2"},
		"empty nodes before those with pods":       {section: parameters, input: shrinks(0, []int{3, 1, 0}, rules(func(r *snapshot.ScaleDown) { r.MaxParallelism = 1 })), want: "goes: 2"},
		"the minimum of the group":                 {section: outsideLimits, input: shrinks(2, beside), want: "nothing"},
		"the annotation scale-down-disabled":       {section: oneNode, input: shrinks(0, beside, func(s *snapshot.Snapshot) { s.Nodes[1].Life.Protected = true }), want: "nothing"},
		"a threshold of 0 keeps nodes with pods":   {section: notEmpty, input: shrinks(0, []int{3, 1, 0}, rules(func(r *snapshot.ScaleDown) { r.UtilizationThreshold = 0 })), want: "goes: 2"},
		"within the delay after a scale-up":        {section: reactionTime, input: shrinks(0, beside, resting(time.Second)), want: "nothing"},
		"after that delay":                         {section: reactionTime, input: shrinks(0, beside, resting(0)), want: "goes: 1"},
		"a pod without a controller":               {section: whichPods, input: shrinks(0, beside, pod(snapshot.DrainFacts{Bare: true})), want: "nothing"},
		"a pod of kube-system":                     {section: whichPods, input: shrinks(0, beside, pod(snapshot.DrainFacts{System: true}), young), want: "nothing"},
		"a pod with local storage":                 {section: whichPods, input: shrinks(0, beside, pod(snapshot.DrainFacts{Local: true})), want: "nothing"},
		"local storage that the flag allows":       {section: whichPods, input: shrinks(0, beside, pod(snapshot.DrainFacts{Local: true}), rules(func(r *snapshot.ScaleDown) { r.Drain.SkipNodesWithLocalStorage = false })), want: "goes: 1"},
		"safe-to-evict: false":                     {section: whichPods, input: shrinks(0, beside, pod(snapshot.DrainFacts{SafeToEvict: drainable.Unsafe})), want: "nothing"},
		"safe-to-evict: true, with local storage":  {section: whichPods, input: shrinks(0, beside, pod(snapshot.DrainFacts{SafeToEvict: drainable.Safe, Local: true, Bare: true})), want: "goes: 1"},
		"a PodDisruptionBudget without room":       {section: disruptions, input: shrinks(0, beside, guarded(0)), want: "nothing"},
		"a PodDisruptionBudget with room":          {section: disruptions, input: shrinks(0, beside, guarded(1)), want: "goes: 1"},
		"an unready node, before twenty minutes":   {section: unreadyNodes, input: shrinks(0, beside, unready(1, 20*time.Minute-time.Second)), want: "nothing"},
		"an unready node, after twenty minutes":    {section: unreadyNodes, input: shrinks(0, beside, unready(1, 20*time.Minute)), want: "goes: 1"},
		"too many unready nodes": {section: unreadyNodes, input: shrinks(0, beside, func(s *snapshot.Snapshot) {
			s.Pools[0].Unready = reason.Unready{Code: reason.NotReady, Message: "Healthy is False"}
		}), want: "nothing", ours: "goes: 1", differs: "An unhealthy group does not grow, and still shrinks"},
		"a pod below the cutoff":                    {section: parameters, input: prioritized(-11, grows("least-waste", three, spot)), want: "nothing"},
		"a pod at the cutoff":                       {section: parameters, input: prioritized(-10, grows("least-waste", []int64{1}, spot)), want: "1 spot"},
		"one below it where a pool has nodes":       {section: parameters, input: prioritized(-11, grows("least-waste", []int64{1}, spot, member{name: "pool", cpu: 8, price: 900})), want: "nothing", ours: "1 pool", differs: "Pools have nodes for pods of every priority"},
		"a node full of pods below the cutoff":      {section: parameters, input: shrinks(0, []int{4, 4}, expendable), want: "goes: 1"},
		"one with a PodDisruptionBudget for them":   {section: parameters, input: shrinks(0, []int{4, 4}, expendable, guarded(0)), want: "goes: 1", ours: "nothing", differs: "PodDisruptionBudgets hold for them too"},
		"a node that has got pods of another":       {section: scaleDown, input: shrinks(0, []int{1, 1, 0, 4}, rules(func(r *snapshot.ScaleDown) { r.MaxDrainParallelism = 2 })), want: "goes: 0 2"},
		"a cheaper group would do for all the pods": {section: scaleDown, input: shrinks(0, []int{3, 3}, func(s *snapshot.Snapshot) { s.Catalogs[0].Types[0].Offerings[0].Price = 1 }), want: "nothing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tc.input()
			p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
			for _, v := range check.Plan(s, &p) {
				if !v.Rule.IsAdvice() {
					t.Error(v)
				}
			}
			if got, want := decided(s, &p), cmp.Or(tc.ours, tc.want); got != want {
				t.Errorf("%s: %s, want %s", tc.section, got, want)
			}
			if !strings.Contains(string(page), tc.differs) {
				t.Errorf("the page about node groups does not say %q", tc.differs)
			}
		})
	}
}

// decided says which groups grow and which nodes go, by number.
func decided(s *snapshot.Snapshot, p *plan.Plan) string {
	var parts []string
	if more := grown(p.Claims); more != "" {
		parts = append(parts, more)
	}
	var gone []string
	for i := range s.Nodes {
		for j := range p.Disruptions {
			if slices.ContainsFunc(p.Disruptions[j].Nodes, func(r plan.Removal) bool { return r.Node == s.Nodes[i].Name }) {
				gone = append(gone, strings.TrimLeft(strings.TrimPrefix(s.Nodes[i].Name, "n"), "0"))
			}
		}
	}
	if len(gone) > 0 {
		for i := range gone {
			gone[i] = cmp.Or(gone[i], "0")
		}
		parts = append(parts, "goes: "+strings.Join(gone, " "))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

// pendingBeside is a group with a node that has so many pods of the four that it can hold, and so many pods that wait.
func pendingBeside(running, waiting int) func() *snapshot.Snapshot {
	return func() *snapshot.Snapshot {
		s := shrinking(0, running)
		s.Pools[0].Group.ScaleDown, s.Pools[0].Consolidation.After = documentedDefaults(), new(time.Duration)
		return wait30(s, waiting)
	}
}

// backedOff is an input whose first group is in backoff.
func backedOff(input func() *snapshot.Snapshot) func() *snapshot.Snapshot {
	return func() *snapshot.Snapshot {
		s := input()
		s.Pools[0].Unready = reason.Unready{Code: reason.NotReady, Message: "in backoff after failed scale-up"}
		return s
	}
}

// young has the pods made just now.
func young(s *snapshot.Snapshot) {
	for i := range s.Pods {
		s.Pods[i].Created = s.Now.Add(-time.Minute)
	}
}
