package viewer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tenon/core/model"
	"tenon/internal/view"
)

// classic draws what users of eks-node-viewer know: the lines of the cluster, then a page of nodes, with
// a line for each resource.
func (m *Model) classic() string {
	t := m.fleet.Total
	var lines []string
	for i, resource := range m.options.Resources {
		use := view.Use(t.Requested, t.Allocatable, resource)
		line := fmt.Sprintf("%d nodes (%10s/%s) %5.1f%% %s %s", t.Nodes, view.Amount(resource, t.Requested.Get(resource)), view.Amount(resource, t.Allocatable.Get(resource)),
			100*use, resource, m.options.Style.meter(use, 0, 40))
		if i == 0 && !m.options.NoPrices {
			line += fmt.Sprintf(" %s/hour | %s/month", m.dollars(t.Price, 3), m.dollars(view.Monthly(t.Price), 3))
			if t.Unpriced > 0 {
				line += fmt.Sprintf(" (%d unpriced)", t.Unpriced)
			}
		}
		lines = append(lines, line)
	}
	running := 0
	for _, n := range m.fleet.Nodes {
		for _, p := range n.Pods {
			if p.Phase == "Running" {
				running++
			}
		}
	}
	lines = append(lines, fmt.Sprintf("%d pods (%d pending %d running %d bound)", t.Pods+len(m.fleet.Pending), len(m.fleet.Pending), running, t.Pods), "")
	nodes := m.classicNodes()
	perPage := max(1, (m.height-len(lines)-2)/len(m.options.Resources))
	pages := max(1, (len(nodes)+perPage-1)/perPage)
	m.page = max(0, min(m.page, pages-1))
	lines = append(lines, m.classicLines(nodes[m.page*perPage:min(len(nodes), (m.page+1)*perPage)])...)
	dots := strings.Repeat("•", pages)
	if m.options.Style.ASCII {
		dots = fmt.Sprintf("%d/%d", m.page+1, pages)
	}
	lines = append(lines, dots+"  ←/→ page  q: quit")
	if len(m.problems) > 0 {
		lines = append(lines, strings.Join(m.problems, "; "))
	}
	for i := range lines {
		lines[i] = clip(lines[i], m.width)
	}
	return strings.Join(lines, "\n")
}

func (m *Model) classicNodes() []*view.Node {
	nodes := slices.Clone(m.fleet.Nodes)
	by, down := startingSort(m.options)
	slices.SortStableFunc(nodes, func(a, b *view.Node) int {
		order := m.compare(by, a, b)
		if down {
			order = -order
		}
		return order
	})
	return nodes
}

// classicLines aligns the columns of a page.
func (m *Model) classicLines(nodes []*view.Node) []string {
	var cells [][]string
	for _, n := range nodes {
		for i, resource := range m.options.Resources {
			use := view.Use(n.Requested, n.Allocatable, resource)
			line := []string{"", resource, m.options.Style.meter(use, 0, max(10, min(40, m.width-120))), fmt.Sprintf("%3.0f%%", 100*use)}
			if i == 0 {
				line[0] = n.Name
				if n.Name == n.Claim && n.Instance != "" {
					line[0] = n.Instance
				}
				line = append(line, m.classicFacts(n)...)
			}
			cells = append(cells, line)
		}
	}
	widths := map[int]int{}
	for _, line := range cells {
		for i, cell := range line {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	var out []string
	for _, line := range cells {
		var text strings.Builder
		for i, cell := range line {
			text.WriteString(pad(cell, widths[i], false) + " ")
		}
		out = append(out, strings.TrimRight(text.String(), " "))
	}
	return out
}

// dollars formats a price as eks-node-viewer does, and those in other currencies so that they cannot be taken for dollars.
func (m *Model) dollars(price model.Money, decimals int) string {
	if m.fleet.Currency == "" || m.fleet.Currency == "USD" {
		return "$" + view.Decimal(price, decimals)
	}
	return view.Price(price, decimals, m.fleet.Currency)
}

func (m *Model) classicFacts(n *view.Node) []string {
	kind := n.Type
	if !m.options.NoPrices && n.Source != view.Unpriced {
		kind += "/" + m.dollars(n.Price, 4)
	}
	capacity := map[string]string{"on-demand": "On-Demand", "spot": "Spot", "fargate": "Fargate", "reserved": "Reserved"}[n.CapacityType]
	if capacity == "" {
		capacity = "-"
	}
	if n.Auto {
		capacity += "/Auto"
	}
	state := "-"
	switch {
	case n.Phase == view.Draining || n.Phase == view.Deleting:
		state = "Deleting"
	case n.Cordoned || n.Going != "":
		state = "Cordoned"
	}
	ready := "Ready"
	if n.Phase != view.Ready && state != "Deleting" {
		ready = "NotReady/" + view.Age(n.Since, m.now())
	}
	out := []string{fmt.Sprintf("(%d/%d pods)", len(n.Pods), n.Allocatable.Pods), kind, capacity, state, ready}
	for _, label := range m.options.Labels {
		out = append(out, m.label(n, label))
	}
	return out
}

func (m *Model) classicKey(key string) (quit bool) {
	switch key {
	case "q", "esc":
		return true
	case "right", "l", "pgdown":
		m.page++
	case "left", "h", "pgup":
		m.page--
	}
	return false
}
