package topology

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/reason"
)

// keysOf are the keys on which the shape must be told where to go, sorted.
func (a *Assigner) keysOf(i int) []string {
	r := a.shapes[i].Rules
	groups := a.reg.Groups()
	var keys []string
	for _, s := range r.Spreads {
		keys = append(keys, groups[s.Group].Key)
	}
	for _, c := range r.Caps {
		keys = append(keys, groups[c.Group].Key)
	}
	for _, n := range r.Needs {
		keys = append(keys, groups[n.Group].Key)
	}
	for _, g := range r.Counts {
		if a.groups.watched[g] || a.groups.needed[g] {
			keys = append(keys, groups[g].Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// choose finds a domain on each key for one more pod of the shape. If the choice on one key leaves no
// choice on the next, choose does not go back.
func (a *Assigner) choose(i int) ([]Pin, reason.Reason) {
	keys := a.keysOf(i)
	for {
		var pins []Pin
		var why reason.Reason
		for _, key := range keys {
			var pin Pin
			if pin, why = a.pin(i, key, pins); why.Code != reason.None {
				break
			}
			pins = append(pins, pin)
		}
		if why.Code == reason.None || len(pins) == 0 {
			return pins, why
		}
		a.banned[banKey(i, pins)] = true
	}
}

// pin chooses on one key. A shape that is only counted there may also go where nodes do
// not have the label: they are in no domain.
func (a *Assigner) pin(i int, key string, pins []Pin) (Pin, reason.Reason) {
	best, why := a.best(i, key, pins)
	if why.Code == reason.None {
		return Pin{Key: key, Values: []string{best}}, why
	}
	nowhere := Pin{Key: key}
	if a.bound(i, key) || a.banned[banKey(i, append(slices.Clip(pins), nowhere))] {
		return Pin{}, why
	}
	return nowhere, reason.Reason{}
}

// bound reports whether the shape has a rule of its own on the key.
func (a *Assigner) bound(i int, key string) bool {
	r := a.shapes[i].Rules
	on := func(g DomainGroup) bool { return a.reg.Groups()[g].Key == key }
	return slices.ContainsFunc(r.Spreads, func(s Spread) bool { return on(s.Group) }) ||
		slices.ContainsFunc(r.Caps, func(c Cap[DomainGroup]) bool { return on(c.Group) }) ||
		slices.ContainsFunc(r.Needs, func(n Need[DomainGroup]) bool { return on(n.Group) })
}

func (a *Assigner) best(i int, key string, pins []Pin) (string, reason.Reason) {
	if a.strategy != Even {
		return a.cheapest(i, key, pins)
	}
	why := reason.Reason{Code: reason.NoOffering, Where: key}
	best, bestLoad := Domain{}, int32(-1)
	for _, d := range a.atlas.Domains(i, key, pins) {
		if a.barred(i, key, pins, d.Value) {
			continue
		}
		if r := a.admit(i, key, d.Value); r.Code != reason.None {
			why = r
			continue
		}
		load := a.load(i, key, d.Value)
		if bestLoad < 0 || cmp.Or(cmp.Compare(load, bestLoad), cmp.Compare(d.Price, best.Price), strings.Compare(d.Value, best.Value)) < 0 {
			best, bestLoad = d, load
		}
	}
	if bestLoad < 0 {
		return "", why
	}
	return best.Value, reason.Reason{}
}

// barred reports whether the domain was tried for the shape in vain.
func (a *Assigner) barred(i int, key string, pins []Pin, domain string) bool {
	return len(a.banned) > 0 && a.banned[banKey(i, append(slices.Clip(pins), Pin{key, []string{domain}}))]
}
