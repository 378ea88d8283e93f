// Package viewer draws what `tenon view` shows in a terminal: a Bubble Tea model over the fleet's view.
// It draws and responds to keys and the mouse. It must not read from a cluster: it receives pictures of
// the fleet as messages, so that a test can show it any fleet at any size.
package viewer

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tenon/internal/intervention"
	"tenon/internal/journal"
	"tenon/internal/view"
)

// Options say how the viewer begins.
type Options struct {
	// Title names the cluster.
	Title string
	// Classic makes the viewer look like eks-node-viewer.
	Classic bool
	// Resources are those with bars; the classic form also shows the first for the whole cluster.
	Resources []string
	// Labels are the labels of nodes that have columns.
	Labels []string
	// Sort is a column or a label, with =asc or =dsc after it.
	Sort string
	// Columns are the columns of nodes beside the name, all if there are none.
	Columns []string
	// Where keeps nodes out of the viewer; nil shows all.
	Where func(*view.Node) bool
	// NoPrices hides prices.
	NoPrices bool
	// Answers are to questions that the picture does not answer.
	Answers Answers
	Style   Style
	Clock   func() time.Time
}

// Fleet is the message that brings a new picture.
type Fleet struct {
	Fleet *view.Fleet
	// Problems lists what could not be read.
	Problems []string
}

// Decisions is the message that brings the newest decisions of a journal.
type Decisions struct {
	// Entries are the decisions, the newest first.
	Entries []journal.Entry
	// Problem says why the journal cannot be read, or that some lines of it cannot.
	Problem string
}

// tab is one of the pages.
type tab int

const (
	nodesTab tab = iota
	poolsTab
	pendingTab
	eventsTab
	decisionsTab
)

var tabNames = []string{"Nodes", "Pools", "Pending", "Events", "Decisions"}

// Model is the viewer's state.
type Model struct {
	options       Options
	fleet         *view.Fleet // the picture that is shown
	live          *view.Fleet // the newest picture
	past          *past       // nil for the present
	problems      []string
	decisions     *Decisions // nil without a journal
	width, height int

	tab    tab
	tables [5]table
	// detail is the name of the open node, and within is the table of its pods.
	detail string
	within table

	prompt prompt
	filter string
	by     grouping
	chosen []string        // columns of nodes; none is all
	short  bool            // names of nodes are shown up to the first dot
	closed map[string]bool // groups whose nodes are not listed
	help   bool
	page   int // of the classic form

	pane      *pane // nil if none is open
	questions int
	next      tea.Cmd // what has to be done after this message
	// chosenChange waits for its confirmation.
	chosenChange intervention.Change
}

// prompt is a line that is being typed: what to filter by, to find, or which columns to show.
type prompt struct {
	what string
	text string
}

// New makes a viewer, which has no picture yet.
func New(o Options) *Model {
	if len(o.Resources) == 0 {
		o.Resources = []string{"cpu"}
		if !o.Classic {
			o.Resources = []string{"cpu", "memory"}
		}
	}
	m := &Model{options: o, width: 80, height: 24, closed: map[string]bool{}, chosen: o.Columns, fleet: &view.Fleet{}, live: &view.Fleet{}}
	m.tables[nodesTab].sort, m.tables[nodesTab].down = startingSort(o)
	m.tables[poolsTab].sort = "NAME"
	m.rebuild()
	return m
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *Model) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = message.Width, message.Height
	case Fleet:
		m.live, m.problems = message.Fleet, message.Problems
		if m.past != nil {
			return m, nil
		}
		m.look(m.live)
	case Decisions:
		m.decisions = &message
	case Answer:
		m.answered(message)
	case Travelled:
		m.travelled(message)
	case tea.KeyPressMsg:
		if m.onlyMoves(message.String()) {
			m.moved(message.String())
			return m, nil
		}
		if m.key(message) {
			return m, tea.Quit
		}
	case tea.MouseWheelMsg:
		m.wheel(message.Button)
		return m, nil
	case tea.MouseClickMsg:
		m.click(message.X, message.Y)
	default:
		return m, nil
	}
	m.rebuild()
	next := m.next
	m.next = nil
	return m, next
}

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.NewView(m.Text())
	v.AltScreen, v.WindowTitle = true, "tenon view "+m.options.Title
	if !m.options.Classic {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// Text returns the screen.
func (m *Model) Text() string {
	switch {
	case m.options.Classic:
		return m.classic()
	case m.width < leastWidth || m.height < leastHeight:
		return "The terminal is too small: " + size(m.width, m.height) + "; the viewer needs " + size(leastWidth, leastHeight)
	case m.help:
		return m.helpText()
	}
	lines := m.head()
	ticker := m.ticker()
	room := m.height - len(lines) - len(ticker) - 1
	var body []string
	switch {
	case m.pane != nil:
		body = m.paneLines(room)
	case m.detail != "":
		body = m.detailLines(room)
	default:
		body = m.tabLines(room)
	}
	for len(body) < room {
		body = append(body, "")
	}
	lines = append(append(lines, body[:room]...), ticker...)
	return strings.Join(append(lines, m.foot()), "\n")
}

const leastWidth, leastHeight = 40, 10

// rebuild makes the rows of the tables anew and keeps the cursors where they were.
func (m *Model) rebuild() {
	for i, rows := range [][]row{m.nodeRows(), m.poolRows(), m.pendingRows(), m.eventRows(), m.decisionRows()} {
		m.tables[i].currency = m.fleet.Currency
		m.tables[i].set(rows)
	}
	if n := m.open(); n != nil {
		m.within.currency = m.fleet.Currency
		m.within.set(podRows(m, n))
	} else {
		m.detail = ""
	}
}

// open returns the node that is being looked at, nil if there is none.
func (m *Model) open() *view.Node {
	if m.detail == "" {
		return nil
	}
	return m.fleet.Find(m.detail)
}

// current returns the table in which keys move the cursor.
func (m *Model) current() *table {
	if m.detail != "" {
		return &m.within
	}
	return &m.tables[m.tab]
}

// now is the time of the picture that is shown.
func (m *Model) now() time.Time {
	if m.past != nil {
		return m.past.entry.At
	}
	return m.options.Clock()
}

// matches reports whether all words of the filter are found; KEY=VALUE matches a label.
func (m *Model) matches(labels map[string]string, texts ...string) bool {
	for _, word := range strings.Fields(strings.ToLower(m.filter)) {
		key, value, labelled := strings.Cut(word, "=")
		if labelled && strings.EqualFold(labels[key], value) {
			continue
		}
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), word) }) {
			return false
		}
	}
	return true
}
