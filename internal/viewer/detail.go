package viewer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tenon/internal/view"
)

// detailLines draws a node with its pods.
func (m *Model) detailLines(room int) []string {
	n := m.open()
	s := m.options.Style
	lines := []string{"", s.bold(n.Name) + "  " + m.paintState(n)}
	for _, fact := range m.facts(n) {
		lines = append(lines, clip("  "+fact, m.width))
	}
	for _, resource := range m.options.Resources {
		used := ""
		if v := n.Used.Get(resource); v > 0 {
			used = fmt.Sprintf("; %s used (%.0f%%)", view.Amount(resource, v), 100*view.Use(n.Used, n.Allocatable, resource))
		}
		lines = append(lines, clip(fmt.Sprintf("  %-8s %s  %s of %s requested, %s of it by daemons", resource,
			s.bar(view.Use(n.Requested, n.Allocatable, resource), view.Use(n.Daemons, n.Allocatable, resource), 25),
			view.Amount(resource, n.Requested.Get(resource)), view.Amount(resource, n.Allocatable.Get(resource)), view.Amount(resource, n.Daemons.Get(resource)))+used, m.width))
	}
	if text := verdict(n); text != "" {
		lines = append(lines, "")
		for _, line := range wrap(text, m.width-4) {
			lines = append(lines, "  "+line)
		}
	}
	lines = append(lines, "")
	lines = lines[:min(len(lines), max(2, room-4))]
	if len(n.Pods) == 0 {
		return append(lines, "  No pod runs here.")
	}
	return append(lines, m.within.lines([]column{
		{"POD", 20, 1, false, true}, {"CPU", 6, 2, true, false}, {"MEMORY", 7, 3, true, false}, {"PRICE/H", 8, 4, true, false}, {"AGE", 4, 5, true, false},
		{"STATE", 9, 6, false, false}, {"OWNER", 24, 8, false, false}, {"KEPT BY", 14, 7, false, false},
	}, m.width, room-len(lines), tabLine+1+len(lines), s)...)
}

func (m *Model) facts(n *view.Node) []string {
	what := []string{cmp.Or(n.Type, "unknown type"), cmp.Or(n.CapacityType, "unknown capacity type"), n.Zone, n.Arch, "age " + view.Age(n.Created, m.now())}
	out := []string{strings.Join(slices.DeleteFunc(what, func(s string) bool { return s == "" }), "  ")}
	where := []string{}
	for _, each := range [][2]string{{"pool", n.Pool}, {"claim", n.Claim}, {"instance", n.Instance}} {
		if each[1] != "" {
			where = append(where, each[0]+" "+each[1])
		}
	}
	out = append(out, strings.Join(where, "  "))
	switch {
	case m.options.NoPrices:
	case n.Source == view.Unpriced:
		out = append(out, "no price is known")
	default:
		out = append(out, fmt.Sprintf("%s an hour, %s a month (%s); idle %s, daemons %s an hour", m.money(n.Price, 4), view.Decimal(view.Monthly(n.Price), 2), n.Source,
			view.Decimal(n.Idle, 4), view.Decimal(n.Overhead, 4)))
	}
	return out
}

func podRows(m *Model, n *view.Node) []row {
	pods := slices.Clone(n.Pods)
	t := &m.within
	slices.SortStableFunc(pods, func(a, b *view.Pod) int {
		order := 0
		switch t.sort {
		case "CPU":
			order = cmp.Compare(a.Requests.CPU, b.Requests.CPU)
		case "MEMORY":
			order = cmp.Compare(a.Requests.Memory, b.Requests.Memory)
		case "PRICE/H":
			order = cmp.Compare(a.Cost, b.Cost)
		case "AGE":
			order = b.Created.Compare(a.Created)
		case "OWNER":
			order = strings.Compare(a.Owner, b.Owner)
		default:
			order = natural(a.Key(), b.Key())
		}
		if t.down {
			order = -order
		}
		return order
	})
	var out []row
	for _, p := range pods {
		out = append(out, row{id: p.Key(), cell: m.podCell(p)})
	}
	return out
}
