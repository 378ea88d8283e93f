package provisioner

import (
	"slices"

	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/execute"
	"tenon/internal/world"
)

// commit reserves the places of pods on nodes that do not exist yet. On existing nodes the
// scheduler binds new pods at once; a pod that it has refused before keeps its place there, too,
// and is nominated for it.
func (l *loop) commit(s *snapshot.Snapshot, existing []plan.Placement) {
	nodes := map[string]*snapshot.Node{}
	for i := range s.Nodes {
		nodes[s.Nodes[i].Name] = &s.Nodes[i]
	}
	for _, e := range existing {
		n := nodes[e.Node]
		if n == nil || n.Claim == "" {
			continue
		}
		pods := pendingRefs(s, e.Pods)
		if n.Initialized {
			pods = slices.DeleteFunc(pods, func(g world.PodRef) bool { return !l.o.World.Refused(g) })
		}
		l.o.World.Commit(n.Claim, pods)
	}
}

// pendingRefs are those of existing pods without a node. Pods of leaving nodes, and announced pods,
// are left out: other Pod objects will take their places.
func pendingRefs(s *snapshot.Snapshot, pods []snapshot.PodIndex) []world.PodRef {
	out := make([]world.PodRef, 0, len(pods))
	for _, i := range pods {
		if p := &s.Pods[i]; p.Pending && p.UID != "" {
			out = append(out, world.RefOf(p))
		}
	}
	return out
}

// orders are the claims to make now. For a node of a group none is made.
func (l *loop) orders(s *snapshot.Snapshot, claims []plan.Claim, market map[string]world.Sale) []execute.Order {
	orders := make([]execute.Order, 0, len(claims))
	for i := range claims {
		c := &claims[i]
		pool, found := l.o.World.Pool(c.Pool)
		if !c.Now() || c.Group != "" || !found { // or the pool was deleted during the decision
			continue
		}
		claim := l.intents.ForPlan(pool, c, market[c.Pool].Catalog)
		claim.Name = claim.GenerateName + l.o.Suffix()
		orders = append(orders, execute.Order{
			Claim: claim, Pool: pool, Capacity: c.Capacity, Pods: pendingRefs(s, c.Pods), For: c.Pods, Price: c.Offer.Price, Reason: "provisioned",
		})
	}
	return orders
}
