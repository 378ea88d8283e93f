package document

import (
	"slices"
	"strconv"
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
)

// disruptions lists what is given up. Pods that move are among those of nodes and existing.
func (p Planned) disruptions(e *encoder) {
	e.list("disruptions", len(p.Plan.Disruptions), func(i int) {
		d := &p.Plan.Disruptions[i]
		nodes := make([]string, len(d.Nodes))
		for k := range d.Nodes {
			nodes[k] = d.Nodes[k].Node
		}
		replacements := make([]string, len(d.Replacements))
		for k := range d.Replacements {
			replacements[k] = d.Replacements[k].Name
		}
		e.open()
		e.text("reason", string(d.Reason))
		e.text("decision", d.Decision())
		e.inline("nodes", appendStrings(e.scratch(), nodes))
		e.inline("replacements", appendStrings(e.scratch(), replacements))
		e.inline("evictions", strconv.AppendInt(e.scratch(), int64(d.Evictions()), 10))
		e.inline("savingsPerHour", append(e.scratch(), d.Savings.String()...))
		e.delay(d.Delay)
		e.close()
	})
}

// delay says what a part of the plan waits for, if it does.
func (e *encoder) delay(d plan.Delay) {
	if d.Code == reason.None {
		return
	}
	e.text("waitsFor", string(d.Code))
	if !d.Until.IsZero() {
		e.text("waitsUntil", d.Until.UTC().Format(time.RFC3339))
	}
}

// kept says of every node that stays what keeps it, if removals were planned at all.
func (p Planned) kept(e *encoder) {
	if len(p.Plan.Prospects) == 0 {
		return
	}
	list := slices.DeleteFunc(slices.Clone(p.Plan.Prospects), func(o plan.Prospect) bool { return o.Kind == plan.Chosen })
	e.list("kept", len(list), func(i int) {
		o := &list[i]
		e.open()
		e.text("node", o.Node)
		e.text("state", string(o.Kind))
		e.text("reason", string(o.Reason))
		e.text("code", string(o.Cause.Code))
		if names := o.Cause.Names(); len(names) > 0 {
			e.inline("about", appendStrings(e.scratch(), names))
		}
		e.text("message", o.Cause.Text())
		if !o.Until.IsZero() {
			e.text("until", o.Until.UTC().Format(time.RFC3339))
		}
		e.close()
	})
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}
