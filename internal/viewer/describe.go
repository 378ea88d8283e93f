package viewer

import (
	"cmp"
	"fmt"
	"strings"

	"tenon/internal/view"
)

// describe opens a pane with all that is known of the object under the cursor.
func (m *Model) describe() {
	kind, name := m.subject()
	switch {
	case name == "" && m.tab == decisionsTab:
		m.describeDecision()
	case name == "":
		m.say("Nothing is chosen", "Move the cursor to a node, a pod, a pool or an event first.")
	case kind == "pod":
		m.say("pod "+name, m.podText(m.podNamed(name)))
	default:
		m.say(kind+" "+name, m.objectText(kind, name))
	}
}

func (m *Model) describeDecision() {
	lines := m.whatWasDecided()
	if len(lines) < 2 {
		m.say("Nothing is chosen", "Nothing has been decided yet.")
		return
	}
	m.say("decision "+strings.TrimSpace(lines[1]), strings.Join(lines[2:], "\n"))
}

// podText is what is known of a pod.
func (m *Model) podText(p *view.Pod) string {
	if p == nil {
		return "The pod is gone."
	}
	var out strings.Builder
	facts := [][2]string{
		{"owner", p.Owner}, {"node", p.Node}, {"state", p.Phase}, {"age", view.Age(p.Created, m.now())},
		{"requests", "cpu " + view.Amount("cpu", p.Requests.CPU) + ", memory " + view.Amount("memory", p.Requests.Memory)}, {"kept by", strings.Join(p.Flags, ", ")},
	}
	if p.Daemon {
		facts = append(facts, [2]string{"kind", "a daemon: one runs on every node that it may run on"})
	}
	if p.Ending {
		facts = append(facts, [2]string{"ending", "it is being deleted"})
	}
	if p.Node != "" && !m.options.NoPrices {
		facts = append(facts, [2]string{"cost", m.money(p.Cost, 4) + " an hour, its part of the node's price"})
	}
	if p.Why != "" {
		facts = append(facts, [2]string{"waits", p.Teller + " says: " + p.Why})
	}
	writeFacts(&out, facts)
	return out.String()
}

// writeFacts writes names and values, those that have a value.
func writeFacts(out *strings.Builder, facts [][2]string) {
	width := 0
	for _, f := range facts {
		if f[1] != "" {
			width = max(width, min(len(f[0]), mostName))
		}
	}
	for _, f := range facts {
		if f[1] != "" {
			fmt.Fprintf(out, "%-*s  %s\n", width, f[0], strings.ReplaceAll(f[1], "\n", "; "))
		}
	}
}

// mostName is how wide the names of facts are at most; longer ones move their value.
const mostName = 32

// objectText is what is known of a node, claim or pool: figures, spec, conditions, budgets, and what was said of it.
func (m *Model) objectText(kind, name string) string {
	var out strings.Builder
	if n := m.fleet.Find(name); n != nil && (kind == "node" || kind == "nodeclaim") {
		out.WriteString(strings.Join(m.facts(n), "\n") + "\n")
		if text := verdict(n); text != "" {
			out.WriteString("\n" + text + "\n")
		}
		kind = "Node"
	}
	kinds := map[string]string{"nodepool": "NodePool", "nodegroup": "NodeGroup", "ec2nodeclass": "EC2NodeClass"}
	kind = cmp.Or(kinds[kind], kind)
	if describe := m.options.Answers.Describe; describe != nil && m.past == nil {
		if d, known := describe(kind, name); known {
			m.writeDetails(&out, &d)
		}
	}
	said := false
	for i := range m.fleet.Notices {
		n := &m.fleet.Notices[i]
		if n.Name != name {
			continue
		}
		if !said {
			out.WriteString("\nEvents\n")
			said = true
		}
		fmt.Fprintf(&out, "  %-4s  %s: %s\n", view.Age(n.At, m.now()), n.Reason, n.Message)
	}
	return strings.TrimLeft(cmp.Or(out.String(), "Nothing more is known of it."), "\n")
}

func (m *Model) writeDetails(out *strings.Builder, d *view.Details) {
	if b := d.Budgets; b != nil {
		out.WriteString("\nBudgets\n  " + budgets(b, m.now()) + "\n")
		for _, line := range b.Lines {
			out.WriteString("  " + budgetLine(&line) + "\n")
		}
	}
	for _, section := range d.Sections {
		out.WriteString("\n" + section.Title + "\n")
		var facts [][2]string
		for _, f := range section.Facts {
			facts = append(facts, [2]string{"  " + f.Name, cmp.Or(f.Value, "–")})
		}
		writeFacts(out, facts)
	}
	if len(d.Conditions) == 0 {
		return
	}
	out.WriteString("\nConditions\n")
	for _, c := range d.Conditions {
		text := c.Type + " " + c.Status
		if c.Attention {
			text += " (!)"
		}
		for _, part := range []string{c.Reason, c.Message} {
			if part != "" && part != c.Type {
				text += ": " + part
			}
		}
		fmt.Fprintf(out, "  %-4s  %s\n", view.Age(c.Since, m.now()), text)
	}
}

// budgetLine is one budget of a pool in words.
func budgetLine(b *view.Budget) string {
	text := b.Nodes + " nodes"
	if len(b.Reasons) > 0 {
		text += " as " + strings.Join(b.Reasons, ", ")
	}
	if b.Schedule != "" {
		text += ", from " + b.Schedule + " for " + b.Duration
	}
	switch {
	case b.Problem != "":
		text += ": " + b.Problem
	case !b.Active:
		text += ": not active now"
	}
	return text
}
