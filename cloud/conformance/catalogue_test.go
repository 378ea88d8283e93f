package conformance_test

import (
	"context"
	"slices"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

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
		{"a catalogue stays the same while nothing changes", "it is made anew for each caller", "two looks", func(_ *bench, near *broken) {
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
