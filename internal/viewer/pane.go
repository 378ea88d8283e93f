package viewer

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tenon/internal/intervention"
	"tenon/internal/view"
)

// Answers are functions that answer what the picture of the fleet does not. The viewer calls its slow functions in
// goroutines of the terminal library. What is nil is not answered.
type Answers struct {
	// Describe returns what is known of one object, at once.
	Describe func(kind, name string) (view.Details, bool)
	// Explain says what a plan does with an object and what holds it: at a decision, or now if its number is 0.
	Explain func(kind, name string, decision int64) (string, error)
	// WhatIf says what a change would do, which is written as "without node/a" or "scale deployment/shop/web=5": at a
	// decision, or now if its number is 0.
	WhatIf func(change string, decision int64) (string, error)
	// Past returns the picture at a decision.
	Past func(decision int64) (*view.Fleet, error)
	// Change makes a change that the user has confirmed, and says what was done.
	Change func(intervention.Change) (string, error)
}

// pane is a text that covers the page, such as an answer.
type pane struct {
	title, text string
	top, shown  int
	// asked numbers the question that is being answered; 0 if none is.
	asked int
	wrong bool
	// offers are the changes among which a number chooses.
	offers []intervention.Change
}

// Answer is the message that brings the answer to a question.
type Answer struct {
	Asked int
	Text  string
	Err   error
}

// ask opens a pane and has a question answered.
func (m *Model) ask(title string, answer func() (string, error)) {
	m.questions++
	asked := m.questions
	m.pane = &pane{title: title, text: "Working it out …", asked: asked}
	m.next = func() tea.Msg {
		text, err := answer()
		return Answer{asked, text, err}
	}
}

// answered shows an answer if its question is still open.
func (m *Model) answered(a Answer) {
	p := m.pane
	if p == nil || p.asked != a.Asked {
		return
	}
	p.asked, p.text = 0, strings.TrimRight(a.Text, "\n")
	if a.Err != nil {
		p.text, p.wrong = a.Err.Error(), true
	}
}

// paneKey handles a key while a pane is open, and reports whether the viewer ends.
func (m *Model) paneKey(key string) (quit bool) {
	p := m.pane
	switch key {
	case "q":
		return true
	case "esc", "enter":
		m.pane = nil
	case "down", "j":
		p.top++
	case "up", "k":
		p.top--
	case "pgdown", "ctrl+d", "space":
		p.top += max(1, p.shown-1)
	case "pgup", "ctrl+u":
		p.top -= max(1, p.shown-1)
	case "home":
		p.top = 0
	case "end", "G":
		p.top = len(p.text)
	default:
		if n, err := strconv.Atoi(key); err == nil && n > 0 && n <= len(p.offers) {
			m.chosenChange = p.offers[n-1]
			m.prompt = prompt{what: confirmPrompt}
		}
	}
	return false
}

// paneLines draws the pane.
func (m *Model) paneLines(room int) []string {
	p, s := m.pane, m.options.Style
	var text []string
	for line := range strings.Lines(p.text) {
		line = strings.TrimRight(line, "\n")
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for i, part := range wrap(strings.TrimLeft(line, " "), m.width-len(marker)-len(indent)-2) {
			if i > 0 {
				part = "  " + part
			}
			text = append(text, marker+indent+part)
		}
	}
	p.shown = max(1, room-2)
	p.top = max(0, min(p.top, len(text)-p.shown))
	title := s.bold(p.title)
	if more := len(text) - p.top - p.shown; more > 0 {
		title += s.faint(fmt.Sprintf("  %d lines follow", more))
	}
	out := []string{"", clip(marker+title, m.width)}
	for _, line := range text[p.top:min(len(text), p.top+p.shown)] {
		if p.wrong {
			line = s.bad(line)
		}
		out = append(out, clip(line, m.width))
	}
	return out
}

// subject is the object under the cursor: its kind as users write it, and its name.
func (m *Model) subject() (kind, name string) {
	r, ok := m.current().selected()
	if !ok || r.title {
		return "", ""
	}
	switch {
	case m.detail != "" || m.tab == pendingTab:
		return "pod", r.id
	case m.tab == nodesTab:
		if n := m.fleet.Find(r.id); n != nil && n.Claim == n.Name {
			return "nodeclaim", r.id
		}
		return "node", r.id
	case m.tab == poolsTab:
		if p := m.selectedPool(); p != nil && p.Object != "" {
			return strings.ToLower(objectKind(p)), p.Object
		}
	case m.tab == eventsTab:
		if n := m.selectedNotice(); n != nil {
			return strings.ToLower(n.Kind), n.Name
		}
	}
	return "", ""
}

// objectKind is the kind of the object of a pool that has one.
func objectKind(p *view.Pool) string {
	if p.Kind == "NodePool" {
		return p.Kind
	}
	return "NodeGroup"
}

// selectedPool returns the pool under the cursor, nil if there is none.
func (m *Model) selectedPool() *view.Pool {
	r, ok := m.tables[poolsTab].selected()
	if !ok {
		return nil
	}
	for _, p := range m.fleet.Pools {
		if p.Name+p.Kind == r.id {
			return p
		}
	}
	return nil
}

// selectedNotice returns the event under the cursor, nil if there is none.
func (m *Model) selectedNotice() *view.Notice {
	r, ok := m.tables[eventsTab].selected()
	if !ok {
		return nil
	}
	for i := range m.fleet.Notices {
		if noticeID(&m.fleet.Notices[i]) == r.id {
			return &m.fleet.Notices[i]
		}
	}
	return nil
}

// why has a plan say what it does with the object under the cursor, and what holds it.
func (m *Model) why() {
	kind, name := m.subject()
	at := m.moment()
	switch {
	case name == "":
		m.say("Nothing is chosen", "Move the cursor to a node, a pod or a pool first.")
	case m.options.Answers.Explain == nil:
		m.say("Why "+name, "This viewer can make no plan.")
	default:
		m.ask("Why "+kind+" "+name, func() (string, error) { return m.options.Answers.Explain(kind, name, at) })
	}
}

// say opens a pane with a text.
func (m *Model) say(title, text string) { m.pane = &pane{title: title, text: text} }

// beginWhatIf proposes a change to the object under the cursor, to be edited: a node or pool that goes, or another number
// of replicas.
func (m *Model) beginWhatIf() {
	if m.options.Answers.WhatIf == nil {
		m.say("What if", "This viewer can make no plan.")
		return
	}
	kind, name := m.subject()
	text := "without " + kind + "/" + name
	switch {
	case name == "":
		text = ""
	case kind == "pod":
		if p := m.podNamed(name); p != nil {
			owner, of, _ := strings.Cut(p.Owner, "/")
			if owner = strings.ToLower(owner); owner == "deployment" || owner == "statefulset" || owner == "replicaset" {
				text = fmt.Sprintf("scale %s/%s/%s=%d", owner, p.Namespace, of, m.replicas(p))
			}
		}
	}
	m.prompt = prompt{what: whatIfPrompt, text: text}
}

// whatIfPrompt is the prompt for a change.
const whatIfPrompt = "what if"

// tryChange has two plans made, with and without a change.
func (m *Model) tryChange(change string) {
	if strings.TrimSpace(change) == "" {
		return
	}
	at := m.moment()
	m.ask("What if "+change, func() (string, error) { return m.options.Answers.WhatIf(change, at) })
}

// podNamed returns a pod by namespace and name, nil if there is none.
func (m *Model) podNamed(key string) *view.Pod {
	for p := range m.allPods() {
		if p.Key() == key {
			return p
		}
	}
	return nil
}

// allPods are those of nodes and those that wait.
func (m *Model) allPods() iter.Seq[*view.Pod] {
	return func(yield func(*view.Pod) bool) {
		for _, n := range m.fleet.Nodes {
			for _, p := range n.Pods {
				if !yield(p) {
					return
				}
			}
		}
		for _, p := range m.fleet.Pending {
			if !yield(p) {
				return
			}
		}
	}
}

// replicas counts the pods of a pod's workload.
func (m *Model) replicas(of *view.Pod) int {
	n := 0
	for p := range m.allPods() {
		if p.Owner == of.Owner && p.Namespace == of.Namespace && !p.Ending {
			n++
		}
	}
	return n
}
