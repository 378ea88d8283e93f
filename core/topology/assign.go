package topology

import (
	"cmp"
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/reason"
)

// Shape is a number of alike pods that want domains.
type Shape struct {
	Rules  *Rules
	Places []*feasible.Places
	Count  int
}

// Domain is one value of a key where a shape may go, and the least that a node costs
// there.
type Domain struct {
	Value string
	Price model.Money
}

// Atlas says in which domains of a key a shape may go, given what is pinned already.
type Atlas interface {
	Domains(shape int, key string, pins []Pin) []Domain
	// Within says which domains there are in some places, for pods of any size.
	Within(places []*feasible.Places, key string) []Domain
}

// Assigner chooses domains, pod by pod, so that all rules hold once every pod is where
// it was told to go. It keeps count of what it has given out.
type Assigner struct {
	given
	counts  Counts
	domains spreadDomains
	groups  interest
	// banned are the domains in which a shape found no node.
	banned map[string]bool
	// spreadsIn are the shapes with spreads that have pods in a domain.
	spreadsIn map[watchedDomain][]spreadIn
	// hostBound shapes need others on their own host, which may be those that need them; there is
	// where their pods are.
	hostBound []int
	there     map[shapeDomain]int32
}

// given does not change while domains are assigned.
type given struct {
	reg      *Registry
	atlas    Atlas
	shapes   []Shape
	strategy Strategy
}

// interest is, by group, what makes it matter in which domains its pods are.
type interest struct {
	// watched groups have a hard constraint that counts pods of other shapes too, which
	// therefore must be told where to go. Preferences bind no other pod.
	watched []bool
	// needed groups are partners that some shape needs.
	needed []bool
	// settled groups count pods that are there already.
	settled []bool
}

// shapeDomain are the pods of a hostBound shape in a domain.
type shapeDomain struct {
	shape       int
	key, domain string
}

// NewAssigner counts the pods that are there already.
func NewAssigner(sp *feasible.Space, reg *Registry, atlas Atlas, shapes []Shape, strategy Strategy) *Assigner {
	a := &Assigner{
		given:  given{reg: reg, atlas: atlas, shapes: shapes, strategy: strategy},
		banned: map[string]bool{}, there: map[shapeDomain]int32{}, spreadsIn: map[watchedDomain][]spreadIn{},
	}
	var inherent []map[string]bool
	a.counts, inherent = existing(sp, reg)
	a.domains = spreadDomains{sp: sp, reg: reg, atlas: atlas, shapes: shapes, inherent: inherent, known: map[spreadOf][]string{}}
	a.groups = interestOf(a.counts, shapes)
	for i := range shapes {
		if len(shapes[i].Rules.HostNeeds) > 0 {
			a.hostBound = append(a.hostBound, i)
		}
	}
	return a
}

func interestOf(counts Counts, shapes []Shape) interest {
	out := interest{watched: make([]bool, len(counts)), needed: make([]bool, len(counts)), settled: make([]bool, len(counts))}
	for g := range DomainGroup(len(counts)) {
		out.settled[g] = counts.Any(g)
		out.watched[g] = counts.Capped(g)
	}
	for i := range shapes {
		r := shapes[i].Rules
		for _, s := range r.Spreads {
			out.watched[s.Group] = out.watched[s.Group] || !s.Soft
		}
		for _, c := range r.Caps {
			out.watched[c.Group] = out.watched[c.Group] || !c.Soft
		}
		for _, n := range r.Needs {
			out.needed[n.Group] = true
		}
	}
	return out
}

// Assign gives domains to count pods of each shape.
func (a *Assigner) Assign(counts []int) ([]Portion, []Failure) {
	var out portions
	var failures []Failure
	left := slices.Clone(counts)
	for _, i := range a.leaders() {
		for ; left[i] > 0; left[i]-- {
			pins, why := a.choose(i)
			if why.Code != reason.None {
				failures = append(failures, Failure{i, left[i], why})
				left[i] = 0
				break
			}
			a.enter(i, pins, 1)
			out.add(i, pins)
		}
	}
	followed, unmet := a.follow(left, &out)
	for i, n := range left {
		if n > 0 && !followed[i] {
			out.list = append(out.list, Portion{Shape: i, Count: n})
		}
	}
	return out.list, append(failures, unmet...)
}

// leaders are the shapes whose domain matters to a spread or an anti-affinity, from the tightest rules to
// shapes that are only counted.
func (a *Assigner) leaders() []int {
	var out []int
	rank := make([]int, len(a.shapes))
	for i := range a.shapes {
		r := a.shapes[i].Rules
		switch {
		case len(r.Needs) > 0:
			continue
		case len(r.Caps) > 0:
			rank[i] = 0
		case len(r.Spreads) > 0:
			rank[i] = 1
		case slices.ContainsFunc(r.Counts, func(g DomainGroup) bool { return a.groups.watched[g] }):
			rank[i] = 2
		default:
			continue
		}
		out = append(out, i)
	}
	slices.SortStableFunc(out, func(x, y int) int { return cmp.Compare(rank[x], rank[y]) })
	return out
}

// admit asks the rules on the key whether one more pod of the shape may be in the domain.
func (a *Assigner) admit(i int, key, domain string) reason.Reason {
	if why := a.keepsEven(i, key, domain); why.Code != reason.None {
		return why
	}
	return a.keepsApart(i, key, domain)
}

// enter counts n pods of the shape where the pins say; n may be negative.
func (a *Assigner) enter(i int, pins []Pin, n int32) {
	r := a.shapes[i].Rules
	groups := a.reg.Groups()
	for _, p := range pins {
		if len(p.Values) != 1 {
			continue
		}
		for _, g := range r.Counts {
			if groups[g].Key == p.Key {
				a.count(i, g, p.Values[0], n)
			}
		}
		if a.strategy != Even && n > 0 {
			a.watch(i, p.Key, p.Values[0])
		}
		if len(r.HostNeeds) > 0 {
			a.there[shapeDomain{i, p.Key, p.Values[0]}] += n
		}
		a.depend(i, p.Key, p.Values[0], n)
		if n > 0 {
			a.cap(i, p.Key, p.Values[0])
		}
	}
}

func (a *Assigner) count(i int, g DomainGroup, domain string, n int32) {
	sure, possible := passes(a.reg.Groups()[g].Filter, a.shapes[i].Places)
	switch {
	case sure:
		a.counts.Add(g, domain, Count{Sure: n})
	case possible:
		a.counts.Add(g, domain, Count{Maybe: n})
	}
}

// Withdraw takes back pods that found no node in the domains they were given, and does
// not give those domains to the shape again.
func (a *Assigner) Withdraw(p Portion, n int) {
	a.enter(p.Shape, p.Pins, -int32(n))
	if len(p.Pins) > 0 {
		a.banned[banKey(p.Shape, p.Pins)] = true
	}
}

// Broken reports whether the portion's own spreads or needs no longer hold, now that
// others are not where they were meant to be.
func (a *Assigner) Broken(p Portion) bool { return a.lacksPartners(p) || a.uneven(p) }
