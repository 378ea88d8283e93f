package disrupt

import "tenon/core/snapshot"

// When a drifted node goes before its replacement is bought, capacity is missing until the replacement is
// in service. So a pool gives up one such node at a time, and only while all its other nodes are in
// service. If the replacement fails, there is room below the limit, and the next replacements are bought
// first again.

// deletesFirst reports whether a drifted node of a pool may go before its replacement is bought.
func (x *search) deletesFirst(pool snapshot.PoolIndex) bool {
	p := &x.s.Pools[pool]
	return p.Consolidation.DeleteFirst && len(p.Limits)+len(x.s.Settings.Limits) > 0
}

// inService reports whether all other nodes of a node's pool are in service and stay.
func (x *search) inService(of *node) bool {
	if x.names[of.Node.Pool] > 0 {
		return false
	}
	for i := range x.nodes {
		n := &x.nodes[i]
		if n != of && n.pool == of.pool && (!n.Initialized || n.Leaving || n.state == gone || n.Life.Unready || n.Life.Underway != "") {
			return false
		}
	}
	return true
}
