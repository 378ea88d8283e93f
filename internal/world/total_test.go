package world_test

import (
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"tenon/cloud/aws/instancetype"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// A claim is refused if the cluster would have more than its limits with it: nodes, and claims that were made a moment ago, count.
func TestClaimsBeyondLimitsOfTheCluster(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limits   []model.Amount
		capacity model.Resources
		want     []reason.Code // of one claim after the other
	}{
		"no limit": {want: []reason.Code{"", "", ""}},
		"nodes":    {limits: []model.Amount{{Name: model.Nodes, Value: 3}}, want: []reason.Code{"", "", reason.LimitTaken}},
		"cores": {
			limits: []model.Amount{{Name: model.CPU, Value: capacityOf(t).CPU + 5000}}, capacity: model.Resources{CPU: 2000},
			want: []reason.Code{"", "", reason.LimitTaken},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Settings: snapshot.Settings{Limits: tc.limits}}, testclock.NewFakePassiveClock(noon))
			w.Put(pool(0))
			w.Put(node(7))
			w.Picture(world.Moment{Now: noon})
			for i, want := range tc.want {
				if cause := w.Assume(claim(i), tc.capacity, nil); cause.Code != want {
					t.Errorf("claim %d: %q, want %q", i, cause.Code, want)
				}
			}
		})
	}
}

// A group takes its share of the limits of the cluster before the cloud is told its size, so that nothing else gets it.
func TestGroupsBeyondLimitsOfTheCluster(t *testing.T) {
	t.Parallel()
	settings := snapshot.Settings{Limits: []model.Amount{{Name: model.Nodes, Value: 3}}}
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Settings: settings}, testclock.NewFakePassiveClock(noon))
	w.Put(pool(0))
	w.Put(webGroup(1))
	w.Picture(world.Moment{Now: noon})
	grow := func(from, to int64) func() reason.Cause {
		return func() reason.Cause { return w.Grow("web", from, to) }
	}
	buy := func(i int) func() reason.Cause {
		return func() reason.Cause { return w.Assume(claim(i), model.Resources{}, nil) }
	}
	for _, step := range []struct {
		what string
		do   func() reason.Cause
		want reason.Code
	}{
		{"more than there may be", grow(1, 4), reason.LimitTaken},
		{"not from the present size", grow(2, 3), reason.GroupChanged},
		{"two", grow(1, 2), ""},
		{"a claim takes the last", buy(0), ""},
		{"nothing is left for the group", grow(2, 3), reason.LimitTaken},
		{"nor for another claim", buy(1), reason.LimitTaken},
		{"the group did not grow", func() reason.Cause { w.Put(webGroup(1)); return reason.Cause{} }, ""},
		{"so another claim may be", buy(1), ""},
	} {
		if cause := step.do(); cause.Code != step.want {
			t.Errorf("%s: %q, want %q", step.what, cause.Code, step.want)
		}
	}
}

// capacityOf is what a node of the tests has.
func capacityOf(t *testing.T) model.Resources {
	t.Helper()
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary()}, testclock.NewFakePassiveClock(noon))
	w.Put(pool(0))
	w.Put(node(7))
	return w.Picture(world.Moment{Now: noon.Add(time.Second)}).Snapshot.Nodes[0].Capacity
}
