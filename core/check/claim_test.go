package check

import (
	"testing"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

func TestOffers(t *testing.T) {
	cases{
		"the cheapest first": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot", "small/a/on-demand", "large/a/spot")
		}},
		"a pool that does not exist": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").Pool = "gone"
			},
			want: []Rule{PoolUnknown},
		},
		"a pool that is not ready": {
			build: func(w *world) {
				w.s.Pools[0].Unready.Code = reason.NotReady
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			},
			want: []Rule{PoolUnready},
		},
		"a static pool": {
			build: func(w *world) {
				replicas := int64(3)
				w.s.Pools[0].Replicas = &replicas
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			},
			want: []Rule{PoolUnready},
		},
		"an offer that is not sold": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").Offer.Zone = "c"
			},
			want: []Rule{OfferUnknown},
		},
		"an alternative that is not sold": {
			build: func(w *world) {
				c := w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
				c.Alternatives = plan.List(plan.Offer{InstanceType: "huge", Zone: "a", CapacityType: "spot", Price: 9 * usd})
			},
			want: []Rule{OfferUnknown},
		},
		"an offer that cannot be had": {
			build: func(w *world) {
				w.offering("small", "a", "spot").Available = false
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			},
			want: []Rule{OfferUnavailable},
		},
		"an alternative that the pool excludes": {
			build: func(w *world) {
				w.s.Pools[0].Requirements = w.s.Pools[0].Requirements.With(requirement.New(requirement.KeyCapacityType, requirement.In, "spot"))
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot", "small/a/on-demand")
			},
			want: []Rule{OfferExcluded},
		},
		"an alternative that the claim excludes": {
			build: func(w *world) {
				c := w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot", "small/b/spot")
				c.Requirements = c.Requirements.Replaced(requirement.New(requirement.KeyZone, requirement.In, "a"))
			},
			want: []Rule{OfferExcluded},
		},
		"a cheaper alternative": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/on-demand", "small/a/spot")
			},
			want: []Rule{OfferOrder},
		},
		"an alternative listed twice": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot", "small/b/spot", "small/b/spot")
			},
			want: []Rule{OfferOrder},
		},
		"a price of its own": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").Offer.Price++
				w.p.Cost.New++
			},
			want: []Rule{Price},
		},
		"the price of a node is part of it": {build: func(w *world) {
			w.s.Pools[0].NodePrice = usd
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").Offer.Price += usd
			w.p.Cost.New += usd
		}},
	}.run(t)
}

func TestCeilings(t *testing.T) {
	dear := func(ceiling int64, short ...string) func(w *world) {
		return func(w *world) {
			w.s.Pools[0].PriceCeiling = ceiling
			for _, zone := range []string{"a", "b"} {
				for _, capacityType := range short {
					w.offering("small", zone, capacityType).Available = false
				}
			}
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "large/a/spot")
		}
	}
	cases{
		"twice the price, while what would do is in stock": {build: dear(200)},
		"no ceiling":                 {build: dear(0, "spot", "on-demand")},
		"a node just at the ceiling": {build: dear(400, "spot", "on-demand")},
		"a node above the ceiling":   {build: dear(399, "spot", "on-demand"), want: []Rule{Ceiling}},
		"a node above the ceiling, while dearer ones are left": {build: dear(200, "spot"), want: []Rule{Ceiling}},
		"what would do is too small for all pods": {build: func(w *world) {
			dear(100, "spot", "on-demand")(w)
			w.p.Claims[0].Pods = append(w.p.Claims[0].Pods, w.pod("big", func(t *snapshot.Template) { t.Requests.CPU = 4000 }))
			w.p.Claims[0].Requests.CPU += 4000
			w.p.Claims[0].Requests.Memory += gib
			w.p.Claims[0].Requests.Pods++
		}},
		"what is preferred is in stock": {build: func(w *world) {
			w.s.Pools[0].PriceCeiling = 100
			w.offering("small", "a", "spot").Available = false
			w.offering("small", "b", "spot").Price = usd * 3 / 4
			prefers := func(t *snapshot.Template) {
				t.Preferred = []snapshot.WeightedTerm{{Weight: 1, Term: requirement.NewSet(requirement.New(requirement.KeyZone, requirement.In, "b"))}}
			}
			c := w.claim("default", []snapshot.PodIndex{w.pod("web", prefers)}, "small/b/spot")
			c.Requirements = c.Requirements.With(requirement.New(requirement.KeyZone, requirement.In, "b"))
		}},
	}.run(t)
}

func TestPromises(t *testing.T) {
	cases{
		"labels of the offer": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").Labels = map[string]string{
				requirement.KeyZone: "a", requirement.KeyNodePool: "default", "extra": "label",
			}
		}},
		"a label that the node will not have": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").Labels = map[string]string{requirement.KeyZone: "b"}
			},
			want: []Rule{ClaimLabels},
		},
		"two claims of one name": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").Name = "default-1"
			},
			want: []Rule{ClaimName},
		},
		"a claim for no pod": {
			build: func(w *world) { w.claim("default", nil, "small/a/spot") },
			want:  []Rule{ClaimEmpty},
		},
		"other taints than the pool's": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").Taints = []model.Taint{{Key: "gpu", Effect: model.NoSchedule}}
			},
			want: []Rule{ClaimTaints},
		},
		"other room than the offer's": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").Allocatable.CPU++
			},
			want: []Rule{ClaimResources},
		},
		"other capacity than the offer's": {
			build: func(w *world) { w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").Capacity.CPU++ },
			want:  []Rule{ClaimResources},
		},
		"requests without the daemons": {
			build: func(w *world) {
				w.daemon("agent")
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			},
			want: []Rule{ClaimResources},
		},
		"more requests than all pods have": {
			build: func(w *world) { w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").Requests.CPU++ },
			want:  []Rule{ClaimResources},
		},
	}.run(t)
}

func TestMinimums(t *testing.T) {
	twoTypes := func(w *world) {
		w.s.Pools[0].Requirements = w.s.Pools[0].Requirements.With(
			requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(2))
	}
	cases{
		"enough types": {build: func(w *world) {
			twoTypes(w)
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot", "large/a/spot")
		}},
		"too few types": {
			build: func(w *world) {
				twoTypes(w)
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot", "small/a/on-demand")
			},
			want: []Rule{Minimum},
		},
		"too few types, and allowed": {build: func(w *world) {
			twoTypes(w)
			w.s.Settings.BestEffortMinimum = true
			c := w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			c.MinimumRelaxed = true
			c.Requirements = c.Requirements.Replaced(c.Requirements.Get(requirement.KeyInstanceType).WithMinValues(1))
		}},
		"too few types, allowed, but not said": {
			build: func(w *world) {
				twoTypes(w)
				w.s.Settings.BestEffortMinimum = true
				c := w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
				c.Requirements = c.Requirements.Replaced(c.Requirements.Get(requirement.KeyInstanceType).WithMinValues(1))
			},
			want: []Rule{Minimum},
		},
		"a claim that asks for more than it has": {
			build: func(w *world) {
				twoTypes(w)
				w.s.Settings.BestEffortMinimum = true
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot").MinimumRelaxed = true
			},
			want: []Rule{Minimum},
		},
	}.run(t)
}

func TestLimits(t *testing.T) {
	limit := func(w *world, name string, value int64) {
		w.s.Pools[0].Limits = append(w.s.Pools[0].Limits, model.Amount{Name: name, Value: value})
	}
	cases{
		"just within": {build: func(w *world) {
			limit(w, model.CPU, 4000)
			w.node("n1", "a")
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
		}},
		"beyond": {
			build: func(w *world) {
				limit(w, model.CPU, 4000)
				w.node("n1", "a")
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			},
			want: []Rule{Limit},
		},
		"beyond if the cloud chooses the largest": {
			build: func(w *world) {
				limit(w, model.CPU, 4000)
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot", "large/a/spot")
			},
			want: []Rule{Limit},
		},
		"a leaving node does not count": {build: func(w *world) {
			limit(w, model.CPU, 2000)
			w.node("n1", "a").Leaving = true
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
		}},
		"a leaving node of a static pool counts until it is gone": {
			build: func(w *world) {
				w.fixed(1, 1)
				limit(w, model.Nodes, 1)
				w.node("n1", "a").Leaving = true
			},
			want: []Rule{Limit},
		},
		"a number of nodes": {
			build: func(w *world) {
				limit(w, model.Nodes, 1)
				w.node("n1", "a")
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			},
			want: []Rule{Limit},
		},
		"overdrawn already, and nothing bought": {build: func(w *world) {
			limit(w, model.CPU, 1000)
			w.node("n1", "a")
			w.place("n1", w.pod("web"))
		}},
		"overdrawn already in something that the new node has not": {
			build: func(w *world) {
				limit(w, "nvidia.com/gpu", 0)
				w.node("n1", "a").Capacity = model.NewResources(model.Amount{Name: "nvidia.com/gpu", Value: 1})
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			},
			want: []Rule{Limit},
		},
		"other pools' nodes do not count": {build: func(w *world) {
			limit(w, model.CPU, 2000)
			w.node("n1", "a").Pool = "other"
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
		}},
	}.run(t)
}

func TestReservations(t *testing.T) {
	reserve := func(w *world, stock int64) {
		small := w.kind("small")
		small.Requirements = small.Requirements.Replaced(requirement.New(requirement.KeyCapacityType, requirement.In, "on-demand", "reserved", "spot"))
		small.Offerings = append(small.Offerings, catalog.Offering{
			Zone: "a", CapacityType: catalog.Reserved, ReservationID: "r-1", Available: true, ReservationCapacity: stock, Price: 1,
		})
		w.s.Settings.ReservedCapacity = true
	}
	cases{
		"within its stock": {build: func(w *world) {
			reserve(w, 1)
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/reserved")
		}},
		"beyond its stock": {
			build: func(w *world) {
				reserve(w, 1)
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/reserved")
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/reserved")
			},
			want: []Rule{Reservation},
		},
		"while the gate is off": {
			build: func(w *world) {
				reserve(w, 1)
				w.s.Settings.ReservedCapacity = false
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/reserved")
			},
			want: []Rule{OfferUnavailable},
		},
		"that is used up": {
			build: func(w *world) {
				reserve(w, 0)
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/reserved")
			},
			want: []Rule{OfferUnavailable, Reservation},
		},
	}.run(t)
}

func TestCost(t *testing.T) {
	cases{
		"the sum of the claims": {build: func(w *world) {
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "large/a/spot")
		}},
		"another sum": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
				w.p.Cost.New++
			},
			want: []Rule{Cost},
		},
		"a bound above the price": {
			build: func(w *world) {
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
				w.p.Cost.LowerBound = w.p.Cost.New + 1
			},
			want: []Rule{Cost},
		},
	}.run(t)
}

func TestWeights(t *testing.T) {
	heavy := func(w *world, asks ...requirement.Requirement) *snapshot.Pool {
		p := w.pool("heavy", asks...)
		p.Weight = 10
		return p
	}
	cases{
		"the heavier pool": {build: func(w *world) {
			heavy(w)
			w.claim("heavy", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
		}},
		"the lighter pool": {
			build: func(w *world) {
				heavy(w)
				w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
			},
			want: []Rule{Weight},
		},
		"the lighter pool, since the heavier one is used up": {build: func(w *world) {
			heavy(w).Limits = []model.Amount{{Name: model.CPU, Value: 1000}}
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
		}},
		"the lighter pool, since the heavier one is tainted": {build: func(w *world) {
			heavy(w).Taints = []model.Taint{{Key: "gpu", Effect: model.NoSchedule}}
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
		}},
		"the lighter pool, since the heavier one is elsewhere": {build: func(w *world) {
			heavy(w, requirement.New(requirement.KeyZone, requirement.In, "b"))
			w.claim("default", []snapshot.PodIndex{w.pod("web", asks(requirement.KeyZone, requirement.In, "a"))}, "small/a/spot")
		}},
		"the lighter pool, since the heavier one offers too little choice": {build: func(w *world) {
			heavy(w, requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(3))
			w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
		}},
		"a pod on a claim that another pod needs": {build: func(w *world) {
			heavy(w, requirement.New(requirement.KeyZone, requirement.In, "b"))
			w.claim("default", []snapshot.PodIndex{w.pod("web", asks(requirement.KeyZone, requirement.In, "a")), w.pod("api")}, "small/a/spot")
		}},
	}.run(t)
}

func TestOverlooked(t *testing.T) {
	cases{
		"nothing would hold it": {build: func(w *world) { w.unplaced(w.pod("huge", needs(100_000))) }},
		"a node would hold it": {
			build: func(w *world) {
				w.s.Pools[0].Unready.Code = reason.NotReady
				w.node("n1", "a")
				w.unplaced(w.pod("web"))
			},
			want: []Rule{Overlooked},
		},
		"a pool would buy it a node": {
			build: func(w *world) { w.unplaced(w.pod("web")) },
			want:  []Rule{Overlooked},
		},
		"the pool's limit is used up": {build: func(w *world) {
			w.s.Pools[0].Limits = []model.Amount{{Name: model.Nodes, Value: 0}}
			w.unplaced(w.pod("web"))
		}},
		"rules between pods are given the benefit of the doubt": {build: func(w *world) {
			w.unplaced(w.pod("web", apart(host, "api")))
		}},
		"the types of one term have the minimum": {
			build: func(w *world) {
				w.pool("varied", requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(2))
				w.s.Pools = w.s.Pools[1:]
				w.unplaced(w.pod("web", terms(ofTypes("small", "large"))))
			},
			want: []Rule{Overlooked},
		},
		"only the types of two terms together have the minimum": {build: func(w *world) {
			w.pool("varied", requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(2))
			w.s.Pools = w.s.Pools[1:]
			w.unplaced(w.pod("web", terms(ofTypes("small"), ofTypes("large"))))
		}},
		"a node that the pod would rather avoid": {
			build: func(w *world) { disliked(w) },
			want:  []Rule{Overlooked},
		},
		"a node that the pod would rather avoid, while it waits for a price": {build: func(w *world) {
			disliked(w)
			w.s.Pools[0].PriceCeiling = 100
		}},
	}.run(t)
}

func ofTypes(names ...string) requirement.Set {
	return requirement.NewSet(requirement.New(requirement.KeyInstanceType, requirement.In, names...))
}

// disliked leaves a pod without a place beside a node whose taint only prefers to keep it off.
func disliked(w *world) {
	w.s.Pools[0].Unready.Code = reason.NotReady
	w.node("n1", "a").Taints = []model.Taint{{Key: "costly", Effect: model.PreferNoSchedule}}
	w.unplaced(w.pod("web"))
}
