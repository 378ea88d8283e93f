package topology

import (
	"tenon/core/feasible"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Spread is a topology spread constraint on a key other than hostname.
type Spread struct {
	Group      DomainGroup
	MaxSkew    int32
	MinDomains int32
	Self       bool
	Soft       bool
}

func spreadGroup(t *snapshot.Template, s *snapshot.Spread, node Node) Group {
	g := Group{Key: s.Key, Namespaces: []string{t.Namespace}, Selector: s.Selector}
	if s.Key == feasible.HostnameKey {
		return g
	}
	if !s.IgnoreNodeAffinity || s.HonorTaints || node.Several {
		g.Filter = &Filter{Of: node, Affinity: !s.IgnoreNodeAffinity, Taints: s.HonorTaints}
	}
	return g
}

// skewWith is the skew of a domain with one more of the spread's own pods, where low is the
// least count of all domains that the spread looks at.
func (s Spread) skewWith(c Count, low int32) int32 {
	if s.Self {
		return c.Total() + 1 - low
	}
	return c.Total() - low
}

// minimum is the least count over the domains that the spread looks at: those of nodes
// that pass its filter, and those where the pod itself could get a new node. With fewer
// of them than minDomains it is zero.
func (a *Assigner) minimum(i int, s Spread) int32 {
	domains := a.domains.of(i, s.Group)
	if len(domains) < int(s.MinDomains) || len(domains) == 0 {
		return 0
	}
	low := a.counts.At(s.Group, domains[0]).Lasting()
	for _, d := range domains[1:] {
		low = min(low, a.counts.At(s.Group, d).Lasting())
	}
	return low
}

// keepsEven asks the spreads of the shape whether one more of its pods may be in the domain.
func (a *Assigner) keepsEven(i int, key, domain string) reason.Reason {
	for _, s := range a.shapes[i].Rules.Spreads {
		if a.reg.Groups()[s.Group].Key != key {
			continue
		}
		if skew := s.skewWith(a.counts.At(s.Group, domain), a.minimum(i, s)); skew > s.MaxSkew {
			return reason.Reason{Code: reason.Spread, Where: key, Have: int64(skew), Want: int64(s.MaxSkew)}
		}
	}
	return reason.Reason{}
}

// uneven reports whether a spread of the portion's pods does not hold where they are.
func (a *Assigner) uneven(p Portion) bool {
	for _, s := range a.shapes[p.Shape].Rules.Spreads {
		key := a.reg.Groups()[s.Group].Key
		for _, pin := range p.Pins {
			if !s.Soft && pin.Key == key && len(pin.Values) == 1 && a.counts.At(s.Group, pin.Values[0]).Total()-a.minimum(p.Shape, s) > s.MaxSkew {
				return true
			}
		}
	}
	return false
}

// load is how full the domain is of pods that are counted together with the shape's.
// Evening out each group that counts a pod, rather than each that the pod looks at,
// ends with every group even.
func (a *Assigner) load(i int, key, domain string) int32 {
	r := a.shapes[i].Rules
	groups := a.reg.Groups()
	var counted, seen int32
	any := false
	for _, g := range r.Counts {
		if a.groups.watched[g] && groups[g].Key == key {
			counted += a.counts.At(g, domain).Total()
			any = true
		}
	}
	if any {
		return counted
	}
	for _, s := range r.Spreads {
		if groups[s.Group].Key == key {
			seen += a.counts.At(s.Group, domain).Total()
		}
	}
	return seen
}

// spreadIn is a shape with a spread that has pods in a domain.
type spreadIn struct {
	shape  int
	spread Spread
}

type watchedDomain struct {
	group  DomainGroup
	domain string
}

// watch notes that pods of the shape are in a domain, and look at what is there.
func (a *Assigner) watch(i int, key, domain string) {
	for _, s := range a.shapes[i].Rules.Spreads {
		if s.Soft || a.reg.Groups()[s.Group].Key != key {
			continue
		}
		at := watchedDomain{s.Group, domain}
		known := false
		for _, w := range a.spreadsIn[at] {
			known = known || w.shape == i && w.spread == s
		}
		if !known {
			a.spreadsIn[at] = append(a.spreadsIn[at], spreadIn{i, s})
		}
	}
}

// disturbs asks whether one more pod of the shape would be too much for pods with spreads
// that are in the domain already.
func (a *Assigner) disturbs(i int, key, domain string) bool {
	for _, g := range a.shapes[i].Rules.Counts {
		if a.reg.Groups()[g].Key != key {
			continue
		}
		for _, w := range a.spreadsIn[watchedDomain{g, domain}] {
			if a.counts.At(g, domain).Total()+1-a.minimum(w.shape, w.spread) > w.spread.MaxSkew {
				return true
			}
		}
	}
	return false
}

// spreads reports whether the shape has a spread of its own on the key.
func (a *Assigner) spreads(i int, key string) bool {
	for _, s := range a.shapes[i].Rules.Spreads {
		if a.reg.Groups()[s.Group].Key == key {
			return true
		}
	}
	return false
}
