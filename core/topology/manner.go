package topology

import (
	"cmp"
	"strings"

	"tenon/core/reason"
)

// A spread evens out what it counts, and by default pods that are merely counted take part
// in that. Nobody asks it of them: a spread looks only at the domains where its own pods
// are. Other manners gather pods in the cheapest domain as far as no spread is broken. In
// small clusters that saves nodes; in large ones it comes to the same, because every domain
// is needed.

// Manner is how domains are chosen where rules leave a choice.
type Manner int

const (
	// Even evens out every group that some spread counts.
	Even Manner = iota
	// Gather puts pods that are merely counted into the cheapest domain, and pods with a
	// spread into others as long as there are some.
	Gather
	// Together puts all into the cheapest domain that will do.
	Together
)

// watcher is a party with a spread that has pods in a domain.
type watcher struct {
	party  int
	spread Spread
}

type watchedDomain struct {
	group  int32
	domain string
}

// watch notes that pods of the party are in a domain, and look at what is there.
func (a *Assigner) watch(i int, key, domain string) {
	for _, s := range a.parties[i].Rules.Spreads {
		if s.Soft || a.reg.Groups()[s.Group].Key != key {
			continue
		}
		at := watchedDomain{s.Group, domain}
		known := false
		for _, w := range a.watchers[at] {
			known = known || w.party == i && w.spread == s
		}
		if !known {
			a.watchers[at] = append(a.watchers[at], watcher{i, s})
		}
	}
}

// disturbs asks whether one more pod of the party would be too much for pods with spreads
// that are in the domain already.
func (a *Assigner) disturbs(i int, key, domain string) bool {
	for _, g := range a.parties[i].Rules.Counts {
		if a.reg.Groups()[g].Key != key {
			continue
		}
		for _, w := range a.watchers[watchedDomain{g, domain}] {
			if a.tallies[g].total(domain)+1-a.minimum(w.party, w.spread) > w.spread.MaxSkew {
				return true
			}
		}
	}
	return false
}

// cheapest picks a domain by price.
func (a *Assigner) cheapest(i int, key string, pins []Pin) (string, reason.Reason) {
	domains := a.atlas.Domains(i, key, pins)
	if len(domains) == 0 {
		return "", reason.Reason{Code: reason.NoOffering, Where: key}
	}
	byPrice := func(x, y Domain) int { return cmp.Or(cmp.Compare(x.Price, y.Price), strings.Compare(x.Value, y.Value)) }
	home := domains[0]
	for _, d := range domains[1:] {
		if byPrice(d, home) < 0 {
			home = d
		}
	}
	avoids := a.Manner == Gather && a.evens(i, key)
	away := func(d Domain) bool { return avoids == (d.Value == home.Value) }
	why := reason.Reason{Code: reason.NoOffering, Where: key}
	var best *Domain
	for at := range domains {
		d := &domains[at]
		if a.barred(i, key, pins, d.Value) {
			continue
		}
		if r := a.admit(i, key, d.Value); r.Code != reason.None {
			why = r
			continue
		}
		if a.disturbs(i, key, d.Value) {
			why = reason.Reason{Code: reason.Spread, Where: key}
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(flag(away(*d)), flag(away(*best))), byPrice(*d, *best)) < 0 {
			best = d
		}
	}
	if best == nil {
		return "", why
	}
	return best.Value, reason.Reason{}
}

// evens reports whether the party has a spread of its own on the key.
func (a *Assigner) evens(i int, key string) bool {
	for _, s := range a.parties[i].Rules.Spreads {
		if a.reg.Groups()[s.Group].Key == key {
			return true
		}
	}
	return false
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
