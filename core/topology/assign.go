package topology

import (
	"cmp"
	"slices"
	"strings"

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
	sp     *feasible.Space
	reg    *Registry
	atlas  Atlas
	shapes []Shape
	counts Counts
	// watched groups have a hard constraint that counts pods of other shapes too, which
	// therefore must be told where to go. Preferences bind no other pod.
	watched []bool
	// needed groups are company that some shape needs.
	needed []bool
	// settled groups count pods that are there already.
	settled []bool
	banned  map[string]bool
	// inherent are the domains of existing hosts, by group, that count for minimums.
	inherent  []map[string]bool
	eligible  map[eligibleKey][]string
	strategy  Strategy
	spreadsIn map[watchedDomain][]spreadIn
	// hostBound shapes need others on their own host, which may be those that need them.
	hostBound []int
	there     map[shapeDomain]int32
}

// shapeDomain are the pods of a hostBound shape in a domain.
type shapeDomain struct {
	shape       int
	key, domain string
}

type eligibleKey struct {
	shape int
	group int32
}

// NewAssigner counts the pods that are there already.
func NewAssigner(sp *feasible.Space, reg *Registry, atlas Atlas, shapes []Shape, strategy Strategy) *Assigner {
	a := &Assigner{strategy: strategy, sp: sp, reg: reg, atlas: atlas, shapes: shapes, banned: map[string]bool{}, eligible: map[eligibleKey][]string{}, there: map[shapeDomain]int32{}, spreadsIn: map[watchedDomain][]spreadIn{}}
	a.counts, a.inherent = existing(sp, reg)
	a.settled = make([]bool, len(a.counts))
	for g := range a.settled {
		a.settled[g] = a.counts.Any(int32(g))
	}
	a.findWatched()
	return a
}

func (a *Assigner) findWatched() {
	a.watched = make([]bool, len(a.counts))
	a.needed = make([]bool, len(a.counts))
	for i := range a.shapes {
		for _, s := range a.shapes[i].Rules.Spreads {
			a.watched[s.Group] = a.watched[s.Group] || !s.Soft
		}
		for _, c := range a.shapes[i].Rules.Caps {
			a.watched[c.Group] = a.watched[c.Group] || !c.Soft
		}
		for _, n := range a.shapes[i].Rules.Needs {
			a.needed[n.Group] = true
		}
		if len(a.shapes[i].Rules.HostNeeds) > 0 {
			a.hostBound = append(a.hostBound, i)
		}
	}
	for g := range a.counts {
		a.watched[g] = a.watched[g] || a.counts.Capped(int32(g))
	}
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

// leaders are the shapes whose domain matters to a spread or to an anti-affinity:
// those with the tightest rules first, those that are only counted last.
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
		case slices.ContainsFunc(r.Counts, func(g int32) bool { return a.watched[g] }):
			rank[i] = 2
		default:
			continue
		}
		out = append(out, i)
	}
	slices.SortStableFunc(out, func(x, y int) int { return cmp.Compare(rank[x], rank[y]) })
	return out
}

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
		if a.watched[g] || a.needed[g] {
			keys = append(keys, groups[g].Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// choose finds a domain on each key for one more pod of the shape. Where the choice on
// one key leaves none on the next, it is not made again.
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
	on := func(g int32) bool { return a.reg.Groups()[g].Key == key }
	return slices.ContainsFunc(r.Spreads, func(s Spread) bool { return on(s.Group) }) ||
		slices.ContainsFunc(r.Caps, func(c Cap) bool { return on(c.Group) }) ||
		slices.ContainsFunc(r.Needs, func(n Need) bool { return on(n.Group) })
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

// admit asks the rules on the key whether one more pod of the shape may be in the domain.
func (a *Assigner) admit(i int, key, domain string) reason.Reason {
	r := a.shapes[i].Rules
	groups := a.reg.Groups()
	for _, s := range r.Spreads {
		if groups[s.Group].Key != key {
			continue
		}
		if skew := s.skewWith(a.counts.At(s.Group, domain), a.minimum(i, s)); skew > s.MaxSkew {
			return reason.Reason{Code: reason.Spread, Where: key, Have: int64(skew), Want: int64(s.MaxSkew)}
		}
	}
	for _, c := range r.Caps {
		if groups[c.Group].Key == key && !c.admits(a.counts.At(c.Group, domain), selfCount(r.Counts, c.Group)) {
			return reason.Reason{Code: reason.AntiAffinity, Where: key}
		}
	}
	for _, g := range r.Counts {
		if groups[g].Key == key && !a.counts.At(g, domain).admitsOneMore() {
			return reason.Reason{Code: reason.AntiAffinity, Where: key}
		}
	}
	return reason.Reason{}
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
		for _, need := range r.Needs {
			if need.Self && groups[need.Group].Key == p.Key {
				a.counts.Add(need.Group, p.Values[0], Count{Dependent: n})
			}
		}
		for _, c := range r.Caps {
			if n > 0 && !c.Soft && groups[c.Group].Key == p.Key {
				a.counts.Cap(c.Group, p.Values[0], c.Max)
			}
		}
	}
}

func (a *Assigner) count(i int, g int32, domain string, n int32) {
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
func (a *Assigner) Broken(p Portion) bool {
	r := a.shapes[p.Shape].Rules
	for _, n := range r.Needs {
		for _, pin := range p.Pins {
			if !n.Soft && pin.Key == a.reg.Groups()[n.Group].Key && !a.companyIn(n.Group, pin.Values) {
				return true
			}
		}
	}
	for _, s := range r.Spreads {
		key := a.reg.Groups()[s.Group].Key
		for _, pin := range p.Pins {
			if !s.Soft && pin.Key == key && len(pin.Values) == 1 && a.counts.At(s.Group, pin.Values[0]).Total()-a.minimum(p.Shape, s) > s.MaxSkew {
				return true
			}
		}
	}
	return false
}
