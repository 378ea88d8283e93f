// Package report holds the rows of the table of measurements, and writes it for people
// and for programs.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Verdict says whether a row meets its target.
type Verdict string

// The verdicts. A row without a target is there for comparison.
const (
	Met    Verdict = "met"
	Missed Verdict = "missed"
	NoAsk  Verdict = ""
)

// Judge turns an answer into a verdict.
func Judge(met bool) Verdict {
	if met {
		return Met
	}
	return Missed
}

// Row is one measurement.
type Row struct {
	Measure string `json:"measure"`
	Ask     string `json:"ask,omitempty"`
	Ours    string `json:"ours"`
	// Peer is the reference's figure; Quoted says that it was not taken in this run.
	Peer   string `json:"reference,omitempty"`
	Quoted bool   `json:"quoted,omitempty"`
	// Ratio compares the two, where that means something.
	Ratio   string  `json:"ratio,omitempty"`
	Verdict Verdict `json:"verdict,omitempty"`
	// Values are the figures behind the text, by name.
	Values map[string]float64 `json:"values,omitempty"`
}

// Section is a group of rows.
type Section struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Rows  []Row  `json:"rows"`
}

// Report is the whole table, and the machine that it was measured on.
type Report struct {
	Machine  string    `json:"machine"`
	Peer     string    `json:"referenceVersion"`
	Sections []Section `json:"sections"`
	// Widest lists the workloads whose price is farthest above the bound.
	Widest []Gap `json:"widest"`
}

// Gap is how far a price is above its bound.
type Gap struct {
	Workload string  `json:"workload"`
	Ratio    float64 `json:"priceOverBound"`
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

var header = []string{"measure", "ask", "ours", "reference", "ratio", ""}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	text := &strings.Builder{}
	fmt.Fprintf(text, "%s; reference: %s\n'~' before a reference's figure: quoted, not taken in this run.\n", r.Machine, r.Peer)
	widths := r.widths()
	for _, s := range r.Sections {
		fmt.Fprintf(text, "\n%s\n", s.Title)
		writeLine(text, widths, header)
		for i := range s.Rows {
			writeLine(text, widths, s.Rows[i].cells())
		}
	}
	if len(r.Widest) > 0 {
		text.WriteString("\nWidest gaps (price over proven bound)\n")
	}
	for _, g := range r.Widest {
		fmt.Fprintf(text, "  %.4f  %s\n", g.Ratio, g.Workload)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (r *Row) cells() []string {
	peer := r.Peer
	if r.Quoted {
		peer = "~ " + peer
	}
	return []string{r.Measure, r.Ask, r.Ours, peer, r.Ratio, string(r.Verdict)}
}

func (r *Report) widths() []int {
	widths := make([]int, len(header))
	note := func(cells []string) {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	note(header)
	for _, s := range r.Sections {
		for i := range s.Rows {
			note(s.Rows[i].cells())
		}
	}
	return widths
}

func writeLine(text *strings.Builder, widths []int, cells []string) {
	line := ""
	for i, cell := range cells {
		line += "  " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
	}
	text.WriteString(strings.TrimRight(line, " ") + "\n")
}

// Missed counts the rows that miss their target.
func (r *Report) Missed() int {
	n := 0
	for _, s := range r.Sections {
		for i := range s.Rows {
			if s.Rows[i].Verdict == Missed {
				n++
			}
		}
	}
	return n
}
