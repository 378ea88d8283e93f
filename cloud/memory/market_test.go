package memory_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

func TestStockIsFiniteAndComesBack(t *testing.T) {
	t.Parallel()
	offer := cloud.Offer{InstanceType: "compute-1", Zone: "memory-1a", CapacityType: catalog.OnDemand}
	clock, _, near := world(memory.Options{Stop: time.Minute, Stock: map[cloud.Offer]int{offer: 1}, ShortageMemory: time.Second})
	asks := append(onDemand(offer.Zone), is(requirement.KeyInstanceType, offer.InstanceType))
	first := mustCreate(t, near, claim("a", asks...))
	short := func(when string) {
		t.Helper()
		_, err := near.Create(t.Context(), claim("b", asks...))
		if none, is := errors.AsType[*cloud.NoCapacity](err); !is || !slices.Equal(none.Offers, []cloud.Offer{offer}) {
			t.Errorf("%s: %v, want NoCapacity for %s", when, err, offer)
		}
		clock.Step(time.Second) // the shortage is forgotten, and asked for again
	}
	short("while the only one runs")
	if err := near.Delete(t.Context(), first.ProviderID); err != nil {
		t.Fatal(err)
	}
	short("while the only one ends")
	clock.Step(time.Minute)
	if again := mustCreate(t, near, claim("b", asks...)); again.Offer != offer {
		t.Errorf("%s was bought, want %s", again.Offer, offer)
	}
}

func TestShortagesAreForgottenInTime(t *testing.T) {
	t.Parallel()
	offer := cloud.Offer{InstanceType: "compute-1", Zone: "memory-1a", CapacityType: catalog.OnDemand}
	clock, far, near := world(memory.Options{Stock: map[cloud.Offer]int{offer: 0}})
	asks := append(onDemand(offer.Zone), is(requirement.KeyInstanceType, offer.InstanceType))
	available := func(p cloud.Provider) bool {
		t.Helper()
		c, err := p.Catalog(t.Context(), claim("").Class)
		if err != nil {
			t.Fatal(err)
		}
		ask := claim("", asks...)
		return len(cloud.Candidates(&ask, c)) > 0
	}
	if !available(near) {
		t.Error("no launch was tried, and it is known to be short")
	}
	if _, err := near.Create(t.Context(), claim("a", asks...)); cloud.MetricLabel(err) != "InsufficientCapacityError" {
		t.Errorf("error %v, want a shortage", err)
	}
	if available(near) {
		t.Error("it was short a moment ago, and is shown as available")
	}
	if !available(far.Connect()) {
		t.Error("a process that has just started knows of the shortage")
	}
	far.SetStock(offer, memory.Unlimited)
	clock.Step(3*time.Minute - 1)
	if available(near) {
		t.Error("the shortage was forgotten too early")
	}
	clock.Step(1)
	if !available(near) {
		t.Error("the shortage was not forgotten")
	}
	mustCreate(t, near, claim("a", asks...))
}
