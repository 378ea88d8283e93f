package disrupt

import (
	"slices"

	"tenon/core/disruptable"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Current compares decisions with a newer snapshot than the one that they were made for.
type Current struct {
	s     *snapshot.Snapshot
	rules disruptable.Rules
	nodes map[string]*snapshot.Node
	pools map[string]snapshot.PoolIndex
	pods  map[string][]*snapshot.Pod // by node
}

// NewCurrent prepares a snapshot for comparisons.
func NewCurrent(s *snapshot.Snapshot) *Current {
	c := &Current{
		s: s, rules: disruptable.RulesOf(s), nodes: make(map[string]*snapshot.Node, len(s.Nodes)),
		pools: make(map[string]snapshot.PoolIndex, len(s.Pools)), pods: map[string][]*snapshot.Pod{},
	}
	for i := range s.Nodes {
		c.nodes[s.Nodes[i].Name] = &s.Nodes[i]
	}
	for i := range snapshot.PoolIndex(len(s.Pools)) {
		c.pools[s.Pools[i].Name] = i
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node != "" {
			c.pods[p.Node] = append(c.pods[p.Node], p)
		}
	}
	return c
}

// Overtaken is why a disruption that was decided for an earlier snapshot does not hold any more; no cause
// if it does. It checks the preconditions that the plan lists.
func (c *Current) Overtaken(was *snapshot.Snapshot, d *plan.Disruption) reason.Cause {
	for i := range d.Nodes {
		if cause := c.leaver(was, d, &d.Nodes[i]); cause.Code != reason.None {
			return cause
		}
	}
	for i := range d.Moves {
		if cause := c.receiver(was, &d.Moves[i]); cause.Code != reason.None {
			return cause
		}
	}
	return reason.Cause{}
}

func (c *Current) leaver(was *snapshot.Snapshot, d *plan.Disruption, r *plan.Removal) reason.Cause {
	n := c.nodes[r.Node]
	if n == nil || n.Claim != r.Claim {
		return reason.Cause{Code: reason.NodeGone, Where: r.Node}
	}
	pool, known := c.pools[n.Pool]
	if !known {
		pool = noPool
	}
	pods := c.pods[r.Node]
	expected := make(map[string]bool, len(r.Pods))
	for _, p := range r.Pods {
		expected[was.Pods[p].UID] = true
	}
	asked := disruptable.Node{
		Node: n, Pods: slices.Values(pods), Sold: sells(c.s, pool), ScaleDown: rulesOf(c.s, pool), Forced: d.Reason == plan.Drifted && n.Life.Bounded,
		Awaited: slices.ContainsFunc(pods, func(p *snapshot.Pod) bool { return p.Tie.Promised }),
	}
	return c.rules.Unmet(asked, func(p *snapshot.Pod) bool { return expected[p.UID] }, r.ToBegin())
}

// receiver checks the rules of one pod and one node again: labels, taints, and room beside the pods that
// have come since. kube-scheduler checks the rules between pods.
func (c *Current) receiver(was *snapshot.Snapshot, m *plan.Placement) reason.Cause {
	n := c.nodes[m.Node]
	if n == nil || n.Leaving || !n.Initialized || n.Life.Unready {
		return reason.Cause{Code: reason.ReceiverClosed, Where: m.Node}
	}
	here, moved := c.alone(n, was, m.Pods)
	sp := feasible.Compile(here, moved)
	for _, need := range m.ToBegin() {
		switch {
		case need == plan.PodsAdmitted && !admits(sp, here, moved):
			return reason.Cause{Code: reason.ReceiverClosed, Where: m.Node}
		case need == plan.RoomLeft && !holds(sp, here, moved):
			return reason.Cause{Code: reason.ReceiverFull, Where: m.Node}
		}
	}
	return reason.Cause{}
}

// admits reports whether the only node of a snapshot takes a pod of each template.
func admits(sp *feasible.Space, s *snapshot.Snapshot, moved []snapshot.TemplateIndex) bool {
	for _, template := range moved {
		t := &s.Templates[template]
		v := sp.Variant(t, sp.AllDropped(t))
		if !slices.ContainsFunc(v.Alternatives, func(a feasible.Asker) bool { return sp.Admits(sp.Hosts[0].Class, &a, true, true) }) {
			return false
		}
	}
	return true
}

// holds reports whether it has room for all of them.
func holds(sp *feasible.Space, s *snapshot.Snapshot, moved []snapshot.TemplateIndex) bool {
	var need model.Resources
	for _, template := range moved {
		need = need.Add(s.Templates[template].Requests)
	}
	return feasible.Fits(sp.Vector(need), sp.Hosts[0].Room)
}

// alone is a snapshot of one node with the pods on it, and the templates of pods of an earlier
// snapshot, one for each pod.
func (c *Current) alone(n *snapshot.Node, was *snapshot.Snapshot, pods []snapshot.PodIndex) (*snapshot.Snapshot, []snapshot.TemplateIndex) {
	out := &snapshot.Snapshot{Now: c.s.Now, Settings: c.s.Settings, Nodes: []snapshot.Node{*n}}
	add := func(t snapshot.Template) snapshot.TemplateIndex {
		out.Templates = append(out.Templates, t)
		return snapshot.TemplateIndex(len(out.Templates) - 1)
	}
	for _, p := range c.pods[n.Name] {
		pod := *p
		pod.Template = add(c.s.Templates[p.Template])
		out.Pods = append(out.Pods, pod)
	}
	for _, d := range c.s.Daemons {
		d.Template = add(c.s.Templates[d.Template])
		out.Daemons = append(out.Daemons, d)
	}
	moved := make([]snapshot.TemplateIndex, len(pods))
	for i, p := range pods {
		moved[i] = add(was.Templates[was.Pods[p].Template])
	}
	return out, moved
}
