package table

import (
	"fmt"

	"tenon/core/rulecost"
)

// manyRules is how many rules are told without --explain.
const manyRules = 10

// ruleCosts tells what single rules cost, dearest first.
func (t *writer) ruleCosts() {
	r := &t.p.RuleCosts
	if len(r.Costs) == 0 && r.Unexamined == 0 {
		return
	}
	t.line("")
	t.line("%s", t.colored(bold, "What rules cost"))
	shown := r.Costs
	if !t.o.Explain {
		shown = shown[:min(len(shown), manyRules)]
	}
	for i := range shown {
		t.paragraph(2, plain, shown[i].Rule.Text()+": "+difference(&shown[i]))
	}
	if more := len(r.Costs) - len(shown); more > 0 {
		t.paragraph(2, faint, fmt.Sprintf("and %s that cost less; --explain tells all", plural(more, "rule", "rules")))
	}
	if r.Unexamined > 0 {
		t.paragraph(2, faint, fmt.Sprintf("%s of %s not examined one by one: that would take too long",
			thousands(r.Unexamined), plural(r.Examined+r.Unexamined, "rule was", "rules were")))
	}
}

// difference is what the plan without the rule has more of, and less.
func difference(c *rulecost.Cost) string {
	if c.Places <= 0 {
		return price(c.Savings) + " an hour"
	}
	text := plural(c.Places, "pod has", "pods have") + " no place because of it"
	switch {
	case c.Savings > 0:
		text += fmt.Sprintf(", and it costs %s an hour", price(c.Savings))
	case c.Savings < 0:
		text += fmt.Sprintf("; with them the price is %s an hour more", price(-c.Savings))
	}
	return text
}
