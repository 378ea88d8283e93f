package conformance

import (
	"bytes"
	"encoding/json"
	"slices"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

func catalogueObeysRules(t *lawRun) {
	c := t.catalog()
	if len(c.Types) == 0 {
		t.fatalf("the catalogue is empty")
	}
	if !slices.ContainsFunc(lines(c), func(l offered) bool { return l.offering.Available }) {
		t.errorf("nothing is available")
	}
	description := t.Provider.Describe()
	names := map[string]bool{}
	for i := range c.Types {
		kind := &c.Types[i]
		if kind.Name == "" || names[kind.Name] {
			t.errorf("type %q has no name of its own", kind.Name)
		}
		names[kind.Name] = true
		t.checkLabels(kind, description)
		for j := range kind.Offerings {
			t.checkOffering(offered{kind, &kind.Offerings[j]}, description)
		}
	}
	t.checkOffers(c)
}

// checkLabels: all well-known labels are defined, so that pods can ask for them and for
// their absence. The pool's name is not the machine's.
func (t *lawRun) checkLabels(kind *catalog.Type, d cloud.Description) {
	for _, key := range d.Vocabulary().WellKnown().Sorted() {
		if key == requirement.KeyNodePool || slices.Contains(t.Undefined, key) {
			continue
		}
		if !kind.Requirements.Has(key) {
			t.errorf("type %s does not define the well-known label %s", kind.Name, key)
		}
	}
	if kind.Requirements.Has(requirement.KeyNodePool) {
		t.errorf("type %s defines the pool's name, which is the pool's", kind.Name)
	}
	if name, single := kind.Requirements.Get(requirement.KeyInstanceType).Single(); !single || name != kind.Name {
		t.errorf("type %s is labelled %s", kind.Name, kind.Requirements.Get(requirement.KeyInstanceType))
	}
	if kind.Requirements.Impossible() {
		t.errorf("type %s has labels that no node can have: %s", kind.Name, kind.Requirements)
	}
}

func (t *lawRun) checkOffering(l offered, d cloud.Description) {
	o := l.offering
	if o.Zone == "" || o.CapacityType != catalog.OnDemand && o.CapacityType != catalog.Spot && o.CapacityType != catalog.Reserved {
		t.errorf("offering %s has no zone, or no capacity type that is one", l.offer())
	}
	if o.Price < 0 {
		t.errorf("offering %s has the negative price %s", l.offer(), o.Price)
	}
	t.checkReservation(l, d)
	t.checkRoom(l)
	if !o.Available {
		return // it may be in a zone that the class cannot use
	}
	for _, key := range []string{requirement.KeyZone, requirement.KeyCapacityType} {
		own, _ := l.label(key)
		if !l.kind.Requirements.Get(key).Compatible(own) {
			t.errorf("offering %s is available, but its type's labels exclude it: %s", l.offer(), l.kind.Requirements.Get(key))
		}
	}
	for own := range o.Extra.All() {
		if l.kind.Requirements.Has(own.Key()) && !own.MayBeAbsent() && !l.kind.Requirements.Get(own.Key()).Compatible(own) {
			t.errorf("offering %s is labelled %s, but its type says %s", l.offer(), own, l.kind.Requirements.Get(own.Key()))
		}
	}
}

// checkReservation: only reserved offerings have an ID, and it is what claims ask for.
func (t *lawRun) checkReservation(l offered, d cloud.Description) {
	reserved := l.offering.CapacityType == catalog.Reserved
	if reserved != (l.offering.ReservationID != "") {
		t.errorf("offering %s has the reservation %q", l.offer(), l.offering.ReservationID)
	}
	if l.offering.ReservationCapacity < 0 || reserved && l.offering.Available && l.offering.ReservationCapacity == 0 {
		t.errorf("offering %s is available: %t, and has %d left", l.offer(), l.offering.Available, l.offering.ReservationCapacity)
	}
	if reserved {
		own, bound := l.label(d.ReservationLabel)
		if id, single := own.Single(); d.ReservationLabel == "" || !bound || !single || id != l.offering.ReservationID {
			t.errorf("offering %s: its label %q does not hold its reservation", l.offer(), d.ReservationLabel)
		}
		return
	}
	for _, key := range d.ReservedLabels {
		if own, bound := l.label(key); !bound || own.Operator() != requirement.DoesNotExist {
			t.errorf("offering %s is not reserved, but may have the label %s", l.offer(), key)
		}
	}
}

// checkRoom: pods cannot have more than there is.
func (t *lawRun) checkRoom(l offered) {
	capacity := l.kind.FullCapacity(l.offering)
	room := l.kind.Allocatable(l.offering)
	if over := room.Lacking(capacity); over != "" {
		t.errorf("offering %s: %d of %s is allocatable, of %d", l.offer(), room.Get(over), over, capacity.Get(over))
	}
	for _, a := range capacity.Amounts() {
		if a.Value < 0 {
			t.errorf("offering %s has %d of %s", l.offer(), a.Value, a.Name)
		}
	}
	if capacity.CPU <= 0 || capacity.Memory <= 0 {
		t.errorf("offering %s has no processor or no memory", l.offer())
	}
}

// checkOffers: an offer's name stands for what is bought, unless labels tell more.
func (t *lawRun) checkOffers(c *catalog.Catalog) {
	seen := map[cloud.Offer][]requirement.Set{}
	for _, l := range lines(c) {
		if slices.ContainsFunc(seen[l.offer()], l.offering.Extra.Equal) {
			t.errorf("offering %s is there twice", l.offer())
		}
		seen[l.offer()] = append(seen[l.offer()], l.offering.Extra)
	}
}

// catalogueIsFrozen does what makes a provider learn, and looks at what it gave before.
func catalogueIsFrozen(t *lawRun) {
	c := t.catalog()
	before := text(t, c)
	bought := t.create(t.claim(onDemand()))
	t.Exhaust(bought.Offer)
	if _, err := t.Provider.Create(t.ctx, t.claim(only(bought.Offer)...)); err == nil {
		t.fatalf("%s was sold after it was exhausted", bought.Offer)
	}
	t.catalog()
	if !bytes.Equal(before, text(t, c)) {
		t.errorf("a catalogue changed after it was handed out")
	}
}

func text(t *lawRun, c *catalog.Catalog) []byte {
	data, err := json.Marshal(c)
	if err != nil {
		t.fatalf("write the catalogue: %w", err)
	}
	return data
}

func catalogueIsStable(t *lawRun) {
	first := t.catalog()
	if second := t.catalog(); first != second {
		t.errorf("two looks at an unchanged catalogue give two catalogues")
	}
	bought := t.create(t.claim(onDemand()))
	t.Exhaust(bought.Offer)
	// Another law checks the result.
	_, _ = t.Provider.Create(t.ctx, t.claim(only(bought.Offer)...))
	if third := t.catalog(); t.catalog() != third {
		t.errorf("two looks at an unchanged catalogue give two catalogues after a shortage")
	}
}
