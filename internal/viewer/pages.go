package viewer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tenon/core/model"
	"tenon/internal/view"
)

// tabLines draws the current page, with more about the selected row where its line lacks the room.
func (m *Model) tabLines(room int) []string {
	var below []string
	part := 3 // of the room, for what is below
	switch m.tab {
	case pendingTab:
		below = m.whyPending()
	case poolsTab:
		below = m.poolNotices()
	case nodesTab:
		below = m.whyHere()
	case eventsTab:
		below = m.whatHappened()
	case decisionsTab:
		below, part = m.whatWasDecided(), 2
	}
	if len(m.tables[m.tab].rows) == 0 {
		return append([]string{""}, wrap(marker+m.empty(), m.width)...)
	}
	most := max(0, min(len(below), room/part))
	below = below[:most]
	lines := m.tables[m.tab].lines(m.columns(), m.width, room-len(below), tabLine+1, m.options.Style)
	for len(lines) < room-len(below) {
		lines = append(lines, "")
	}
	return append(lines, below...)
}

func (m *Model) empty() string {
	if m.filter != "" {
		return "Nothing matches the filter. esc clears it."
	}
	if m.tab == decisionsTab {
		return m.noDecisions()
	}
	return []string{"There are no nodes.", "There are no pools.", "No pod waits for a node.", "No events have been seen."}[m.tab]
}

func (m *Model) columns() []column {
	switch m.tab {
	case decisionsTab:
		return decisionColumns()
	case poolsTab:
		return m.poolColumns()
	case pendingTab:
		return []column{
			{"POD", 24, 1, false, true}, {"AGE", 5, 2, true, false}, {"CPU", 6, 4, true, false}, {"MEMORY", 7, 5, true, false}, {"OWNER", 22, 6, false, false},
			{"WHY", 20, 3, false, true},
		}
	case eventsTab:
		return []column{{"AGE", 5, 1, true, false}, {"OBJECT", 28, 2, false, false}, {"REASON", 20, 4, false, false}, {"MESSAGE", 20, 3, false, true}}
	}
	return m.nodeColumns()
}

// pendingRows returns the rows of the pods without a node, the oldest first.
func (m *Model) pendingRows() []row {
	var out []row
	for _, p := range m.fleet.Pending {
		if m.matches(nil, p.Key(), p.Owner, p.Why) {
			out = append(out, row{id: p.Key(), cell: m.podCell(p)})
		}
	}
	return out
}

// podCell returns what each column shows of a pod.
func (m *Model) podCell(p *view.Pod) func(string) string {
	return func(name string) string {
		switch name {
		case "POD":
			return p.Key()
		case "AGE":
			return view.Age(p.Created, m.now())
		case "CPU":
			return view.Amount("cpu", p.Requests.CPU)
		case "MEMORY":
			return view.Amount("memory", p.Requests.Memory)
		case "OWNER":
			return p.Owner
		case "WHY":
			return p.Why
		case "PRICE/H":
			return view.Decimal(p.Cost, 4)
		case "STATE":
			if p.Ending {
				return "Ending"
			}
			return p.Phase
		case "KEPT BY":
			return strings.Join(p.Flags, ", ")
		}
		return ""
	}
}

// whyPending draws the whole reason of the selected pod.
func (m *Model) whyPending() []string {
	r, ok := m.tables[pendingTab].selected()
	if !ok {
		return nil
	}
	for _, p := range m.fleet.Pending {
		if p.Key() == r.id {
			return m.told(p.Key(), p.Teller+" says: "+p.Why)
		}
	}
	return nil
}

// told draws a text under its title.
func (m *Model) told(title, text string) []string {
	out := []string{"", clip(m.options.Style.bold(title), m.width)}
	return append(out, wrap(text, m.width)...)
}

func (m *Model) whyHere() []string {
	r, ok := m.tables[nodesTab].selected()
	if !ok || r.title {
		return nil
	}
	n := m.fleet.Find(r.id)
	if n == nil || n.Verdict.Message == "" {
		return nil
	}
	return m.told(n.Name, n.Verdict.Word+": "+n.Verdict.Message)
}

func (m *Model) eventRows() []row {
	var out []row
	for i := range m.fleet.Notices {
		n := &m.fleet.Notices[i]
		if !m.matches(nil, n.Name, n.Reason, n.Message) {
			continue
		}
		out = append(out, row{id: noticeID(n), cell: func(name string) string {
			switch name {
			case "AGE":
				return view.Age(n.At, m.now())
			case "OBJECT":
				return n.Kind + "/" + n.Name
			case "REASON":
				return n.Reason
			}
			return n.Message
		}})
	}
	return out
}

func noticeID(n *view.Notice) string { return fmt.Sprint(n.Kind, n.Name, n.Reason, n.Message, n.At) }

// whatHappened draws the whole message of the selected event.
func (m *Model) whatHappened() []string {
	r, ok := m.tables[eventsTab].selected()
	if !ok {
		return nil
	}
	for i := range m.fleet.Notices {
		if n := &m.fleet.Notices[i]; noticeID(n) == r.id {
			return m.told(n.Kind+"/"+n.Name, n.Reason+": "+n.Message)
		}
	}
	return nil
}

func (m *Model) poolColumns() []column {
	out := []column{{"NAME", 14, 1, false, true}, {"KIND", 9, 8, false, false}, {"NODES", 7, 2, true, false}, {"PODS", 5, 7, true, false}}
	for i, resource := range m.options.Resources {
		out = append(out, column{strings.ToUpper(resource), barWidth, 3 + i, false, false})
	}
	if !m.options.NoPrices {
		out = append(out, column{"PRICE/H", 9, 3, true, false}, column{"MONTH", 8, 6, true, false}, column{"IDLE/H", 10, 7, true, false})
	}
	return append(out, column{"LIMITS", 18, 9, false, true}, column{"ATTENTION", 12, 6, false, false})
}

const barWidth = 12

func (m *Model) poolRows() []row {
	pools := slices.Clone(m.fleet.Pools)
	t := &m.tables[poolsTab]
	slices.SortStableFunc(pools, func(a, b *view.Pool) int {
		order := 0
		switch t.sort {
		case "NODES":
			order = cmp.Compare(a.Total.Nodes, b.Total.Nodes)
		case "PODS":
			order = cmp.Compare(a.Total.Pods, b.Total.Pods)
		case "PRICE/H", "MONTH":
			order = cmp.Compare(a.Total.Price, b.Total.Price)
		case "IDLE/H":
			order = cmp.Compare(a.Total.Idle, b.Total.Idle)
		default:
			order = strings.Compare(a.Name, b.Name)
		}
		if t.down {
			order = -order
		}
		return order
	})
	var out []row
	for _, p := range pools {
		if m.matches(nil, p.Name, p.Kind) {
			out = append(out, row{id: p.Name + p.Kind, cell: m.poolCell(p)})
		}
	}
	return out
}

func (m *Model) poolCell(p *view.Pool) func(string) string {
	return func(name string) string {
		switch name {
		case "NAME":
			return cmp.Or(p.Name, "(no pool)")
		case "KIND":
			return p.Kind
		case "NODES":
			return fmt.Sprintf("%d/%d", p.Total.Ready, p.Total.Nodes)
		case "PODS":
			return fmt.Sprint(p.Total.Pods)
		case "PRICE/H":
			return view.Decimal(p.Total.Price, 3)
		case "MONTH":
			return view.Decimal(view.Monthly(p.Total.Price), 0)
		case "IDLE/H":
			return view.Decimal(p.Total.Idle, 3)
		case "LIMITS":
			return limits(p)
		case "ATTENTION":
			return m.attention(p)
		}
		resource := strings.ToLower(name)
		return m.options.Style.bar(view.Use(p.Total.Requested, p.Total.Allocatable, resource), view.Use(p.Total.Daemons, p.Total.Allocatable, resource), barWidth)
	}
}

func (m *Model) attention(p *view.Pool) string {
	if len(p.Notices) == 0 {
		return ""
	}
	return m.options.Style.bad(p.Notices[0].Reason)
}

func limits(p *view.Pool) string {
	var out []string
	for _, l := range p.Limits {
		out = append(out, l.Name+" "+share(l, p.Limited(l.Name)))
	}
	return strings.Join(out, ", ")
}

func share(limit model.Amount, have int64) string {
	return view.Amount(limit.Name, have) + "/" + view.Amount(limit.Name, limit.Value)
}

// budgets says how many nodes may go now, and when that changes.
func budgets(b *view.Budgets, now time.Time) string {
	var allowed []string
	for _, a := range b.Allowed {
		number := fmt.Sprint(a.Nodes)
		if a.Nodes == view.Unbounded {
			number = "any number"
		}
		allowed = append(allowed, number+" "+strings.ToLower(a.Reason))
	}
	text := fmt.Sprintf("%d of %s going or not ready; may be: %s", b.Disrupting, count(b.Nodes, "node"), strings.Join(allowed, ", "))
	if !b.Turns.IsZero() {
		text += "; this changes in " + view.Span(b.Turns.Sub(now))
	}
	return text
}

func (m *Model) poolNotices() []string {
	r, ok := m.tables[poolsTab].selected()
	if !ok {
		return nil
	}
	var out []string
	for _, p := range m.fleet.Pools {
		if p.Name+p.Kind == r.id {
			for _, n := range p.Notices {
				out = append(out, m.told(n.Reason, n.Message)...)
			}
			if b := p.Budgets(m.now()); b != nil {
				out = append(out, m.told("Budgets", budgets(b, m.now()))...)
			}
		}
	}
	return out
}
