package nomination

import (
	"fmt"
	"testing"
	"time"
)

// TestNodesThatOpenTogether plays nodes that become ready. Each line is when, which node asks, what is
// still closed, and what it is told.
func TestNodesThatOpenTogether(t *testing.T) {
	t.Parallel()
	type step struct {
		at   time.Duration
		node string
		all  closed
		want string // nominate, leads, waits or opens
	}
	burst := closed{nodes: 3, places: 300}
	for name, steps := range map[string][]step{
		"a node by itself opens at once":  {{0, "a", closed{nodes: 1, places: 10}, "nominate a"}},
		"the last node begins":            {{0, "a", burst, "waits"}, {time.Second, "b", burst, "waits"}, {2 * time.Second, "c", burst, "nominate a b c"}},
		"a few pods are not worth a wait": {{0, "a", closed{nodes: 2, places: 10}, "waits"}, {200 * time.Millisecond, "a", closed{nodes: 2, places: 10}, "nominate a"}},
		"a node that does not come is awaited for two seconds": {
			{0, "a", burst, "waits"}, {time.Second, "b", burst, "waits"}, {2900 * time.Millisecond, "a", burst, "waits"}, {3 * time.Second, "a", burst, "nominate a b"},
		},
		"the first one waits for ten seconds": {
			{0, "a", closed{nodes: 9, places: 900}, "waits"}, {1900 * time.Millisecond, "b", closed{nodes: 9, places: 900}, "waits"},
			{3800 * time.Millisecond, "c", closed{nodes: 9, places: 900}, "waits"}, {5700 * time.Millisecond, "d", closed{nodes: 9, places: 900}, "waits"},
			{7600 * time.Millisecond, "e", closed{nodes: 9, places: 900}, "waits"}, {9500 * time.Millisecond, "f", closed{nodes: 9, places: 900}, "waits"},
			{10 * time.Second, "b", closed{nodes: 9, places: 900}, "nominate a b c d e f"},
		},
		"more pods than can be told in time open first": {
			{0, "a", closed{nodes: 40, places: 9000}, "waits"}, {0, "full", closed{nodes: 40, places: 9000}, "nominate a full"},
		},
		"all open once the one that began has heard": {
			{0, "a", closed{nodes: 2, places: 20}, "waits"}, {0, "b", closed{nodes: 2, places: 20}, "nominate a b"},
			{0, "a", closed{}, "waits"}, {0, "b", closed{}, "leads"}, {0, "heard", closed{}, ""}, {0, "a", closed{}, "opens"}, {0, "b", closed{}, "opens"},
		},
		"nodes open after two seconds when watches are silent": {
			{0, "a", closed{nodes: 2, places: 20}, "waits"}, {0, "b", closed{nodes: 2, places: 20}, "nominate a b"},
			{longestHearing - 1, "a", closed{}, "waits"}, {longestHearing, "a", closed{}, "opens"},
		},
		"the next ones wait until the pods are bound": {
			{0, "a", closed{nodes: 1, places: 10}, "nominate a"}, {0, "left", closed{}, "a"},
			{time.Second, "b", closed{nodes: 1, places: 10, unbound: 9}, "waits"}, {2 * time.Second, "b", closed{nodes: 1, places: 10}, "nominate b"},
		},
		"and for ten seconds at most": {
			{0, "a", closed{nodes: 1, places: 10}, "nominate a"}, {9 * time.Second, "b", closed{nodes: 1, places: 10, unbound: 9}, "waits"},
			{10 * time.Second, "b", closed{nodes: 1, places: 10, unbound: 9}, "nominate b"},
		},
	} {
		o := &openings{}
		begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for i, s := range steps {
			switch s.node {
			case "heard":
				o.heard()
				continue
			case "left":
				o.leave(s.want)
				continue
			}
			places := 10
			if s.node == "full" {
				places = mostPlaces
			}
			got := o.ask(s.node, "node-"+s.node, places, begun.Add(s.at), s.all)
			if got.nominate != nil {
				o.nominated(begun.Add(s.at))
			}
			if told := describe(got); told != s.want {
				t.Errorf("%s: step %d, node %s is told %q, want %q", name, i, s.node, told, s.want)
			}
		}
	}
}

func describe(t turn) string {
	switch {
	case t.nominate != nil:
		text := "nominate"
		for name := 'a'; name <= 'z'; name++ {
			if _, is := t.nominate[string(name)]; is {
				text += fmt.Sprintf(" %c", name)
			}
		}
		if _, is := t.nominate["full"]; is {
			text += " full"
		}
		return text
	case t.open:
		return "opens"
	case t.leads:
		return "leads"
	}
	return "waits"
}
