package wait

import (
	"testing"
	"time"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Claims are made at once, unless a rule has them wait; what waits says why, and until when at the
// latest.
func TestClaims(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	in := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	lost := func(at ...int) (out []snapshot.Lost) {
		for i, each := range at {
			out = append(out, snapshot.Lost{UID: []string{"a", "b"}[i], At: in(each)})
		}
		return out
	}
	refused := func(times int, stock string, until ...int) (out []snapshot.Refused) {
		for i, each := range until {
			out = append(out, snapshot.Refused{UID: []string{"a", "b"}[i], Times: times, Stock: stock, Until: in(each)})
		}
		return out
	}
	stock := Stock(sample(now), &sample(now).Pools[0])
	type test struct {
		waiting snapshot.Waiting
		groups  []int      // since when each is free
		claim   plan.Claim // of two that there are; the other one costs 100
		why     reason.Code
		until   time.Time
	}
	both, full := []snapshot.PodIndex{0, 1}, model.Resources{CPU: 1500}
	for name, tc := range map[string]test{
		"nothing to wait for":                {claim: plan.Claim{Pods: both}},
		"a node for no pod":                  {claim: plan.Claim{Replica: true}},
		"a burst, and a node that is small":  {waiting: snapshot.Waiting{Burst: in(5)}, claim: plan.Claim{Pods: both, Allocatable: full, Offer: plan.Offer{Price: 49}}, why: reason.BurstGoesOn, until: in(5)},
		"a burst, and a node with room":      {waiting: snapshot.Waiting{Burst: in(5)}, claim: plan.Claim{Pods: both, Allocatable: model.Resources{CPU: 2000}, Offer: plan.Offer{Price: 50}}, why: reason.BurstGoesOn, until: in(5)},
		"a burst, and a large full node":     {waiting: snapshot.Waiting{Burst: in(5)}, claim: plan.Claim{Pods: both, Allocatable: full, Offer: plan.Offer{Price: 50}}},
		"a burst that is over":               {waiting: snapshot.Waiting{Burst: now}, claim: plan.Claim{Pods: both}},
		"pods that have just lost places":    {waiting: snapshot.Waiting{Placed: 1, Landed: in(-2), Lost: lost(-10, -8)}, claim: plan.Claim{Pods: both}, why: reason.PlacesLost, until: in(20)},
		"one pod that never had a place":     {waiting: snapshot.Waiting{Placed: 1, Landed: in(-2), Lost: lost(-10)}, claim: plan.Claim{Pods: both}},
		"one pod that has waited enough":     {waiting: snapshot.Waiting{Placed: 1, Landed: in(-2), Lost: lost(-10, -30)}, claim: plan.Claim{Pods: both}},
		"lost places, and no pod to come":    {waiting: snapshot.Waiting{Landed: in(-2), Lost: lost(-10, -8)}, claim: plan.Claim{Pods: both}},
		"lost places, and the others linger": {waiting: snapshot.Waiting{Placed: 1, Landed: in(-3), Lost: lost(-10, -8)}, claim: plan.Claim{Pods: both}},
		"pods that moved, and others to be":  {waiting: snapshot.Waiting{Evicting: 1, Lost: lost(-10, -8)}, claim: plan.Claim{Pods: both}, why: reason.PlacesLost, until: in(20)},
		"refused launches":                   {waiting: snapshot.Waiting{Refused: refused(2, stock, 9, 7)}, claim: plan.Claim{Pods: []snapshot.PodIndex{0, 1, 2}}, why: reason.LaunchesRefused, until: in(7)},
		"a refusal of one pod alone":         {waiting: snapshot.Waiting{Refused: refused(2, stock, 9)}, claim: plan.Claim{Pods: both}},
		"a pause that is over":               {waiting: snapshot.Waiting{Refused: refused(2, stock, 0)}, claim: plan.Claim{Pods: []snapshot.PodIndex{0}}},
		"other things are in stock now":      {waiting: snapshot.Waiting{Refused: refused(10, "other", 9)}, claim: plan.Claim{Pods: []snapshot.PodIndex{0}}},
		"too many refusals for hope":         {waiting: snapshot.Waiting{Refused: refused(11, "other", 9)}, claim: plan.Claim{Pods: []snapshot.PodIndex{0}}, why: reason.LaunchesRefused, until: in(9)},
		"a group that has just become free":  {groups: []int{-9, -1}, claim: plan.Claim{Pods: both, Group: "a"}, why: reason.GroupsFreed, until: in(1)},
		"groups that have been free":         {groups: []int{-9, -2}, claim: plan.Claim{Pods: both, Group: "a"}},
		"a pool beside a group":              {groups: []int{-1}, claim: plan.Claim{Pods: both}},
		"the first rule is the reason":       {waiting: snapshot.Waiting{Burst: in(5), Refused: refused(2, stock, 9)}, claim: plan.Claim{Pods: []snapshot.PodIndex{0}}, why: reason.BurstGoesOn, until: in(5)},
	} {
		s := sample(now)
		s.Waiting, tc.claim.Pool, tc.claim.Requests = tc.waiting, "a", model.Resources{CPU: 1000}
		for _, at := range tc.groups {
			s.Pools = append(s.Pools, snapshot.Pool{Group: &snapshot.Group{Freed: in(at)}})
		}
		p := &plan.Plan{Claims: []plan.Claim{tc.claim, {Pool: "a", Offer: plan.Offer{Price: 100}}}}
		p.Claims[0].Delay.Code = "before" // what was said about the snapshot before does not matter
		Claims(s, p)
		if got := p.Claims[0].Delay; got != (plan.Delay{Code: tc.why, Until: tc.until}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Claims for buffers wait for the end of a burst, and when the last ones failed.
func TestSpareClaims(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	for want, waiting := range map[plan.Delay]snapshot.Waiting{
		{}: {Spare: now},
		{Code: reason.LaunchesRefused, Until: now.Add(4)}: {Spare: now.Add(4)},
		{Code: reason.BurstGoesOn, Until: now.Add(2)}:     {Spare: now.Add(4), Burst: now.Add(2)},
		{Code: reason.OthersReplaced, Until: now.Add(3)}:  {Spare: now.Add(4), Replacing: now.Add(3)},
	} {
		p := &plan.Plan{Spare: make([]plan.Claim, 1)}
		Claims(&snapshot.Snapshot{Now: now, Waiting: waiting}, p)
		if got := p.Spare[0].Delay; got != want {
			t.Errorf("%+v: %+v", waiting, got)
		}
	}
	p := &plan.Plan{Spare: []plan.Claim{{Group: "a"}}}
	Claims(&snapshot.Snapshot{Now: now, Pools: []snapshot.Pool{{Group: &snapshot.Group{Freed: now}}}}, p)
	if got := p.Spare[0].Delay.Code; got != reason.GroupsFreed {
		t.Errorf("a group that has just become free: %s", got)
	}
}

// sample has two pods, and one that is announced.
func sample(now time.Time) *snapshot.Snapshot {
	return &snapshot.Snapshot{
		Now: now, Pools: []snapshot.Pool{{Name: "a"}},
		Catalogs:  []catalog.Catalog{{Types: []catalog.Type{{Offerings: []catalog.Offering{{Available: true}, {}}}}}},
		Templates: []snapshot.Template{{Requests: model.Resources{CPU: 1000}}},
		Pods:      []snapshot.Pod{{UID: "a"}, {UID: "b"}, {}},
	}
}

// What a pool has in stock is the same text as long as the same offerings can be had.
func TestStock(t *testing.T) {
	t.Parallel()
	s := sample(time.Time{})
	before := Stock(s, &s.Pools[0])
	s.Catalogs[0].Types[0].Offerings[1].Price = 7
	if now := Stock(s, &s.Pools[0]); now != before {
		t.Errorf("a price has made another stock of it: %s and %s", before, now)
	}
	s.Catalogs[0].Types[0].Offerings[1].Available = true
	if now := Stock(s, &s.Pools[0]); now == before {
		t.Errorf("one more offering can be had, and the stock is still %s", now)
	}
}

// After the second refusal in a row the next claim waits for a second, after each further one for twice as
// long, for a minute at most.
func TestPause(t *testing.T) {
	t.Parallel()
	for refusals, seconds := range map[int]int{0: 0, 1: 0, 2: 1, 3: 2, 7: 32, 8: 60, 1000: 60} {
		if got := Pause(refusals); got != time.Duration(seconds)*time.Second {
			t.Errorf("after %d refusals: %s, want %d s", refusals, got, seconds)
		}
	}
}
