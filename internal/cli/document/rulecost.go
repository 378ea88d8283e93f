package document

import "strconv"

// ruleCosts lists what single rules cost, if there are rules that may cost something and that
// was asked.
func (p Planned) ruleCosts(e *encoder) {
	r := &p.RuleCosts
	if r.Examined+r.Unexamined == 0 {
		return
	}
	e.list("ruleCosts", len(r.Costs), func(i int) {
		c := &r.Costs[i]
		e.open()
		e.text("rule", c.Rule.Text())
		e.text("kind", string(c.Rule.Kind))
		e.inline("soft", strconv.AppendBool(e.scratch(), c.Rule.Soft))
		e.text("key", c.Rule.Key)
		e.text("nodePool", c.Rule.Pool)
		e.text("namespace", c.Rule.Namespace)
		e.text("workload", c.Rule.Workload)
		e.inline("workloads", strconv.AppendInt(e.scratch(), int64(c.Rule.Workloads), 10))
		e.inline("savingsPerHour", append(e.scratch(), c.Savings.String()...))
		e.inline("morePods", strconv.AppendInt(e.scratch(), int64(c.Places), 10))
		e.close()
	})
	b := append(e.scratch(), `{"examined": `...)
	b = strconv.AppendInt(b, int64(r.Examined), 10)
	b = append(b, `, "notExamined": `...)
	b = strconv.AppendInt(b, int64(r.Unexamined), 10)
	e.inline("rules", append(b, '}'))
}
