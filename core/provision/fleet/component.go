package fleet

import (
	"tenon/core/topology"
)

// components joins the groups of pods that one rule or one pod connects: pods of different
// components can be moved without looking at each other.
type components struct{ parent map[int32]int32 }

func (c *components) root(g int32) int32 {
	if c.parent == nil {
		c.parent = map[int32]int32{}
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

// of is the component of a shape, -1 without rules.
func (c *components) of(r *topology.Rules) int32 {
	groups := groupsOf(r)
	if len(groups) == 0 {
		return -1
	}
	return c.root(groups[0])
}

// groupsOf lists all groups that concern a shape; those of nodes are offset.
func groupsOf(r *topology.Rules) []int32 {
	var out []int32
	out = append(out, r.Counts...)
	for _, s := range r.Spreads {
		out = append(out, s.Group)
	}
	for _, x := range r.Caps {
		out = append(out, x.Group)
	}
	for _, x := range r.Needs {
		out = append(out, x.Group)
	}
	for _, g := range r.HostCounts {
		out = append(out, hostOffset+g)
	}
	for _, x := range r.HostCaps {
		out = append(out, hostOffset+x.Group)
	}
	for _, x := range r.HostNeeds {
		out = append(out, hostOffset+x.Group)
	}
	return out
}
