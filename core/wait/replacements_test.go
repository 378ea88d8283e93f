package wait

import (
	"slices"
	"testing"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Of the moves of a plan, only as many buy nodes at the same time as cost a twentieth of the fleet, or the first one; those that buy little
// for what they remove go, too, and all others.
func TestReplacementsTakeTurns(t *testing.T) {
	t.Parallel()
	removing := func(d plan.Disruption, prices ...float64) plan.Disruption {
		for _, price := range prices {
			d.Nodes = append(d.Nodes, plan.Removal{Price: model.MoneyFromFloat(price)})
		}
		return d
	}
	buys := func(why plan.Reason, prices ...float64) plan.Disruption {
		d := plan.Disruption{Reason: why}
		for _, price := range prices {
			d.Replacements = append(d.Replacements, plan.Claim{Offer: plan.Offer{Price: model.MoneyFromFloat(price)}})
		}
		return d
	}
	for name, tc := range map[string]struct {
		plan  []plan.Disruption
		begun []int
	}{
		"a large one alone":             {[]plan.Disruption{buys(plan.Underutilized, 20, 20)}, []int{0}},
		"a large one, then others":      {[]plan.Disruption{buys(plan.Underutilized, 20), buys(plan.Underutilized, 1), buys(plan.Underutilized)}, []int{0, 2}},
		"small ones":                    {[]plan.Disruption{buys(plan.Underutilized, 1, 1), buys(plan.Underutilized, 2), buys(plan.Underutilized, 1)}, []int{0, 1, 2}},
		"small ones, together too many": {[]plan.Disruption{buys(plan.Underutilized, 3), buys(plan.Underutilized, 3), buys(plan.Underutilized, 2)}, []int{0, 2}},
		"little for what goes":          {[]plan.Disruption{removing(buys(plan.Underutilized, 15), 60), removing(buys(plan.Underutilized, 10), 40), buys(plan.Underutilized, 20)}, []int{0, 1, 2}},
		"not so little":                 {[]plan.Disruption{removing(buys(plan.Underutilized, 16), 60), removing(buys(plan.Underutilized, 11), 40)}, []int{0}},
		"drift is a matter of budgets":  {[]plan.Disruption{buys(plan.Drifted, 20), buys(plan.Drifted, 20), buys(plan.Underutilized, 20)}, []int{0, 1, 2}},
	} {
		p := &plan.Plan{Disruptions: tc.plan}
		replacements(&snapshot.Snapshot{Nodes: []snapshot.Node{{Price: model.MoneyFromFloat(60)}, {Price: model.MoneyFromFloat(40)}}}, p)
		var begun []int
		for i := range p.Disruptions {
			switch d := &p.Disruptions[i]; {
			case d.Now():
				begun = append(begun, i)
			case d.Delay.Code != reason.OthersReplaced:
				t.Errorf("%s: %d waits because of %s", name, i, d.Delay.Code)
			}
		}
		if !slices.Equal(begun, tc.begun) {
			t.Errorf("%s: %v begin, want %v", name, begun, tc.begun)
		}
	}
}
