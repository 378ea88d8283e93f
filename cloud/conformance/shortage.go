package conformance

import (
	"errors"
	"slices"

	"tenon/cloud"
	"tenon/core/catalog"
)

func namesShortage(t *lawRun) {
	bought := t.create(t.claim(onDemand()))
	before := t.catalog()
	t.Exhaust(bought.Offer)
	claim := t.claim(only(bought.Offer)...)
	i, err := t.Provider.Create(t.ctx, claim)
	short, typed := errors.AsType[*cloud.NoCapacity](err)
	if !typed {
		t.fatalf("%s is exhausted, and create gives %q, error %v; want NoCapacity", bought.Offer, i.ProviderID, err)
	}
	if !slices.Contains(short.Offers, bought.Offer) {
		t.errorf("%s is exhausted, and the error names %v", bought.Offer, short.Offers)
	}
	for _, offer := range short.Offers {
		if l, listed := find(before, offer); !listed || !l.allowed(&claim) {
			t.errorf("the error names %s, which the claim does not allow", offer)
		}
	}
	t.sold(1, "a shortage")
	t.checkUnavailable(bought.Offer)
	t.checkOthers(before, bought.Offer)
	// The next one is refused as well, whether the cloud is asked or not.
	t.checkRefused(t.claim(only(bought.Offer)...), "what is short")
}

func (t *lawRun) checkUnavailable(o cloud.Offer) {
	l, listed := find(t.catalog(), o)
	switch {
	case !listed:
		t.errorf("%s is no longer in the catalogue: a shortage takes nothing off the list", o)
	case l.offering.Available:
		t.errorf("%s is short, and the catalogue shows it as available", o)
	}
}

// checkOthers: nothing else has become unavailable.
func (t *lawRun) checkOthers(before *catalog.Catalog, short cloud.Offer) {
	after := t.catalog()
	for _, was := range lines(before) {
		if !was.offering.Available || was.offer() == short {
			continue
		}
		if is, listed := find(after, was.offer()); !listed || !is.offering.Available {
			t.errorf("%s was short, and %s is unavailable", short, was.offer())
		}
	}
}

func avoidsShortage(t *lawRun) {
	first := t.create(t.claim(onDemand()))
	t.Exhaust(first.Offer)
	claim := t.claim(onDemand())
	second := t.create(claim)
	if second.Offer == first.Offer {
		t.fatalf("%s was sold after it was exhausted", first.Offer)
	}
	after := t.catalog()
	least, _ := cheapest(after, &claim)
	if l, listed := find(after, second.Offer); !listed || l.offering.Price != least {
		t.errorf("%s was bought instead of %s, for %s; the cheapest that is left costs %s", second.Offer, first.Offer, price(l), least)
	}
	t.checkUnavailable(first.Offer)
	t.sold(2, "a shortage that could be avoided")
}

func refusesClass(t *lawRun) {
	claim := t.claim(onDemand())
	claim.Class = t.UnreadyClass
	i, err := t.Provider.Create(t.ctx, claim)
	if _, typed := errors.AsType[*cloud.ClassNotReady](err); !typed {
		t.errorf("create with a class that is not ready gives %q, error %v; want ClassNotReady", i.ProviderID, err)
	}
	t.sold(0, "asking with a class that is not ready")
	_, err = t.Provider.Catalog(t.ctx, t.UnreadyClass)
	if _, typed := errors.AsType[*cloud.ClassNotReady](err); !typed {
		t.errorf("the catalogue of a class that is not ready: error %v, want ClassNotReady", err)
	}
}
