package topology

import (
	"tenon/core/feasible"
	"tenon/core/snapshot"
)

// Registry numbers the groups of one decision.
type Registry struct {
	hosts   table[HostGroup]
	domains table[DomainGroup]
	counts  map[*snapshot.Template]*counted
}

// counted is what is found out about a template once.
type counted struct {
	hosts   []HostGroup // groups that count it
	domains []DomainGroup
	bound   *Rules // of its running pods, nil until asked for
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{hosts: newTable[HostGroup](), domains: newTable[DomainGroup](), counts: map[*snapshot.Template]*counted{}}
}

// HostGroups and Groups are the numbered groups.
func (r *Registry) HostGroups() []Group { return r.hosts.Groups }

// Groups are those over keys other than hostname.
func (r *Registry) Groups() []Group { return r.domains.Groups }

// Enter numbers the groups that a variant's rules speak about. All variants must be
// entered before Rules is asked for any.
func (r *Registry) Enter(t *snapshot.Template, v *feasible.Variant, node Node) {
	for i := range v.Spreads {
		r.enter(v.Spreads[i].Key, spreadGroup(t, &v.Spreads[i], node))
	}
	for _, terms := range [][]snapshot.AffinityTerm{v.AntiAffinity, v.SoftAntiAffinity, v.SoftAffinity} {
		for i := range terms {
			r.enter(terms[i].Key, termGroup(&terms[i]))
		}
	}
	for _, g := range partnerGroups(v.Affinity) {
		r.enter(g.Key, g)
	}
}

// enter numbers a group.
func (r *Registry) enter(key string, g Group) {
	if key == feasible.HostnameKey {
		r.hosts.id(g)
	} else {
		r.domains.id(g)
	}
}

func termGroup(term *snapshot.AffinityTerm) Group {
	return Group{Key: term.Key, Namespaces: term.Namespaces, Selector: term.Selector}
}

// Rules gives the rules of a variant by group number.
func (r *Registry) Rules(t *snapshot.Template, v *feasible.Variant, node Node) Rules {
	c := r.counting(t)
	out := Rules{HostCounts: c.hosts, Counts: c.domains}
	for i := range v.Spreads {
		s := &v.Spreads[i]
		if s.Key == feasible.HostnameKey {
			out.HostCaps = append(out.HostCaps, Cap[HostGroup]{r.hosts.id(spreadGroup(t, s, node)), s.MaxSkew, s.Soft})
			continue
		}
		g := r.domains.id(spreadGroup(t, s, node))
		out.Spreads = append(out.Spreads, Spread{Group: g, MaxSkew: s.MaxSkew, MinDomains: s.MinDomains, Self: has(c.domains, g), Soft: s.Soft})
	}
	out.addTerms(r, v, c)
	out.HostCaps, out.Caps = tightest(out.HostCaps), tightest(out.Caps)
	out.HostNeeds, out.Needs = once(out.HostNeeds), once(out.Needs)
	return out
}

func (o *Rules) addTerms(r *Registry, v *feasible.Variant, c *counted) {
	for i := range v.AntiAffinity {
		o.keepApart(r, termGroup(&v.AntiAffinity[i]), c, false)
	}
	for i := range v.SoftAntiAffinity {
		o.keepApart(r, termGroup(&v.SoftAntiAffinity[i]), c, true)
	}
	for _, g := range partnerGroups(v.Affinity) {
		o.keepTogether(r, g, c, false)
	}
	for i := range v.SoftAffinity {
		o.keepTogether(r, termGroup(&v.SoftAffinity[i]), c, true)
	}
}

// Bound gives the rules that a running pod still imposes on others: its required
// anti-affinity. The scheduler looks at a running pod's other rules no more. It is asked
// for every pod of every node, by each who counts them.
func (r *Registry) Bound(t *snapshot.Template) *Rules {
	c := r.counting(t)
	if c.bound == nil {
		rules := r.Rules(t, &feasible.Variant{AntiAffinity: t.AntiAffinity}, Node{})
		c.bound = &rules
	}
	return c.bound
}

// EnterBound numbers the groups of a running pod's anti-affinity.
func (r *Registry) EnterBound(t *snapshot.Template) {
	for i := range t.AntiAffinity {
		r.enter(t.AntiAffinity[i].Key, termGroup(&t.AntiAffinity[i]))
	}
}

func (r *Registry) counting(t *snapshot.Template) *counted {
	c, ok := r.counts[t]
	if !ok {
		c = &counted{hosts: r.hosts.counting(t), domains: r.domains.counting(t)}
		r.counts[t] = c
	}
	return c
}
