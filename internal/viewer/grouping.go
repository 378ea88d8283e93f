package viewer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tenon/internal/view"
)

// grouping is what nodes are listed by.
type grouping int

const (
	byPool grouping = iota
	byZone
	byType
	byCapacity
	inOneList
)

var groupingNames = []string{"pool", "zone", "type", "capacity type", "nothing"}

// group is the nodes that are listed under one title.
type group struct {
	id, name string
	total    view.Total
	nodes    []*view.Node
	notices  []view.Notice
}

// groups divides the nodes; each group has its nodes in the given order. Pools without nodes are groups too.
func (m *Model) groups(nodes []*view.Node) []group {
	if m.by == byPool {
		return m.pools(nodes)
	}
	at := map[string]*group{}
	of := func(n *view.Node) *group {
		name := cmp.Or(m.by.of(n), "unknown "+groupingNames[m.by])
		if at[name] == nil {
			at[name] = &group{id: groupingNames[m.by] + " " + name, name: name}
		}
		return at[name]
	}
	members := map[string][]*view.Node{}
	for _, n := range m.fleet.Nodes {
		members[of(n).name] = append(members[of(n).name], n)
	}
	for _, n := range nodes {
		g := of(n)
		g.nodes = append(g.nodes, n)
	}
	var out []group
	for name, g := range at {
		g.total = view.Sum(members[name])
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b group) int { return natural(a.name, b.name) })
	return out
}

func (m *Model) pools(nodes []*view.Node) []group {
	var out []group
	for _, p := range m.fleet.Pools {
		g := group{id: "pool " + p.Name + p.Kind, name: cmp.Or(p.Name, "no pool"), total: p.Total, notices: p.Notices}
		if p.Kind != "" && p.Kind != "NodePool" {
			g.name += " (" + p.Kind + ")"
		}
		for _, n := range nodes {
			if n.Pool == p.Name && n.PoolKind == p.Kind {
				g.nodes = append(g.nodes, n)
			}
		}
		out = append(out, g)
	}
	return out
}

func (b grouping) of(n *view.Node) string {
	switch b {
	case byZone:
		return n.Zone
	case byType:
		return n.Type
	case byCapacity:
		return n.CapacityType
	case byPool, inOneList:
	}
	return ""
}

// title draws the line above the nodes of a group, with their sums.
func (m *Model) title(g *group) string {
	mark := "▾ "
	switch {
	case m.options.Style.ASCII && m.closed[g.id]:
		mark = "+ "
	case m.options.Style.ASCII:
		mark = "- "
	case m.closed[g.id]:
		mark = "▸ "
	}
	text := mark + g.name + "  " + count(g.total.Nodes, "node")
	if !m.options.NoPrices {
		text += "  " + m.money(g.total.Price, 3) + "/h"
		if g.total.Unpriced > 0 {
			text += fmt.Sprintf(" (%d unpriced)", g.total.Unpriced)
		}
	}
	for _, resource := range m.options.Resources {
		text += fmt.Sprintf("  %s %.0f%%", resource, 100*view.Use(g.total.Requested, g.total.Allocatable, resource))
	}
	for _, n := range g.notices {
		text += "  " + m.options.Style.bad(n.Reason)
	}
	return text
}

// choose keeps the columns that were asked for, and the first.
func (m *Model) choose(columns []column) []column {
	if len(m.chosen) == 0 {
		return columns
	}
	asked := func(c column) bool {
		return slices.ContainsFunc(m.chosen, func(name string) bool { return strings.EqualFold(strings.TrimSpace(name), c.name) })
	}
	return append(columns[:1:1], slices.DeleteFunc(slices.Clone(columns[1:]), func(c column) bool { return !asked(c) })...)
}
