package fleet

import (
	"tenon/core/topology"
)

// components joins the groups of pods that one rule or one pod connects: pods of different
// components can be moved without looking at each other.
type components struct{ parent map[Component]Component }

// Component is the number of a component: that of one of its groups.
type Component int32

// NoComponent is that of pods which no rule between pods concerns.
const NoComponent Component = -1

func ofDomains(g topology.DomainGroup) Component { return Component(g) }

func ofHosts(g topology.HostGroup) Component { return hostOffset + Component(g) }

// hostOffset is more than any number of groups over domains.
const hostOffset = 1 << 20

func (c *components) root(g Component) Component {
	if c.parent == nil {
		c.parent = map[Component]Component{}
	}
	for {
		up, known := c.parent[g]
		if !known {
			return g
		}
		g = up
	}
}

// join connects all groups of one shape.
func (c *components) join(r *topology.Rules) {
	groups := groupsOf(r)
	for i := 1; i < len(groups); i++ {
		if a, b := c.root(groups[0]), c.root(groups[i]); a != b {
			c.parent[max(a, b)] = min(a, b)
		}
	}
}

// of is the component of a shape.
func (c *components) of(r *topology.Rules) Component {
	groups := groupsOf(r)
	if len(groups) == 0 {
		return NoComponent
	}
	return c.root(groups[0])
}

// groupsOf lists all groups that concern a shape.
func groupsOf(r *topology.Rules) []Component {
	var out []Component
	for _, g := range r.Counts {
		out = append(out, ofDomains(g))
	}
	for _, s := range r.Spreads {
		out = append(out, ofDomains(s.Group))
	}
	for _, x := range r.Caps {
		out = append(out, ofDomains(x.Group))
	}
	for _, x := range r.Needs {
		out = append(out, ofDomains(x.Group))
	}
	for _, g := range r.HostCounts {
		out = append(out, ofHosts(g))
	}
	for _, x := range r.HostCaps {
		out = append(out, ofHosts(x.Group))
	}
	for _, x := range r.HostNeeds {
		out = append(out, ofHosts(x.Group))
	}
	return out
}
