package plan

import (
	"cmp"
	"slices"

	"tenon/core/model"
	"tenon/core/snapshot"
)

// Whole is the plan with everything that its disruptions and buffers buy and move, beside what pending pods
// need. It is for callers that look at all nodes and pods together. bound is what is proven about the price
// of all of them; it is not used if it is less than what is proven about a part.
func (p *Plan) Whole(bound model.Money) Plan {
	out := *p
	out.Claims, out.Existing = slices.Clone(p.Claims), slices.Clone(p.Existing)
	at := map[string]int{}
	for i := range out.Existing {
		at[out.Existing[i].Node] = i
	}
	for i := range p.Disruptions {
		d := &p.Disruptions[i]
		for _, c := range d.Replacements {
			out.Claims = append(out.Claims, c)
			out.Cost.New += c.Offer.Price
		}
		for _, m := range d.Moves {
			k, known := at[m.Node]
			if !known {
				k = len(out.Existing)
				at[m.Node] = k
				out.Existing = append(out.Existing, Placement{Node: m.Node})
			}
			out.Existing[k].Pods = slices.Sorted(slices.Values(slices.Concat(out.Existing[k].Pods, m.Pods)))
		}
	}
	slices.SortFunc(out.Existing, func(a, b Placement) int { return cmp.Compare(a.Node, b.Node) })
	out.Cost.LowerBound = min(max(out.Cost.LowerBound, bound), out.Cost.New)
	for _, c := range p.Spare { // whose price nothing is proven about: it is on both sides
		out.Claims = append(out.Claims, c)
		out.Cost.New += c.Offer.Price
		out.Cost.LowerBound += c.Offer.Price
	}
	out.Spare = nil
	return out
}

// Removed are the names of the nodes that the plan gives up.
func (p *Plan) Removed() map[string]bool {
	out := map[string]bool{}
	for i := range p.Disruptions {
		for _, r := range p.Disruptions[i].Nodes {
			out[r.Node] = true
		}
	}
	return out
}

// Fleet is what all nodes of the plan's snapshot cost an hour now, and once a whole plan is carried out:
// nodes that are being removed are gone then, and the new ones are there.
func (p *Plan) Fleet(s *snapshot.Snapshot) (before, after model.Money) {
	gone := p.Removed()
	for i := range s.Nodes {
		n := &s.Nodes[i]
		before += n.Price
		if !n.Leaving && !gone[n.Name] {
			after += n.Price
		}
	}
	return before, after + p.Cost.New
}
