// Package explain says what a plan does with one object, and why: a pod, a node, a claim or a pool. It
// decides nothing: every answer comes from the snapshot and the plan that it is given.
package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/cli/document"
)

// MostText is how long an answer is in words, in bytes: that of an event.
const MostText = 1024

// Kinds are the kinds of objects that a user can ask about.
func Kinds() []string { return []string{"pod", "node", "nodeclaim", "nodepool"} }

// Answer is the answer about one object.
type Answer struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Object and Name are what was asked about.
	Object string `json:"object"`
	Name   string `json:"name"`
	// State is the answer in a word, such as Unplaced; the codes of causes are those of the document of plans.
	State string `json:"state"`
	Code  string `json:"code,omitempty"`
	// Currency of all prices, as ISO 4217 has it; empty if it is not known.
	Currency string `json:"currency,omitempty"`
	Facts    []Fact `json:"facts"`
}

// Fact is one sentence of the answer.
type Fact struct {
	About string `json:"about"`
	Text  string `json:"text"`
}

func (a *Answer) say(about, format string, args ...any) {
	a.Facts = append(a.Facts, Fact{about, fmt.Sprintf(format, args...)})
}

// Of answers about an object by its kind and name. A pod's name may be preceded by its namespace and a
// slash; without, it is looked for in all of them.
func Of(p document.Planned, kind, name string) (Answer, error) {
	a := Answer{APIVersion: document.APIVersion, Kind: "Explanation", Object: kind, Name: name, Currency: p.Prices.Currency}
	e := explainer{p: p, s: p.Snapshot, a: &a}
	var err error
	switch kind {
	case "pod":
		err = e.pod(name)
	case "node", "nodeclaim":
		err = e.node(kind, name)
	case "nodepool":
		err = e.pool(name)
	default:
		err = fmt.Errorf("nothing can be said about a %q; ask about a %s", kind, strings.Join(Kinds(), ", "))
	}
	for i := range a.Facts {
		a.Facts[i].Text = reason.InCurrency(a.Facts[i].Text, a.Currency)
	}
	return a, err
}

// interventions says what a user last changed of one of some objects, written as KIND/NAME.
func (e *explainer) interventions(objects ...string) {
	for _, object := range objects {
		if text := e.p.Interventions[object]; text != "" {
			e.a.say("by hand", "%s: %s", object, text)
		}
	}
}

// explainer is the work of one answer.
type explainer struct {
	p document.Planned
	s *snapshot.Snapshot
	a *Answer
}

// WriteJSON writes all of the answer.
func (a Answer) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(a); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// Text is the answer in words, of MostText bytes at most: what does not fit any more is cut, the last
// facts first.
func (a Answer) Text() string {
	text := fmt.Sprintf("%s %s: %s\n", a.Object, a.Name, a.State)
	for _, f := range a.Facts {
		line := fmt.Sprintf("  %s: %s\n", f.About, f.Text)
		if room := MostText - len(text); len(line) > room {
			return text + cut(line, room)
		}
		text += line
	}
	return text
}

// reasons are the facts that answer "why", as opposed to those that describe.
var reasons = []string{"why", "stays", "goes", "when", "remedy", "drifted"}

// Short is the answer in a few words: its state, and the reasons alone.
func (a Answer) Short() string {
	short := a
	short.Facts = slices.DeleteFunc(slices.Clone(a.Facts), func(f Fact) bool { return !slices.Contains(reasons, f.About) })
	return short.Text()
}

// cut shortens a line, its end included, to some bytes without cutting through a character.
func cut(line string, room int) string {
	const end = "…\n"
	if room < len(end) {
		return ""
	}
	return strings.ToValidUTF8(line[:room-len(end)], "") + end
}

// notFound names similar objects.
func notFound(kind, name string, names []string) error {
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(a, name), distance(b, name)), strings.Compare(a, b))
	})
	const most = 3
	if len(names) == 0 {
		return fmt.Errorf("there is no %s %s, and no other either", kind, name)
	}
	return fmt.Errorf("there is no %s %s; there is %s", kind, name, strings.Join(names[:min(most, len(names))], ", "))
}

// distance is the length of a name behind the prefix that it shares with another.
func distance(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return len(a) + len(b) - 2*n
}
