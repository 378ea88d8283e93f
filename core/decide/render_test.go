package decide_test

import (
	"fmt"
	"slices"
	"strings"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/rulecost"
	"tenon/core/snapshot"
)

// render writes a plan as scripts show it: a line a claim, a line an existing node that
// takes pods, a line for pods without a place.
func render(s *snapshot.Snapshot, p *plan.Plan) string {
	var b strings.Builder
	for _, c := range p.Claims {
		zones := map[string]bool{c.Offer.Zone: true}
		for o := range c.Alternatives.All() {
			if o.InstanceType == c.Offer.InstanceType {
				zones[o.Zone] = true
			}
		}
		fmt.Fprintf(&b, "launch %s %s %s zone=%s %s: %s\n", c.Name, c.Offer.InstanceType, c.Offer.CapacityType, strings.Join(keys(zones), "|"), c.Offer.Price, pods(s, c.Pods))
		if ids := c.Reservations(); len(ids) > 1 {
			fmt.Fprintf(&b, "  from %s\n", strings.Join(slices.Sorted(slices.Values(ids)), " or "))
		}
		for r := range c.Requirements.All() {
			if value, ok := r.Single(); ok && !requirement.Core().IsWellKnown(r.Key()) {
				fmt.Fprintf(&b, "  label %s=%s\n", r.Key(), value)
			}
		}
	}
	for _, e := range p.Existing {
		fmt.Fprintf(&b, "use %s: %s\n", e.Node, pods(s, e.Pods))
	}
	reasons := map[string][]snapshot.PodIndex{}
	var order []string
	for _, u := range p.Unplaced {
		text := codes(u.Verdict)
		if _, ok := reasons[text]; !ok {
			order = append(order, text)
		}
		reasons[text] = append(reasons[text], u.Pod)
	}
	for _, text := range order {
		fmt.Fprintf(&b, "unplaced %s: %s\n", pods(s, reasons[text]), text)
	}
	for _, c := range p.Spare {
		fmt.Fprintf(&b, "launch %s %s %s for buffers\n", c.Name, c.Offer.InstanceType, c.Offer.CapacityType)
	}
	for _, r := range p.Rooms {
		fmt.Fprintf(&b, "buffer %s: %d existing, %d planned, %d new, %d lacking", s.Buffers[r.Buffer].Name, r.Existing, r.Planned, r.New, r.Lacking)
		if r.Verdict != nil {
			b.WriteString(": " + codes(r.Verdict))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "cost %s bound %s", p.Cost.New, p.Cost.LowerBound)
	return b.String() + renderFleet(s, p)
}

// codes are what a verdict says, in general and of each pool.
func codes(v *reason.Verdict) string {
	text := string(v.General.Code)
	for _, pool := range v.Pools {
		text += fmt.Sprintf(" %s=%s", pool.Pool, pool.Reason.Code)
		if pool.Reason.Where != "" {
			text += "(" + pool.Reason.Where + ")"
		}
	}
	return strings.TrimSpace(text)
}

func keys(set map[string]bool) []string {
	var out []string
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// pods counts pods by workload: "3 web, 1 db".
func pods(s *snapshot.Snapshot, list []snapshot.PodIndex) string {
	counts := map[string]int{}
	names := map[string]bool{}
	for _, i := range list {
		name := s.Pods[i].Name[:strings.LastIndex(s.Pods[i].Name, "-")]
		counts[name]++
		names[name] = true
	}
	var out []string
	for _, name := range keys(names) {
		out = append(out, fmt.Sprintf("%d %s", counts[name], name))
	}
	return strings.Join(out, ", ")
}

// renderRules writes what rules cost. "rules steps=n" is an effort that ends early.
func renderRules(s *snapshot.Snapshot, p *plan.Plan, given string) string {
	var b rulecost.Budget
	if _, text, found := strings.Cut(given, "\nrules steps="); found {
		fmt.Sscan(text, &b.Steps)
	}
	r := rulecost.Of(s, p, b)
	out := ""
	for _, c := range r.Costs {
		out += fmt.Sprintf("\nrule %s: saves %s", c.Rule.Text(), c.Savings)
		if c.Places > 0 {
			out += fmt.Sprintf(", places %d", c.Places)
		}
	}
	return out + fmt.Sprintf("\nrules examined %d of %d", r.Examined, r.Examined+r.Unexamined)
}
