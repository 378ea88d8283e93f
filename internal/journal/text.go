package journal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"tenon/core/order"
	"tenon/core/reason"
)

// Describe writes a decision as text: one line for the decision, and one for each of its actions. With
// all, names and reasons are written in full. The writer has to keep errors.
func (e *Entry) Describe(w io.Writer, all bool) {
	fmt.Fprintf(w, "%d  %s  %s  (%s)\n", e.ID, e.At.Format(time.RFC3339), e.Head(), e.Woke)
	for _, text := range e.Details(all) {
		fmt.Fprintf(w, "    %s\n", text)
	}
}

// DescribeOutcomes writes the outcomes of a decision that was described before.
func (e *Entry) DescribeOutcomes(w io.Writer, all bool) {
	for _, o := range e.Outcomes {
		if all || o.Result != Made {
			fmt.Fprintf(w, "%d  %s  %s\n", e.ID, o.At.Format(time.RFC3339), e.outcome(o))
		}
	}
}

// Head is the decision in one line.
func (e *Entry) Head() string {
	if e.Intervention != nil {
		return e.Intervention.String()
	}
	var parts []string
	count := func(n int, one, many string) {
		if n == 1 {
			parts = append(parts, "1 "+one)
		} else if n > 1 {
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	nodes, waiting, gone, unplaced := 0, 0, 0, 0
	for _, l := range e.Launches {
		if l.WaitsFor == "" {
			nodes += l.Nodes
		} else {
			waiting += l.Nodes
		}
	}
	for _, d := range e.Disruptions {
		gone += len(d.Nodes)
	}
	for _, u := range e.Unplaced {
		unplaced += u.Pods
	}
	count(nodes, "new node", "new nodes")
	count(waiting, "new node a moment later", "new nodes a moment later")
	count(gone, "node to give up", "nodes to give up")
	count(e.Placed, "pod for nodes that are there", "pods for nodes that are there")
	count(unplaced, "pod without a place", "pods without a place")
	if len(parts) == 0 {
		parts = []string{"nothing to do"}
	}
	text := e.By + ": " + strings.Join(parts, ", ")
	if e.Cost != nil && e.Cost.Before != e.Cost.After {
		text += fmt.Sprintf("; fleet %.4f → %.4f%s an hour", e.Cost.Before, e.Cost.After, e.inCurrency())
	}
	if e.Again > 0 {
		text += fmt.Sprintf("; the same %d more times", e.Again)
	}
	return text
}

// Details describes the actions of a decision and their outcomes, one line each. With all, names and reasons are written
// in full.
func (e *Entry) Details(all bool) []string {
	var out []string
	for _, l := range e.Launches {
		text := fmt.Sprintf("buy %d × %s %s in %s of pool %s for %d pods, %.4f%s an hour each", l.Nodes, l.InstanceType, l.CapacityType, l.Zone, l.Pool, l.Pods, l.Price, e.inCurrency())
		out = append(out, later(text, l.WaitsFor))
	}
	for _, d := range e.Disruptions {
		text := fmt.Sprintf("%s %s (%s): %d evictions, saves %.4f%s an hour", d.Decision, strings.Join(d.Nodes, ", "), d.Reason, d.Evictions, d.Savings, e.inCurrency())
		out = append(out, later(text, d.WaitsFor))
	}
	for _, u := range e.Unplaced {
		why := u.Why
		if first, _, cut := strings.Cut(why, ";"); cut && !all {
			why = first + " …"
		}
		out = append(out, fmt.Sprintf("no place for %s: %s", someOf(u.Names, u.Pods), why))
	}
	if all {
		for _, code := range order.Keys(e.Kept) {
			out = append(out, stay(e.Kept[code])+": "+code)
		}
	}
	for _, o := range e.Outcomes {
		if all || o.Result != Made {
			out = append(out, e.outcome(o))
		}
	}
	return out
}

func stay(nodes int) string {
	if nodes == 1 {
		return "1 node stays"
	}
	return fmt.Sprintf("%d nodes stay", nodes)
}

func later(text, code string) string {
	if code == string(reason.None) {
		return text
	}
	return text + ", later: " + code
}

func someOf(names []string, of int) string {
	text := strings.Join(names, ", ")
	if more := of - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// inCurrency follows an amount; it is empty in journals that do not name their currency.
func (e *Entry) inCurrency() string {
	if e.Cost == nil || e.Cost.Currency == "" {
		return ""
	}
	return " " + e.Cost.Currency
}

// outcome describes the result of an action.
func (e *Entry) outcome(o Outcome) string {
	text := fmt.Sprintf("→ %s %s %s", o.Action, strings.Join(o.NodeClaims, ", "), o.Result)
	if o.Why != "" {
		text += ": " + o.Why
	}
	if o.Realised != nil {
		text += fmt.Sprintf(", saves %.4f%s an hour", *o.Realised, e.inCurrency())
	}
	return text
}
