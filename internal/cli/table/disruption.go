package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tenon/core/order"
	"tenon/core/plan"
)

var disruptionColumns = []column{
	{title: "REASON"}, {title: "NODES", shrinks: true}, {title: "REPLACED BY", shrinks: true}, {title: "EVICTIONS", right: true}, {title: "SAVES/H", right: true},
}

// disruptions tells what is given up, and what keeps the other nodes.
func (t *writer) disruptions() {
	p := &t.p.Plan
	if len(p.Prospects) == 0 {
		return
	}
	if len(p.Disruptions) > 0 {
		t.line("%s", t.colored(bold, "Nodes to remove"))
		rows := make([][]string, len(p.Disruptions))
		for i := range p.Disruptions {
			rows[i] = t.disruptionRow(&p.Disruptions[i])
		}
		t.grid(disruptionColumns, rows)
		t.line("")
	}
	t.kept()
}

func (t *writer) disruptionRow(d *plan.Disruption) []string {
	nodes := make([]string, len(d.Nodes))
	for i := range d.Nodes {
		nodes[i] = d.Nodes[i].Node
	}
	replacements := make([]string, len(d.Replacements))
	for i := range d.Replacements {
		replacements[i] = d.Replacements[i].Name
	}
	when := string(d.Reason)
	if !d.Now() {
		when += ", later"
	}
	return []string{when, named(nodes), named(replacements), strconv.Itoa(d.Evictions()), signed(d)}
}

func signed(d *plan.Disruption) string {
	if d.Savings < 0 {
		return "-" + price(-d.Savings)
	}
	return price(d.Savings)
}

// namesInRow are named in a row; more are counted.
const namesInRow = 4

func named(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	if len(names) > namesInRow {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namesInRow-1], ", "), len(names)-namesInRow+1)
	}
	return strings.Join(names, ", ")
}

// kept groups the nodes that stay by what keeps them or, in an explanation, tells it of
// each.
func (t *writer) kept() {
	byText := map[string][]string{}
	for i := range t.p.Plan.Prospects {
		if o := &t.p.Plan.Prospects[i]; o.Kind != plan.Chosen {
			text := o.Cause.Text()
			byText[text] = append(byText[text], o.Node)
		}
	}
	if len(byText) == 0 {
		return
	}
	t.line("%s", t.colored(bold, "Nodes that stay"))
	texts := order.Keys(byText)
	slices.SortStableFunc(texts, func(a, b string) int { return cmp.Compare(len(byText[b]), len(byText[a])) })
	for i, text := range texts {
		if i == manyRows && !t.o.Explain {
			t.line("  and for %s; --explain shows all", plural(len(texts)-i, "other reason", "other reasons"))
			break
		}
		nodes := named(byText[text])
		if t.o.Explain {
			nodes = strings.Join(byText[text], ", ")
		}
		t.paragraph(2, plain, text+": "+nodes)
	}
	t.line("")
}
