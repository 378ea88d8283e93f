package topology

import (
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/snapshot"
)

// Need says that the pod's domain must hold a pod of the group. Self is set when the
// pod is one itself: the first such pod may then go anywhere.
type Need[G numbered] struct {
	Group G
	Self  bool
	Soft  bool
}

func (o *Rules) keepTogether(r *Registry, with Group, c *counted, soft bool) {
	if with.Key == feasible.HostnameKey {
		g := r.hosts.id(with)
		o.HostNeeds = append(o.HostNeeds, Need[HostGroup]{g, has(c.hosts, g), soft})
		return
	}
	g := r.domains.id(with)
	o.Needs = append(o.Needs, Need[DomainGroup]{g, has(c.domains, g), soft})
}

// partnerGroups are the groups of the pods that are partners by a list of terms, one for each key: as the
// scheduler has it, such a pod matches all of the terms, not only one.
func partnerGroups(terms []snapshot.AffinityTerm) []Group {
	if len(terms) == 0 {
		return nil
	}
	all := Group{Namespaces: terms[0].Namespaces}
	selectors := make([]model.Selector, len(terms))
	for i := range terms {
		selectors[i] = terms[i].Selector
		if i > 0 {
			all.Namespaces = inBoth(all.Namespaces, terms[i].Namespaces)
		}
	}
	all.Selector = model.AllOf(selectors...)
	var out []Group
	seen := map[string]bool{}
	for i := range terms {
		if key := terms[i].Key; !seen[key] {
			seen[key] = true
			all.Key = key
			out = append(out, all)
		}
	}
	return out
}

func inBoth(a, b []string) []string {
	var out []string
	for _, name := range a {
		if _, ok := slices.BinarySearch(b, name); ok {
			out = append(out, name)
		}
	}
	return out
}

// once keeps each need once, in order.
func once[G numbered](needs []Need[G]) []Need[G] {
	var out []Need[G]
	for _, n := range needs {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// met reports whether a domain has partners that do not wait for the pod itself.
func (n Need[G]) met(c Count, waiting int32) bool { return c.Lasting() > waiting }

// depend counts n pods of the shape that need partners of their own kind in the domain.
func (a *Assigner) depend(i int, key, domain string, n int32) {
	for _, need := range a.shapes[i].Rules.Needs {
		if need.Self && a.reg.Groups()[need.Group].Key == key {
			a.counts.Add(need.Group, domain, Count{Dependent: n})
		}
	}
}

// lacksPartners reports whether pods of the portion have lost the partners that they need.
func (a *Assigner) lacksPartners(p Portion) bool {
	for _, n := range a.shapes[p.Shape].Rules.Needs {
		for _, pin := range p.Pins {
			if !n.Soft && pin.Key == a.reg.Groups()[n.Group].Key && !a.hasPartnersIn(p.Shape, n.Group, pin.Values) {
				return true
			}
		}
	}
	return false
}

// hasPartnersIn reports whether the group has partners to give the shape in every one of the domains: a
// pod that does not need partners itself or, where all do, the whole group. Pods that may be waiting for the shape
// give it none.
func (a *Assigner) hasPartnersIn(i int, g DomainGroup, domains []string) bool {
	all := a.counts.Lasting(g)
	strangers := slices.ContainsFunc(a.shapes, func(p Shape) bool {
		return p.Count > 0 && has(p.Rules.Counts, g) && !slices.ContainsFunc(p.Rules.Needs, func(n Need[DomainGroup]) bool { return n.Group == g })
	})
	for _, d := range domains {
		c := a.counts.At(g, d)
		if here := c.Lasting() - a.mutual(i, g, d); here <= 0 || here == c.Dependent && (here < all || strangers) {
			return false
		}
	}
	return true
}

// withPartners keeps the domains where every need on the key is met.
func (a *Assigner) withPartners(i int, key string, domains []Domain) []string {
	var out []string
	for _, d := range domains {
		met := true
		for _, n := range a.shapes[i].Rules.Needs {
			if a.reg.Groups()[n.Group].Key == key && !n.met(a.counts.At(n.Group, d.Value), a.mutual(i, n.Group, d.Value)) {
				met = false
			}
		}
		if met {
			out = append(out, d.Value)
		}
	}
	return out
}

// mutual counts the pods of the group in the domain that may be waiting, on their host, for
// the very pods that would rely on them.
func (a *Assigner) mutual(i int, g DomainGroup, domain string) (n int32) {
	for _, j := range a.hostBound {
		if j == i || !has(a.shapes[j].Rules.Counts, g) {
			continue
		}
		if a.waitsOnHost(j, i) {
			n += a.there[shapeDomain{j, a.reg.Groups()[g].Key, domain}]
		}
	}
	return n
}

// waitsOnHost reports whether pods of j may be waiting, on their host, for pods of i.
func (a *Assigner) waitsOnHost(j, i int) bool {
	return slices.ContainsFunc(a.shapes[j].Rules.HostNeeds, func(n Need[HostGroup]) bool { return has(a.shapes[i].Rules.HostCounts, n.Group) })
}

// preceded reports whether some other pod of the group that still wants a place can come
// before the shape: then the group begins where that pod goes.
func (a *Assigner) preceded(i int, g DomainGroup, left []int) bool {
	wants := make([]Want[DomainGroup], len(a.shapes))
	for j := range a.shapes {
		if left[j] > 0 || j == i {
			wants[j] = a.shapes[j].Rules.DomainWant()
		}
	}
	return Preceded(wants, func(g DomainGroup) bool { return !a.nowhere(g) }, i, g)
}

// mayBegin reports whether the shape can be its own partner. Several required terms are one
// to the scheduler: partners by any of their keys forbid to begin anew.
func (a *Assigner) mayBegin(i int, need Need[DomainGroup]) bool {
	if need.Soft {
		return a.nowhere(need.Group)
	}
	return !slices.ContainsFunc(a.shapes[i].Rules.Needs, func(n Need[DomainGroup]) bool { return !n.Soft && !a.nowhere(n.Group) })
}

// nowhere reports whether the group has no pod in any domain: as the scheduler sees it,
// partnerPins elsewhere forbids to begin anew, even where the shape cannot go.
func (a *Assigner) nowhere(g DomainGroup) bool {
	return !a.counts.Anywhere(g)
}
