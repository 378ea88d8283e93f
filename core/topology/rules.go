package topology

import (
	"cmp"
	"slices"

	"tenon/core/feasible"
	"tenon/core/snapshot"
)

// Rules are what one variant of a template asks of other pods, and where it is counted.
type Rules struct {
	// HostCounts are the host groups that count the pod. HostCaps bound what its node
	// may hold of a group, itself included; HostNeeds ask for company.
	HostCounts []int32
	HostCaps   []Cap
	HostNeeds  []Need
	// The same over other keys, by domain group.
	Counts  []int32
	Spreads []Spread
	Caps    []Cap
	Needs   []Need
}

// Cap says that the pod's domain may hold at most Max pods of a group. A soft one is a
// preference of the pod and does not keep later pods away.
type Cap struct {
	Group int32
	Max   int32
	Soft  bool
}

// Need says that the pod's domain must hold a pod of the group. Self is set when the
// pod is one itself: the first such pod may then go anywhere.
type Need struct {
	Group int32
	Self  bool
	Soft  bool
}

// Spread is a topology spread constraint on a key other than hostname.
type Spread struct {
	Group      int32
	MaxSkew    int32
	MinDomains int32
	Self       bool
	Soft       bool
}

// Free reports whether no rule between pods concerns the pod.
func (r *Rules) Free() bool {
	return len(r.HostCounts)+len(r.HostCaps)+len(r.HostNeeds)+len(r.Counts)+len(r.Spreads)+len(r.Caps)+len(r.Needs) == 0
}

// Registry numbers the groups of one decision.
type Registry struct {
	hosts   table
	domains table
	counts  map[*snapshot.Template]*counted
}

// counted is what is found out about a template once.
type counted struct {
	hosts, domains []int32 // groups that count it
	bound          *Rules  // of its running pods, nil until asked for
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{hosts: newTable(), domains: newTable(), counts: map[*snapshot.Template]*counted{}}
}

// HostGroups and Groups are the numbered groups.
func (r *Registry) HostGroups() []Group { return r.hosts.Groups }

// Groups are those over keys other than hostname.
func (r *Registry) Groups() []Group { return r.domains.Groups }

// Enter numbers the groups that a variant's rules speak about. All variants must be
// entered before Rules is asked for any.
func (r *Registry) Enter(t *snapshot.Template, v *feasible.Variant, node Node) {
	for i := range v.Spreads {
		r.spreadGroup(t, &v.Spreads[i], node)
	}
	for _, terms := range [][]snapshot.AffinityTerm{v.AntiAffinity, v.SoftAntiAffinity, v.SoftAffinity} {
		for i := range terms {
			r.termGroup(&terms[i])
		}
	}
	for i := range v.Affinity {
		r.companyGroup(v.Affinity, i)
	}
}

func (r *Registry) spreadGroup(t *snapshot.Template, s *snapshot.Spread, node Node) int32 {
	g := Group{Key: s.Key, Namespaces: []string{t.Namespace}, Selector: s.Selector}
	if s.Key == feasible.HostnameKey {
		return r.hosts.id(g)
	}
	if !s.IgnoreNodeAffinity || s.HonorTaints || node.Several {
		g.Filter = &Filter{Of: node, Affinity: !s.IgnoreNodeAffinity, Taints: s.HonorTaints}
	}
	return r.domains.id(g)
}

func (r *Registry) termGroup(term *snapshot.AffinityTerm) int32 {
	g := Group{Key: term.Key, Namespaces: term.Namespaces, Selector: term.Selector}
	if term.Key == feasible.HostnameKey {
		return r.hosts.id(g)
	}
	return r.domains.id(g)
}

// companyGroup is the group of the pods that are company by one of the terms: as the
// scheduler has it, such a pod matches all of the terms, not only that one.
func (r *Registry) companyGroup(terms []snapshot.AffinityTerm, i int) int32 {
	joined := snapshot.AffinityTerm{Key: terms[i].Key, Namespaces: terms[i].Namespaces, Selector: terms[i].Selector}
	for j := range terms {
		if j != i {
			joined.Selector = joined.Selector.And(terms[j].Selector)
			joined.Namespaces = inBoth(joined.Namespaces, terms[j].Namespaces)
		}
	}
	return r.termGroup(&joined)
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

// Rules gives the rules of a variant by group number.
func (r *Registry) Rules(t *snapshot.Template, v *feasible.Variant, node Node) Rules {
	c := r.counting(t)
	out := Rules{HostCounts: c.hosts, Counts: c.domains}
	for i := range v.Spreads {
		s := &v.Spreads[i]
		g := r.spreadGroup(t, s, node)
		if s.Key == feasible.HostnameKey {
			out.HostCaps = append(out.HostCaps, Cap{g, s.MaxSkew, s.Soft})
			continue
		}
		out.Spreads = append(out.Spreads, Spread{Group: g, MaxSkew: s.MaxSkew, MinDomains: s.MinDomains, Self: has(c.domains, g), Soft: s.Soft})
	}
	out.addTerms(r, v, c)
	out.HostCaps, out.Caps = tightest(out.HostCaps), tightest(out.Caps)
	out.HostNeeds, out.Needs = once(out.HostNeeds), once(out.Needs)
	return out
}

func (o *Rules) addTerms(r *Registry, v *feasible.Variant, c *counted) {
	for i := range v.AntiAffinity {
		o.keepApart(r.termGroup(&v.AntiAffinity[i]), v.AntiAffinity[i].Key, c, false)
	}
	for i := range v.SoftAntiAffinity {
		o.keepApart(r.termGroup(&v.SoftAntiAffinity[i]), v.SoftAntiAffinity[i].Key, c, true)
	}
	for i := range v.Affinity {
		o.keepTogether(r.companyGroup(v.Affinity, i), v.Affinity[i].Key, c, false)
	}
	for i := range v.SoftAffinity {
		o.keepTogether(r.termGroup(&v.SoftAffinity[i]), v.SoftAffinity[i].Key, c, true)
	}
}

func (o *Rules) keepApart(g int32, key string, c *counted, soft bool) {
	if key == feasible.HostnameKey {
		o.HostCaps = append(o.HostCaps, Cap{g, selfCount(c.hosts, g), soft})
	} else {
		o.Caps = append(o.Caps, Cap{g, selfCount(c.domains, g), soft})
	}
}

func (o *Rules) keepTogether(g int32, key string, c *counted, soft bool) {
	if key == feasible.HostnameKey {
		o.HostNeeds = append(o.HostNeeds, Need{g, has(c.hosts, g), soft})
	} else {
		o.Needs = append(o.Needs, Need{g, has(c.domains, g), soft})
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
		r.termGroup(&t.AntiAffinity[i])
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

func has(sorted []int32, g int32) bool {
	_, ok := slices.BinarySearch(sorted, g)
	return ok
}

func selfCount(sorted []int32, g int32) int32 {
	if has(sorted, g) {
		return 1
	}
	return 0
}

// tightest keeps one cap a group of either kind, sorted by group.
func tightest(caps []Cap) []Cap {
	slices.SortFunc(caps, func(a, b Cap) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), compareBool(a.Soft, b.Soft), cmp.Compare(a.Max, b.Max))
	})
	return slices.CompactFunc(caps, func(a, b Cap) bool { return a.Group == b.Group && a.Soft == b.Soft })
}

// once keeps each need once, in order.
func once(needs []Need) []Need {
	var out []Need
	for _, n := range needs {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
