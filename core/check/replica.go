package check

// checkReplica: a claim for no pod is for a static pool that lacks nodes. It comes
// "straight from the template", and pods are not given to it.
func (e *state) checkReplica(n *node, f *finding) {
	switch pool := n.pool; {
	case pool.Replicas == nil:
		f.note(Violation{Rule: PoolUnready, Node: n.name, Where: pool.Name, Detail: "not static"})
	case !pool.MayReplenish():
		f.note(Violation{Rule: PoolUnready, Node: n.name, Where: pool.Name, Detail: pool.Held.Text()})
	case !e.s.Settings.StaticCapacity:
		f.note(Violation{Rule: PoolUnready, Node: n.name, Where: pool.Name, Detail: "static capacity is switched off"})
	}
	if len(n.claim.Pods) > 0 {
		f.note(Violation{Rule: PodUninvited, Pod: e.s.Pods[n.claim.Pods[0]].Key(), Node: n.name, Detail: "replicas take no pods"})
	}
	if !n.claim.Requirements.Equal(n.pool.Requirements) {
		f.note(Violation{Rule: ClaimNarrowed, Node: n.name})
	}
}

// checkReplicas: a static pool has no more nodes than its replicas, nodes that leave not
// counted.
func checkReplicas(e *state, f *finding) {
	for i := range e.s.Pools {
		pool := &e.s.Pools[i]
		var bought, stay int64
		for _, n := range e.replicas {
			if n.pool == pool {
				bought++
			}
		}
		for j := range e.s.Nodes {
			if n := &e.s.Nodes[j]; n.Pool == pool.Name && !n.Leaving {
				stay++
			}
		}
		if bought == 0 || pool.Replicas == nil {
			continue
		}
		if bought+stay > *pool.Replicas {
			f.note(Violation{Rule: Replicas, Where: pool.Name, Have: bought + stay, Want: *pool.Replicas})
		}
	}
}
