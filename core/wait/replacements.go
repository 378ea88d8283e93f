package wait

import (
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

const (
	// surging is the share of the fleet's price that the nodes which moves buy at the same time may cost, as its inverse.
	surging = 20
	// little is the share of what a move removes that it may buy without being counted, as its inverse: it makes the fleet
	// cheaper wherever its pods go.
	little = 4
)

// replacements has moves that buy nodes wait for others that do: until the pods have moved, the old nodes and the new ones
// are paid for, and what is saved next depends on where the scheduler puts the pods. Small ones go together, those that buy
// little for what they remove are not counted, and the first one never waits for others of its plan. Those that are under way
// already are a matter of arrivals.
func replacements(s *snapshot.Snapshot, p *plan.Plan) {
	var fleet, bought model.Money
	for i := range s.Nodes {
		fleet += s.Nodes[i].Price
	}
	for _, d := range movers(p) {
		var price, gone model.Money
		for i := range d.Replacements {
			price += d.Replacements[i].Offer.Price
		}
		for _, r := range d.Nodes {
			gone += r.Price
		}
		if price*little <= gone {
			continue
		}
		if bought > 0 && price > 0 && (bought+price)*surging > fleet {
			d.Delay = plan.Delay{Code: reason.OthersReplaced}
			continue
		}
		bought += price
	}
}
