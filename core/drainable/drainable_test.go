package drainable_test

import (
	"testing"
	"time"

	"tenon/core/drainable"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// The order and the reasons are those of the table in the specification of Cluster Autoscaler's drain rules.
func TestHolder(t *testing.T) {
	t.Parallel()
	type facts = snapshot.DrainFacts
	type rules = snapshot.DrainRules
	usual := rules{SkipNodesWithSystemPods: true, SkipNodesWithLocalStorage: true, SkipNodesWithCustomControllerPods: true, BlockingSystemPodTimeout: time.Hour}
	all := facts{Orphaned: true, Bare: true, Custom: true, System: true, Local: true, SafeToEvict: "false"} // what every rule has something against
	with := func(change func(*facts)) facts {
		f := all
		change(&f)
		return f
	}
	cases := map[string]struct {
		facts facts
		rules rules
		age   time.Duration
		want  reason.Code
		until time.Time
	}{
		"0 an expendable pod does not count":                 {facts: with(func(f *facts) { f.Expendable = true }), rules: usual},
		"1 a mirror pod is skipped":                          {facts: with(func(f *facts) { f.Mirror = true }), rules: usual},
		"2 one that should be gone for long is skipped":      {facts: with(func(f *facts) { f.Overdue = noon.Add(-time.Second) }), rules: usual},
		"2 one that is about to go is not":                   {facts: with(func(f *facts) { f.Overdue = noon }), rules: usual, want: reason.ControllerNotFound},
		"3 its controller is gone":                           {facts: with(func(f *facts) { f.Daemon, f.SafeToEvict = true, "true" }), rules: usual, want: reason.ControllerNotFound},
		"3 that is asked with the flag only":                 {facts: facts{Orphaned: true}},
		"3 too few replicas":                                 {facts: facts{Counted: true, Replicas: 1}, rules: rules{SkipNodesWithCustomControllerPods: true, MinReplicaCount: 2}, want: reason.MinReplicasReached},
		"3 enough replicas":                                  {facts: facts{Counted: true, Replicas: 2}, rules: rules{SkipNodesWithCustomControllerPods: true, MinReplicaCount: 2}},
		"4 a daemon may go":                                  {facts: with(func(f *facts) { f.Orphaned, f.Daemon = false, true }), rules: usual},
		"5 safe-to-evict true comes before what follows":     {facts: with(func(f *facts) { f.Orphaned, f.SafeToEvict = false, "true" }), rules: usual},
		"6 what has ended may go":                            {facts: with(func(f *facts) { f.Orphaned, f.Ended = false, true }), rules: usual},
		"7 on-completion waits":                              {facts: with(func(f *facts) { f.Orphaned, f.SafeToEvict = false, "on-completion" }), rules: usual, want: reason.BlockedByOnCompletionPod},
		"8 no controller, with every flag off":               {facts: facts{Bare: true}, want: reason.NotReplicated},
		"8 a controller of another kind":                     {facts: facts{Custom: true}, rules: usual, want: reason.NotReplicated},
		"8 such a controller counts without the flag":        {facts: facts{Custom: true}},
		"9 a system pod that is young":                       {facts: facts{System: true}, rules: usual, age: time.Hour, want: reason.UnmovableKubeSystemPod, until: noon},
		"9 one that is older goes, in spite of what follows": {facts: facts{System: true, Local: true, SafeToEvict: "false"}, rules: usual, age: time.Hour + time.Second},
		"9 without the flag":                                 {facts: facts{System: true}},
		"10 safe-to-evict false, with every flag off":        {facts: facts{SafeToEvict: "false", Local: true}, want: reason.NotSafeToEvictAnnotation},
		"10 any other value says nothing":                    {facts: facts{SafeToEvict: "False"}, rules: usual},
		"11 local storage":                                   {facts: facts{Local: true}, rules: usual, want: reason.LocalStorageRequested},
		"11 without the flag":                                {facts: facts{Local: true}},
		"everything else may go":                             {rules: usual},
	}
	for name, tc := range cases {
		pod := &snapshot.Pod{Created: noon.Add(-tc.age), Tie: snapshot.Tie{Drain: &tc.facts}}
		if got, until := drainable.Holder(tc.rules, pod, noon); got != tc.want || !until.Equal(tc.until) {
			t.Errorf("%s: %q until %s, want %q until %s", name, got, until, tc.want, tc.until)
		}
	}
	if got, _ := drainable.Holder(usual, &snapshot.Pod{}, noon); got != reason.None {
		t.Errorf("a pod without facts: %s", got)
	}
}
