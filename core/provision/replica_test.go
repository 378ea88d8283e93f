package provision

import (
	"strconv"
	"testing"

	"tenon/core/catalog"
	"tenon/core/check"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// fixed is a market with a static pool of so many replicas.
func fixed(replicas int64, more ...requirement.Requirement) *snapshot.Snapshot {
	s := market()
	s.Settings.StaticCapacity = true
	pool := poolOf("fixed", more...)
	pool.Replicas, pool.Unready.Code = &replicas, reason.PoolStatic
	s.Pools = append(s.Pools, pool)
	return s
}

func (s *standing) node(name string, leaving bool) {
	s.Nodes = append(s.Nodes, snapshot.Node{Name: name, Claim: name, Pool: "fixed", Leaving: leaving})
}

type standing struct{ *snapshot.Snapshot }

func TestReplicasThatAStaticPoolLacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*standing)
		want   int
	}{
		"all of them":                     {func(*standing) {}, 3},
		"not while the gate is shut":      {func(s *standing) { s.Settings.StaticCapacity = false }, 0},
		"not those that are there":        {func(s *standing) { s.node("a", false); s.node("b", false) }, 1},
		"none of too many":                {func(s *standing) { s.node("a", false); s.node("b", false); s.node("c", false); s.node("d", false) }, 0},
		"those that leave anew":           {func(s *standing) { s.node("a", false); s.node("b", true) }, 2},
		"not while the pool is not ready": {func(s *standing) { s.Pools[1].Held.Code = reason.NotReady }, 0},
		"within the limit":                {func(s *standing) { s.Pools[1].Limits = []model.Amount{{Name: model.Nodes, Value: 2}} }, 2},
		"within it, those that leave too": {func(s *standing) {
			s.Pools[1].Limits = []model.Amount{{Name: model.Nodes, Value: 3}}
			s.node("a", true)
		}, 2},
		"none when nothing can be had": {func(s *standing) {
			s.Pools[1].Requirements = s.Pools[1].Requirements.With(requirement.New(zoneKey, requirement.In, "z"))
		}, 0},
		"none when there is too little choice": {func(s *standing) {
			s.Pools[1].Requirements = s.Pools[1].Requirements.With(requirement.New(sizeKey, requirement.Exists).WithMinValues(9))
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fixed(3)
			c.change(&standing{s})
			p := solved(s, Options{})
			if len(p.Claims) != c.want {
				t.Errorf("%d claims, not %d", len(p.Claims), c.want)
			}
			for _, v := range check.Plan(s, &p) {
				t.Error(v)
			}
		})
	}
}

// A replica may be anything that the pool admits, and is priced at the least of it.
func TestReplicasComeStraightFromTheTemplate(t *testing.T) {
	t.Parallel()
	s := fixed(1, requirement.New(requirement.KeyArch, requirement.In, "arm64"))
	p := solved(s, Options{})
	c := &p.Claims[0]
	if !c.Narrowed().Equal(s.Pools[1].Requirements) || !c.Requests.IsZero() || len(c.Pods) > 0 {
		t.Errorf("the claim is narrowed: %v, %v", c.Narrowed(), c.Requests)
	}
	if c.Offer.InstanceType != "arm-2" || c.Offer.Price != 14_000 || c.Alternatives.Len() != 7 {
		t.Errorf("planned as %+v, with %d alternatives", c.Offer, c.Alternatives.Len())
	}
	if p.Cost.New != 14_000 || p.Cost.LowerBound != 14_000 {
		t.Errorf("costs %s, at least %s", p.Cost.New, p.Cost.LowerBound)
	}
}

// Pods do not wait for replicas, and do not get them.
func TestReplicasAreBoughtBesideNodesForPods(t *testing.T) {
	t.Parallel()
	s := fixed(2)
	for i := range 3 {
		s.Pods = append(s.Pods, snapshot.Pod{Namespace: "default", Name: "web-" + strconv.Itoa(i), Pending: true})
	}
	p := solved(s, Options{})
	replicas := 0
	for i := range p.Claims {
		if p.Claims[i].Replica {
			replicas++
		}
	}
	if replicas != 2 || len(p.Claims) == replicas || len(p.Unplaced) > 0 {
		t.Errorf("%d claims, %d of them replicas, %d pods without a place", len(p.Claims), replicas, len(p.Unplaced))
	}
	for _, v := range check.Plan(s, &p) {
		t.Error(v)
	}
}

// A reservation is used as far as it lasts, the rest is bought.
func TestReplicasUseReservations(t *testing.T) {
	t.Parallel()
	s := fixed(3)
	s.Settings.ReservedCapacity = true
	reserved := &s.Catalogs[0].Types[0]
	reserved.Requirements = reserved.Requirements.Replaced(requirement.New(capacityTypeKey, requirement.In, "spot", "on-demand", "reserved"))
	reserved.Offerings = append(reserved.Offerings, catalog.Offering{Zone: "a", CapacityType: catalog.Reserved, Price: 1, Available: true, ReservationID: "r-1", ReservationCapacity: 2})
	p := solved(s, Options{})
	taken := 0
	for i := range p.Claims {
		if p.Claims[i].Offer.Reservation == "r-1" {
			taken++
		}
	}
	if len(p.Claims) != 3 || taken != 2 {
		t.Errorf("%d of %d claims on the reservation", taken, len(p.Claims))
	}
	for _, v := range check.Plan(s, &p) {
		t.Error(v)
	}
}
