package conformance_test

import (
	"context"
	"errors"
	"slices"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

func badShortages() []breakage {
	const names, avoids, class = "a shortage is named and remembered", "a shortage of one thing leaves the others", "a class that is not ready buys nothing"
	failing := func(change func(*cloud.NoCapacity) error) func(*bench, *broken) {
		return func(_ *bench, near *broken) {
			near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
				i, err := near.Provider.Create(ctx, c)
				if short, is := errors.AsType[*cloud.NoCapacity](err); is {
					err = change(short)
				}
				return i, err
			}
		}
	}
	return []breakage{
		{names, "the error has no type", "want NoCapacity", failing(func(short *cloud.NoCapacity) error { return errors.New(short.Error()) })},
		{names, "the error names nothing", "and the error names []", failing(func(*cloud.NoCapacity) error { return &cloud.NoCapacity{} })},
		{names, "the error names too much", "which the claim does not allow", failing(func(short *cloud.NoCapacity) error {
			return &cloud.NoCapacity{Offers: append(slices.Clone(short.Offers), reservation)}
		})},
		{names, "the catalogue does not know", "shows it as available", func(_ *bench, near *broken) {
			near.catalog = func(ctx context.Context, _ cloud.ClassRef) (*catalog.Catalog, error) { return sample, ctx.Err() }
		}},
		{names, "it is taken off the list", "no longer in the catalogue", func(_ *bench, near *broken) {
			near.catalog = func(ctx context.Context, class cloud.ClassRef) (*catalog.Catalog, error) {
				c, err := near.Provider.Catalog(ctx, class)
				if err != nil {
					return nil, err
				}
				c = copied(c)
				for i := range c.Types {
					c.Types[i].Offerings = slices.DeleteFunc(c.Types[i].Offerings, func(o catalog.Offering) bool { return !o.Available })
				}
				return c, nil
			}
		}},
		{names, "the whole zone is taken for short", "is unavailable", func(_ *bench, near *broken) {
			near.catalog = func(ctx context.Context, class cloud.ClassRef) (*catalog.Catalog, error) {
				c, err := near.Provider.Catalog(ctx, class)
				if err != nil {
					return nil, err
				}
				return withoutShortZones(copied(c)), nil
			}
		}},
		{avoids, "only one thing is tried", "insufficient capacity", func(on *bench, near *broken) {
			near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
				o := cloud.Candidates(&c, sample)[0].Offer()
				c.Requirements = c.Requirements.With(
					requirement.New(requirement.KeyInstanceType, requirement.In, o.InstanceType),
					requirement.New(requirement.KeyZone, requirement.In, o.Zone))
				return near.Provider.Create(ctx, c)
			}
		}},
		{avoids, "the dearest is tried next", "the cheapest that is left", func(on *bench, near *broken) {
			calls := 0
			near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
				if calls++; calls > 1 {
					c.Requests.CPU = 20_000
				}
				return near.Provider.Create(ctx, c)
			}
		}},
		{avoids, "the shortage is forgotten", "shows it as available", func(_ *bench, near *broken) {
			near.catalog = func(ctx context.Context, _ cloud.ClassRef) (*catalog.Catalog, error) { return sample, ctx.Err() }
		}},
		{class, "another class is taken", "want ClassNotReady", func(on *bench, near *broken) {
			asks(func(c *cloud.Claim) { c.Class = on.Class })(on, near)
		}},
		{class, "its catalogue is shown", "the catalogue of a class", func(_ *bench, near *broken) {
			near.catalog = func(ctx context.Context, _ cloud.ClassRef) (*catalog.Catalog, error) { return sample, ctx.Err() }
		}},
	}
}

func withoutShortZones(c *catalog.Catalog) *catalog.Catalog {
	short := map[string]bool{}
	for i := range c.Types {
		for _, o := range c.Types[i].Offerings {
			short[o.Zone] = short[o.Zone] || !o.Available
		}
	}
	for i := range c.Types {
		for j := range c.Types[i].Offerings {
			o := &c.Types[i].Offerings[j]
			o.Available = !short[o.Zone]
		}
	}
	return c
}

// lists lets list show something else than what there is.
func lists(change func([]cloud.Instance) []cloud.Instance) func(*bench, *broken) {
	return func(_ *bench, near *broken) {
		near.list = func(ctx context.Context) ([]cloud.Instance, error) {
			found, err := near.Provider.List(ctx)
			return change(found), err
		}
	}
}

func badLists() []breakage {
	const listed, unknown, deletes, one, death = "what exists is listed with its identity", "what never was is not found",
		"delete may be called again, and ends", "delete removes one instance", "what dies by itself is not found"
	return []breakage{
		{listed, "one is missing", "is not listed", lists(func(l []cloud.Instance) []cloud.Instance { return l[1:] })},
		{listed, "one is there twice", "is listed twice", lists(func(l []cloud.Instance) []cloud.Instance { return append(l, l[0]) })},
		{listed, "another cluster's is there", "4 are listed", lists(func(l []cloud.Instance) []cloud.Instance {
			return append(l, cloud.Instance{ProviderID: "zzz"})
		})},
		{listed, "they are in no order", "not in the order", lists(func(l []cloud.Instance) []cloud.Instance { slices.Reverse(l); return l })},
		{listed, "they have no identity", "was bought for", lists(func(l []cloud.Instance) []cloud.Instance {
			for i := range l {
				l[i].ClaimUID = ""
			}
			return l
		})},
		{"get and list agree", "get is in another zone", "get disagrees", func(_ *bench, near *broken) {
			near.get = func(ctx context.Context, id string) (cloud.Instance, error) {
				i, err := near.Provider.Get(ctx, id)
				i.Offer.Zone = "elsewhere"
				return i, err
			}
		}},
		{unknown, "get has no type for it", "get", func(_ *bench, near *broken) {
			near.get = func(ctx context.Context, id string) (cloud.Instance, error) {
				i, err := near.Provider.Get(ctx, id)
				if err != nil {
					err = errors.New(err.Error())
				}
				return i, err
			}
		}},
		{unknown, "delete is content", "delete", func(_ *bench, near *broken) {
			near.remove = func(ctx context.Context, id string) error {
				if err := near.Provider.Delete(ctx, id); !cloud.IsNotFound(err) {
					return err
				}
				return nil
			}
		}},
		{deletes, "it is not found once it is deleted", "while the instance exists", func(_ *bench, near *broken) {
			deleted := map[string]bool{}
			near.remove = func(ctx context.Context, id string) error {
				if deleted[id] {
					return &cloud.NotFound{ProviderID: id}
				}
				deleted[id] = true
				return near.Provider.Delete(ctx, id)
			}
		}},
		{deletes, "what cannot be seen yet is not found", "while the instance exists", func(_ *bench, near *broken) {
			near.remove = func(ctx context.Context, id string) error {
				if _, err := near.Get(ctx, id); err != nil {
					return err
				}
				return near.Provider.Delete(ctx, id)
			}
		}},
		{deletes, "it never ends", "after the end", func(_ *bench, near *broken) {
			near.remove = func(context.Context, string) error { return nil }
		}},
		{one, "all are deleted", "was not deleted", func(_ *bench, near *broken) {
			near.remove = func(ctx context.Context, id string) error {
				all, err := near.List(ctx)
				for _, i := range all {
					err = errors.Join(err, near.Provider.Delete(ctx, i.ProviderID))
				}
				return err
			}
		}},
		{one, "it is not shown as terminating", "is deleted, and listed as", lists(func(l []cloud.Instance) []cloud.Instance {
			for i := range l {
				l[i].State = cloud.Running
			}
			return l
		})},
		{death, "what was seen is remembered", "after its end", func(_ *bench, near *broken) {
			seen := map[string]cloud.Instance{}
			near.create = func(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
				i, err := near.Provider.Create(ctx, c)
				seen[i.ProviderID] = i
				return i, err
			}
			near.get = func(_ context.Context, id string) (cloud.Instance, error) { return seen[id], nil }
		}},
	}
}
