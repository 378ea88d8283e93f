package search

import (
	"tenon/core/pack"
	"tenon/core/reason"
)

// GiveUp takes back the new nodes for which there is a reason. Of their pods those find another place
// that fit where others are; and pods go whose rules no longer hold, because others are not where they
// would have evened a spread out or been partners. Then there may be a reason for one more node. It
// reports whether there were any.
func (a *Draft) GiveUp(why func(pack.Node) reason.Reason) (any bool) {
	dropped := func(n pack.Node) bool {
		r := why(n)
		for _, l := range n.Loads {
			if r.Code != reason.None {
				a.Why[a.Portions[l.Lot].Shape] = r
			}
		}
		return r.Code != reason.None
	}
	for a.packer.Close(dropped) {
		any, a.Short = true, true
		a.withdrawLeft(make([]int, len(a.Set.Shapes)))
		a.appear()
		a.withdrawBroken()
		a.packer.TopUp()
	}
	if any {
		a.Result = a.packer.Result()
		a.countLeft()
		a.explainPartners()
	}
	return any
}
