package view

import (
	"iter"

	"tenon/internal/cost"
)

// Cost divides the fleet's price into lines, the largest first.
func (f *Fleet) Cost(by cost.Dimension) []cost.Line { return cost.Lines(by, f.Parts()) }

// Parts returns what the price of each node is made of.
func (f *Fleet) Parts() iter.Seq[cost.Part] {
	return func(yield func(cost.Part) bool) {
		for _, n := range f.Nodes {
			part := cost.Part{Pool: n.Pool, Type: n.Type, Zone: n.Zone, CapacityType: n.CapacityType, Kind: cost.Idle, Price: n.Idle}
			if !yield(part) {
				return
			}
			for _, p := range n.Pods {
				part.Kind, part.Namespace, part.Owner, part.Price = cost.Pods, p.Namespace, p.Owner, p.Cost
				if p.Daemon {
					part.Kind = cost.Daemons
				}
				if !yield(part) {
					return
				}
			}
		}
	}
}
