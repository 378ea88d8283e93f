package check

import (
	"slices"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/snapshot"
)

// checkLimits adds up what each pool will have, at the largest that the cloud may choose
// for every claim: "limits are reservations, never overrun". A pool that is over a limit
// already may launch nothing.
func checkLimits(e *state, f *finding) {
	for i := range e.s.Pools {
		pool := &e.s.Pools[i]
		launches := e.claimsOf(pool)
		if launches == 0 {
			continue
		}
		for _, limit := range pool.Limits {
			if total := e.usage(pool, limit.Name); total > limit.Value {
				f.note(Violation{Rule: Limit, Where: pool.Name + " " + limit.Name, Have: total, Want: limit.Value})
			}
		}
	}
	if !slices.ContainsFunc(slices.Concat(e.nodes, e.replicas), func(n *node) bool { return n.claim != nil }) {
		return
	}
	for _, limit := range e.s.Settings.Limits {
		if total := e.total(limit.Name); total > limit.Value {
			f.note(Violation{Rule: Limit, Where: "cluster " + limit.Name, Have: total, Want: limit.Value})
		}
	}
}

// total is how much of a limited resource all nodes will have.
func (e *state) total(name string) int64 {
	var total int64
	for _, n := range slices.Concat(e.nodes, e.replicas, e.leaving) {
		switch {
		case n.exists == nil:
			total += n.largest(name)
		case n.exists.Counts():
			total += amountOf(n.exists.Capacity, name)
		}
	}
	return total
}

func (e *state) claimsOf(pool *snapshot.Pool) int {
	count := 0
	for _, n := range slices.Concat(e.nodes, e.replicas) {
		if n.pool == pool {
			count++
		}
	}
	return count
}

// usage is how much of a limited resource the pool's nodes will have.
func (e *state) usage(pool *snapshot.Pool, name string) int64 {
	if pool.Group != nil { // it is bounded by what the cloud keeps, whether there are nodes or not
		return pool.Group.Desired + int64(e.claimsOf(pool))
	}
	var total int64
	for _, n := range slices.Concat(e.nodes, e.replicas, e.leaving) {
		switch {
		case n.pool == pool:
			total += n.largest(name)
		case n.exists != nil && n.exists.Pool == pool.Name && pool.Counts(n.exists):
			total += amountOf(n.exists.Capacity, name)
		}
	}
	return total
}

func (n *node) largest(name string) int64 {
	var most int64
	for i := range n.choices {
		if n.choices[i].listed {
			most = max(most, amountOf(n.choices[i].kind.FullCapacity(n.choices[i].offering), name))
		}
	}
	return most
}

// amountOf counts each node as one of "nodes".
func amountOf(capacity model.Resources, name string) int64 {
	if name == model.Nodes {
		return 1
	}
	return capacity.Get(name)
}

// checkReservations counts the claims that are planned on a reservation at each that they may be launched into, so that
// no outcome needs more than there is. A replica may be anything that its pool sells, and counts where it is planned.
func checkReservations(e *state, f *finding) {
	taken, stock := map[string]int64{}, map[string]int64{}
	for _, n := range slices.Concat(e.nodes, e.replicas) {
		if n.claim == nil || n.claim.Offer.CapacityType != catalog.Reserved {
			continue
		}
		named := map[string]bool{}
		for i := range n.choices {
			id := n.choices[i].offer.Reservation
			if id == "" || n.claim.Replica && i > 0 {
				continue
			}
			if have, ok := stock[id]; !ok || n.choices[i].offering.ReservationCapacity < have {
				stock[id] = n.choices[i].offering.ReservationCapacity
			}
			named[id] = true
		}
		for id := range named {
			taken[id]++
		}
	}
	for _, id := range order.Keys(taken) {
		if taken[id] > stock[id] {
			f.note(Violation{Rule: Reservation, Where: id, Have: taken[id], Want: stock[id]})
		}
	}
}

// checkCost: the price of a plan is that of its claims, and a bound that is above it has
// proven nothing.
func checkCost(e *state, f *finding) {
	var sum model.Money
	for i := range e.p.Claims {
		sum += e.p.Claims[i].Offer.Price
	}
	if cost := e.p.Cost; cost.New != sum {
		f.note(Violation{Rule: Cost, Where: "new", Have: int64(cost.New), Want: int64(sum)})
	}
	if cost := e.p.Cost; cost.LowerBound > cost.New || cost.LowerBound < 0 {
		f.note(Violation{Rule: Cost, Where: "lower bound", Have: int64(cost.LowerBound), Want: int64(cost.New)})
	}
}
