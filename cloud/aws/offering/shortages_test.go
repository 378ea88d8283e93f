package offering_test

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"tenon/cloud/aws/offering"
	"tenon/core/catalog"
)

var large = offering.Shortage{InstanceType: "m5.large", Zone: "a", CapacityType: "spot"}

func in(o offering.Shortage, group, partition string) offering.Shortage {
	o.Group, o.Partition = group, partition
	return o
}

// A shortage holds for its offer and for narrower ones, never for wider or other ones.
func TestWhomAShortageConcerns(t *testing.T) {
	t.Parallel()
	other := large
	other.Zone = "b"
	cases := map[string]struct {
		note  func(*offering.Shortages)
		asked offering.Shortage
		want  bool
	}{
		"the offer itself":                     {func(b *offering.Shortages) { b.Note(large) }, large, true},
		"another zone":                         {func(b *offering.Shortages) { b.Note(large) }, other, false},
		"the offer in a group":                 {func(b *offering.Shortages) { b.Note(large) }, in(large, "pg-1", "2"), true},
		"a group's shortage, outside of it":    {func(b *offering.Shortages) { b.Note(in(large, "pg-1", "")) }, large, false},
		"a group's shortage, in another group": {func(b *offering.Shortages) { b.Note(in(large, "pg-1", "")) }, in(large, "pg-2", ""), false},
		"a group's shortage, in a partition":   {func(b *offering.Shortages) { b.Note(in(large, "pg-1", "")) }, in(large, "pg-1", "2"), true},
		"a partition's shortage, in another":   {func(b *offering.Shortages) { b.Note(in(large, "pg-1", "1")) }, in(large, "pg-1", "2"), false},
		"all of spot":                          {func(b *offering.Shortages) { b.NoteCapacityType("spot") }, other, true},
		"addresses are another matter":         {func(b *offering.Shortages) { b.NoteSubnet("a") }, large, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := offering.NewShortages(clocktesting.NewFakePassiveClock(start))
			tc.note(b)
			if got := b.View().Has(tc.asked); got != tc.want {
				t.Errorf("short %t, want %t", got, tc.want)
			}
		})
	}
}

// A shortage is over after three minutes; if it is there again at once it lasts twice as
// long, and quiet makes it short again.
func TestShortagesDecay(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(start)
	b := offering.NewShortages(clock)
	lasts := func() time.Duration {
		b.Note(large)
		b.Note(large) // as a second answer of the same call would
		noted := clock.Now()
		for b.View().Has(large) {
			clock.SetTime(clock.Now().Add(time.Minute))
		}
		return clock.Now().Sub(noted)
	}
	for i, want := range []time.Duration{3, 6, 12, 12} {
		if got := lasts(); got != want*time.Minute {
			t.Errorf("shortage %d lasts %s, want %dm", i+1, got, want)
		}
	}
	clock.SetTime(clock.Now().Add(2 * time.Hour))
	if got := lasts(); got != 3*time.Minute {
		t.Errorf("after quiet a shortage lasts %s, want 3m", got)
	}
}

// An outage begins when the shortage was first seen, even if later retries failed.
func TestOutages(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(start)
	b := offering.NewShortages(clock)
	if o := b.View().Outage(large); o != nil {
		t.Errorf("nothing is short, and %+v", o)
	}
	for _, step := range []struct {
		after              time.Duration
		sinceMin, untilMin int
	}{{0, 0, 3}, {4 * time.Minute, 0, 10}, {time.Hour, 64, 67}} {
		clock.SetTime(clock.Now().Add(step.after))
		b.Note(large)
		want := catalog.Outage{Since: start.Add(time.Duration(step.sinceMin) * time.Minute), Until: start.Add(time.Duration(step.untilMin) * time.Minute)}
		if o := b.View().Outage(in(large, "pg-1", "")); o == nil || *o != want {
			t.Errorf("after %s: %+v, want %+v", step.after, o, want)
		}
	}
}

// The revision moves with every change, the end of a shortage included, and only then.
func TestRevisions(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(start)
	b := offering.NewShortages(clock)
	none := b.View()
	b.NoteSubnet("subnet-1")
	full := b.View()
	if full.Revision() == none.Revision() || full.Revision() != b.View().Revision() {
		t.Error("the revision does not tell a change from none")
	}
	if !full.HasSubnet("subnet-1") || none.HasSubnet("subnet-1") {
		t.Error("a view changed after it was given away")
	}
	if !full.Next().Equal(start.Add(3 * time.Minute)) {
		t.Errorf("over at %s", full.Next())
	}
	clock.SetTime(full.Next())
	if over := b.View(); over.HasSubnet("subnet-1") || over.Revision() == full.Revision() || !over.Next().IsZero() {
		t.Error("a shortage that is over is still there")
	}
}
