package conformance_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// asks lets create ask for something else than the claim.
func asks(change func(*cloud.Claim)) func(*bench, *broken) {
	return func(_ *bench, near *broken) {
		near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
			change(&c)
			return near.Provider.Create(ctx, c)
		}
	}
}

// gives lets create give something else than what was bought.
func gives(change func(*cloud.Instance)) func(*bench, *broken) {
	return func(_ *bench, near *broken) {
		near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
			i, err := near.Provider.Create(ctx, c)
			change(&i)
			return i, err
		}
	}
}

func ignoring(key string) func(*cloud.Claim) {
	return func(c *cloud.Claim) { c.Requirements = c.Requirements.Without(key) }
}

func badPurchases() []breakage {
	const asked, listed, reserved = "an instance is what was asked for", "an instance is as the catalogue says", "a reservation is not oversold"
	return []breakage{
		{asked, "the zone does not count", "was asked for", asks(ignoring(requirement.KeyZone))},
		{asked, "the capacity type does not count", "was asked for", asks(ignoring(requirement.KeyCapacityType))},
		{asked, "the architecture does not count", "was asked for", asks(ignoring(requirement.KeyArch))},
		{asked, "the instance type does not count", "was asked for", asks(ignoring(requirement.KeyInstanceType))},
		{asked, "its zone is not told", "has no such label", gives(func(i *cloud.Instance) { delete(i.Labels, requirement.KeyZone) })},
		{asked, "its type is not told", "which", gives(func(i *cloud.Instance) { i.Offer = cloud.Offer{} })},

		{listed, "the capacity is another", "capacity is", gives(func(i *cloud.Instance) { i.Capacity.Memory-- })},
		{listed, "what pods can use is another", "allocatable is", gives(func(i *cloud.Instance) { i.Allocatable.CPU++ })},
		{listed, "a label of the type is missing", "label", gives(func(i *cloud.Instance) { delete(i.Labels, requirement.KeyArch) })},
		{listed, "a label is another type's", "label", gives(func(i *cloud.Instance) { i.Labels[requirement.KeyRegion] = "elsewhere" })},
		{listed, "it is not on the list", "does not have", gives(func(i *cloud.Instance) { i.Offer.InstanceType = "unheard-of" })},
		{listed, "it was never launched", "was launched at", gives(func(i *cloud.Instance) { i.Launched = time.Time{} })},
		{listed, "it is in a strange state", "and is", gives(func(i *cloud.Instance) { i.State = "Dreaming" })},

		{"an instance holds what was requested", "requests do not count", "was requested", asks(func(c *cloud.Claim) { c.Requests = model.Resources{} })},
		{"an instance is the cheapest", "the dearest is bought", "the cheapest that", func(on *bench, near *broken) {
			near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
				offers, err := near.Catalog(ctx, on.Class)
				if err != nil {
					return cloud.Instance{}, err
				}
				c.Catalog = copied(offers)
				for i := range c.Catalog.Types {
					for j := range c.Catalog.Types[i].Offerings {
						o := &c.Catalog.Types[i].Offerings[j]
						o.Price = 1000*model.Unit - o.Price
					}
				}
				return near.Provider.Create(ctx, c)
			}
		}},
		{"overlays decide what is cheapest", "overlays do not count", "is free for this pool", asks(func(c *cloud.Claim) { c.Catalog = nil })},
		{"minimums of values are kept", "they are always lowered", "a choice that does not exist", asks(func(c *cloud.Claim) { c.BestEffortMinimum = true })},
		{"minimums of values are kept", "they are never lowered", "insufficient capacity", asks(func(c *cloud.Claim) { c.BestEffortMinimum = false })},

		{reserved, "the catalogue does not count", "has another number", func(_ *bench, near *broken) {
			near.catalog = func(ctx context.Context, _ cloud.ClassRef) (*catalog.Catalog, error) { return sample, ctx.Err() }
		}},
		{reserved, "it never ends", "more than a reservation holds", func(on *bench, near *broken) {
			near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
				on.far.SetStock(reservation, 1)
				return near.Provider.Create(ctx, c)
			}
		}},
		{reserved, "something else is bought", "for a claim that wants", gives(func(i *cloud.Instance) { i.Offer.Reservation = "" })},
	}
}

// salted replaces the claim's token.
func salted(c cloud.Claim, salt any) cloud.Claim {
	c.UID = fmt.Sprintf("%s/%v", c.UID, salt)
	return c
}

func badTokens() []breakage {
	const once, atOnce = "one token buys one instance", "one token buys one instance, also at the same time"
	const lost, crash, spent = "a lost answer buys nothing twice", "a crash leaks nothing", "a token whose instance is gone buys nothing"
	saltAll := func(_ *bench, near *broken) {
		var calls atomic.Int64
		near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
			return near.Provider.Create(ctx, salted(c, calls.Add(1)))
		}
	}
	return []breakage{
		{once, "every call buys", "the cloud has sold 3", saltAll},
		{once, "all claims share one machine", "two claims share", asks(func(c *cloud.Claim) { c.UID = "one for all" })},
		{atOnce, "every call buys", "different instances", saltAll},
		{atOnce, "calls look first and buy then", "the cloud has sold 8", lookThenBuy},
		{atOnce, "who comes second is told that nothing was bought", "says that nothing was bought", func(_ *bench, near *broken) {
			var calls atomic.Int64
			near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
				if calls.Add(1) == 2 {
					return cloud.Instance{}, &cloud.NoCapacity{}
				}
				return near.Provider.Create(ctx, c)
			}
		}},
		{lost, "a retry has another token", "the cloud has sold 2", func(_ *bench, near *broken) {
			failures := 0
			near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
				i, err := near.Provider.Create(ctx, salted(c, failures))
				if err != nil {
					failures++
				}
				return i, err
			}
		}},
		{lost, "the error sounds certain", "says that nothing was bought", func(_ *bench, near *broken) {
			near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
				i, err := near.Provider.Create(ctx, c)
				if err != nil {
					err = &cloud.Rejected{Reason: "LaunchFailed", Err: err}
				}
				return i, err
			}
		}},
		{lost, "it is not listed", "is not listed", func(_ *bench, near *broken) {
			near.list = func(context.Context) ([]cloud.Instance, error) { return nil, nil }
		}},
		{crash, "the token is of the process", "was bought for it", func(on *bench, near *broken) {
			on.Restart = func() cloud.Provider {
				again := &broken{Provider: on.far.Connect()}
				again.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
					return again.Provider.Create(ctx, salted(c, "second"))
				}
				return again
			}
		}},
		{crash, "the tags come after the purchase", "0 instances of the claim are listed", func(on *bench, near *broken) {
			on.Restart = func() cloud.Provider {
				again := &broken{Provider: on.far.Connect()}
				again.list = func(ctx context.Context) ([]cloud.Instance, error) {
					found, err := again.Provider.List(ctx)
					for i := range found {
						found[i].ClaimUID = ""
					}
					return found, err
				}
				return again
			}
		}},
		{spent, "it buys again", "want NotFound", func(_ *bench, near *broken) {
			near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
				i, err := near.Provider.Create(ctx, c)
				if cloud.IsNotFound(err) {
					return near.Provider.Create(ctx, salted(c, "again"))
				}
				return i, err
			}
		}},
		{spent, "a crash makes it forget", "and a crash", func(on *bench, near *broken) {
			on.Restart = func() cloud.Provider {
				again := &broken{Provider: on.far.Connect()}
				again.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
					return again.Provider.Create(ctx, salted(c, "again"))
				}
				return again
			}
		}},
		{"a claim without an identity buys nothing", "an identity is made up", "without a UID", asks(func(c *cloud.Claim) { c.UID = "made up" })},
	}
}

// lookThenBuy is a race that is always lost: all calls look before the first one buys.
func lookThenBuy(_ *bench, near *broken) {
	var looked sync.WaitGroup
	looked.Add(8)
	var calls atomic.Int64
	near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
		call := calls.Add(1)
		if call <= 8 {
			looked.Done()
			looked.Wait()
			return near.Provider.Create(ctx, salted(c, call))
		}
		return near.Provider.Create(ctx, salted(c, 1))
	}
}
