package difference

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"tenon/core/model"
)

// WriteJSON writes the document.
func (d Difference) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(d); err != nil {
		return fmt.Errorf("write the difference: %w", err)
	}
	return nil
}

// WriteText writes it for a terminal.
func (d Difference) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "What if: %s\n\n", strings.Join(d.Changes, "; "))
	rows := d.rows()
	var widths [4]int
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		fmt.Fprintf(&b, "%-*s  %*s  %*s  %*s\n", widths[0], row[0], widths[1], row[1], widths[2], row[2], widths[3], row[3])
	}
	for _, line := range d.lines() {
		fmt.Fprintf(&b, "%s\n", line)
	}
	return written(w, b.String())
}

// WriteMarkdown writes it for a pull request.
func (d Difference) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### Plan: %s\n\n", escaped(d.summary()))
	for _, change := range d.Changes {
		fmt.Fprintf(&b, "- %s\n", code(change))
	}
	b.WriteByte('\n')
	for i, row := range d.rows() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row[0], row[1], row[2], row[3])
		if i == 0 {
			b.WriteString("| --- | ---: | ---: | ---: |\n")
		}
	}
	for _, line := range d.lines() {
		if item, is := strings.CutPrefix(line, "  "); is {
			line = "- " + escaped(item)
		} else if line != "" {
			line = "**" + escaped(line) + "**\n"
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	return written(w, b.String())
}

func written(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write the difference: %w", err)
	}
	return nil
}

// code is a text as code; marks in it are replaced.
func code(text string) string { return "`` " + strings.ReplaceAll(text, "`", "'") + " ``" }

// escaped keeps names and messages from being read as marks of Markdown or HTML.
func escaped(text string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "\n", " ").Replace(text)
}

// summary is the difference in one line.
func (d Difference) summary() string {
	text := fmt.Sprintf("%s an hour%s; nodes %s", money(d.With.fleet-d.Without.fleet), d.inCurrency(), signed(d.With.Nodes-d.Without.Nodes))
	if n := d.With.Unschedulable; n > 0 {
		text += fmt.Sprintf("; pods without a place: %d", n)
	}
	return text
}

func (d Difference) inCurrency() string {
	if d.Currency == "" {
		return ""
	}
	return " in " + d.Currency
}

func (d Difference) rows() [][4]string {
	perHour := " an hour" + d.inCurrency()
	counts := func(name string, a, b int) [4]string {
		return [4]string{name, strconv.Itoa(a), strconv.Itoa(b), signed(b - a)}
	}
	prices := func(name string, a, b model.Money) [4]string {
		return [4]string{name, price(a), price(b), money(b - a)}
	}
	return [][4]string{
		{"", "without", "with", "difference"},
		counts("Nodes", d.Without.Nodes, d.With.Nodes),
		counts("New nodes", d.Without.NewNodes, d.With.NewNodes),
		counts("Nodes given up", d.Without.RemovedNodes, d.With.RemovedNodes),
		counts("Evictions", d.Without.Evictions, d.With.Evictions),
		counts("Pods without a place", d.Without.Unschedulable, d.With.Unschedulable),
		prices("New nodes,"+perHour, d.Without.fresh, d.With.fresh),
		prices("Least possible,"+perHour, d.Without.bound, d.With.bound),
		prices("Whole fleet,"+perHour, d.Without.fleet, d.With.fleet),
	}
}

// mostLines are written of a list for people; the document has all.
const mostLines = 12

// lines are the lists below the numbers: titles, and indented items.
func (d Difference) lines() []string {
	var out []string
	list := func(title string, n int, item func(int) string) {
		if n == 0 {
			return
		}
		out = append(out, "", title)
		for i := range min(n, mostLines) {
			out = append(out, "  "+item(i))
		}
		if n > mostLines {
			out = append(out, fmt.Sprintf("  and %d more", n-mostLines))
		}
	}
	list("New nodes that differ", len(d.Nodes), func(i int) string {
		o := &d.Nodes[i]
		return fmt.Sprintf("%s %s %s in %s of pool %s, %s an hour each", signed(o.With-o.Without), o.InstanceType, o.CapacityType, o.Zone, o.NodePool, o.Price)
	})
	list("Nodes that the change takes away", len(d.Lost), func(i int) string { return d.Lost[i] })
	list("Nodes that are given up only with the change", len(d.Removed), func(i int) string { return d.Removed[i] })
	list("Nodes that stay only with the change", len(d.Kept), func(i int) string { return d.Kept[i] })
	list("Pods that have no place with the change", len(d.Unschedulable), func(i int) string {
		g := &d.Unschedulable[i]
		text := g.Pods[0]
		if more := len(g.Pods) - 1; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		return text + ": " + strings.ReplaceAll(g.Message, "\n", "; ")
	})
	list("Pods that have a place only with the change", len(d.Placed), func(i int) string { return d.Placed[i] })
	return out
}

func signed(n int) string {
	if n > 0 {
		return "+" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

func price(m model.Money) string { return strconv.FormatFloat(m.Float(), 'f', 4, 64) }

func money(m model.Money) string {
	if m > 0 {
		return "+" + price(m)
	}
	return price(m)
}
