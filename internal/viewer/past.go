package viewer

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tenon/internal/journal"
	"tenon/internal/view"
)

// past is the moment that is shown in place of the present: that of a decision.
type past struct {
	entry journal.Entry
	// problem says why there is no picture; empty while it is being made, and once it is there.
	problem string
	there   bool
}

// Travelled is the message that brings the picture at a decision.
type Travelled struct {
	Decision int64
	Fleet    *view.Fleet
	Err      error
}

// travel goes to the decision before or after the one that is shown. After the newest one is the present.
func (m *Model) travel(by int) {
	if m.decisions == nil || len(m.decisions.Entries) == 0 || m.options.Answers.Past == nil {
		m.say("The past", "No journal is read. --journal names one: a controller's metrics port, a folder or a file.")
		return
	}
	entries := slices.DeleteFunc(slices.Clone(m.decisions.Entries), byHand) // the newest first
	if len(entries) == 0 {
		return
	}
	at := -1
	if m.past != nil {
		at = slices.IndexFunc(entries, func(e journal.Entry) bool { return e.ID <= m.past.entry.ID })
	}
	at += by
	switch {
	case at < 0:
		m.present()
		return
	case at >= len(entries):
		at = len(entries) - 1
	}
	if m.past != nil && m.past.entry.ID == entries[at].ID {
		return
	}
	m.arrive(entries[at])
}

// byHand reports whether an entry is a change that a user made, to which no picture belongs.
func byHand(e journal.Entry) bool { return e.Intervention != nil }

// arrive asks for the picture at a decision. Until it is there, the one before stays.
func (m *Model) arrive(e journal.Entry) {
	if byHand(e) {
		m.say("The past", "A user made this change. The decisions before and after it have a picture of the cluster.")
		return
	}
	m.past = &past{entry: e}
	m.next = func() tea.Msg {
		f, err := m.options.Answers.Past(e.ID)
		return Travelled{e.ID, f, err}
	}
}

// travelled shows the picture at a decision if it is still the one that is asked for.
func (m *Model) travelled(t Travelled) {
	p := m.past
	if p == nil || p.entry.ID != t.Decision {
		return
	}
	if t.Err != nil {
		p.problem = t.Err.Error()
		return
	}
	p.there = true
	m.look(t.Fleet)
}

// present goes back to the live picture.
func (m *Model) present() {
	if m.past != nil {
		m.past = nil
		m.look(m.live)
	}
}

// look shows a picture.
func (m *Model) look(f *view.Fleet) {
	m.fleet = f
	if m.options.Where != nil {
		m.fleet = f.Where(m.options.Where)
	}
	m.short = distinct(m.fleet.Nodes)
}

// pastLine says which moment is shown, and what was decided then; empty for the present.
func (m *Model) pastLine() string {
	p, s := m.past, m.options.Style
	if p == nil {
		return ""
	}
	when := fmt.Sprintf("decision %d, %s, %s ago", p.entry.ID, p.entry.At.Format("2006-01-02 15:04:05"), view.Age(p.entry.At, m.options.Clock()))
	switch {
	case p.problem != "":
		return s.bad(p.problem)
	case !p.there:
		return s.medium(when + ": reading its snapshot …")
	}
	return s.medium(when) + "  " + p.entry.Head()
}

// moment is the number of the decision that is shown; 0 for the present.
func (m *Model) moment() int64 {
	if m.past == nil {
		return 0
	}
	return m.past.entry.ID
}
