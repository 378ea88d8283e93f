package claims

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tenon/core/bitset"
	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Replicas are claims for the nodes that static pools lack. They come straight from the pool's template,
// and are priced at the cheapest offer that the cloud may launch. They get pods once their nodes exist.
// reserved is what other claims take of reservations, and left what limits of the cluster leave.
func Replicas(s *snapshot.Snapshot, reserved map[string]int64, left []model.Amount) []plan.Claim {
	if !s.Settings.StaticCapacity {
		return nil
	}
	var out []plan.Claim
	for p := range s.Pools {
		pool := &s.Pools[p]
		var claim plan.Claim
		for n := range missing(s, pool) {
			if n == 0 || claim.Offer.Reservation != "" { // else it is like the one before
				var ok bool
				if claim, ok = Replica(s, pool, reserved); !ok {
					break
				}
			}
			if left = besides(s, pool, left, &claim); overdrawn(left) {
				return out
			}
			claim.Name = pool.Name + "-" + strconv.FormatInt(n+1, 10)
			out = append(out, claim)
		}
	}
	return out
}

// besides is what limits of the cluster leave beside a claim of a pool, whichever of its offers is launched.
func besides(s *snapshot.Snapshot, pool *snapshot.Pool, left []model.Amount, c *plan.Claim) []model.Amount {
	if len(left) == 0 {
		return nil
	}
	most, out := c.MostCapacity(s.Catalogs[pool.Catalog].Types), slices.Clone(left)
	for i := range out {
		out[i].Value -= pack.Share(most, out[i].Name)
	}
	return out
}

func overdrawn(left []model.Amount) bool {
	return slices.ContainsFunc(left, func(a model.Amount) bool { return a.Value < 0 })
}

// missing is how many nodes a static pool may launch now: up to its replicas without those
// that are leaving, and no more than its limit on nodes bears with them.
func missing(s *snapshot.Snapshot, pool *snapshot.Pool) int64 {
	if !pool.MayReplenish() {
		return 0
	}
	running, leaving := int64(0), int64(0)
	for i := range s.Nodes {
		switch n := &s.Nodes[i]; {
		case n.Pool != pool.Name:
		case n.Leaving:
			leaving++
		default:
			running++
		}
	}
	lacking := *pool.Replicas - running
	for _, limit := range pool.Limits {
		if limit.Name == model.Nodes {
			lacking = min(lacking, limit.Value-running-leaving)
		}
	}
	return max(lacking, 0)
}

// Replica is one claim, or none when nothing that the pool admits can be had.
func Replica(s *snapshot.Snapshot, pool *snapshot.Pool, reserved map[string]int64) (plan.Claim, bool) {
	wares := availableOffers(s, pool, reserved)
	if len(wares) == 0 {
		return plan.Claim{}, false
	}
	variety := requirement.NewVariety(pool.Requirements)
	offers := make([]plan.Offer, len(wares))
	for i := range wares {
		offers[i] = wares[i].offer
		variety.Add(wares[i].of.Requirements)
	}
	if len(variety.Shortfalls()) > 0 {
		return plan.Claim{}, false
	}
	first := &wares[0]
	if first.offer.CapacityType == catalog.Reserved {
		reserved[first.offer.Reservation]++
	}
	others := bitset.New(len(offers))
	for i := 1; i < len(offers); i++ {
		others.Put(i)
	}
	return plan.Claim{
		Pool: pool.Name, Replica: true,
		Offer: first.offer, Alternatives: plan.Select(offers, others),
		Requirements:  pool.Requirements,
		Allocatable:   first.of.Allocatable(first.offering),
		Capacity:      first.of.FullCapacity(first.offering),
		Labels:        settled(pool.Requirements, first.of.Requirements, first.offering.Labels()),
		Taints:        pool.Taints,
		StartupTaints: pool.StartupTaints,
	}, true
}

// availableOffer is an offer with what it is made from.
type availableOffer struct {
	offer    plan.Offer
	of       *catalog.Type
	offering *catalog.Offering
}

// availableOffers are all offers that the pool admits and that can be had, cheapest first.
func availableOffers(s *snapshot.Snapshot, pool *snapshot.Pool, reserved map[string]int64) []availableOffer {
	var out []availableOffer
	for kind := range s.Catalogs[pool.Catalog].Matching(pool.Requirements) {
		for i := range kind.Offerings {
			o := &kind.Offerings[i]
			if !inStock(s, o, reserved) || !o.Labels().Intersects(pool.Requirements) {
				continue
			}
			out = append(out, availableOffer{of: kind, offering: o, offer: plan.Offer{
				InstanceType: kind.Name, Zone: o.Zone, CapacityType: o.CapacityType, Reservation: o.ReservationID,
				Price: o.Price + pool.NodePrice,
			}})
		}
	}
	slices.SortFunc(out, func(a, b availableOffer) int {
		x, y := &a.offer, &b.offer
		return cmp.Or(
			cmp.Compare(x.Price, y.Price), strings.Compare(x.InstanceType, y.InstanceType), strings.Compare(x.Zone, y.Zone),
			strings.Compare(x.CapacityType, y.CapacityType), strings.Compare(x.Reservation, y.Reservation),
		)
	})
	return out
}

func inStock(s *snapshot.Snapshot, o *catalog.Offering, reserved map[string]int64) bool {
	if !o.Available || o.CapacityType != catalog.Reserved {
		return o.Available
	}
	return s.Settings.ReservedCapacity && reserved[o.ReservationID] < o.ReservationCapacity
}

// settled are the labels of which only one value is left.
func settled(sets ...requirement.Set) map[string]string {
	out := map[string]string{}
	for _, set := range sets {
		for r := range set.All() {
			if value, single := r.Single(); single && r.Key() != feasible.HostnameKey {
				out[r.Key()] = value
			}
		}
	}
	return out
}
