package evaluation

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/command"
)

// newPage is what a plan says, and where it says nothing, what the page before it said.
func newPage(before *Page, s *snapshot.Snapshot, p *plan.Plan) *Page {
	out := &Page{At: s.Now, Entries: make([]Entry, 0, len(p.Prospects)), Eligible: map[plan.Reason]int{}}
	waiting := map[Closed]bool{}
	for i := range p.Prospects {
		o := &p.Prospects[i]
		if o.Reason != "" {
			out.Eligible[o.Reason]++
		}
		if o.Kind == plan.Waiting {
			waiting[Closed{o.Pool, o.Reason}] = true
		}
		if _, grouped := snapshot.NodeGroup(o.Pool); grouped || o.Claim != "" {
			out.Entries = append(out.Entries, Entry{Prospect: *o, Message: message(p, o), Looked: s.Now, Since: s.Now})
		}
	}
	slices.SortFunc(out.Entries, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.key(), b.key()), strings.Compare(a.Node, b.Node))
	})
	// Two nodes of one claim are a mistake that does not last: the first one counts.
	out.Entries = slices.CompactFunc(out.Entries, func(a, b Entry) bool { return a.key() == b.key() })
	for i := range out.Entries {
		out.Entries[i].follow(before)
	}
	out.Closed = closed(s, waiting)
	return out
}

// follow takes over from an earlier page what still holds. A cause that keeps a node holds until the node
// is looked at again; a cause that forbade looking at it, or a choice, is out of date.
func (e *Entry) follow(before *Page) {
	old, known := before.Find(e.key())
	if !known {
		return
	}
	if e.Skipped() {
		switch {
		case old.Kind == plan.Kept && old.Reason == e.Reason:
			*e = old
			return
		case old.Skipped():
			e.Looked = old.Looked
		}
	}
	if e.Kind == old.Kind && e.Reason == old.Reason && e.Message == old.Message {
		e.Since = old.Since
	}
}

// closed are the pools and reasons for which budgets allow nothing at all, if there are
// nodes that they hold back. A budget that is only used up opens again by itself.
func closed(s *snapshot.Snapshot, waiting map[Closed]bool) []Closed {
	var out []Closed
	for i := range s.Pools {
		p := &s.Pools[i]
		for _, each := range []struct {
			reason  plan.Reason
			allowed int
		}{
			{plan.Drifted, p.Consolidation.Allowed.Drifted}, {plan.Empty, p.Consolidation.Allowed.Empty},
			{plan.Underutilized, p.Consolidation.Allowed.Underutilized},
		} {
			if what := (Closed{p.Name, each.reason}); each.allowed == 0 && waiting[what] {
				out = append(out, what)
			}
		}
	}
	slices.SortFunc(out, func(a, b Closed) int {
		return cmp.Or(strings.Compare(a.Pool, b.Pool), strings.Compare(string(a.Reason), string(b.Reason)))
	})
	return out
}

// message is what keeps a node in words or, of a chosen node, what will be done with it.
func message(p *plan.Plan, o *plan.Prospect) string {
	if o.Kind != plan.Chosen || o.Disruption < 0 || o.Disruption >= len(p.Disruptions) {
		return o.Cause.Text()
	}
	d := &p.Disruptions[o.Disruption]
	return command.Outline{
		Nodes: len(d.Nodes), Replacements: len(d.Replacements), Evictions: d.Evictions(), DeleteFirst: d.DeleteFirst, Savings: d.Savings,
	}.Text()
}

func compareKey(e Entry, key string) int { return strings.Compare(e.key(), key) }
