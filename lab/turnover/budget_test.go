package turnover

import (
	"fmt"
	"testing"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
)

// A budget of no nodes keeps all of them, even empty ones, and the claims say so.
func TestBudgetOfNone(t *testing.T) {
	s := tell(t)
	s.class()
	s.pool(onDemand("m6a.large"))
	web := s.deploy("web", 2, "1500m")
	s.Running("web", 2)
	before := s.claims()
	s.Scale(web.Name, 0)
	s.kept(before, "No allowed disruptions for disruption reason Empty due to blocking budget")
}

// With a budget of ten per cent of three nodes, which is one node, at most one node leaves at a time.
func TestBudgetOfTenPercent(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(onDemand("m6a.large"))
	web := s.deploy("web", 3, "1500m")
	s.Running("web", 3)
	history := s.observe()
	s.Scale(web.Name, 0)
	s.open(pool, `{"nodes":"10%"}`)
	s.awaitClaims("no claim is left", func(c []karpenterv1.NodeClaim) bool { return len(c) == 0 })
	if most := history.mostLeaving(); most != 1 {
		t.Errorf("%d nodes were leaving at once", most)
	}
}

// A budget with a schedule applies only during its time.
func TestBudgetBySchedule(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(onDemand("m6a.large"))
	web := s.deploy("web", 2, "1500m")
	s.Running("web", 2)
	before := s.claims()
	now := time.Now().UTC()
	ends := now.Truncate(time.Minute).Add(2 * time.Minute)
	history := s.observe()
	s.open(pool, `{"nodes":"100%"}`, fmt.Sprintf(`{"nodes":"0","schedule":"%d %d * * *","duration":"2m"}`, now.Minute(), now.Hour()))
	s.Scale(web.Name, 0)
	s.awaitClaims("no claim is left", func(c []karpenterv1.NodeClaim) bool { return len(c) == 0 })
	if gone := history.firstLeft(); gone.Before(ends) {
		t.Errorf("the first of %v was closed at %s, and the budget ended at %s", names(before), gone, ends)
	}
}

// A budget for one reason does not apply to others: drifted nodes stay, empty ones go.
func TestBudgetByReason(t *testing.T) {
	s := tell(t)
	s.class()
	pool := s.pool(onDemand("m6a.large"))
	s.deploy("web", 1, "1500m")
	s.Running("web", 1)
	drifted := s.claims()
	s.Patch(pool, `{"spec":{"template":{"metadata":{"labels":{"colour":"blue"}}}}}`)
	s.awaitDrift(drifted, "NodePoolDrifted")
	guest := s.deploy("guest", 1, "1500m")
	s.Running("guest", 1)
	s.open(pool, `{"nodes":"0","reasons":["Drifted"]}`, `{"nodes":"100%"}`)
	s.Scale(guest.Name, 0)
	s.awaitClaims("the empty node has gone", func(c []karpenterv1.NodeClaim) bool { return len(c) == 1 && settled(c) })
	s.kept(drifted, "No allowed disruptions for disruption reason Drifted due to blocking budget")
}
