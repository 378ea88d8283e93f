package nomination

import (
	"fmt"
	"testing"
	"time"

	"tenon/internal/world"
)

// TestNodesThatOpenTogether lets nodes become ready. Each line has the time, the node that asks,
// the nodes that are still closed, and the answer.
func TestNodesThatOpenTogether(t *testing.T) {
	t.Parallel()
	type step struct {
		at   time.Duration
		node string
		all  world.Unopened
		want string // nominate, leads, waits or opens
	}
	burst := world.Unopened{Nodes: 3, Places: 300}
	for name, steps := range map[string][]step{
		"a node by itself opens at once":  {{0, "a", world.Unopened{Nodes: 1, Places: 10}, "nominate a"}},
		"the last node begins":            {{0, "a", burst, "waits"}, {time.Second, "b", burst, "waits"}, {2 * time.Second, "c", burst, "nominate a b c"}},
		"a few pods are not worth a wait": {{0, "a", world.Unopened{Nodes: 2, Places: 10}, "waits"}, {200 * time.Millisecond, "a", world.Unopened{Nodes: 2, Places: 10}, "nominate a"}},
		"a node that does not come is awaited for two seconds": {
			{0, "a", burst, "waits"}, {time.Second, "b", burst, "waits"}, {2900 * time.Millisecond, "a", burst, "waits"}, {3 * time.Second, "a", burst, "nominate a b"},
		},
		"the first one waits for ten seconds": {
			{0, "a", world.Unopened{Nodes: 9, Places: 900}, "waits"}, {1900 * time.Millisecond, "b", world.Unopened{Nodes: 9, Places: 900}, "waits"},
			{3800 * time.Millisecond, "c", world.Unopened{Nodes: 9, Places: 900}, "waits"}, {5700 * time.Millisecond, "d", world.Unopened{Nodes: 9, Places: 900}, "waits"},
			{7600 * time.Millisecond, "e", world.Unopened{Nodes: 9, Places: 900}, "waits"}, {9500 * time.Millisecond, "f", world.Unopened{Nodes: 9, Places: 900}, "waits"},
			{10 * time.Second, "b", world.Unopened{Nodes: 9, Places: 900}, "nominate a b c d e f"},
		},
		"more pods than can be told in time open first": {
			{0, "a", world.Unopened{Nodes: 40, Places: 9000}, "waits"}, {0, "full", world.Unopened{Nodes: 40, Places: 9000}, "nominate a full"},
		},
		"the one that began opens all once it has heard": {
			{0, "a", world.Unopened{Nodes: 2, Places: 20}, "waits"}, {0, "b", world.Unopened{Nodes: 2, Places: 20}, "nominate a b"},
			{0, "a", world.Unopened{}, "waits"}, {0, "b", world.Unopened{}, "leads"}, {0, "heard", world.Unopened{}, ""}, {0, "a", world.Unopened{}, "waits"}, {0, "b", world.Unopened{}, "opens"},
		},
		"a node that it has not opened opens by itself": {
			{0, "a", world.Unopened{Nodes: 2, Places: 20}, "waits"}, {0, "b", world.Unopened{Nodes: 2, Places: 20}, "nominate a b"},
			{0, "heard", world.Unopened{}, ""}, {longestOpening - 1, "a", world.Unopened{}, "waits"}, {longestOpening, "a", world.Unopened{}, "opens"},
		},
		"nodes open after two seconds when watches are silent": {
			{0, "a", world.Unopened{Nodes: 2, Places: 20}, "waits"}, {0, "b", world.Unopened{Nodes: 2, Places: 20}, "nominate a b"},
			{longestHearing - 1, "a", world.Unopened{}, "waits"}, {longestHearing, "a", world.Unopened{}, "opens"},
		},
		"nodes that are ready while pods are nominated join": {
			{0, "a", world.Unopened{Nodes: 2, Places: 20}, "waits"}, {400 * time.Millisecond, "a", world.Unopened{Nodes: 2, Places: 20}, "nominate a"},
			{time.Second, "b", world.Unopened{Nodes: 2, Places: 20}, "waits"}, {2 * time.Second, "heard", world.Unopened{}, "nominate a b"},
			{2 * time.Second, "b", world.Unopened{Nodes: 2, Places: 20}, "waits"}, {3 * time.Second, "heard", world.Unopened{}, ""}, {3 * time.Second, "a", world.Unopened{}, "opens"},
		},
		"for fifteen seconds": {
			{0, "a", burst, "waits"}, {10 * time.Second, "a", burst, "nominate a"}, {12 * time.Second, "b", burst, "waits"}, {15 * time.Second, "heard", world.Unopened{}, ""},
			{15 * time.Second, "a", burst, "opens"}, {15 * time.Second, "b", burst, "waits"},
		},
		"the next ones wait until the pods are bound": {
			{0, "a", world.Unopened{Nodes: 1, Places: 10}, "nominate a"}, {0, "left", world.Unopened{}, "a"},
			{time.Second, "b", world.Unopened{Nodes: 1, Places: 10, Unbound: true}, "waits"}, {2 * time.Second, "b", world.Unopened{Nodes: 1, Places: 10}, "nominate b"},
		},
		"a burst does not wait less because an earlier node left": {
			{0, "a", burst, "waits"}, {0, "left", burst, "a"}, {time.Minute, "b", burst, "waits"},
		},
		"a node without places opens with the others": {
			{0, "empty", world.Unopened{Nodes: 2, Places: 200}, "waits"}, {0, "a", world.Unopened{Nodes: 2, Places: 200}, "waits"},
			{time.Second, "b", world.Unopened{Nodes: 2, Places: 200}, "nominate a b empty"},
		},
		"nodes wait for pods that have been announced": {
			{0, "a", world.Unopened{Nodes: 1, Places: 10, Coming: true}, "waits"}, {5 * time.Second, "a", world.Unopened{Nodes: 1, Places: 10, Coming: true}, "waits"},
			{6 * time.Second, "a", world.Unopened{Nodes: 1, Places: 10}, "nominate a"},
		},
		"for ten seconds": {
			{0, "a", world.Unopened{Nodes: 1, Places: 10, Coming: true}, "waits"}, {10 * time.Second, "a", world.Unopened{Nodes: 1, Places: 10, Coming: true}, "nominate a"},
		},
		"nodes do not all ask again": {
			{0, "a", burst, "waits"}, {0, "b", burst, "waits"}, {50 * time.Millisecond, "a", world.Unopened{Nodes: 2, Places: 20}, "waits"},
			{100 * time.Millisecond, "b", world.Unopened{Nodes: 2, Places: 20}, "nominate a b"},
		},
		"or at once if there are none": {{0, "empty", world.Unopened{}, "nominate empty"}},
		"nor because one never opened": {{0, "a", burst, "waits"}, {time.Minute, "b", burst, "waits"}, {time.Minute, "c", burst, "waits"}},
		"and for ten seconds at most": {
			{0, "a", world.Unopened{Nodes: 1, Places: 10}, "nominate a"}, {9 * time.Second, "b", world.Unopened{Nodes: 1, Places: 10, Unbound: true}, "waits"},
			{10 * time.Second, "b", world.Unopened{Nodes: 1, Places: 10, Unbound: true}, "nominate b"},
		},
	} {
		o := &openings{}
		begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for i, s := range steps {
			switch s.node {
			case "heard":
				joined := o.heard(begun.Add(s.at))
				if told := describe(turn{nominate: joined}); joined != nil && told != s.want || joined == nil && s.want != "" {
					t.Errorf("%s: step %d: %q, want %q", name, i, told, s.want)
				}
				if joined != nil {
					o.nominated(begun.Add(s.at))
				}
				continue
			case "left":
				o.leave(s.want)
				continue
			}
			places := 10
			switch s.node {
			case "full":
				places = mostPlaces
			case "empty":
				places = 0
			}
			got := o.ask(s.node, closedNode{"node-" + s.node, places}, begun.Add(s.at), func() world.Unopened { return s.all })
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
		for _, name := range []string{"full", "empty"} {
			if _, is := t.nominate[name]; is {
				text += " " + name
			}
		}
		return text
	case t.open:
		return "opens"
	case t.leads:
		return "leads"
	}
	return "waits"
}
