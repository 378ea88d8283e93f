package topology

import (
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/snapshot"
)

// Registry numbers the groups of one decision.
type Registry struct {
	hosts   table[HostGroup]
	domains table[DomainGroup]
	counts  map[*snapshot.Template]*counted
	wanting wanting
}

// wanting are the templates of the pods that want a place, by their labels.
type wanting struct {
	templates map[*snapshot.Template]bool
	byLabel   map[labelValue][]*snapshot.Template
}

func (w *wanting) add(t *snapshot.Template) {
	if w.templates[t] {
		return
	}
	w.templates[t] = true
	for key, value := range t.Labels { // a list by label each, so that the order does not matter
		w.byLabel[labelValue{key, value}] = append(w.byLabel[labelValue{key, value}], t)
	}
}

// concerned reports whether a term picks a pod that wants a place.
func (w *wanting) concerned(term *snapshot.AffinityTerm) bool {
	g := termGroup(term)
	for _, e := range term.Selector.Expressions {
		if e.Operator != "In" {
			continue
		}
		for _, value := range e.Values {
			for _, t := range w.byLabel[labelValue{e.Key, value}] {
				if g.Counts(t.Namespace, t.Labels) {
					return true
				}
			}
		}
		return false
	}
	for t := range w.templates { // in any order: one is enough
		if g.Counts(t.Namespace, t.Labels) {
			return true
		}
	}
	return false
}

// counted is what is found out about a template once.
type counted struct {
	hosts   []HostGroup // groups that count it
	domains []DomainGroup
	bound   *Rules // of its running pods, nil until asked for
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{hosts: newTable[HostGroup](), domains: newTable[DomainGroup](), counts: map[*snapshot.Template]*counted{},
		wanting: wanting{templates: map[*snapshot.Template]bool{}, byLabel: map[labelValue][]*snapshot.Template{}}}
}

// HostGroups and Groups are the numbered groups.
func (r *Registry) HostGroups() []Group { return r.hosts.Groups }

// Groups are those over keys other than hostname.
func (r *Registry) Groups() []Group { return r.domains.Groups }

// Enter numbers the groups that a variant's rules speak about. All variants must be
// entered before Rules is asked for any.
func (r *Registry) Enter(t *snapshot.Template, v *feasible.Variant, node Node) {
	r.wanting.add(t)
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
		rules := r.Rules(t, &feasible.Variant{AntiAffinity: r.binding(t)}, Node{})
		c.bound = &rules
	}
	return c.bound
}

// EnterBound numbers the groups of a running pod's anti-affinity.
func (r *Registry) EnterBound(t *snapshot.Template) {
	terms := r.binding(t)
	for i := range terms {
		r.enter(terms[i].Key, termGroup(&terms[i]))
	}
}

// binding are the anti-affinity terms of a running pod that pick some pod that wants a place. A running pod may have
// tens of thousands of others, which its author need not mean.
func (r *Registry) binding(t *snapshot.Template) []snapshot.AffinityTerm {
	var out []snapshot.AffinityTerm
	for i := range t.AntiAffinity {
		if r.wanting.concerned(&t.AntiAffinity[i]) {
			out = append(out, t.AntiAffinity[i])
		}
	}
	if len(out) > manyBinding {
		return broadened(out)
	}
	return out
}

// manyBinding is how many terms of a running pod are told apart.
const manyBinding = 500

// broadened makes one term for each key, which picks all pods of the namespaces. That keeps more pods away than the
// terms do, and no more than the pod's author may keep away with one term.
func broadened(terms []snapshot.AffinityTerm) []snapshot.AffinityTerm {
	var out []snapshot.AffinityTerm
	at := map[string]int{}
	for i := range terms {
		n, known := at[terms[i].Key]
		if !known {
			n = len(out)
			at[terms[i].Key] = n
			out = append(out, snapshot.AffinityTerm{Key: terms[i].Key, Selector: model.Selector{All: true}})
		}
		out[n].Namespaces = append(out[n].Namespaces, terms[i].Namespaces...)
	}
	for i := range out {
		slices.Sort(out[i].Namespaces)
		out[i].Namespaces = slices.Compact(out[i].Namespaces)
	}
	return out
}

func (r *Registry) counting(t *snapshot.Template) *counted {
	c, ok := r.counts[t]
	if !ok {
		c = &counted{hosts: r.hosts.counting(t), domains: r.domains.counting(t)}
		r.counts[t] = c
	}
	return c
}
