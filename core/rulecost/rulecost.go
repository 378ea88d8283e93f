// Package rulecost says what rules cost: for each rule of pods and pools that may bind, what
// the new nodes would cost without it, and how many more pods would have a place.
//
// It leaves a rule out of a copy of the snapshot, decides again, and compares. That takes as long as
// deciding did, once for each question, so that it is not for the controller. Rules of one kind are left
// out together first, and one by one only if that changes something; the number of questions is bounded by
// steps. The differences are those of plans, not of the best possible fleets. Small ones are left out,
// because they may only be rounding.
package rulecost

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/provision"
	"tenon/core/snapshot"
)

// Budget bounds the effort.
type Budget struct {
	// Steps are about a nanosecond each; no question is begun that would probably take more
	// than is left. 0 means FullEffort.
	Steps int64
}

// FullEffort is what is spent unless the budget says otherwise.
const FullEffort = 1_000_000_000

// Cost is a rule that costs something.
type Cost struct {
	Rule Rule
	// Savings an hour without the rule, of the price of the new nodes. It may be negative
	// where more pods would have a place.
	Savings model.Money
	// Places is how many more pods would have a place.
	Places int
}

// Report is what rules cost, dearest first. What single rules cost does not add up: two that
// force the same nodes cost nothing each while the other is there.
type Report struct {
	Costs []Cost
	// Examined is how many rules were looked at, by themselves or as part of a kind that
	// costs nothing. Unexamined are those for which no effort was left.
	Examined, Unexamined int
	Steps                int64
}

// Of says what the rules cost that the plan for the snapshot's pods keeps.
func Of(s *snapshot.Snapshot, p *plan.Plan, b Budget) Report {
	f := newFinder(s)
	x := &examination{finder: f, base: totalOf(p), each: max(p.Solve.Steps, 1), left: cmp.Or(b.Steps, FullEffort)}
	for _, family := range f.find() {
		x.examine(family)
	}
	slices.SortStableFunc(x.report.Costs, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Savings, a.Savings), cmp.Compare(b.Places, a.Places), strings.Compare(a.Rule.Text(), b.Rule.Text()))
	})
	return x.report
}

// planTotal is the price of a plan and the number of pods with a place.
type planTotal struct {
	price    model.Money
	unplaced int
}

func totalOf(p *plan.Plan) planTotal { return planTotal{p.Cost.New, len(p.Unplaced)} }

// examination is the work of one call.
type examination struct {
	*finder
	base   planTotal
	each   int64 // steps that a question takes
	left   int64
	report Report
}

// examine looks at a family together and, if it costs something, at its members.
func (x *examination) examine(f ruleGroup) {
	n := len(f.members)
	together, ok := x.costOf(f.members)
	switch {
	case !ok:
		x.report.Unexamined += n
		return
	case !x.matters(together):
		x.report.Examined += n
		return
	case n == 1:
		x.report.Examined++
		x.tell(f.members[0].Rule, together)
		return
	}
	x.members(f, together)
}

// members looks at the members one by one as far as there is effort for it. The others are
// told together, with what all of them cost.
func (x *examination) members(f ruleGroup, together Cost) {
	for i := range f.members {
		cost, ok := x.costOf(f.members[i : i+1])
		if !ok {
			x.report.Unexamined += len(f.members) - i
			all := f.members[0].Rule
			all.Workloads, all.Workload, all.Namespace, all.Pods = len(f.members), "", "", podsOf(f)
			x.tell(all, together)
			return
		}
		x.report.Examined++
		if x.matters(cost) {
			x.tell(f.members[i].Rule, cost)
		}
	}
}

func podsOf(f ruleGroup) int {
	n := 0
	for i := range f.members {
		n += f.members[i].Pods
	}
	return n
}

func (x *examination) tell(r Rule, c Cost) {
	c.Rule = r
	x.report.Costs = append(x.report.Costs, c)
}

// leastShare is the smallest part of the price that is told, as one in so many.
const leastShare = 1000

// matters reports whether a difference is more than rounding.
func (x *examination) matters(c Cost) bool {
	return c.Places > 0 || c.Places == 0 && c.Savings > 0 && c.Savings >= x.base.price/leastShare
}

// costOf decides without the rules, if there is effort for it.
func (x *examination) costOf(rules []found) (Cost, bool) {
	if x.left < x.each {
		return Cost{}, false
	}
	sorted := snapshot.Sort(x.without(rules), nil)
	p := provision.Plan(sorted, provision.Options{Unadvised: true, Unproven: true})
	p.Renumber(sorted.Given)
	x.left -= max(p.Solve.Steps, 1)
	x.report.Steps += p.Solve.Steps
	got := totalOf(&p)
	if got.unplaced == x.base.unplaced && !x.broken(&p, rules) {
		return Cost{}, true
	}
	return Cost{Savings: x.base.price - got.price, Places: x.base.unplaced - got.unplaced}, true
}
