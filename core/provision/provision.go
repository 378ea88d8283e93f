// Package provision decides which nodes to buy for the pods that have none, and which
// pods existing nodes can take.
//
//	search ──▶ the best draft ──▶ claims: what is bought, and what else it could be
//	                          └─▶ advice: why pods have no place, and what would help
//
// Plan joins the three. The package fleet beside them asks the same questions for pods that have a
// place already.
package provision

import (
	"cmp"

	"tenon/core/expand"
	"tenon/core/plan"
	"tenon/core/provision/advice"
	"tenon/core/provision/claims"
	"tenon/core/provision/search"
	"tenon/core/snapshot"
)

// FullEffort is the default effort of a decision.
const FullEffort = search.FullEffort

// moreEffort is the factor from one search to the next, if there is effort for it.
const moreEffort = 8

// Options are how a plan is made.
type Options struct {
	// Effort is what it may cost; zero is FullEffort.
	Effort int64
	// Unadvised leaves out what would help pods that find no place: it takes a plan of its own to
	// find that out, and not every caller asks.
	Unadvised bool
	// Unproven leaves out the bound: a comparison of plans does not need it.
	Unproven bool
	// Memory is that of the asker; nil is none.
	Memory *Memory
}

// first is the effort of the first search.
func (o Options) first() int64 { return min(cmp.Or(o.Effort, FullEffort), FullEffort) }

// Plan decides; pods are numbered in the plan as in s. Given more than the full effort it searches again with more and keeps
// the better plan, so that from there on more effort never makes a dearer one.
func Plan(s snapshot.Sorted, o Options) plan.Plan {
	d := search.New(s, o.first(), o.Memory.Compiled())
	d.Unproven = o.Unproven
	d.Expand()
	best := d.Best()
	for d.Effort *= moreEffort; d.Effort <= o.Effort; d.Effort *= moreEffort {
		if other := d.Best(); other.Better(best) {
			best = other
		}
	}
	return write(d, best, o)
}

// Question is what a server of the expander grpc has to be asked before a plan can do what it says; nil if the snapshot has all
// answers, or needs none.
func Question(s snapshot.Sorted, o Options) *expand.Question {
	return search.New(s, o.first(), o.Memory.Compiled()).Question()
}

// write hands pods out to nodes, oldest first, and says of each claim what else it
// could be, and of each pod without a place why.
func write(d *search.Search, a *search.Draft, o Options) plan.Plan {
	w := claims.New(d, a, nil, map[snapshot.PoolIndex]*claims.Table{})
	if !d.Snapshot.Settings.BestEffortMinimum {
		w.DropShort()
	}
	w.DropDear()
	if d.Snapshot.Settings.Balance != nil {
		d.Balance(a)
		w = claims.New(d, a, nil, map[snapshot.PoolIndex]*claims.Table{})
	}
	var p plan.Plan
	p.Existing = w.Existing()
	p.Claims, p.Cost.New = w.Claims()
	adv := advice.New(d, a, w.Spare, w.Labels)
	adv.Unadvised, adv.Known = o.Unadvised, o.Memory.tried()
	p.Unplaced = adv.Unplaced()
	p.Cost.LowerBound = min(d.LowerBound(a), p.Cost.New)
	for _, claim := range claims.Replicas(d.Snapshot, claims.ReservedBy(p.Claims), w.Totals(p.Claims)) {
		p.Claims = append(p.Claims, claim)
		p.Cost.New += claim.Offer.Price // no fleet does without them
		p.Cost.LowerBound += claim.Offer.Price
	}
	p.Solve = plan.Solve{Pods: d.CountPods(), Shapes: len(a.Set.Shapes) + len(d.Refused), Offers: d.CountOffers(), Steps: d.Steps, Visits: adv.Spent()}
	return p
}
