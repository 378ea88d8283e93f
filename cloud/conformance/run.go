package conformance

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// lawRun is one law being tried.
type lawRun struct {
	Harness
	ctx    context.Context
	law    string
	claims int
	wrong  []error
}

// halt ends a run that cannot go on.
type halt struct{}

// run recovers from halt only: a panic of the provider must stay visible.
func (t *lawRun) run(law func(*lawRun)) {
	defer func() {
		if reason := recover(); reason != nil && reason != any(halt{}) {
			panic(reason)
		}
	}()
	law(t)
}

func (t *lawRun) errorf(format string, args ...any) {
	t.wrong = append(t.wrong, fmt.Errorf(format, args...))
}

// fatalf ends the run, for failures that the rest of a law cannot work with.
func (t *lawRun) fatalf(format string, args ...any) {
	t.errorf(format, args...)
	panic(halt{})
}

const pool = "conformance"

// claim asks for something small, with a UID that no claim had before.
func (t *lawRun) claim(requirements ...requirement.Requirement) cloud.Claim {
	t.claims++
	own := requirement.New(requirement.KeyNodePool, requirement.In, pool)
	return cloud.Claim{
		UID:          fmt.Sprintf("%s %d", t.law, t.claims),
		Name:         fmt.Sprintf("%s-%d", pool, t.claims),
		Pool:         pool,
		Class:        t.Class,
		Requirements: requirement.NewSet(append(slices.Clone(requirements), own)...),
		Requests:     model.Resources{CPU: 100, Pods: 1},
		Labels:       map[string]string{requirement.KeyNodePool: pool},
	}
}

func is(key string, values ...string) requirement.Requirement {
	return requirement.New(key, requirement.In, values...)
}

// onDemand is what laws ask for that need a purchase to be repeatable.
func onDemand() requirement.Requirement { return is(requirement.KeyCapacityType, catalog.OnDemand) }

// only asks for one offering.
func only(o cloud.Offer) []requirement.Requirement {
	return []requirement.Requirement{
		is(requirement.KeyInstanceType, o.InstanceType),
		is(requirement.KeyZone, o.Zone),
		is(requirement.KeyCapacityType, o.CapacityType),
	}
}

// create buys, and ends the run if that is not possible.
func (t *lawRun) create(claim cloud.Claim) cloud.Instance {
	i, err := t.Provider.Create(t.ctx, claim)
	if err != nil {
		t.fatalf("create for %s: %w", claim.Requirements, err)
	}
	if i.ProviderID == "" {
		t.fatalf("the instance has no provider ID")
	}
	return i
}

// createSettled buys and waits until all readers can see it.
func (t *lawRun) createSettled(claim cloud.Claim) cloud.Instance {
	i := t.create(claim)
	t.Advance(t.Provider.Describe().VisibleWithin)
	return i
}

func (t *lawRun) catalog() *catalog.Catalog {
	c, err := t.Provider.Catalog(t.ctx, t.Class)
	switch {
	case err != nil:
		t.fatalf("catalogue of %s: %w", t.Class, err)
	case c == nil:
		t.fatalf("the catalogue of %s is nil without an error", t.Class)
	}
	return c
}

func (t *lawRun) list() map[string]cloud.Instance {
	found, err := t.Provider.List(t.ctx)
	if err != nil {
		t.fatalf("list: %w", err)
	}
	byID := map[string]cloud.Instance{}
	for _, i := range found {
		if _, twice := byID[i.ProviderID]; twice {
			t.errorf("%s is listed twice", i.ProviderID)
		}
		byID[i.ProviderID] = i
	}
	return byID
}

// delete removes an instance and waits for its end.
func (t *lawRun) delete(id string) {
	if err := t.Provider.Delete(t.ctx, id); err != nil {
		t.fatalf("delete %s: %w", id, err)
	}
	t.Advance(t.EndsWithin + t.Provider.Describe().VisibleWithin)
}

// sold checks how many machines the cloud has sold in all.
func (t *lawRun) sold(want int, after string) {
	if got := t.Bought(); got != want {
		t.errorf("after %s the cloud has sold %d instance(s), want %d", after, got, want)
	}
}

// offered is one line of a catalogue.
type offered struct {
	kind     *catalog.Type
	offering *catalog.Offering
}

func lines(c *catalog.Catalog) []offered {
	var all []offered
	for i := range c.Types {
		for j := range c.Types[i].Offerings {
			all = append(all, offered{&c.Types[i], &c.Types[i].Offerings[j]})
		}
	}
	return all
}

func (l offered) offer() cloud.Offer {
	return cloud.Offer{
		InstanceType: l.kind.Name, Zone: l.offering.Zone,
		CapacityType: l.offering.CapacityType, Reservation: l.offering.ReservationID,
	}
}

// allowed reads a claim key by key, unlike cloud.Candidates: what providers share they
// are not judged by.
func (l offered) allowed(claim *cloud.Claim) bool {
	for asked := range claim.Requirements.All() {
		if has, bound := l.label(asked.Key()); bound && !has.Compatible(asked) {
			return false
		}
	}
	room := l.kind.Allocatable(l.offering)
	return !slices.ContainsFunc(claim.Requests.Amounts(), func(a model.Amount) bool { return a.Value > room.Get(a.Name) })
}

// label is what a node bought this way can have for a key.
func (l offered) label(key string) (requirement.Requirement, bool) {
	switch {
	case key == requirement.KeyZone:
		return is(key, l.offering.Zone), true
	case key == requirement.KeyCapacityType:
		return is(key, l.offering.CapacityType), true
	case l.offering.Extra.Has(key):
		return l.offering.Extra.Get(key), true
	}
	return l.kind.Requirements.Get(key), l.kind.Requirements.Has(key)
}

// choices are the available lines that a claim allows.
func choices(c *catalog.Catalog, claim *cloud.Claim) []offered {
	return slices.DeleteFunc(lines(c), func(l offered) bool { return !l.offering.Available || !l.allowed(claim) })
}

func cheapest(c *catalog.Catalog, claim *cloud.Claim) (model.Money, bool) {
	all := choices(c, claim)
	if len(all) == 0 {
		return 0, false
	}
	return slices.MinFunc(all, func(a, b offered) int { return int(a.offering.Price - b.offering.Price) }).offering.Price, true
}

// find is the line that an instance was bought by.
func find(c *catalog.Catalog, o cloud.Offer) (offered, bool) {
	all := lines(c)
	i := slices.IndexFunc(all, func(l offered) bool { return l.offer() == o })
	if i < 0 {
		return offered{}, false
	}
	return all[i], true
}

// values are what available lines have for a key, sorted.
func values(c *catalog.Catalog, key string) []string {
	seen := map[string]bool{}
	for _, l := range lines(c) {
		if has, bound := l.label(key); bound && l.offering.Available && !has.Complement() {
			for value := range has.All() {
				seen[value] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
