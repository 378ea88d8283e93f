package viewer

import (
	"fmt"
	"strconv"
	"strings"

	"tenon/core/model"
	"tenon/internal/view"
)

// tabLine is the line of the screen with the names of the pages.
const tabLine = 2

// head draws the lines at the top of every page: the fleet in sum, and the pages.
func (m *Model) head() []string {
	t, s := m.fleet.Total, m.options.Style
	title := s.bold(m.options.Title)
	if m.past != nil && m.past.there {
		title += s.medium(" at " + m.past.entry.At.Format("2006-01-02 15:04:05"))
	}
	parts := []string{
		title,
		fmt.Sprintf("%s, %d ready", count(t.Nodes, "node"), t.Ready),
		fmt.Sprintf("%s, %d pending", count(t.Pods+len(m.fleet.Pending), "pod"), len(m.fleet.Pending)),
	}
	if !m.options.NoPrices {
		parts = append(parts, s.bold(m.money(t.Price, 3)+"/h")+" "+view.Decimal(view.Monthly(t.Price), 0)+"/month")
		if m.fleet.Discounts != "" {
			parts = append(parts, "less "+m.fleet.Discounts)
		}
		if t.Unpriced > 0 {
			parts = append(parts, s.medium(fmt.Sprintf("%d unpriced", t.Unpriced)))
		}
	}
	if t.Leaving > 0 {
		parts = append(parts, fmt.Sprintf("%d leaving", t.Leaving))
	}
	return []string{clip(strings.Join(parts, "  "), m.width), clip(m.bars(), m.width), clip(m.tabs(), m.width)}
}

func (m *Model) bars() string {
	t, s := m.fleet.Total, m.options.Style
	spare := 12
	for _, resource := range m.options.Resources {
		if t.Used.Get(resource) > 0 {
			spare += len(" (100% used)")
		}
	}
	width := max(10, min(30, (m.width-len("cpu  memory  idle 0.00 USD/h")-spare)/max(1, len(m.options.Resources))))
	var parts []string
	for _, resource := range m.options.Resources {
		text := resource + " " + s.bar(view.Use(t.Requested, t.Allocatable, resource), view.Use(t.Daemons, t.Allocatable, resource), width)
		if t.Used.Get(resource) > 0 {
			text += fmt.Sprintf(" (%.0f%% used)", 100*view.Use(t.Used, t.Measured, resource))
		}
		parts = append(parts, text)
	}
	if !m.options.NoPrices {
		parts = append(parts, "idle "+m.money(t.Idle, 2)+"/h")
	}
	return strings.Join(parts, "  ")
}

// money formats a price with its currency.
func (m *Model) money(price model.Money, decimals int) string {
	return view.Price(price, decimals, m.fleet.Currency)
}

func (m *Model) tabTexts() []string {
	counts := []int{m.fleet.Total.Nodes, len(m.fleet.Pools), len(m.fleet.Pending), len(m.fleet.Notices), 0}
	if m.decisions != nil {
		counts[decisionsTab] = len(m.decisions.Entries)
	}
	var out []string
	for i, name := range tabNames {
		text := fmt.Sprintf("%d %s", i+1, name)
		if m.width >= 70 {
			text += fmt.Sprintf(" (%d)", counts[i])
		}
		out = append(out, text)
	}
	return out
}

func (m *Model) tabs() string {
	s := m.options.Style
	var out strings.Builder
	for i, text := range m.tabTexts() {
		if tab(i) == m.tab {
			out.WriteString(s.bold("[" + text + "]"))
			continue
		}
		out.WriteString(" " + s.faint(text) + " ")
	}
	return out.String()
}

// foot draws the last line: the line being typed, what could not be read, the filter, or the most useful keys.
func (m *Model) foot() string {
	s := m.options.Style
	switch {
	case m.prompt.what == confirmPrompt:
		return clip(s.bold("confirm: ")+m.prompt.text+"_  "+s.faint(m.confirmation()), m.width)
	case m.prompt.what != "":
		return clip(s.bold(m.prompt.what+": ")+m.prompt.text+"_", m.width)
	case m.pane != nil && len(m.pane.offers) > 0:
		return clip(s.faint("1 to "+strconv.Itoa(len(m.pane.offers))+" choose  esc back"), m.width)
	case m.pane != nil:
		return clip(s.faint("esc back  up/down scroll  q quit"), m.width)
	case m.past != nil:
		return clip(s.faint("[ earlier  ] later  esc now  enter open  / filter  w why  x what if  q quit"), m.width)
	case len(m.problems) > 0:
		return clip(s.bad(strings.Join(m.problems, "; ")), m.width)
	case m.tab == decisionsTab && m.decisions != nil && m.decisions.Problem != "":
		return clip(s.bad(m.decisions.Problem), m.width)
	case m.filter != "" && m.detail == "":
		return clip(s.bold("filter: ")+m.filter+s.faint("  esc clears it"), m.width)
	case m.detail != "":
		return clip(s.faint("esc back  up/down pods  ? keys  q quit"), m.width)
	}
	return clip(s.faint("enter open  / filter  g group  d describe  w why  x what if  ? keys  q quit"), m.width)
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
