package disrupt

import (
	"slices"

	"tenon/core/snapshot"
)

// A node is passing if it is there for pods that end by themselves: once they are done, removing it costs
// little or nothing. Moving other pods there would save their old node only while the jobs run, and would
// then keep a node that was bought for the jobs.

// temporary reports whether the node passes: no pod stays there, or what ends is worth more
// than what stays. Nodes that are not given up when they are empty do not pass.
func (x *search) temporary(n *node) bool {
	if n.pool == noPool || n.Life.Protected {
		return false
	}
	if p := &x.s.Pools[n.pool]; p.Replicas != nil || p.Consolidation.After == nil {
		return false
	}
	ends := 0.0 // less what stays
	for _, p := range n.moving {
		if x.s.Pods[p].Ends {
			ends += x.value[p]
		} else {
			ends -= x.value[p]
		}
	}
	return !n.lasting || ends > 0
}

// takes reports whether a node may take some pods that move to save money: pods that do not end by
// themselves do not move to passing nodes.
func (x *search) takes(n *node, stay bool) bool {
	return x.receives(n) && !(stay && x.temporary(n))
}

// lasting are the nodes of a list that may take the pods, as far as takes decides.
func (x *search) lasting(nodes, others []snapshot.NodeIndex) []snapshot.NodeIndex {
	if !slices.ContainsFunc(others, func(at snapshot.NodeIndex) bool { return x.stay(x.nodes[at].moving) }) {
		return nodes
	}
	var out []snapshot.NodeIndex
	for _, at := range nodes {
		if !x.temporary(&x.nodes[at]) {
			out = append(out, at)
		}
	}
	return out
}

// stay reports whether some of the pods do not end by themselves.
func (x *search) stay(pods []snapshot.PodIndex) bool {
	return slices.ContainsFunc(pods, func(p snapshot.PodIndex) bool { return !x.s.Pods[p].Ends })
}
