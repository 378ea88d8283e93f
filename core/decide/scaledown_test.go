package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tenon/core/check"
	"tenon/core/decide"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Nodes of a group in mode cas go by utilization, by places for their pods, and by how long nothing has needed them: what is
// decided of each is an answer with the name that Cluster Autoscaler has for it.
func TestGroupsShrinkByTheRulesOfClusterAutoscaler(t *testing.T) {
	t.Parallel()
	usual := snapshot.ScaleDown{
		Enabled: true, UnreadyEnabled: true, UtilizationThreshold: 500, GPUUtilizationThreshold: 500,
		UnneededTime: 10 * time.Minute, UnreadyTime: 20 * time.Minute, MaxParallelism: 10, MaxDrainParallelism: 1,
	}
	type change = func(*snapshot.Snapshot)
	rules := func(f func(*snapshot.ScaleDown)) change {
		return func(s *snapshot.Snapshot) { f(s.Pools[0].Group.ScaleDown) }
	}
	unneeded := func(ages ...time.Duration) change { // of the nodes, in order
		return func(s *snapshot.Snapshot) {
			for i, age := range ages {
				if age > 0 {
					s.Nodes[i].Life.Unneeded = s.Now.Add(-age)
				}
			}
		}
	}
	unready := func(s *snapshot.Snapshot) { s.Nodes[1].Life.Unready = true }
	const due, early = 10 * time.Minute, 10*time.Minute - time.Second
	no := string(reason.None)
	cases := map[string]struct {
		pods    []int // of each node, which holds four
		floor   int64
		changes []change
		want    []string // goes, or what keeps the node; "?" before that says that nothing needs it
	}{
		"an empty node that is due":           {pods: []int{4, 0}, changes: []change{unneeded(0, due)}, want: []string{"NotUnderutilized", "goes"}},
		"one that is not due yet":             {pods: []int{4, 0}, changes: []change{unneeded(0, early)}, want: []string{"NotUnderutilized", "?NotUnneededLongEnough"}},
		"one that is looked at first":         {pods: []int{4, 0}, want: []string{"NotUnderutilized", "?NotUnneededLongEnough"}},
		"half of it is used":                  {pods: []int{2, 3}, changes: []change{unneeded(due)}, want: []string{"PodsWithoutOtherPlace", "NotUnderutilized"}},
		"more than half is used":              {pods: []int{3, 1}, changes: []change{unneeded(due, due)}, want: []string{"NotUnderutilized", "goes"}},
		"a higher threshold":                  {pods: []int{3, 1}, changes: []change{unneeded(due), rules(func(r *snapshot.ScaleDown) { r.UtilizationThreshold = 1000 })}, want: []string{"goes", "TakesPods"}},
		"daemons are left out":                {pods: []int{4, 0}, changes: []change{unneeded(due), rules(func(r *snapshot.ScaleDown) { r.IgnoreDaemonSetsUtilization = true }), daemons}, want: []string{"goes", "?NotUnneededLongEnough"}},
		"prices do not matter":                {pods: []int{3, 1}, changes: []change{unneeded(0, due), func(s *snapshot.Snapshot) { s.Nodes[1].Price = 0 }}, want: []string{"NotUnderutilized", "goes"}},
		"the floor":                           {pods: []int{4, 0}, floor: 2, changes: []change{unneeded(0, due)}, want: []string{"NotUnderutilized", "GroupFloor"}},
		"a delay":                             {pods: []int{4, 0}, changes: []change{unneeded(0, due), func(s *snapshot.Snapshot) { s.Pools[0] = s.Pools[0].Resting(s.Now.Add(time.Second)) }}, want: []string{"NotUnderutilized", "?ScaleDownInCooldown"}},
		"a delay that is over":                {pods: []int{4, 0}, changes: []change{unneeded(0, due), func(s *snapshot.Snapshot) { s.Pools[0] = s.Pools[0].Resting(s.Now) }}, want: []string{"NotUnderutilized", "goes"}},
		"one drain at a time, empty ones too": {pods: []int{3, 3, 1, 1, 0}, changes: []change{unneeded(0, 0, due, due, due)}, want: []string{"NotUnderutilized", "NotUnderutilized", "goes", "?TooManyScaleDowns", "goes"}},
		"two drains":                          {pods: []int{3, 3, 1, 1}, changes: []change{unneeded(0, 0, due, due), rules(func(r *snapshot.ScaleDown) { r.MaxDrainParallelism = 2 })}, want: []string{"NotUnderutilized", "NotUnderutilized", "goes", "goes"}},
		"no more than so many":                {pods: []int{4, 0, 0}, changes: []change{unneeded(0, due, due+1), rules(func(r *snapshot.ScaleDown) { r.MaxParallelism = 1 })}, want: []string{"NotUnderutilized", "?TooManyScaleDowns", "goes"}},
		"one leaves already":                  {pods: []int{4, 0, 0}, changes: []change{unneeded(0, due), func(s *snapshot.Snapshot) { s.Nodes[2].Leaving = true }, rules(func(r *snapshot.ScaleDown) { r.MaxParallelism = 1 })}, want: []string{"NotUnderutilized", "?TooManyScaleDowns", "NodeLeaving"}},
		"each place is given away once":       {pods: []int{3, 1, 1}, want: []string{"NotUnderutilized", "?NotUnneededLongEnough", "PodsWithoutOtherPlace"}},
		"an unready node has a longer time":   {pods: []int{4, 0}, changes: []change{unready, unneeded(0, 2*due-1)}, want: []string{"NotUnderutilized", "?NotUnreadyLongEnough"}},
		"and goes then":                       {pods: []int{4, 0}, changes: []change{unready, unneeded(0, 2*due)}, want: []string{"NotUnderutilized", "goes"}},
		"unready nodes stay":                  {pods: []int{4, 0}, changes: []change{unready, unneeded(0, 2*due), rules(func(r *snapshot.ScaleDown) { r.UnreadyEnabled = false })}, want: []string{"NotUnderutilized", "ScaleDownUnreadyDisabled"}},
		"all stay":                            {pods: []int{4, 0}, changes: []change{unneeded(0, due), rules(func(r *snapshot.ScaleDown) { r.Enabled = false })}, want: []string{"ScaleDownDisabled", "ScaleDownDisabled"}},
		"a pod holds it":                      {pods: []int{3, 1}, changes: []change{unneeded(0, due), func(s *snapshot.Snapshot) { s.Pods[3].Tie.Drain = &snapshot.DrainFacts{Bare: true} }}, want: []string{"NotUnderutilized", "NotReplicated"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shrinking(tc.floor, tc.pods...)
			own := usual
			s.Pools[0].Group.ScaleDown = &own
			s.Pools[0].Consolidation.After = new(time.Duration)
			for _, c := range tc.changes {
				c(s)
			}
			p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
			for _, v := range check.Plan(s, &p) {
				t.Error(v)
			}
			var got []string
			for i := range p.Prospects {
				o := &p.Prospects[i]
				text := string(o.Cause.Code)
				if text == no {
					text = "goes"
				} else if o.Unneeded {
					text = "?" + text
				}
				if o.Kind == plan.Chosen && !o.Unneeded {
					t.Errorf("%s goes, and something needs it", o.Node)
				}
				got = append(got, text)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s, want %s", strings.Join(got, " "), strings.Join(tc.want, " "))
			}
		})
	}
}

// daemons makes the pods of the first node those of a DaemonSet.
func daemons(s *snapshot.Snapshot) {
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node == s.Nodes[0].Name {
			p.Tie = snapshot.Tie{Asked: true, Drain: &snapshot.DrainFacts{Daemon: true, Custom: true}}
		}
	}
}
