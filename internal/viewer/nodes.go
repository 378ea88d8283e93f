package viewer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tenon/core/model"
	"tenon/internal/view"
)

func (m *Model) nodeColumns() []column {
	out := []column{{"NAME", 13, 1, false, true}}
	for i, resource := range m.options.Resources {
		out = append(out, column{strings.ToUpper(resource), barWidth, 2 + i, false, false})
		if m.fleet.Total.Used.Get(resource) > 0 {
			out = append(out, column{strings.ToUpper(resource) + usedSuffix, barWidth, 7, false, false})
		}
	}
	out = append(out, column{"PODS", 4, 6, true, false}, column{"TYPE", 12, 7, false, false}, column{"CAPACITY", 9, 9, false, false}, column{"ZONE", 11, 12, false, false})
	if !m.options.NoPrices {
		out = append(out, column{"PRICE/H", 8, 4, true, false}, column{"MONTH", 7, 10, true, false})
	}
	out = append(out, column{"AGE", 4, 8, true, false}, column{"STATE", 12, 5, false, false})
	for _, label := range m.options.Labels {
		out = append(out, column{label, 12, 9, false, false})
	}
	return m.choose(append(out, column{"DISRUPTION", 14, 11, false, true}))
}

// nodeRows returns the rows of the nodes in their order, under their groups unless they are in one list.
func (m *Model) nodeRows() []row {
	nodes := slices.DeleteFunc(slices.Clone(m.fleet.Nodes), func(n *view.Node) bool {
		return !m.matches(n.Labels, n.Name, n.Claim, n.Pool, n.Type, n.Zone, n.CapacityType, m.state(n), n.Verdict.Word, n.Verdict.Message)
	})
	t := &m.tables[nodesTab]
	slices.SortStableFunc(nodes, func(a, b *view.Node) int {
		order := m.compare(t.sort, a, b)
		if t.down {
			order = -order
		}
		return cmp.Or(order, strings.Compare(a.Name, b.Name))
	})
	var out []row
	if m.by == inOneList {
		for _, n := range nodes {
			out = append(out, m.nodeRow(n))
		}
		return out
	}
	for _, g := range m.groups(nodes) {
		if len(g.nodes) == 0 && m.filter != "" {
			continue
		}
		out = append(out, row{id: g.id, title: true, cell: func(string) string { return m.title(&g) }})
		if m.closed[g.id] {
			continue
		}
		for _, n := range g.nodes {
			out = append(out, m.nodeRow(n))
		}
	}
	return out
}

func (m *Model) nodeRow(n *view.Node) row { return row{id: n.Name, cell: m.nodeCell(n)} }

func (m *Model) nodeCell(n *view.Node) func(string) string {
	return func(name string) string {
		switch name {
		case "NAME":
			if m.short {
				name, _, _ := strings.Cut(n.Name, ".")
				return name
			}
			return n.Name
		case "PODS":
			return fmt.Sprint(len(n.Pods))
		case "TYPE":
			return n.Type
		case "CAPACITY":
			return cmp.Or(n.CapacityType, "-")
		case "ZONE":
			return n.Zone
		case "PRICE/H":
			return price(n, 4, 1)
		case "MONTH":
			return price(n, 0, view.HoursPerMonth)
		case "AGE":
			return view.Age(n.Created, m.now())
		case "STATE":
			return m.paintState(n)
		case "DISRUPTION":
			return verdict(n)
		}
		if slices.Contains(m.options.Labels, name) {
			return m.label(n, name)
		}
		if resource, is := strings.CutSuffix(name, usedSuffix); is {
			return m.used(n, strings.ToLower(resource))
		}
		resource := strings.ToLower(name)
		return m.options.Style.bar(view.Use(n.Requested, n.Allocatable, resource), view.Use(n.Daemons, n.Allocatable, resource), barWidth)
	}
}

// usedSuffix ends the names of columns with what nodes really use.
const usedSuffix = " USED"

// used draws what a node really uses of what is allocatable; it is empty if that is not measured.
func (m *Model) used(n *view.Node, resource string) string {
	if n.Used.IsZero() {
		return ""
	}
	return m.options.Style.bar(view.Use(n.Used, n.Allocatable, resource), 0, barWidth)
}

func price(n *view.Node, decimals, hours int) string {
	if n.Source == view.Unpriced {
		return "?"
	}
	return view.Decimal(n.Price*model.Money(hours), decimals)
}

// state says how far a node has come, or that it is going.
func (m *Model) state(n *view.Node) string {
	switch {
	case n.Phase == view.Ready && n.Going != "":
		return n.Going
	case n.Phase == view.Ready && n.Cordoned:
		return "Cordoned"
	case n.Phase != view.Ready:
		return string(n.Phase) + " " + view.Age(n.Since, m.now())
	}
	return string(n.Phase)
}

func (m *Model) paintState(n *view.Node) string {
	s, text := m.options.Style, m.state(n)
	switch n.Phase {
	case view.NotReady:
		return s.bad(text)
	case view.Ready:
		if text == string(view.Ready) {
			return s.good(text)
		}
	}
	return s.medium(text)
}

func verdict(n *view.Node) string {
	if n.Verdict.Message == "" {
		return n.Verdict.Word
	}
	return n.Verdict.Word + ": " + n.Verdict.Message
}

// label returns a label of a node, or a computed one.
func (m *Model) label(n *view.Node, name string) string {
	computed, is := strings.CutPrefix(name, "eks-node-viewer/node-")
	if !is {
		return cmp.Or(n.Labels[name], "-")
	}
	if computed == "age" {
		return view.Age(n.Created, m.now())
	}
	resource, is := strings.CutSuffix(computed, "-usage")
	switch {
	case !is:
		return "-"
	case n.Allocatable.Get(resource) <= 0:
		return "N/A"
	}
	return fmt.Sprintf("%.0f%%", 100*view.Use(n.Requested, n.Allocatable, resource))
}

// distinct reports whether the names of nodes differ before the first dot. The rest is usually the
// region's domain.
func distinct(nodes []*view.Node) bool {
	seen := map[string]bool{}
	for _, n := range nodes {
		name, _, _ := strings.Cut(n.Name, ".")
		if seen[name] || digits(name) == len(name) {
			return false
		}
		seen[name] = true
	}
	return true
}
