package viewer

import (
	"slices"
	"strings"
)

// row is one line of a table. Its cells are computed when it is drawn.
type row struct {
	id    string
	cell  func(column string) string
	title bool // a heading over others
}

// column is a column of a table. Those with a low rank stay when there is little room.
type column struct {
	name  string
	width int
	rank  int
	right bool
	// wide columns take the remaining width.
	wide bool
}

// table is a list with a cursor.
type table struct {
	rows   []row
	cursor int
	top    int
	sort   string
	down   bool
	shown  int // how many rows were drawn last
	from   int // the line of the screen on which the first of them is
	names  []string
	ends   []int // where on the screen the title of each column ends
	// currency is that of the columns with prices.
	currency string
}

// set replaces the rows. The cursor stays on its row if that still exists.
func (t *table) set(rows []row) {
	id := ""
	if t.cursor < len(t.rows) {
		id = t.rows[t.cursor].id
	}
	t.rows = rows
	if at := slices.IndexFunc(rows, func(r row) bool { return r.id == id }); at >= 0 && id != "" {
		t.cursor = at
	}
	t.move(0)
}

// move moves the cursor by so many rows.
func (t *table) move(by int) {
	t.cursor = max(0, min(t.cursor+by, len(t.rows)-1))
}

// selected returns the row under the cursor.
func (t *table) selected() (row, bool) {
	if t.cursor >= len(t.rows) {
		return row{}, false
	}
	return t.rows[t.cursor], true
}

// find moves the cursor to the next row that contains the text.
func (t *table) find(text string) bool {
	text = strings.ToLower(text)
	for i := range t.rows {
		at := (t.cursor + 1 + i) % len(t.rows)
		for _, name := range t.names {
			if strings.Contains(strings.ToLower(t.rows[at].cell(name)), text) {
				t.cursor = at
				return true
			}
		}
	}
	return false
}

// sortAt sorts by the column whose title is at x. The title of the column that already sorts turns the order around.
func (t *table) sortAt(x int) {
	at := slices.IndexFunc(t.ends, func(end int) bool { return x < end })
	switch {
	case at < 0 || x < len(marker):
	case t.names[at] == t.sort:
		t.down = !t.down
	default:
		t.sort, t.down = t.names[at], false
	}
}

// fit returns the columns that have room, chosen by rank, in their order.
func fit(columns []column, width int) []column {
	byRank := slices.Clone(columns)
	slices.SortStableFunc(byRank, func(a, b column) int { return a.rank - b.rank })
	left, kept := width-len(marker), map[string]bool{}
	for _, c := range byRank {
		if left < c.width+1 {
			break
		}
		left -= c.width + 1
		kept[c.name] = true
	}
	var out []column
	wide := 0
	for _, c := range columns {
		if kept[c.name] {
			out = append(out, c)
			if c.wide {
				wide++
			}
		}
	}
	for i := range out {
		if out[i].wide {
			part := left / wide
			out[i].width += part
			left -= part
			wide--
		}
	}
	return out
}

// marker precedes each row; the selected one has another.
const marker = "  "

// title returns how a column is called on the screen: prices have their currency there, and their cells have numbers.
func (t *table) title(name string) string {
	if t.currency == "" {
		return name
	}
	switch name {
	case "PRICE/H":
		return t.currency + "/H"
	case "MONTH":
		return t.currency + "/MON"
	case "IDLE/H":
		return "IDLE " + t.currency + "/H"
	}
	return name
}

// lines draws the table, its titles first.
func (t *table) lines(columns []column, width, height, from int, s Style) []string {
	columns = fit(columns, width)
	t.names, t.ends = t.names[:0], t.ends[:0]
	var titles strings.Builder
	titles.WriteString(marker)
	end := len(marker)
	for _, c := range columns {
		end += c.width + 1
		t.names, t.ends = append(t.names, c.name), append(t.ends, end)
		name := t.title(c.name)
		if c.name == t.sort {
			name += s.arrow(t.down)
		}
		titles.WriteString(pad(name, c.width, c.right) + " ")
	}
	out := []string{s.faint(clip(titles.String(), width))}
	t.shown = min(height-1, len(t.rows))
	t.from = from + 1
	t.top = max(0, min(t.top, len(t.rows)-t.shown))
	if t.cursor < t.top {
		t.top = t.cursor
	}
	if t.cursor >= t.top+t.shown {
		t.top = t.cursor - t.shown + 1
	}
	for i := t.top; i < t.top+t.shown; i++ {
		out = append(out, t.line(t.rows[i], columns, width, i == t.cursor, s))
	}
	return out
}

func (t *table) line(r row, columns []column, width int, selected bool, s Style) string {
	var text strings.Builder
	if r.title {
		text.WriteString(r.cell("TITLE"))
	} else {
		for _, c := range columns {
			text.WriteString(pad(r.cell(c.name), c.width, c.right) + " ")
		}
	}
	switch line := clip(text.String(), width-len(marker)); {
	case selected:
		return s.selected("> " + pad(line, width-len(marker), false))
	case r.title:
		return s.bold(marker + line)
	default:
		return marker + line
	}
}
