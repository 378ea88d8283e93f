package conformance

import (
	"errors"
	"slices"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// few is how many values of a label are tried: catalogues have hundreds of types.
const few = 6

// respectsRequirements asks for every value both with and without a capacity type: a
// reservation that happens to suit must not hide that a key does not count.
func respectsRequirements(t *lawRun) {
	if zones := values(t.catalog(), requirement.KeyZone); len(zones) < 2 {
		t.fatalf("zones %v: the harness promises two", zones)
	}
	for _, key := range []string{
		requirement.KeyZone, requirement.KeyCapacityType, requirement.KeyArch, requirement.KeyOS, requirement.KeyInstanceType,
	} {
		known := values(t.catalog(), key)
		for _, value := range known[:min(few, len(known))] {
			t.checkAsked(t.claim(is(key, value)))
			t.checkAsked(t.claim(is(key, value), onDemand()))
		}
		if len(known) > 1 {
			t.checkAsked(t.claim(requirement.New(key, requirement.NotIn, known[0])))
		}
	}
	t.checkRefused(t.claim(is(requirement.KeyZone, "nowhere")), "a zone that does not exist")
}

// checkAsked buys for a claim, if there is something to buy, and compares what comes
// with what was asked for.
func (t *lawRun) checkAsked(claim cloud.Claim) {
	if len(choices(t.catalog(), &claim)) == 0 {
		return
	}
	i := t.create(claim)
	for asked := range claim.Requirements.All() {
		value, labelled := i.Labels[asked.Key()]
		switch {
		case asked.Key() == requirement.KeyNodePool: // of the claim, not of the machine
		case labelled && !asked.Has(value):
			t.errorf("%s was asked for, %s has %q", asked, i.Offer, value)
		case !labelled && !asked.MayBeAbsent():
			t.errorf("%s was asked for, %s has no such label", asked, i.Offer)
		}
	}
	if l, listed := find(t.catalog(), i.Offer); !listed || !l.allowed(&claim) {
		t.errorf("%s was bought, which %s does not allow or the catalogue does not have", i.Offer, claim.Requirements)
	}
}

// checkRefused asks for an unavailable offering.
func (t *lawRun) checkRefused(claim cloud.Claim, what string) {
	sold := t.Bought()
	i, err := t.Provider.Create(t.ctx, claim)
	if _, refused := errors.AsType[*cloud.NoCapacity](err); !refused {
		t.errorf("%s was asked for, and came %q, error %v; want NoCapacity", what, i.ProviderID, err)
	}
	t.sold(sold, "asking for "+what)
}

func keepsCatalogue(t *lawRun) {
	claim := t.claim(onDemand())
	c := t.catalog()
	i := t.create(claim)
	l, listed := find(c, i.Offer)
	if !listed {
		t.fatalf("%s was bought, which the catalogue does not have", i.Offer)
	}
	if want := l.kind.FullCapacity(l.offering); !i.Capacity.Equal(want) {
		t.errorf("capacity is %v, the catalogue says %v", i.Capacity, want)
	}
	if want := l.kind.Allocatable(l.offering); !i.Allocatable.Equal(want) {
		t.errorf("allocatable is %v, the catalogue says %v", i.Allocatable, want)
	}
	for key := range wellKnown(t.Provider) {
		has, bound := l.label(key)
		value, labelled := i.Labels[key]
		want, single := has.Single()
		switch {
		case !bound || key == requirement.KeyNodePool:
		case single && (!labelled || value != want):
			t.errorf("label %s is %q (there: %t), the catalogue says %s", key, value, labelled, has)
		case labelled && !has.Has(value):
			t.errorf("label %s is %q, the catalogue says %s", key, value, has)
		}
	}
	if i.Launched.IsZero() || !i.State.Known() || i.State == cloud.Terminating {
		t.errorf("a new instance was launched at %s and is %q", i.Launched, i.State)
	}
}

func wellKnown(p cloud.Provider) map[string]bool {
	keys := map[string]bool{}
	for _, key := range p.Describe().Vocabulary().WellKnown().Sorted() {
		keys[key] = true
	}
	return keys
}

func holdsRequests(t *lawRun) {
	for _, resource := range []string{model.CPU, model.Memory, model.Pods} {
		most := int64(0)
		small := t.claim(onDemand())
		for _, l := range choices(t.catalog(), &small) {
			most = max(most, l.kind.Allocatable(l.offering).Get(resource))
		}
		for _, part := range []int64{most / 2, most} {
			claim := t.claim(onDemand())
			claim.Requests = model.NewResources(model.Amount{Name: resource, Value: part})
			if i := t.create(claim); i.Allocatable.Get(resource) < part {
				t.errorf("%d of %s was requested, %s has %d", part, resource, i.Offer, i.Allocatable.Get(resource))
			}
		}
		claim := t.claim(onDemand())
		claim.Requests = model.NewResources(model.Amount{Name: resource, Value: most + 1})
		t.checkRefused(claim, "more "+resource+" than any machine has")
	}
}

// buysCheapest asks for on-demand only: among spot offers a provider may prefer one that lives longer.
func buysCheapest(t *lawRun) {
	asks := [][]requirement.Requirement{{onDemand()}}
	for _, zone := range values(t.catalog(), requirement.KeyZone) {
		asks = append(asks, []requirement.Requirement{onDemand(), is(requirement.KeyZone, zone)})
	}
	for _, arch := range values(t.catalog(), requirement.KeyArch) {
		asks = append(asks, []requirement.Requirement{onDemand(), is(requirement.KeyArch, arch)})
	}
	for _, ask := range asks {
		for _, cpu := range []int64{100, 1500, 3000} {
			claim := t.claim(ask...)
			claim.Requests.CPU = cpu
			t.checkPrice(claim, t.catalog())
		}
	}
}

func (t *lawRun) checkPrice(claim cloud.Claim, c *catalog.Catalog) {
	least, any := cheapest(c, &claim)
	if !any {
		return
	}
	i := t.create(claim)
	if l, listed := find(c, i.Offer); !listed || l.offering.Price != least {
		t.errorf("%s was bought for %s, the cheapest that %s allows costs %s", i.Offer, price(l), claim.Requirements, least)
	}
}

func price(l offered) string {
	if l.offering == nil {
		return "no price"
	}
	return l.offering.Price.String()
}

// followsOverlays makes the dearest type cost nothing, as the claim's pool sees it.
func followsOverlays(t *lawRun) {
	claim := t.claim(onDemand())
	overlaid := &catalog.Catalog{Types: slices.Clone(t.catalog().Types)}
	dearest := slices.MaxFunc(choices(overlaid, &claim), func(a, b offered) int {
		return int(a.offering.Price - b.offering.Price)
	}).kind
	dearest.Offerings = slices.Clone(dearest.Offerings)
	for i := range dearest.Offerings {
		dearest.Offerings[i].Price = 0
	}
	dearest.PriceOverlay = true
	claim.Catalog = overlaid
	if i := t.create(claim); i.Offer.InstanceType != dearest.Name {
		t.errorf("%s was bought, although %s is free for this pool", i.Offer, dearest.Name)
	}
}

func keepsMinimums(t *lawRun) {
	sold := t.Bought()
	all := values(t.catalog(), requirement.KeyInstanceType)
	two := all[:min(2, len(all))]
	asked := is(requirement.KeyInstanceType, two...).WithMinValues(len(two) + 1)
	claim := t.claim(asked)
	t.checkRefused(claim, "a choice that does not exist")
	relaxed := t.claim(asked)
	relaxed.BestEffortMinimum = true
	t.create(relaxed)
	t.create(t.claim(is(requirement.KeyInstanceType, two...).WithMinValues(len(two))))
	t.sold(sold+2, "two claims whose minimums can be kept or lowered")
}

// keepsReservations buys a reservation empty. Catalogues without one have nothing to keep.
func keepsReservations(t *lawRun) {
	c := t.catalog()
	at := slices.IndexFunc(lines(c), func(l offered) bool {
		return l.offering.CapacityType == catalog.Reserved && l.offering.Available && l.offering.ReservationCapacity <= 100
	})
	if at < 0 {
		return
	}
	reserved := lines(c)[at]
	asks := append(only(reserved.offer()), is(t.Provider.Describe().ReservationLabel, reserved.offering.ReservationID))
	for left := reserved.offering.ReservationCapacity; left > 0; left-- {
		if now, _ := find(t.catalog(), reserved.offer()); now.offering == nil || now.offering.ReservationCapacity != left {
			t.errorf("with %d left the catalogue has another number", left)
		}
		if i := t.create(t.claim(asks...)); i.Offer != reserved.offer() {
			t.errorf("%s was bought for a claim that wants %s", i.Offer, reserved.offer())
		}
	}
	if now, listed := find(t.catalog(), reserved.offer()); listed && now.offering.Available {
		t.errorf("%s is available after it was bought empty", reserved.offer())
	}
	t.checkRefused(t.claim(asks...), "more than a reservation holds")
}
