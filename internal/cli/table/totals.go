package table

import (
	"fmt"
	"strings"
	"time"

	"tenon/internal/cli/document"
)

// existing tells which nodes that are there take pods.
func (t *writer) existing() {
	placed := t.p.Plan.Existing
	if len(placed) == 0 {
		return
	}
	t.line("%s", t.colored(bold, "Existing nodes that take pods"))
	if t.o.Explain {
		for _, e := range placed {
			t.paragraph(2, plain, e.Node+": "+strings.Join(t.podGroups(e.Pods), ", "))
		}
	} else {
		texts := make([]string, len(placed))
		for i, e := range placed {
			texts[i] = fmt.Sprintf("%s %d", e.Node, len(e.Pods))
		}
		t.paragraph(2, plain, joined(texts, 12))
	}
	t.line("")
}

// totals is what people look for first: the price, its distance from the bound, and whether all pods have a
// place.
func (t *writer) totals() {
	p := &t.p.Plan
	onNew, onOld, replicas := 0, 0, 0
	for i := range p.Claims {
		onNew += len(p.Claims[i].Pods)
		if p.Claims[i].Replica {
			replicas++
		}
	}
	for i := range p.Existing {
		onOld += len(p.Existing[i].Pods)
	}
	if p.Solve.Pods == 0 && len(p.Claims) == 0 && len(p.Disruptions) == 0 {
		t.line("No pod waits for a node: there is nothing to do.")
		if t.p.FleetBound > 0 || t.p.Prices.Currency != "" {
			t.fleet()
			t.prices()
		}
		return
	}
	if len(p.Claims) == 0 {
		t.fact("Price", "no node needs to be bought")
	} else {
		text := fmt.Sprintf("%s an hour for %s", price(p.Cost.New), plural(len(p.Claims), "new node", "new nodes"))
		if part := t.p.NodePrice(); part > 0 {
			text += fmt.Sprintf(", of which %s is the price of nodes beyond their machines", price(part))
		}
		t.fact("Price", text)
		t.fact("Bound", t.bound())
	}
	if replicas > 0 {
		t.fact("Static", plural(replicas, "of the new nodes is a replica", "of the new nodes are replicas")+" that a static pool lacks, for no pod in particular")
	}
	t.fact("Pods", t.placed(onNew, onOld))
	t.fleet()
	t.prices()
	t.fact("Planned", fmt.Sprintf("in %s, from %s and %s of pods", document.Rounded(t.p.Duration),
		plural(p.Solve.Offers, "offering", "offerings"), plural(p.Solve.Shapes, "shape", "shapes")))
}

// fleet is what all nodes cost, and how far that is from the least.
func (t *writer) fleet() {
	before, after := t.p.Fleet()
	if before == 0 {
		return
	}
	text := fmt.Sprintf("%s an hour", price(before))
	if after != before || t.p.Plan.Solve.Pods > 0 || len(t.p.Plan.Disruptions) > 0 {
		text += fmt.Sprintf(" now, %s with this plan", price(after))
	}
	if t.p.FleetBound > 0 {
		text += fmt.Sprintf("; bought anew, no fleet for these pods costs less than %s", price(t.p.FleetBound))
	}
	t.fact("Fleet", text)
}

// prices says what they are, if that is known.
func (t *writer) prices() {
	p := t.p.Prices
	if p.Currency == "" {
		return
	}
	text := "in " + p.Currency + "; estimates, from the list that is built in"
	if !p.Published.IsZero() {
		text = "in " + p.Currency + ", as the controller published them at " + p.Published.UTC().Format(time.RFC3339)
	}
	t.fact("Prices", text)
}

func (t *writer) bound() string {
	c := t.p.Plan.Cost
	if c.New == c.LowerBound {
		return "proven: no cheaper fleet exists for these pods"
	}
	if c.LowerBound == 0 {
		return "nothing is proven about the least possible price"
	}
	return fmt.Sprintf("%s an hour is proven to be the least possible; this is at most %s above it", price(c.LowerBound), percent(c.Gap()))
}

func (t *writer) placed(onNew, onOld int) string {
	total := t.p.Plan.Solve.Pods
	for i := range t.p.Plan.Disruptions {
		total += t.p.Plan.Disruptions[i].Evictions()
	}
	text := fmt.Sprintf("%s placed", thousands(onNew+onOld))
	if onNew+onOld < total {
		text = fmt.Sprintf("%s of %s placed", thousands(onNew+onOld), thousands(total))
	}
	if onOld > 0 {
		text += fmt.Sprintf(": %s on new nodes, %s on existing ones", thousands(onNew), thousands(onOld))
	}
	if n := len(t.p.Plan.Unplaced); n > 0 {
		text += fmt.Sprintf("; %s no place", plural(n, "has", "have"))
	}
	return text
}

// fact is a line with a name before it, under which further lines are indented.
func (t *writer) fact(name, text string) {
	color := plain
	if name == "Pods" && len(t.p.Plan.Unplaced) > 0 {
		color = red
	}
	for i, line := range wrapped(text, t.o.Screen.Width-factWidth, 0) {
		if i > 0 {
			name = ""
		}
		t.line("%s%s", t.colored(faint, fmt.Sprintf("%-*s", factWidth, name)), t.colored(color, line))
	}
}

const factWidth = 9

// percent of a small part: as many digits as make it something other than zero.
func percent(part float64) string {
	switch {
	case part < 0.0001:
		return "0.01 %"
	case part < 0.01:
		return fmt.Sprintf("%.2f %%", 100*part)
	}
	return fmt.Sprintf("%.1f %%", 100*part)
}
