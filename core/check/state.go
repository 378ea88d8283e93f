package check

import (
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// state is the cluster once the plan has been carried out: claims have become nodes,
// pods are where the plan puts them, and nodes that were leaving are gone.
type state struct {
	s     *snapshot.Snapshot
	p     *plan.Plan
	nodes []*node
	// replicas are future nodes of static pools. They get no pods, and rules between pods ignore them until
	// they exist.
	replicas []*node
	// leaving are leaving nodes with the pods that must not be evicted: as long as those
	// run the node stays, and their anti-affinity with it.
	leaving []*node
}

// node is an existing node or one that a claim will become.
type node struct {
	name   string
	claim  *plan.Claim     // of a node to come
	pool   *snapshot.Pool  // of a node to come
	asks   requirement.Set // by its claim, of every choice of the cloud
	exists *snapshot.Node  // otherwise
	taints []model.Taint
	// choices are what the node may turn out to be: one for an existing node, one for
	// each offer that the claim allows.
	choices []choice
	// stay are pods that are there already, placed those that the plan puts there;
	// indexes into Snapshot.Pods.
	stay, placed []snapshot.PodIndex
}

// choice is what one choice of the cloud makes of a node.
type choice struct {
	offer       plan.Offer
	listed      bool // by the plan, not merely admitted by the claim's requirements
	labels      map[string]string
	open        map[string]requirement.Requirement // labels that are there, with an unknown value
	allocatable model.Resources
	daemons     []*snapshot.Template
	kind        *catalog.Type
	offering    *catalog.Offering
}

func (e *state) template(pod snapshot.PodIndex) *snapshot.Template {
	return &e.s.Templates[e.s.Pods[pod].Template]
}

// cordon is what Kubernetes puts on a node that `kubectl cordon` made unschedulable.
var cordon = model.Taint{Key: "node.kubernetes.io/unschedulable", Effect: model.NoSchedule}

// finish builds the final state, or nil if the plan has unknown names.
func finish(s *snapshot.Snapshot, p *plan.Plan, f *finding) *state {
	e := &state{s: s, p: p}
	known := e.addExisting(f)
	for i := range p.Claims {
		known = e.addClaim(&p.Claims[i], f) && known
	}
	if !known || e.placesUnknownPods() {
		return nil
	}
	return e
}

// placesUnknownPods reports whether the plan places a pod that does not exist, which
// checkAccounts has noted.
func (e *state) placesUnknownPods() bool {
	for _, n := range e.nodes {
		for _, pod := range n.placed {
			if pod < 0 || int(pod) >= len(e.s.Pods) {
				return true
			}
		}
	}
	return false
}

func (e *state) addExisting(f *finding) bool {
	byName := map[string]*node{}
	for i := range e.s.Nodes {
		n := e.existing(&e.s.Nodes[i])
		if n.exists.Leaving {
			e.leaving = append(e.leaving, n)
			continue
		}
		e.nodes = append(e.nodes, n)
		byName[n.name] = n
	}
	known := true
	for _, placement := range e.p.Existing {
		n, ok := byName[placement.Node]
		if !ok {
			f.note(Violation{Rule: NodeUnknown, Node: placement.Node})
			known = false
			continue
		}
		n.placed = append(n.placed, placement.Pods...)
	}
	return known
}

// existing is a node with the pods that stay there. On a leaving node these are the pods that do not move.
func (e *state) existing(from *snapshot.Node) *node {
	n := &node{name: from.Name, exists: from, taints: append([]model.Taint(nil), from.Taints...)}
	if from.Unschedulable {
		n.taints = append(n.taints, cordon)
	}
	labels := map[string]string{requirement.KeyHostname: from.Name}
	for key, value := range from.Labels {
		labels[key] = value
	}
	n.choices = []choice{{labels: labels, allocatable: from.Allocatable, listed: true}}
	for i := range e.s.Pods {
		if e.s.Pods[i].Node == from.Name && !(from.Leaving && e.s.Pods[i].Movable) {
			n.stay = append(n.stay, snapshot.PodIndex(i))
		}
	}
	return n
}

func (e *state) addClaim(c *plan.Claim, f *finding) bool {
	pool := e.pool(c.Pool)
	if pool == nil {
		f.note(Violation{Rule: PoolUnknown, Node: c.Name, Where: c.Pool})
		return false
	}
	n := &node{name: c.Name, claim: c, pool: pool, asks: c.Narrowed(), taints: pool.Taints, placed: c.Pods}
	known := e.addChoices(n, f)
	if c.Replica {
		e.replicas = append(e.replicas, n)
	} else {
		e.nodes = append(e.nodes, n)
	}
	return known
}

func (e *state) pool(name string) *snapshot.Pool {
	for i := range e.s.Pools {
		if e.s.Pools[i].Name == name {
			return &e.s.Pools[i]
		}
	}
	return nil
}

// counted lists the pods of a node that rules between pods look at.
func (e *state) counted(n *node) []snapshot.PodIndex {
	var out []snapshot.PodIndex
	for _, pod := range n.stay {
		if !e.s.Pods[pod].Terminating {
			out = append(out, pod)
		}
	}
	return append(out, n.placed...)
}
