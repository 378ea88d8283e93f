package disrupt

import (
	"cmp"
	"slices"

	"tenon/core/plan"
	"tenon/core/provision/fleet"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// drift replaces nodes that are no longer what they should be: empty ones first, then those that
// drifted first. What it costs does not matter.
func (x *search) drift() {
	for _, at := range x.drifted(false) {
		n := &x.nodes[at]
		ledger := x.newBudgetUse(plan.Drifted)
		if cause, ok := ledger.add(n); !ok {
			x.hold(n, plan.Drifted, cause)
			continue
		}
		if x.spent() {
			n.skip(plan.Drifted)
			continue
		}
		var receivers []snapshot.NodeIndex
		for _, to := range x.withRoom() {
			if to != at && x.receives(&x.nodes[to]) {
				receivers = append(receivers, to)
			}
		}
		p, refused := x.propose(plan.Drifted, []snapshot.NodeIndex{at}, receivers, true)
		if refused != nil && !refused.later && x.deletesFirst(n.pool) {
			if first, still := x.ask(plan.Drifted, fleet.Question{Nodes: []snapshot.NodeIndex{at}, Receivers: receivers, Buy: true, Instead: true}); still == nil {
				if !x.inService(n) {
					n.keep(plan.Waiting, plan.Drifted, reason.Cause{Code: reason.NoRoomBeside, Where: n.Node.Pool})
					continue
				}
				p, refused = first, nil
			}
		}
		if refused != nil {
			n.keep(refused.kind(plan.Blocked), plan.Drifted, x.causeOf(refused))
			continue
		}
		p.ledger = ledger
		x.accept(p)
	}
}

// staticDrift replaces nodes of static pools one for one. It does not look for places for their pods: these
// follow to the new node. It leaves a pool alone while that has too many nodes.
func (x *search) staticDrift() {
	if !x.s.Settings.StaticCapacity {
		return
	}
	for _, at := range x.drifted(true) {
		n := &x.nodes[at]
		ledger := x.newBudgetUse(plan.Drifted)
		if cause, ok := ledger.add(n); !ok {
			x.hold(n, plan.Drifted, cause)
			continue
		}
		if x.members(n.pool) > *x.s.Pools[n.pool].Replicas {
			n.keep(plan.Waiting, plan.Drifted, reason.Cause{Code: reason.SurplusReplicas})
			continue
		}
		asked := fleet.Question{Nodes: []snapshot.NodeIndex{at}}
		claim, ok := x.fleet.Replica(n.pool, asked)
		if !ok && x.deletesFirst(n.pool) {
			asked.Instead = true
			claim, ok = x.fleet.Replica(n.pool, asked)
			if ok && !x.inService(n) {
				n.keep(plan.Waiting, plan.Drifted, reason.Cause{Code: reason.NoRoomBeside, Where: n.Node.Pool})
				continue
			}
		}
		if !ok && x.awaitsRoom(n.pool) {
			n.keep(plan.Waiting, plan.Drifted, reason.Cause{Code: reason.RoomComes, Where: n.Node.Pool})
			continue
		}
		if !ok {
			n.keep(plan.Blocked, plan.Drifted, reason.Cause{Code: reason.NoReplica})
			continue
		}
		p := &proposal{reason: plan.Drifted, nodes: asked.Nodes, ledger: ledger, price: n.Price, asked: asked}
		p.answer = fleet.Answer{Claims: []plan.Claim{claim}, Price: claim.Offer.Price}
		x.accept(p)
	}
}

// awaitsRoom reports whether the limit of a static pool counts nodes that are leaving: once they are gone it may leave room for a replacement.
func (x *search) awaitsRoom(pool snapshot.PoolIndex) bool {
	return len(x.s.Pools[pool].Limits) > 0 && slices.ContainsFunc(x.nodes, func(n node) bool { return n.pool == pool && n.Leaving })
}

// members are the nodes of a pool that are not leaving, by this plan or otherwise, and
// those that were bought for it.
func (x *search) members(pool snapshot.PoolIndex) int64 {
	count := int64(0)
	for i := range x.nodes {
		if n := &x.nodes[i]; n.pool == pool && !n.Leaving && n.Life.Underway == "" {
			count++
		}
	}
	return count
}

// drifted are the candidates for drift in order, those of static pools or the others.
func (x *search) drifted(static bool) []snapshot.NodeIndex {
	var out []snapshot.NodeIndex
	for i := range x.nodes {
		if n := &x.nodes[i]; n.mayGo() && n.Life.Drifted != "" && (x.s.Pools[n.pool].Replicas != nil) == static {
			n.state = candidate // it goes for this reason, or not at all
			out = append(out, n.at)
		}
	}
	slices.SortFunc(out, func(a, b snapshot.NodeIndex) int {
		m, n := &x.nodes[a], &x.nodes[b]
		return cmp.Or(
			cmp.Compare(min(len(m.moving), 1), min(len(n.moving), 1)),
			m.Life.Since.Compare(n.Life.Since), cmp.Compare(m.Name, n.Name), cmp.Compare(a, b),
		)
	})
	return out
}
