// Package table shows a plan to people: the nodes to buy, their price and how close it is to the least
// possible price, and the pods without a place and what would help them.
//
// It lays out text for a screen's width and decides nothing. Programs read package document.
package table

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"tenon/internal/cli/document"
	"tenon/internal/cli/screen"
)

// Options are how much is shown, and on what.
type Options struct {
	Screen screen.Screen
	// Explain shows every node with its pods and every pool's reasons.
	Explain bool
}

// Write shows the plan.
func Write(w io.Writer, p document.Planned, o Options) error {
	t := &writer{w: bufio.NewWriter(w), p: p, o: o}
	t.nodes()
	t.existing()
	t.disruptions()
	t.totals()
	t.buffers()
	t.ruleCosts()
	t.unplaced()
	return t.w.Flush()
}

// writer puts sections one under the other. Write errors stay in w until the end.
type writer struct {
	w *bufio.Writer
	p document.Planned
	o Options
}

func (t *writer) line(format string, args ...any) {
	fmt.Fprintf(t.w, format+"\n", args...)
}

// The few colours: sections stand out, what is wrong is red, what helps is green.
const (
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	faint = "\x1b[2m"
	plain = "\x1b[0m"
)

func (t *writer) colored(color, text string) string {
	if !t.o.Screen.Color || color == plain {
		return text
	}
	return color + text + plain
}

// column is one column of a grid.
type column struct {
	title string
	right bool // numbers are aligned to the right
	// shrinks columns lose letters at the end when the screen is too narrow; before that,
	// columns with a spare number are left out, the highest first.
	shrinks bool
	spare   int
}

// grid writes rows under titles, in no more columns than the screen has: columns that can be
// spared are left out, then names are cut.
func (t *writer) grid(columns []column, rows [][]string) {
	columns, rows = t.spared(columns, rows)
	widths := t.widths(columns, rows)
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
	}
	t.line("%s", t.colored(faint, laidOut(columns, widths, titles)))
	for _, row := range rows {
		t.line("%s", laidOut(columns, widths, row))
	}
}

const (
	columnGap = 2
	// A name cut below goodName is hard to recognise, and below leastName impossible.
	goodName  = 12
	leastName = 6
)

// spared leaves out columns until the others fit with names that say something.
func (t *writer) spared(columns []column, rows [][]string) ([]column, [][]string) {
	for {
		total, last := columnGap*(len(columns)-1), 0
		for i, width := range natural(columns, rows) {
			if columns[i].shrinks {
				width = min(width, goodName)
			}
			total += width
			if columns[i].spare > columns[last].spare {
				last = i
			}
		}
		if total <= t.o.Screen.Width || columns[last].spare == 0 {
			return columns, rows
		}
		columns = slices.Delete(slices.Clone(columns), last, last+1)
		fewer := make([][]string, len(rows))
		for i := range rows {
			fewer[i] = slices.Delete(slices.Clone(rows[i]), last, last+1)
		}
		rows = fewer
	}
}

// natural is how wide columns are when nothing is cut.
func natural(columns []column, rows [][]string) []int {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = utf8.RuneCountInString(c.title)
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	return widths
}

func (t *writer) widths(columns []column, rows [][]string) []int {
	widths := natural(columns, rows)
	total := columnGap * (len(columns) - 1)
	for _, width := range widths {
		total += width
	}
	for ; total > t.o.Screen.Width; total-- {
		widest := -1
		for i, c := range columns {
			if c.shrinks && widths[i] > leastName && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

func laidOut(columns []column, widths []int, row []string) string {
	var b strings.Builder
	for i, text := range row {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", columnGap))
		}
		text = cutTo(text, widths[i])
		space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
		if columns[i].right {
			text = space + text
		} else {
			text += space
		}
		b.WriteString(text)
	}
	return strings.TrimRight(b.String(), " ")
}

// cutTo shortens a text to a number of runes.
func cutTo(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(width-1, 0)]) + "…"
}

// hanging is how much further the lines after a paragraph's first are indented.
const hanging = 2

// paragraph writes a text between words, all lines indented, those after the first a little more.
func (t *writer) paragraph(indent int, color, text string) {
	for i, line := range wrapped(text, t.o.Screen.Width-indent, hanging) {
		space := strings.Repeat(" ", indent)
		if i > 0 {
			space += strings.Repeat(" ", hanging)
		}
		t.line("%s%s", space, t.colored(color, line))
	}
}

// wrapped breaks a text into lines of a width; all but the first leave room for a hanging indent.
func wrapped(text string, width, hanging int) []string {
	var lines []string
	line, room := "", width
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > room {
			lines = append(lines, line)
			line, room = "", width-hanging
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// joined lists some of the texts and counts the others.
func joined(texts []string, most int) string {
	if len(texts) <= most {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(texts[:most], ", "), thousands(len(texts)-most))
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int) string {
	digits := []byte(fmt.Sprint(n))
	var out []byte
	for i, d := range slices.Backward(digits) {
		if fromEnd := len(digits) - 1 - i; fromEnd > 0 && fromEnd%3 == 0 && d != '-' {
			out = append(out, ',')
		}
		out = append(out, d)
	}
	slices.Reverse(out)
	return string(out)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}
