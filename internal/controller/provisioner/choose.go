package provisioner

import (
	"slices"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/execute"
	"tenon/internal/world"
)

// selection is the part of a plan that is carried out now.
type selection struct {
	claims   []*plan.Claim
	existing []plan.Placement
	// left is how many pods wait for the next decision.
	left int
	// late is how many pods have lost their places, and wait until the others have taken theirs.
	late int
}

// choose takes all of a plan, or, while a burst goes on, only the nodes that are large and
// full: the others would be larger or cheaper if they waited for the pods that are yet to
// come. Nodes for pods that are late wait, too.
func choose(s *snapshot.Snapshot, p *plan.Plan, streaming bool, late func(*snapshot.Pod) bool) selection {
	out := selection{existing: p.Existing}
	dearest := model.Money(0)
	for i := range p.Claims {
		dearest = max(dearest, p.Claims[i].Offer.Price)
	}
	arranged := arranged(s)
	for i := range p.Claims {
		c := &p.Claims[i]
		if len(c.Pods) > 0 && !slices.ContainsFunc(c.Pods, func(pod int) bool { return !arranged[s.Pods[pod].Node] }) {
			continue
		}
		if streaming && (c.Offer.Price < dearest/2 || !full(s, c)) {
			out.left += len(c.Pods)
			continue
		}
		if len(c.Pods) > 0 && !slices.ContainsFunc(c.Pods, func(pod int) bool { return !late(&s.Pods[pod]) }) {
			out.late += len(c.Pods)
			continue
		}
		out.claims = append(out.claims, c)
	}
	return out
}

// arranged are the nodes that leave because of a disruption, which has found places for
// their pods. Packed anew, one or another might not fit, and a node would be bought that
// is not needed; a pod that finds no place when it comes to that is pending, and gets one then.
func arranged(s *snapshot.Snapshot) map[string]bool {
	out := map[string]bool{}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Life.Underway != "" {
			out[n.Name] = true
		}
	}
	return out
}

// full reports whether a node has no room for one more of any of its own pods.
func full(s *snapshot.Snapshot, c *plan.Claim) bool {
	room := c.Allocatable.Sub(c.Requests)
	last := int32(-1)
	for _, i := range c.Pods {
		template := s.Pods[i].Template
		if template == last {
			continue
		}
		last = template
		if s.Templates[template].Requests.Fits(room) {
			return false
		}
	}
	return true
}

// commit has pods keep their places on nodes that are still to come. On nodes that are there
// the scheduler binds new pods at once; one that it has refused before keeps its place there,
// too, and is nominated for it.
func (l *loop) commit(s *snapshot.Snapshot, chosen selection) {
	nodes := map[string]*snapshot.Node{}
	for i := range s.Nodes {
		nodes[s.Nodes[i].Name] = &s.Nodes[i]
	}
	for _, e := range chosen.existing {
		n := nodes[e.Node]
		if n == nil || n.Claim == "" {
			continue
		}
		pods := pending(s, e.Pods)
		if n.Initialized {
			pods = slices.DeleteFunc(pods, func(g world.Guest) bool { return !l.o.World.Refused(g) })
		}
		l.o.World.Commit(n.Claim, pods)
	}
}

// pending are those of the pods that are there and have no node: pods of leaving nodes, and
// pods that are announced, will be other pods when they come.
func pending(s *snapshot.Snapshot, pods []int) []world.Guest {
	out := make([]world.Guest, 0, len(pods))
	for _, i := range pods {
		if p := &s.Pods[i]; p.Pending && p.UID != "" {
			out = append(out, world.GuestOf(p))
		}
	}
	return out
}

// orders are the claims to make.
func (l *loop) orders(s *snapshot.Snapshot, chosen selection, market map[string]world.Sale) []execute.Order {
	orders := make([]execute.Order, 0, len(chosen.claims))
	for _, c := range chosen.claims {
		pool, found := l.o.World.Pool(c.Pool)
		if !found {
			continue // it went while we decided
		}
		claim := l.intents.ForPlan(pool, c, market[c.Pool].Catalog)
		claim.Name = claim.GenerateName + l.o.Suffix()
		orders = append(orders, execute.Order{
			Claim: claim, Pool: pool, Capacity: c.Capacity, Pods: pending(s, c.Pods), For: c.Pods, Price: c.Offer.Price, Reason: "provisioned",
		})
	}
	return orders
}
