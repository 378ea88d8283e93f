package viewer

import (
	"fmt"
	"slices"

	"tenon/internal/journal"
	"tenon/internal/view"
)

func decisionColumns() []column {
	return []column{{"NUMBER", 7, 3, true, false}, {"AGE", 5, 1, true, false}, {"DECISION", 20, 2, false, true}, {"WOKEN BY", 24, 4, false, false}}
}

// decisionRows returns the rows of the journal's newest decisions, the newest first.
func (m *Model) decisionRows() []row {
	if m.decisions == nil {
		return nil
	}
	var out []row
	for i := range m.decisions.Entries {
		e := &m.decisions.Entries[i]
		if !m.matches(nil, append([]string{e.Head(), e.Woke}, e.Details(true)...)...) {
			continue
		}
		out = append(out, row{id: fmt.Sprint(e.ID), cell: func(name string) string {
			switch name {
			case "NUMBER":
				return fmt.Sprint(e.ID)
			case "AGE":
				return view.Age(e.At, m.options.Clock())
			case "WOKEN BY":
				return e.Woke
			}
			if slices.ContainsFunc(e.Outcomes, func(o journal.Outcome) bool { return o.Result == journal.Failed }) {
				return m.options.Style.bad(e.Head())
			}
			return e.Head()
		}})
	}
	return out
}

// whatWasDecided draws all about the selected decision.
func (m *Model) whatWasDecided() []string {
	r, ok := m.tables[decisionsTab].selected()
	if !ok || m.decisions == nil {
		return nil
	}
	for i := range m.decisions.Entries {
		e := &m.decisions.Entries[i]
		if fmt.Sprint(e.ID) != r.id {
			continue
		}
		out := m.told(fmt.Sprintf("%d  %s", e.ID, e.At.Format("2006-01-02 15:04:05")), e.Head())
		for _, line := range e.Details(true) {
			out = append(out, wrap("· "+line, m.width)...)
		}
		return out
	}
	return nil
}

// tickerHeight is the least height of a screen that has room for the newest decision on every page.
const tickerHeight = 20

// ticker draws the journal's newest decision, or the past one that is shown.
func (m *Model) ticker() []string {
	if m.past != nil {
		return []string{clip(m.pastLine(), m.width)}
	}
	if m.decisions == nil || len(m.decisions.Entries) == 0 || m.tab == decisionsTab || m.height < tickerHeight {
		return nil
	}
	e := &m.decisions.Entries[0]
	return []string{clip(m.options.Style.faint(fmt.Sprintf("%s %d, %s ago  ", kindOf(e), e.ID, view.Age(e.At, m.options.Clock())))+e.Head(), m.width)}
}

func kindOf(e *journal.Entry) string {
	if byHand(*e) {
		return "change"
	}
	return "decision"
}

func (m *Model) noDecisions() string {
	switch {
	case m.decisions == nil:
		return "No journal is read. --journal names one: a controller's metrics port, a folder or a file."
	case m.decisions.Problem != "":
		return m.decisions.Problem
	}
	return "Nothing has been decided yet."
}
