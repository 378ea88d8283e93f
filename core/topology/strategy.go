package topology

import (
	"cmp"
	"strings"

	"tenon/core/reason"
)

// A spread evens out the pods that it counts. By default, pods that are only counted are spread evenly too,
// although no rule requires it: a spread checks only the domains of its own pods. Other strategies gather
// the counted pods in the cheapest domain as long as no spread breaks. That saves nodes in small clusters;
// in large ones it makes no difference, because every domain is needed.

// Strategy is how domains are chosen where rules leave a choice.
type Strategy int

const (
	// Even evens out every group that some spread counts.
	Even Strategy = iota
	// Gather puts pods that are merely counted into the cheapest domain, and pods with a
	// spread into others as long as there are some.
	Gather
	// Together puts all into the cheapest domain that will do.
	Together
)

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
	avoids := a.strategy == Gather && a.spreads(i, key)
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

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
