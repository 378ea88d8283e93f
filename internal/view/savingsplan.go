package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tenon/core/model"
)

// SavingsPlan is a commitment to spend an amount each hour, for which on-demand machines cost a percentage less: all of
// them, or those of one family. What is beyond the commitment costs what it costs without a plan.
type SavingsPlan struct {
	Family     string // empty for all
	Commitment model.Money
	// Percent is how much less machines cost, in thousandths of a percent.
	Percent int64
}

// ParseSavingsPlans reads texts such as 1.5@28 and m5=0.8@34. Plans of a family come first, as they are used first.
func ParseSavingsPlans(texts []string) ([]SavingsPlan, error) {
	var out []SavingsPlan
	for _, text := range texts {
		family, terms, divided := strings.Cut(text, "=")
		if !divided {
			family, terms = "", text
		}
		amount, percent, _ := strings.Cut(terms, "@")
		commitment, err := model.ParsePrice(strings.TrimSpace(amount))
		less, wrong := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(percent), "%"), 64)
		family = strings.TrimSpace(family)
		if err != nil || wrong != nil || commitment <= 0 || !(less >= 0 && less < 100) || divided && family == "" {
			return nil, fmt.Errorf("%q is no savings plan; write the commitment an hour and the percentage, for all on-demand machines or a family, such as 1.5@28 or m5=0.8@34", text)
		}
		out = append(out, SavingsPlan{family, commitment, int64(less*1000 + 0.5)})
	}
	all := func(p SavingsPlan) bool { return p.Family == "" }
	families := slices.DeleteFunc(slices.Clone(out), all)
	return append(families, slices.DeleteFunc(out, func(p SavingsPlan) bool { return !all(p) })...), nil
}

// covers reports whether a plan is for a node. A price that the node's label says is what its user pays, and stays.
func (p SavingsPlan) covers(n *Node) bool {
	family, _, _ := strings.Cut(n.Type, ".")
	return n.list > 0 && n.Source != FromLabel && n.Source != FromFile && (n.CapacityType == "on-demand" || n.CapacityType == "") && (p.Family == "" || p.Family == family)
}

// rate is what remains of a price by a plan.
func (p SavingsPlan) rate(price model.Money) model.Money {
	return price * model.Money(wholePrice-p.Percent) / wholePrice
}

// whole is a part of one in the arithmetic of coverage.
const whole = 1000

// coverage is, for each plan, which part of what is left of the price of its nodes it pays, in thousandths, and how much of its
// commitment is not used.
type coverage struct {
	parts  []int64
	unused []model.Money
}

// cover divides plans evenly over the nodes that they are for, one plan after the other.
func cover(plans []SavingsPlan, nodes []*Node) coverage {
	out := coverage{make([]int64, len(plans)), make([]model.Money, len(plans))}
	for i, p := range plans {
		need := model.Money(0)
		for _, n := range nodes {
			if p.covers(n) {
				need += p.rate(rest(plans[:i], out.parts[:i], n))
			}
		}
		out.unused[i] = max(0, p.Commitment-need)
		if out.parts[i] = whole; need > p.Commitment {
			out.parts[i] = int64(p.Commitment * whole / need)
		}
	}
	return out
}

// rest is the part of a node's price that plans leave.
func rest(plans []SavingsPlan, parts []int64, n *Node) model.Money {
	left := n.list
	for i, p := range plans {
		if p.covers(n) {
			left -= left * model.Money(parts[i]) / whole
		}
	}
	return left
}

// paid is what a node costs with plans and, for what they leave, with discounts.
func (s *State) paid(n *Node) model.Money {
	left, sum := n.list, model.Money(0)
	for i, p := range s.plans {
		if i < len(s.covered.parts) && p.covers(n) {
			part := left * model.Money(s.covered.parts[i]) / whole
			left -= part
			sum += p.rate(part)
		}
	}
	return sum + s.discounts.apply(n, left, n.Source)
}

// paidText names what is paid less than known prices.
func (s *State) paidText() string {
	var parts []string
	if text := s.discounts.String(); text != "" {
		parts = append(parts, text)
	}
	for i, p := range s.plans {
		of := "on-demand"
		if p.Family != "" {
			of += "/" + p.Family
		}
		text := fmt.Sprintf("savings plan of %s an hour for %s %s %%", shortest(p.Commitment.Float()), of, shortest(float64(p.Percent)/1000))
		if unused := s.covered.unused[i]; unused > 0 {
			text += fmt.Sprintf(" (%.4f of it is paid and not used; it is not in the sums)", unused.Float())
		} else {
			text += fmt.Sprintf(" (it covers %.0f %% of them)", float64(s.covered.parts[i])*100/whole)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func shortest(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
