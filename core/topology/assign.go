package topology

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/reason"
)

// Party is a number of alike pods that want domains.
type Party struct {
	Rules  *Rules
	Places []*feasible.Places
	Count  int
}

// Domain is one value of a key where a party may go, and the least that a node costs
// there.
type Domain struct {
	Value string
	Price model.Money
}

// Atlas says in which domains of a key a party may go, given what is pinned already.
type Atlas interface {
	Domains(party int, key string, pins []Pin) []Domain
	// Within says which domains there are in some places, for pods of any size.
	Within(places []*feasible.Places, key string) []Domain
}

// Pin narrows a label to some values, or to none at all.
type Pin struct {
	Key    string
	Values []string // sorted; empty asks for nodes without the label
}

// Portion is a part of a party with its pins. Pods that no rule concerns have none.
type Portion struct {
	Party int
	Count int
	Pins  []Pin
}

// Failure is a part of a party that found no domain.
type Failure struct {
	Party  int
	Count  int
	Reason reason.Reason
}

// Assigner chooses domains, pod by pod, so that all rules hold once every pod is where
// it was told to go. It keeps count of what it has given out.
type Assigner struct {
	sp      *feasible.Space
	reg     *Registry
	atlas   Atlas
	parties []Party
	tallies []tally
	// watched groups have a hard constraint that counts pods of other parties too, which
	// therefore must be told where to go. Preferences bind nobody else.
	watched []bool
	// needed groups are company that some party needs.
	needed []bool
	// settled groups count pods that are there already.
	settled []bool
	banned  map[string]bool
	// inherent are the domains of existing hosts, by group, that count for minimums.
	inherent []map[string]bool
	eligible map[eligibleKey][]string
	// Manner is to be set before Assign.
	Manner   Manner
	watchers map[watchedDomain][]watcher
	// clingy parties need others on their own host, which may be those that need them.
	clingy []int
	there  map[whereabouts]int32
}

// whereabouts are the pods of a clingy party in a domain.
type whereabouts struct {
	party       int
	key, domain string
}

type eligibleKey struct {
	party int
	group int32
}

// tally counts a group, domain by domain.
type tally struct {
	sure  map[string]int32 // pods that certainly count
	maybe map[string]int32 // pods that count if their node passes the filter
	limit map[string]int32 // the tightest cap among pods in the domain
	needy map[string]int32 // of sure, those that need the group's company themselves
	// leaving are, of sure, those on nodes that are being removed: they are in the way
	// while they run, but even nothing out and are no company to rely on.
	leaving map[string]int32
}

func (t *tally) total(d string) int32 { return t.sure[d] + t.maybe[d] }

// lasting pods are those that will be there for certain.
func (t *tally) lasting(d string) int32 { return t.sure[d] - t.leaving[d] }

// NewAssigner counts the pods that are there already.
func NewAssigner(sp *feasible.Space, reg *Registry, atlas Atlas, parties []Party) *Assigner {
	a := &Assigner{sp: sp, reg: reg, atlas: atlas, parties: parties, banned: map[string]bool{}, eligible: map[eligibleKey][]string{}, there: map[whereabouts]int32{}, watchers: map[watchedDomain][]watcher{}}
	groups := reg.Groups()
	a.tallies = make([]tally, len(groups))
	a.inherent = make([]map[string]bool, len(groups))
	for g := range groups {
		a.tallies[g] = tally{sure: map[string]int32{}, maybe: map[string]int32{}, limit: map[string]int32{}, needy: map[string]int32{}, leaving: map[string]int32{}}
		a.inherent[g] = map[string]bool{}
	}
	if len(groups) > 0 {
		a.countHosts(sp, groups)
	}
	a.settled = make([]bool, len(groups))
	for g := range groups {
		a.settled[g] = len(a.tallies[g].sure)+len(a.tallies[g].maybe) > 0
	}
	a.findWatched()
	return a
}

func (a *Assigner) countHosts(sp *feasible.Space, groups []Group) {
	seen := make([]bool, len(sp.HostClasses))
	for h := range sp.Hosts {
		if class := sp.Hosts[h].Class; !seen[class] {
			seen[class] = true
			a.countClass(sp, class, groups)
		}
		a.countPods(sp, &sp.Hosts[h], false)
	}
	for h := range sp.Departing {
		a.countPods(sp, &sp.Departing[h], true)
	}
}

func (a *Assigner) countClass(sp *feasible.Space, class int, groups []Group) {
	for g := range groups {
		if domain, ok := sp.ClassLabel(class, groups[g].Key); ok && admits(groups[g].Filter, class) {
			a.inherent[g][domain] = true
		}
	}
}

func (a *Assigner) countPods(sp *feasible.Space, h *feasible.Host, leaving bool) {
	for _, p := range h.Bound {
		if pod := &sp.Snapshot.Pods[p]; !pod.Terminating {
			a.countBound(sp, h.Class, pod.Template, leaving)
		}
	}
}

func (a *Assigner) countBound(sp *feasible.Space, class int, template int32, leaving bool) {
	rules := a.reg.Bound(&sp.Snapshot.Templates[template])
	groups := a.reg.Groups()
	for _, g := range rules.Counts {
		if domain, ok := sp.ClassLabel(class, groups[g].Key); ok && admits(groups[g].Filter, class) {
			a.tallies[g].sure[domain]++
			if leaving {
				a.tallies[g].leaving[domain]++
			}
		}
	}
	for _, c := range rules.Caps {
		if domain, ok := sp.ClassLabel(class, groups[c.Group].Key); ok {
			a.tallies[c.Group].restrict(domain, c.Max)
		}
	}
}

func admits(f *Filter, class int) bool {
	return f == nil || f.Of.Admits(class, f.Affinity, f.Taints)
}

func (t *tally) restrict(domain string, limit int32) {
	if old, ok := t.limit[domain]; !ok || limit < old {
		t.limit[domain] = limit
	}
}

func (a *Assigner) findWatched() {
	a.watched = make([]bool, len(a.tallies))
	a.needed = make([]bool, len(a.tallies))
	for i := range a.parties {
		for _, s := range a.parties[i].Rules.Spreads {
			a.watched[s.Group] = a.watched[s.Group] || !s.Soft
		}
		for _, c := range a.parties[i].Rules.Caps {
			a.watched[c.Group] = a.watched[c.Group] || !c.Soft
		}
		for _, n := range a.parties[i].Rules.Needs {
			a.needed[n.Group] = true
		}
		if len(a.parties[i].Rules.HostNeeds) > 0 {
			a.clingy = append(a.clingy, i)
		}
	}
	for g := range a.tallies {
		if len(a.tallies[g].limit) > 0 {
			a.watched[g] = true
		}
	}
}

// Assign gives domains to count pods of each party.
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
			out.list = append(out.list, Portion{Party: i, Count: n})
		}
	}
	return out.list, append(failures, unmet...)
}

// portions joins equal neighbours.
type portions struct{ list []Portion }

func (p *portions) add(party int, pins []Pin) {
	for i := len(p.list) - 1; i >= 0 && p.list[i].Party == party; i-- {
		if slices.EqualFunc(p.list[i].Pins, pins, equalPin) {
			p.list[i].Count++
			return
		}
	}
	p.list = append(p.list, Portion{Party: party, Count: 1, Pins: pins})
}

func equalPin(a, b Pin) bool { return a.Key == b.Key && slices.Equal(a.Values, b.Values) }

// leaders are the parties whose domain matters to a spread or to an anti-affinity:
// those with the tightest rules first, those that are only counted last.
func (a *Assigner) leaders() []int {
	var out []int
	rank := make([]int, len(a.parties))
	for i := range a.parties {
		r := a.parties[i].Rules
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

// keysOf are the keys on which the party must be told where to go, sorted.
func (a *Assigner) keysOf(i int) []string {
	r := a.parties[i].Rules
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

// choose finds a domain on each key for one more pod of the party. Where the choice on
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

// pin chooses on one key. A party that is only counted there may also go where nodes do
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

// bound reports whether the party has a rule of its own on the key.
func (a *Assigner) bound(i int, key string) bool {
	r := a.parties[i].Rules
	on := func(g int32) bool { return a.reg.Groups()[g].Key == key }
	return slices.ContainsFunc(r.Spreads, func(s Spread) bool { return on(s.Group) }) ||
		slices.ContainsFunc(r.Caps, func(c Cap) bool { return on(c.Group) }) ||
		slices.ContainsFunc(r.Needs, func(n Need) bool { return on(n.Group) })
}

func (a *Assigner) best(i int, key string, pins []Pin) (string, reason.Reason) {
	if a.Manner != Even {
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

// barred reports whether the domain was tried for the party in vain.
func (a *Assigner) barred(i int, key string, pins []Pin, domain string) bool {
	return len(a.banned) > 0 && a.banned[banKey(i, append(slices.Clip(pins), Pin{key, []string{domain}}))]
}

// load is how full the domain is of pods that are counted together with the party's.
// Evening out each group that counts a pod, rather than each that the pod looks at,
// ends with every group even.
func (a *Assigner) load(i int, key, domain string) int32 {
	r := a.parties[i].Rules
	groups := a.reg.Groups()
	var counted, seen int32
	any := false
	for _, g := range r.Counts {
		if a.watched[g] && groups[g].Key == key {
			counted += a.tallies[g].total(domain)
			any = true
		}
	}
	if any {
		return counted
	}
	for _, s := range r.Spreads {
		if groups[s.Group].Key == key {
			seen += a.tallies[s.Group].total(domain)
		}
	}
	return seen
}

// admit asks whether one more pod of the party may be in the domain.
func (a *Assigner) admit(i int, key, domain string) reason.Reason {
	r := a.parties[i].Rules
	groups := a.reg.Groups()
	for _, s := range r.Spreads {
		if groups[s.Group].Key != key {
			continue
		}
		self := int32(0)
		if s.Self {
			self = 1
		}
		if skew := a.tallies[s.Group].total(domain) + self - a.minimum(i, s); skew > s.MaxSkew {
			return reason.Reason{Code: reason.Spread, Where: key, Have: int64(skew), Want: int64(s.MaxSkew)}
		}
	}
	for _, c := range r.Caps {
		if groups[c.Group].Key == key && a.tallies[c.Group].total(domain)+selfCount(r.Counts, c.Group) > c.Max {
			return reason.Reason{Code: reason.AntiAffinity, Where: key}
		}
	}
	for _, g := range r.Counts {
		if limit, ok := a.tallies[g].limit[domain]; ok && groups[g].Key == key && a.tallies[g].total(domain)+1 > limit {
			return reason.Reason{Code: reason.AntiAffinity, Where: key}
		}
	}
	return reason.Reason{}
}

// minimum is the least count over the domains that the spread looks at: those of nodes
// that pass its filter, and those where the pod itself could get a new node. With fewer
// of them than minDomains it is zero.
func (a *Assigner) minimum(i int, s Spread) int32 {
	domains := a.domainsOf(i, s.Group)
	if len(domains) < int(s.MinDomains) || len(domains) == 0 {
		return 0
	}
	t := &a.tallies[s.Group]
	low := t.lasting(domains[0])
	for _, d := range domains[1:] {
		low = min(low, t.lasting(d))
	}
	return low
}

func (a *Assigner) domainsOf(i int, g int32) []string {
	key := eligibleKey{i, g}
	if found, ok := a.eligible[key]; ok {
		return found
	}
	var out []string
	for d := range a.inherent[g] {
		out = append(out, d)
	}
	for _, d := range a.atlas.Within(a.lookedAt(i, g), a.reg.Groups()[g].Key) {
		out = append(out, d.Value)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	a.eligible[key] = out
	return out
}

// lookedAt is where nodes count for the group's spread: by the pod's own rules for nodes,
// without its volumes, or anywhere, as its policies say.
func (a *Assigner) lookedAt(i int, g int32) []*feasible.Places {
	f := a.reg.Groups()[g].Filter
	switch {
	case f != nil && f.Affinity:
		return f.Of.Places
	case f != nil && f.Taints:
		return []*feasible.Places{a.sp.Find(feasible.Asker{Tolerations: a.parties[i].Places[0].Tolerations})}
	}
	return []*feasible.Places{a.sp.Find(feasible.Asker{Tolerations: []model.Toleration{{Operator: "Exists"}}})}
}

// enter counts n pods of the party where the pins say; n may be negative.
func (a *Assigner) enter(i int, pins []Pin, n int32) {
	r := a.parties[i].Rules
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
		if a.Manner != Even && n > 0 {
			a.watch(i, p.Key, p.Values[0])
		}
		if len(r.HostNeeds) > 0 {
			a.there[whereabouts{i, p.Key, p.Values[0]}] += n
		}
		for _, need := range r.Needs {
			if need.Self && groups[need.Group].Key == p.Key {
				a.tallies[need.Group].needy[p.Values[0]] += n
			}
		}
		for _, c := range r.Caps {
			if n > 0 && !c.Soft && groups[c.Group].Key == p.Key {
				a.tallies[c.Group].restrict(p.Values[0], c.Max)
			}
		}
	}
}

func (a *Assigner) count(i int, g int32, domain string, n int32) {
	sure, possible := passes(a.reg.Groups()[g].Filter, a.parties[i].Places)
	switch {
	case sure:
		a.tallies[g].sure[domain] += n
	case possible:
		a.tallies[g].maybe[domain] += n
	}
}

// passes tells whether nodes of the places certainly, or possibly, pass the filter.
func passes(f *Filter, places []*feasible.Places) (sure, possible bool) {
	if f == nil {
		return true, true
	}
	sure = true
	for _, p := range places {
		within, meets := false, false
		for _, q := range f.Passing() {
			if p == q || !f.Taints && p.Require.Equal(q.Require) {
				within, meets = true, true
				break
			}
			within = within || !q.Choosy() && p.Machines.Within(q.Machines) && p.HostClasses.Within(q.HostClasses) && p.Slots.Within(q.Slots)
			meets = meets || p.Machines.Meets(q.Machines) || p.HostClasses.Meets(q.HostClasses)
		}
		sure = sure && within
		possible = possible || meets
	}
	return sure && possible, possible
}

// Withdraw takes back pods that found no node in the domains they were given, and does
// not give those domains to the party again.
func (a *Assigner) Withdraw(p Portion, n int) {
	a.enter(p.Party, p.Pins, -int32(n))
	if len(p.Pins) > 0 {
		a.banned[banKey(p.Party, p.Pins)] = true
	}
}

// Broken reports whether the portion's own spreads or needs no longer hold, now that
// others are not where they were meant to be.
func (a *Assigner) Broken(p Portion) bool {
	r := a.parties[p.Party].Rules
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
			if !s.Soft && pin.Key == key && len(pin.Values) == 1 && a.tallies[s.Group].total(pin.Values[0])-a.minimum(p.Party, s) > s.MaxSkew {
				return true
			}
		}
	}
	return false
}

// companyIn reports whether the group has company to give in every one of the domains: a
// pod that does not need company itself or, where all do, the whole group.
func (a *Assigner) companyIn(g int32, domains []string) bool {
	t := &a.tallies[g]
	var all int32
	for d := range t.sure {
		all += t.lasting(d)
	}
	strangers := slices.ContainsFunc(a.parties, func(p Party) bool {
		return p.Count > 0 && has(p.Rules.Counts, g) && !slices.ContainsFunc(p.Rules.Needs, func(n Need) bool { return n.Group == g })
	})
	for _, d := range domains {
		if here := t.lasting(d); here <= 0 || here == t.needy[d] && (here < all || strangers) {
			return false
		}
	}
	return true
}

func banKey(party int, pins []Pin) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(party))
	for _, p := range pins {
		b.WriteString("\x00" + p.Key + "\x01" + strings.Join(p.Values, "\x02"))
	}
	return b.String()
}
