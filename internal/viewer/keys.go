package viewer

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// key responds to a key, and reports whether the viewer ends.
func (m *Model) key(k tea.KeyPressMsg) (quit bool) {
	if k.String() == "ctrl+c" {
		return true
	}
	if m.options.Classic {
		return m.classicKey(k.String())
	}
	if m.prompt.what != "" {
		m.typed(k)
		return false
	}
	if m.help {
		m.help = false
		return k.String() == "q"
	}
	if m.pane != nil {
		return m.paneKey(k.String())
	}
	if m.moved(k.String()) {
		return false
	}
	switch k.String() {
	case "q":
		return true
	case "esc":
		m.back()
	case "enter":
		m.enter()
	case "space":
		m.fold()
	case "tab", "right", "l":
		m.show((m.tab + 1) % tab(len(tabNames)))
	case "shift+tab", "left", "h":
		m.show((m.tab + tab(len(tabNames)) - 1) % tab(len(tabNames)))
	case "1", "2", "3", "4", "5":
		m.show(tab(k.String()[0] - '1'))
	case "/":
		m.prompt = prompt{what: "filter", text: m.filter}
	case "f":
		m.prompt = prompt{what: "find"}
	case "n":
		m.current().find(m.prompt.text)
	case "s":
		m.nextSort()
	case "S":
		m.current().down = !m.current().down
	case "g":
		m.by = (m.by + 1) % grouping(len(groupingNames))
	case "c":
		m.prompt = prompt{what: "columns", text: strings.Join(m.chosen, ",")}
	case "d":
		m.describe()
	case "w":
		m.why()
	case "x":
		m.beginWhatIf()
	case "a":
		m.offerChanges()
	case "[":
		m.travel(1)
	case "]":
		m.travel(-1)
	case "?":
		m.help = true
	}
	return false
}

// onlyMoves reports whether a key moves the cursor and changes nothing else, so that the tables stay as they are.
func (m *Model) onlyMoves(key string) bool {
	if m.options.Classic || m.prompt.what != "" || m.help || m.pane != nil {
		return false
	}
	return slices.Contains([]string{"down", "j", "up", "k", "pgdown", "ctrl+d", "pgup", "ctrl+u", "home", "end", "G"}, key)
}

// moved handles the keys that move the cursor.
func (m *Model) moved(key string) bool {
	t := m.current()
	switch key {
	case "down", "j":
		t.move(1)
	case "up", "k":
		t.move(-1)
	case "pgdown", "ctrl+d":
		t.move(max(1, t.shown-1))
	case "pgup", "ctrl+u":
		t.move(-max(1, t.shown-1))
	case "home":
		t.move(-len(t.rows))
	case "end", "G":
		t.move(len(t.rows))
	default:
		return false
	}
	return true
}

// typed handles a key of the prompt. A filter applies while it is typed.
func (m *Model) typed(k tea.KeyPressMsg) {
	switch k.String() {
	case "enter":
		switch m.prompt.what {
		case "find":
			m.current().find(m.prompt.text)
		case "columns":
			m.chosen = strings.FieldsFunc(m.prompt.text, func(r rune) bool { return r == ',' })
		case whatIfPrompt:
			m.tryChange(m.prompt.text)
			m.prompt = prompt{}
		case confirmPrompt:
			m.confirmed(m.prompt.text)
			m.prompt = prompt{}
		}
		m.prompt.what = ""
		return
	case "esc":
		if m.prompt.what == "filter" {
			m.filter = ""
		}
		m.prompt = prompt{}
		return
	case "backspace":
		letters := []rune(m.prompt.text)
		m.prompt.text = string(letters[:max(0, len(letters)-1)])
	default:
		m.prompt.text += k.Text
	}
	if m.prompt.what == "filter" {
		m.filter = m.prompt.text
	}
}

func (m *Model) show(t tab) { m.tab, m.detail, m.pane = t, "", nil }

func (m *Model) back() {
	switch {
	case m.detail != "":
		m.detail = ""
	case m.filter != "":
		m.filter = ""
	case m.past != nil:
		m.present()
	}
}

// enter opens what is under the cursor.
func (m *Model) enter() {
	r, ok := m.current().selected()
	if !ok || m.detail != "" {
		return
	}
	switch {
	case r.title:
		m.fold()
	case m.tab == nodesTab:
		m.detail, m.within = r.id, table{sort: "POD"}
	case m.tab == poolsTab:
		m.show(nodesTab)
		m.filter = r.cell("NAME")
	case m.tab == pendingTab || m.tab == eventsTab:
		m.describe()
	case m.tab == decisionsTab && m.options.Answers.Past != nil:
		for i := range m.decisions.Entries {
			if e := m.decisions.Entries[i]; fmt.Sprint(e.ID) == r.id {
				if !byHand(e) {
					m.show(nodesTab)
				}
				m.arrive(e)
			}
		}
	}
}

// fold hides and shows the nodes of a group.
func (m *Model) fold() {
	if r, ok := m.current().selected(); ok && r.title {
		m.closed[r.id] = !m.closed[r.id]
	}
}

func (m *Model) nextSort() {
	t := m.current()
	if len(t.names) == 0 {
		return
	}
	t.sort = t.names[(slices.Index(t.names, t.sort)+1)%len(t.names)]
}

func (m *Model) wheel(button tea.MouseButton) {
	if p := m.pane; p != nil {
		switch button {
		case tea.MouseWheelDown:
			p.top += 3
		case tea.MouseWheelUp:
			p.top -= 3
		}
		return
	}
	switch button {
	case tea.MouseWheelDown:
		m.current().move(3)
	case tea.MouseWheelUp:
		m.current().move(-3)
	}
}

// click chooses a tab, a column to sort by, or a row; a click on the chosen row opens it.
func (m *Model) click(x, y int) {
	if m.options.Classic || m.help {
		return
	}
	if m.pane != nil && y != tabLine {
		return
	}
	if y == tabLine {
		m.clickTab(x)
		return
	}
	t := m.current()
	if y == t.from-1 {
		t.sortAt(x)
		return
	}
	at := y - t.from
	if at < 0 || at >= t.shown {
		return
	}
	if t.top+at == t.cursor {
		m.enter()
		return
	}
	t.cursor = t.top + at
}

func (m *Model) clickTab(x int) {
	from := 0
	for i, name := range m.tabTexts() {
		if x >= from && x < from+len(name)+2 {
			m.show(tab(i))
			return
		}
		from += len(name) + 2
	}
}

func (m *Model) helpText() string {
	return strings.Join([]string{
		"  tenon view", "",
		"  up down, j k        one row                pgup pgdown, ctrl+u ctrl+d  one page",
		"  home end            first and last         1 to 5, tab, left right     pages",
		"  enter               open a node, fold a group, nodes of a pool, a decision's past",
		"  space               fold a group           esc                         back, no filter",
		"  d                   describe: all that is known of the object under the cursor",
		"  w                   why: what a plan does with it, and all that holds it",
		"  x                   what if it goes, or has other replicas: a line to edit",
		"  a                   act: pin, cordon, remove, pause; if --allow-changes was given",
		"  [ ]                 time: the decision before, and after; esc leads to now",
		"  /                   filter: words, or label=value; all of them have to match",
		"  f  n                find a text, find it again",
		"  s  S                sort by the next column, turn the order around",
		"  g                   nodes by pool, zone, type or capacity type, or in one list",
		"  c                   columns of nodes: names with commas; none is all",
		"  mouse               wheel scrolls, clicks choose and open, titles sort",
		"  q, ctrl+c           quit", "",
		"  Bars show what pods request of what is allocatable; the shaded part are daemons.",
		"  A month has 730 hours. Prices are those that the controller publishes, else list prices.", "",
		"  Any key leads back.",
	}, "\n")
}
