package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// sample is what is sold, whatever happened; reservation is in it.
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
	return slices.Concat(badDescriptions(), badCatalogues(), badRules(), badPurchases(), badTokens(), badShortages(), badLists(), badManners())
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

// rules are broken by editing a catalogue that is right.
func badRules() []breakage {
	const law = "a catalogue obeys the rules of the core"
	edit := func(name, want string, change func(*catalog.Catalog)) breakage {
		return breakage{law, name, want, func(_ *bench, near *broken) {
			near.catalog = func(ctx context.Context, class cloud.ClassRef) (*catalog.Catalog, error) {
				c, err := near.Provider.Catalog(ctx, class)
				if err != nil {
					return nil, err
				}
				c = copied(c)
				change(c)
				return c, nil
			}
		}}
	}
	first := func(c *catalog.Catalog) *catalog.Offering { return &c.Types[0].Offerings[0] }
	reserved := func(c *catalog.Catalog) *catalog.Offering {
		for i := range c.Types {
			for j := range c.Types[i].Offerings {
				if o := &c.Types[i].Offerings[j]; o.CapacityType == catalog.Reserved {
					return o
				}
			}
		}
		panic("nothing is reserved")
	}
	return []breakage{
		edit("it is empty", "is empty", func(c *catalog.Catalog) { c.Types = nil }),
		edit("nothing can be had", "nothing is available", func(c *catalog.Catalog) {
			for i := range c.Types {
				for j := range c.Types[i].Offerings {
					c.Types[i].Offerings[j].Available = false
				}
			}
		}),
		edit("a name is there twice", "no name of its own", func(c *catalog.Catalog) { c.Types[1].Name = c.Types[0].Name }),
		edit("a well-known label is not defined", "does not define the well-known label", func(c *catalog.Catalog) {
			c.Types[0].Requirements = c.Types[0].Requirements.Without(requirement.KeyWindowsBuild)
		}),
		edit("a type defines the pool", "which is the pool's", func(c *catalog.Catalog) {
			c.Types[0].Requirements = c.Types[0].Requirements.With(requirement.New(requirement.KeyNodePool, requirement.DoesNotExist))
		}),
		edit("a type is labelled as another", "is labelled", func(c *catalog.Catalog) { c.Types[0].Name = "other" }),
		edit("a label cannot be", "no node can have", func(c *catalog.Catalog) {
			c.Types[0].Requirements = c.Types[0].Requirements.Replaced(requirement.New(requirement.KeyOS, requirement.In))
		}),
		edit("no zone", "has no zone", func(c *catalog.Catalog) { first(c).Zone = "" }),
		edit("no capacity type", "no capacity type", func(c *catalog.Catalog) { first(c).CapacityType = "lent" }),
		edit("a negative price", "negative price", func(c *catalog.Catalog) { first(c).Price = -1 }),
		edit("a zone that the type does not name", "type's labels exclude it", func(c *catalog.Catalog) { first(c).Zone = "elsewhere" }),
		edit("a label that the type excludes", "but its type says", func(c *catalog.Catalog) {
			first(c).Extra = first(c).Extra.With(requirement.New(requirement.KeyArch, requirement.In, "riscv64"))
		}),
		edit("a reservation without a name", "has the reservation", func(c *catalog.Catalog) { reserved(c).ReservationID = "" }),
		edit("a reservation's label is another's", "does not hold its reservation", func(c *catalog.Catalog) { reserved(c).ReservationID = "other" }),
		edit("an empty reservation is available", "0 left", func(c *catalog.Catalog) { reserved(c).ReservationCapacity = 0 }),
		edit("what is not reserved may be", "may have the label", func(c *catalog.Catalog) {
			o := reserved(c)
			o.CapacityType, o.ReservationID = catalog.Spot, ""
		}),
		edit("more is allocatable than there is", "is allocatable, of", func(c *catalog.Catalog) {
			c.Types[0].Overhead = model.Resources{Memory: -1}
		}),
		edit("a machine without memory", "no memory", func(c *catalog.Catalog) { c.Types[0].Capacity.Memory = 0 }),
		edit("less than nothing", "has -1 of", func(c *catalog.Catalog) { c.Types[0].Capacity.Storage = -1 }),
		edit("an offering is there twice", "is there twice", func(c *catalog.Catalog) {
			c.Types[0].Offerings = append(c.Types[0].Offerings, *first(c))
		}),
	}
}

func copied(c *catalog.Catalog) *catalog.Catalog {
	out := &catalog.Catalog{Types: slices.Clone(c.Types)}
	for i := range out.Types {
		out.Types[i].Offerings = slices.Clone(out.Types[i].Offerings)
	}
	return out
}

func badCatalogues() []breakage {
	return []breakage{
		{"a catalogue that was handed out never changes", "it is edited in place", "changed after it was handed out", func(_ *bench, near *broken) {
			var handed *catalog.Catalog
			near.catalog = func(ctx context.Context, class cloud.ClassRef) (*catalog.Catalog, error) {
				now, err := near.Provider.Catalog(ctx, class)
				if err != nil {
					return nil, err
				}
				if handed == nil {
					handed = copied(now)
				}
				copy(handed.Types, copied(now).Types)
				return handed, nil
			}
		}},
		{"a catalogue stays the same while nothing changes", "it is made anew for everybody", "two looks", func(_ *bench, near *broken) {
			near.catalog = func(ctx context.Context, class cloud.ClassRef) (*catalog.Catalog, error) {
				c, err := near.Provider.Catalog(ctx, class)
				if err != nil {
					return nil, err
				}
				return copied(c), nil
			}
		}},
		{"a catalogue stays the same while nothing changes", "it is made anew once something was short", "after a shortage", func(_ *bench, near *broken) {
			var first *catalog.Catalog
			near.catalog = func(ctx context.Context, class cloud.ClassRef) (*catalog.Catalog, error) {
				c, err := near.Provider.Catalog(ctx, class)
				if first == nil {
					first = c
				}
				if err != nil || c == first {
					return c, err
				}
				return copied(c), nil
			}
		}},
	}
}

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
		{asked, "nobody says in which zone it is", "has no such label", gives(func(i *cloud.Instance) { delete(i.Labels, requirement.KeyZone) })},
		{asked, "nobody says what it is", "which", gives(func(i *cloud.Instance) { i.Offer = cloud.Offer{} })},

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
		{once, "everybody shares one machine", "two claims share", asks(func(c *cloud.Claim) { c.UID = "one for all" })},
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
		{one, "nobody sees that it is terminating", "is deleted, and listed as", lists(func(l []cloud.Instance) []cloud.Instance {
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

func badManners() []breakage {
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
		{hands, "everybody gets the same map", "what was written into", func(_ *bench, near *broken) {
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
