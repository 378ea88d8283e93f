package conformance_test

import (
	"context"
	"maps"
	"slices"

	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
)

// sample is what is sold at every time; reservation is in it.
var (
	sample      = memory.Sample()
	reservation = cloud.Offer{
		InstanceType: "general-4", Zone: memory.Zones()[0], CapacityType: catalog.Reserved, Reservation: memory.ReservationID,
	}
)

// breakage is one way not to keep a law. It changes the near side, or what is behind it.
type breakage struct {
	law  string
	name string
	want string // part of what the law says
	do   func(on *bench, near *broken)
}

func breakages() []breakage {
	return slices.Concat(badDescriptions(), badCatalogues(), badRules(), badPurchases(), badTokens(), badShortages(), badLists(), badBehaviour())
}

func badDescriptions() []breakage {
	const law = "it describes itself"
	return []breakage{
		{law, "it has no name", "no name", func(_ *bench, near *broken) {
			near.describe = func() cloud.Description {
				d := near.Provider.Describe()
				d.Name = ""
				return d
			}
		}},
		{law, "it changes its mind", "two descriptions differ", func(_ *bench, near *broken) {
			calls := 0
			near.describe = func() cloud.Description {
				d := near.Provider.Describe()
				calls++
				d.MaxInstanceTypes = calls
				return d
			}
		}},
		{law, "it has another kind of class", "not among the described", func(_ *bench, near *broken) {
			near.describe = func() cloud.Description {
				d := near.Provider.Describe()
				d.Classes = []cloud.ClassKind{{Group: "other.dev", Version: "v1", Kind: "Other"}}
				return d
			}
		}},
	}
}

func badBehaviour() []breakage {
	const drift, ends, hands = "drift is a reason or nothing", "a call whose context has ended does nothing", "values change hands"
	says := func(reason cloud.DriftReason) func(*bench, *broken) {
		return func(_ *bench, near *broken) {
			near.drifted = func(ctx context.Context, c cloud.Claim, i cloud.Instance) (cloud.DriftReason, error) {
				was, err := near.Provider.Drifted(ctx, c, i)
				if was != "" {
					was = reason
				}
				return was, err
			}
		}
	}
	var forget = context.WithoutCancel
	return []breakage{
		{drift, "the reason is a sentence", "two words", says("two words")},
		{drift, "nothing ever drifts", `the reason of a drifted instance is ""`, says("")},
		{drift, "everything drifts", "a new instance has drifted", func(_ *bench, near *broken) {
			near.drifted = func(context.Context, cloud.Claim, cloud.Instance) (cloud.DriftReason, error) { return "Mood", nil }
		}},
		{drift, "what is gone has not drifted", "want NotFound", func(_ *bench, near *broken) {
			near.drifted = func(ctx context.Context, c cloud.Claim, i cloud.Instance) (cloud.DriftReason, error) {
				reason, err := near.Provider.Drifted(ctx, c, i)
				if cloud.IsNotFound(err) {
					return "", nil
				}
				return reason, err
			}
		}},
		{ends, "create goes on", "the cloud has sold 2", func(_ *bench, near *broken) {
			near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
				return near.Provider.Create(forget(ctx), c)
			}
		}},
		{ends, "delete goes on", "was deleted although", func(_ *bench, near *broken) {
			near.remove = func(ctx context.Context, id string) error { return near.Provider.Delete(forget(ctx), id) }
		}},
		{ends, "get goes on", "get with an ended context", func(_ *bench, near *broken) {
			near.get = func(ctx context.Context, id string) (cloud.Instance, error) {
				return near.Provider.Get(forget(ctx), id)
			}
		}},
		{ends, "list goes on", "list with an ended context", func(_ *bench, near *broken) {
			near.list = func(ctx context.Context) ([]cloud.Instance, error) { return near.Provider.List(forget(ctx)) }
		}},
		{ends, "drift goes on", "drift with an ended context", func(_ *bench, near *broken) {
			near.drifted = func(ctx context.Context, c cloud.Claim, i cloud.Instance) (cloud.DriftReason, error) {
				return near.Provider.Drifted(forget(ctx), c, i)
			}
		}},
		{hands, "create writes into the claim", "create changed the claim", asks(func(c *cloud.Claim) { c.Labels["mine"] = "yes" })},
		{hands, "all callers get the same map", "what was written into", func(_ *bench, near *broken) {
			shared := map[string]string{}
			near.get = func(ctx context.Context, id string) (cloud.Instance, error) {
				i, err := near.Provider.Get(ctx, id)
				maps.Copy(shared, i.Labels)
				i.Labels = shared
				return i, err
			}
		}},
	}
}
