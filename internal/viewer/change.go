package viewer

import (
	"fmt"
	"strings"

	"tenon/internal/intervention"
)

// confirmPrompt is the prompt in which a change is confirmed.
const confirmPrompt = "confirm"

// offerChanges lists what the user can do with the object under the cursor.
func (m *Model) offerChanges() {
	switch {
	case m.options.Answers.Change == nil:
		m.say("Changes", "This viewer changes nothing. tenon view --allow-changes can pin, cordon and remove nodes and pause pools, with your own rights.")
		return
	case m.past != nil:
		m.say("Changes", "This is the past: esc leads to the present.")
		return
	}
	kind, name := m.subject()
	claim := ""
	if n := m.fleet.Find(name); n != nil && kind == "node" {
		claim = n.Claim
	}
	offers := intervention.Of(kind, name, claim)
	if len(offers) == 0 {
		m.say("Changes", "Nothing can be changed here. Choose a node, or a pool with an object of its own.")
		return
	}
	var text strings.Builder
	for i, c := range offers {
		what := string(c.Verb)
		if c.Name != name {
			what = c.String()
		}
		fmt.Fprintf(&text, "%d  %s\n   %s\n", i+1, what, c.Means)
	}
	fmt.Fprintf(&text, "\nA number chooses, and the change is then confirmed. It is made with your own rights in cluster %s, and recorded as an event and in the annotation tenon.sh/changed-by-hand.", m.options.Title)
	m.pane = &pane{title: "Change " + kind + "/" + name, text: text.String(), offers: offers}
}

// confirmation says what has to be typed before a change is made.
func (m *Model) confirmation() string {
	return fmt.Sprintf("type %s to %s; esc leaves it", m.chosenChange.Confirmation(), m.chosenChange)
}

// confirmed makes the chosen change if its confirmation was typed.
func (m *Model) confirmed(typed string) {
	c := m.chosenChange
	if strings.TrimSpace(typed) != c.Confirmation() {
		m.say("Changes", "Not confirmed: nothing was changed.")
		return
	}
	m.ask("Change: "+c.String(), func() (string, error) { return m.options.Answers.Change(c) })
}
