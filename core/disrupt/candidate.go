package disrupt

import (
	"slices"
	"time"

	"tenon/core/catalog"
	"tenon/core/disruptable"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// survey finds out which nodes may go at all, and notes what keeps the others.
func (x *search) survey() {
	x.readBudgets()
	x.readPools()
	for i := range x.nodes {
		n := &x.nodes[i]
		if n.pool != noPool {
			x.pools[n.pool].count(n)
		}
		cause, until := x.rules.Blocker(x.asked(n))
		if cause.Code != reason.None {
			n.prospect.Kind, n.prospect.Cause, n.prospect.Until = plan.Blocked, cause, until
			continue
		}
		n.state = candidate
	}
}

// asked is the node as the rules see it. What has drifted is asked about for that reason.
func (x *search) asked(n *node) disruptable.Node {
	return disruptable.Node{
		Node: n.Node, Sold: sells(x.s, n.pool), Awaited: n.awaits, Forced: n.Life.Drifted != "" && n.Life.Bounded, ScaleDown: rulesOf(x.s, n.pool),
		Pods: func(yield func(*snapshot.Pod) bool) {
			for _, p := range n.pods {
				if !yield(&x.s.Pods[p]) {
					return
				}
			}
		},
	}
}

// rulesOf are those of Cluster Autoscaler by which nodes of a pool go; nil if it has Tenon's own.
func rulesOf(s *snapshot.Snapshot, pool snapshot.PoolIndex) *snapshot.ScaleDown {
	if pool == noPool {
		return nil
	}
	return s.Pools[pool].Rules()
}

// sells reports whether a pool is there, and has something to sell.
func sells(s *snapshot.Snapshot, pool snapshot.PoolIndex) bool {
	return pool != noPool && len(s.Catalogs[s.Pools[pool].Catalog].Types) > 0
}

// isEmpty reports whether evicting all pods of the node costs nothing, as on a node without
// pods.
func (n *node) isEmpty() bool { return n.cost <= 0 }

// mayConsolidate tells why consolidation leaves the node alone, and until when. Permanent causes come
// before temporary ones.
func (x *search) mayConsolidate(n *node) (cause reason.Cause, kind plan.Kind, until time.Time) {
	if cause := x.excluded(n); cause.Code != reason.None {
		return cause, plan.Kept, time.Time{}
	}
	switch quiet := n.Life.Quiet.Add(*x.s.Pools[n.pool].Consolidation.After); {
	case x.s.Pools[n.pool].NotReady() && !n.isEmpty():
		return reason.Cause{Code: reason.PoolNotReady, Where: n.Node.Pool}, plan.Waiting, time.Time{}
	case n.Life.Quiet.IsZero():
		return reason.Cause{Code: reason.ActivityUnknown}, plan.Waiting, time.Time{}
	case quiet.After(x.s.Now):
		return reason.Cause{Code: reason.RecentActivity}, plan.Waiting, quiet
	}
	return reason.Cause{}, "", time.Time{}
}

// excluded tells why consolidation never considers the node while its pool and labels stay as they are.
func (x *search) excluded(n *node) reason.Cause {
	p := &x.s.Pools[n.pool]
	switch {
	case p.Replicas != nil:
		return reason.Cause{Code: reason.PoolStatic, Where: p.Name}
	case p.Consolidation.After == nil:
		return reason.Cause{Code: reason.ConsolidationDisabled, Where: p.Name}
	case n.isEmpty():
		return reason.Cause{}
	case n.Price == 0 && n.Labels[requirement.KeyCapacityType] != catalog.Reserved: // what is reserved may cost nothing
		return reason.Cause{Code: reason.PriceUnknown, Where: n.InstanceType}
	}
	for _, key := range []string{requirement.KeyCapacityType, requirement.KeyZone} {
		if n.Labels[key] == "" && p.Group == nil { // groups do not label their nodes
			return reason.Cause{Code: reason.NodeLabelMissing, Where: key}
		}
	}
	if p.Consolidation.Policy == snapshot.WhenEmpty {
		return reason.Cause{Code: reason.NodeNotEmpty, Where: p.Name}
	}
	return reason.Cause{}
}

// skip leaves the node to a later evaluation.
func (n *node) skip(why plan.Reason) {
	n.keep(plan.Waiting, why, reason.Cause{Code: reason.NotLookedAt})
}

// keep notes what keeps a node that could go for a reason.
func (n *node) keep(kind plan.Kind, why plan.Reason, cause reason.Cause) {
	n.prospect.Kind, n.prospect.Reason, n.prospect.Cause, n.prospect.Until = kind, why, cause, time.Time{}
}

// hold notes that a budget keeps the node for now. A closed budget opens when its schedule says; when a
// used-up budget has room again is unknown.
func (x *search) hold(n *node, why plan.Reason, cause reason.Cause) {
	n.keep(plan.Waiting, why, cause)
	if p := &x.pools[n.pool]; p.allowed[why] == 0 {
		n.prospect.Until = x.s.Pools[n.pool].Consolidation.Turns
	}
}

// movable are the pods of nodes that would want a place elsewhere, oldest first.
func (x *search) movable(nodes []snapshot.NodeIndex) []snapshot.PodIndex {
	var out []snapshot.PodIndex
	for _, n := range nodes {
		out = append(out, x.nodes[n].moving...)
	}
	slices.Sort(out)
	return out
}
