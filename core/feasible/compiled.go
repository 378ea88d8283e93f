package feasible

import (
	"reflect"
	"slices"

	"tenon/core/bitset"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Compiled keeps the compiled machines from one snapshot to the next: pods change all the time, pools and
// catalogues rarely. It changes no answer. Catalogues count as the same only where they are the same lists,
// which never change; all else that machines depend on is compared. It belongs to one goroutine at a time;
// nil remembers nothing.
type Compiled struct {
	market *market
	ranges []*selling // the latest first
}

// fewRanges is how many ways to compile the same catalogues are remembered: pools change, and
// what pods ask for decides which resources are looked at.
const fewRanges = 4

// manyQuestions bounds the answers that are kept about one state of the catalogues.
const manyQuestions = 20_000

// market is what depends on catalogues alone.
type market struct {
	catalogs []catalog.Catalog
	slots    []Slot
	slotOf   [][][]int // by catalogue, type, offering
	slotKeys map[string]bool
	types    map[typeQuestion]bitset.Set
	decided  map[labelQuestion]bool // whether the types of a catalogue decide a label
}

// labelQuestion is about a label and a catalogue.
type labelQuestion struct {
	catalog snapshot.CatalogIndex
	key     string
}

// selling is what the pools of a snapshot sell.
type selling struct {
	terms    terms
	pools    []poolView // without what pods ask about
	machines []Machine
}

// terms are what machines depend on beside the catalogues.
type terms struct {
	dims      []string
	reserved  bool
	wellKnown requirement.KeySet
	pools     []poolTerms
	daemons   []daemonTerms
}

type poolTerms struct {
	catalog      snapshot.CatalogIndex
	requirements requirement.Set
	taints       []model.Taint
	nodePrice    model.Money
	unready      bool
}

type daemonTerms struct {
	requests    model.Resources
	tolerations []model.Toleration
	ports       []model.HostPort
	alts        []requirement.Set
}

// marketOf compiles catalogues, unless that was done.
func (m *Compiled) marketOf(catalogs []catalog.Catalog) *market {
	if m == nil {
		return newMarket(catalogs)
	}
	if m.market == nil || !slices.EqualFunc(m.market.catalogs, catalogs, sameList) {
		m.market, m.ranges = newMarket(catalogs), nil
	}
	if len(m.market.types) > manyQuestions {
		m.market.types = map[typeQuestion]bitset.Set{}
	}
	return m.market
}

// sameList reports whether two catalogues are one list. Both are still referenced, so no other list can
// have reused the memory.
func sameList(a, b catalog.Catalog) bool {
	return len(a.Types) == len(b.Types) && (len(a.Types) == 0 || &a.Types[0] == &b.Types[0])
}

// recall finds what was compiled on the same terms.
func (m *Compiled) recall(t *terms) (*selling, bool) {
	if m == nil {
		return nil, false
	}
	i := slices.IndexFunc(m.ranges, func(s *selling) bool { return reflect.DeepEqual(&s.terms, t) })
	if i < 0 {
		return nil, false
	}
	found := m.ranges[i]
	m.ranges = slices.Insert(slices.Delete(m.ranges, i, i+1), 0, found)
	return found, true
}

func (m *Compiled) keep(s *selling) {
	if m != nil {
		m.ranges = slices.Insert(m.ranges, 0, s)
		m.ranges = m.ranges[:min(len(m.ranges), fewRanges)]
	}
}

// terms of the space's snapshot.
func (sp *Space) terms() terms {
	s := sp.Snapshot
	t := terms{dims: sp.Dims, reserved: s.Settings.ReservedCapacity, wellKnown: s.Settings.WellKnown}
	for i := range s.Pools {
		p := &s.Pools[i]
		t.pools = append(t.pools, poolTerms{p.Catalog, p.Requirements, p.Taints, p.NodePrice, !p.MayLaunch()})
	}
	for i := range sp.daemons {
		d := &sp.daemons[i]
		t.daemons = append(t.daemons, daemonTerms{d.requests, d.template.Tolerations, d.template.HostPorts, d.alts})
	}
	return t
}

// compileMarket fills in what can be bought.
func (sp *Space) compileMarket(m *Compiled) {
	sp.market = m.marketOf(sp.Snapshot.Catalogs)
	sp.Slots = sp.market.slots
	t := sp.terms()
	sold, known := m.recall(&t)
	if !known {
		sp.compilePools()
		sp.compileMachines()
		sold = &selling{terms: t, pools: sp.pools, machines: sp.Machines}
		m.keep(sold)
	}
	sp.Machines, sp.pools = sold.machines, slices.Clone(sold.pools)
	for p := range sp.pools {
		sp.pools[p].open = sp.openKeys(&sp.Snapshot.Pools[p])
	}
}

// newMarket numbers the distinct offerings of the catalogues in the order of their keys.
func newMarket(catalogs []catalog.Catalog) *market {
	m := &market{
		catalogs: slices.Clone(catalogs), slotOf: make([][][]int, len(catalogs)), slotKeys: map[string]bool{},
		types: map[typeQuestion]bitset.Set{}, decided: map[labelQuestion]bool{},
	}
	met := slotsMet{byKey: map[slotKey]int{}, near: map[slotKey][]int{}}
	for c := range catalogs {
		types := catalogs[c].Types
		m.slotOf[c] = make([][]int, len(types))
		for t := range types {
			m.slotOf[c][t] = make([]int, len(types[t].Offerings))
			for o := range types[t].Offerings {
				m.slotOf[c][t][o] = met.enter(&types[t].Offerings[o])
			}
		}
	}
	m.slots = slices.SortedFunc(slices.Values(met.slots), func(a, b Slot) int { return a.key.compare(b.key) })
	number := make([]int, len(m.slots))
	for i := range m.slots {
		number[met.byKey[m.slots[i].key]] = i
		for r := range m.slots[i].labels.All() {
			m.slotKeys[r.Key()] = true
		}
	}
	for _, types := range m.slotOf {
		for _, slots := range types {
			for o, met := range slots {
				slots[o] = number[met]
			}
		}
	}
	return m
}

// slotsMet are slots in the order in which they were met.
type slotsMet struct {
	slots []Slot
	extra []requirement.Set // of the offerings, by slot
	byKey map[slotKey]int
	near  map[slotKey][]int // by key without the extra labels
}

// enter is the number of the offering's slot. Extra labels are compared, not written down, as
// long as they have been met.
func (m *slotsMet) enter(o *catalog.Offering) int {
	key := slotKey{zone: o.Zone, capacityType: o.CapacityType, reservation: o.ReservationID}
	for _, i := range m.near[key] {
		if m.extra[i].Equal(o.Extra) {
			return i
		}
	}
	near := key
	if !o.Extra.IsZero() {
		key.extra = o.Extra.String()
	}
	i, known := m.byKey[key]
	if !known {
		i = len(m.slots)
		m.byKey[key] = i
		m.slots, m.extra = append(m.slots, newSlot(o, key)), append(m.extra, o.Extra)
		m.near[near] = append(m.near[near], i)
	}
	return i
}

// typesWith are the types of a catalogue that meet a requirement.
func (m *market) typesWith(c snapshot.CatalogIndex, r requirement.Requirement) bitset.Set {
	text, _ := r.MarshalJSON() // cannot fail: plain strings and integers
	question := typeQuestion{c, string(text)}
	if found, ok := m.types[question]; ok {
		return found
	}
	asked := requirement.NewSet(r)
	types := m.catalogs[c].Types
	out := bitset.New(len(types))
	for t := range types {
		if types[t].Requirements.Intersects(asked) {
			out.Put(t)
		}
	}
	m.types[question] = out
	return out
}

// decidedByType reports whether every type of the catalogue says what the label will
// be: one value, or none.
func (m *market) decidedByType(c snapshot.CatalogIndex, key string) bool {
	question := labelQuestion{c, key}
	answer, known := m.decided[question]
	if !known {
		answer = decidedByAll(m.catalogs[c].Types, key)
		m.decided[question] = answer
	}
	return answer
}

func decidedByAll(types []catalog.Type, key string) bool {
	for t := range types {
		labels := &types[t].Requirements
		if !labels.Has(key) || labels.Get(key).Len() > 1 {
			return false
		}
	}
	return len(types) > 0
}
