package wait

import (
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// surging is the share of the fleet's price that the nodes which moves buy at the same time may cost, as its inverse.
const surging = 20

// replacements has moves that buy nodes wait for others that do: until the pods have moved, the old nodes and the new ones
// are paid for, and what is saved next depends on where the scheduler puts the pods. Small ones go together, and the first one
// never waits for others of its plan. Those that are under way already are a matter of arrivals.
func replacements(s *snapshot.Snapshot, p *plan.Plan) {
	var fleet, bought model.Money
	for i := range s.Nodes {
		fleet += s.Nodes[i].Price
	}
	for _, d := range movers(p) {
		var price model.Money
		for i := range d.Replacements {
			price += d.Replacements[i].Offer.Price
		}
		if bought > 0 && price > 0 && (bought+price)*surging > fleet {
			d.Delay = plan.Delay{Code: reason.OthersReplaced}
			continue
		}
		bought += price
	}
}
