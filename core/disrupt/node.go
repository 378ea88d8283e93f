package disrupt

import (
	"tenon/core/plan"
	"tenon/core/snapshot"
)

// noPool stands for the pool of nodes that have none.
const noPool snapshot.PoolIndex = -1

// node is a node with what the search knows of it.
type node struct {
	*snapshot.Node
	at   snapshot.NodeIndex
	pool snapshot.PoolIndex // noPool for nodes of none
	// pods that are there, and those that would want a place elsewhere.
	pods, moving []snapshot.PodIndex
	// cost of the evictions in parts of an ordinary one's, see snapshot.OrdinaryCost; worth
	// is what the savings an hour must be to justify them, value what the pods would cost in
	// the best of fleets.
	cost         int64
	worth, value float64
	// awaits says that pods are promised to it.
	awaits bool
	// lasting says that a pod which does not end by itself is there, or will be.
	lasting  bool
	state    state
	prospect plan.Prospect
}

// wasteful reports whether the node costs so much more than its pods would in the best of fleets that this
// justifies moving them.
func (n *node) wasteful() bool { return float64(n.Price)-n.value > n.worth }

// like reports whether the nodes cost the same and hold pods that are worth the same.
func (n *node) like(o *node) bool {
	return n.Price == o.Price && n.value == o.value && n.worth == o.worth
}

// readNodes enters the nodes, with what their pods want.
func (x *search) readNodes() {
	x.nodeAt = make(map[string]snapshot.NodeIndex, len(x.s.Nodes))
	for i := range x.s.Nodes {
		n := node{Node: &x.s.Nodes[i], at: snapshot.NodeIndex(i), pool: noPool}
		if pool, known := x.poolAt[n.Pool]; known {
			n.pool = pool
		}
		n.prospect = plan.Prospect{Node: n.Name, Claim: n.Claim, Pool: n.Node.Pool}
		x.nodeAt[n.Name] = n.at
		x.nodes = append(x.nodes, n)
	}
	for i := range x.s.Pods {
		if n, known := x.nodeAt[x.s.Pods[i].Node]; known {
			x.board(&x.nodes[n], snapshot.PodIndex(i), &x.s.Pods[i])
		}
	}
}

// board notes a pod that is on a node.
func (x *search) board(n *node, at snapshot.PodIndex, pod *snapshot.Pod) {
	n.pods = append(n.pods, at)
	if pod.Tie.Returns && !x.expends(n, pod) {
		n.moving = append(n.moving, at)
		n.cost += max(pod.Tie.Cost, 0)
	}
	if pod.Tie.Promised {
		n.awaits = true
	}
	if !pod.Ends && (pod.Tie.Promised || pod.Tie.Returns && pod.Tie.Cost > 0) {
		n.lasting = true
	}
}

// expends reports whether the pod needs no other place when the node goes.
func (x *search) expends(n *node, pod *snapshot.Pod) bool {
	return n.pool != noPool && x.s.Pools[n.pool].Expends(pod)
}
