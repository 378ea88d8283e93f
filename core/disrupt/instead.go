package disrupt

// A drifted node that goes before its replacement is bought leaves a gap for as long as the
// replacement takes. So there is never more than one of a pool, and all else that the pool has is
// in service. A replacement that does not come up leaves room below the limit, and from then on
// replacements come first again.

// deletesFirst reports whether a drifted node of a pool may go before its replacement is bought.
func (x *search) deletesFirst(pool int) bool {
	p := &x.s.Pools[pool]
	return p.Consolidation.DeleteFirst && len(p.Limits) > 0
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
