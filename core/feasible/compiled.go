package feasible

import (
	"reflect"
	"slices"

	"tenon/core/bitset"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// Compiled remembers what can be bought, compiled, from one snapshot to the next: pods change all
// the time, pools and catalogues rarely. It changes no answer. Catalogues count as the same
// only where they are the same lists, which never change; all else that machines depend on
// is compared. It belongs to one goroutine at a time; nil remembers nothing.
type Compiled struct {
	wares  *wares
	ranges []*selling // the latest first
}

// fewRanges is how many ways to compile the same catalogues are remembered: pools change, and
// what pods ask for decides which resources are looked at.
const fewRanges = 4

// manyQuestions bounds the answers that are kept about one state of the catalogues.
const manyQuestions = 20_000

// wares is what depends on catalogues alone.
type wares struct {
	catalogs []catalog.Catalog
	slots    []Slot
	slotOf   [][][]int // by catalogue, type, offering
	slotKeys map[string]bool
	types    map[typeQuestion]bitset.Set
	decided  map[labelQuestion]bool // whether the types of a catalogue decide a label
}

// labelQuestion is about a label and a catalogue.
type labelQuestion struct {
	catalog int
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
	catalog      int
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

// waresOf compiles catalogues, unless that was done.
func (m *Compiled) waresOf(catalogs []catalog.Catalog) *wares {
	if m == nil {
		return newWares(catalogs)
	}
	if m.wares == nil || !slices.EqualFunc(m.wares.catalogs, catalogs, sameList) {
		m.wares, m.ranges = newWares(catalogs), nil
	}
	if len(m.wares.types) > manyQuestions {
		m.wares.types = map[typeQuestion]bitset.Set{}
	}
	return m.wares
}

// sameList reports whether two catalogues are one list. Both are held, so that no other list can
// have come to lie where one of them was.
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
		t.pools = append(t.pools, poolTerms{p.Catalog, p.Requirements, p.Taints, p.NodePrice, p.Unready != ""})
	}
	for i := range sp.daemons {
		d := &sp.daemons[i]
		t.daemons = append(t.daemons, daemonTerms{d.requests, d.template.Tolerations, d.template.HostPorts, d.alts})
	}
	return t
}

// compileMarket fills in what can be bought.
func (sp *Space) compileMarket(m *Compiled) {
	sp.wares = m.waresOf(sp.Snapshot.Catalogs)
	sp.Slots = sp.wares.slots
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

// newWares numbers the distinct offerings of the catalogues in the order of their keys.
func newWares(catalogs []catalog.Catalog) *wares {
	w := &wares{
		catalogs: slices.Clone(catalogs), slotOf: make([][][]int, len(catalogs)), slotKeys: map[string]bool{},
		types: map[typeQuestion]bitset.Set{}, decided: map[labelQuestion]bool{},
	}
	met := slotsMet{byKey: map[slotKey]int{}, near: map[slotKey][]int{}}
	for c := range catalogs {
		types := catalogs[c].Types
		w.slotOf[c] = make([][]int, len(types))
		for t := range types {
			w.slotOf[c][t] = make([]int, len(types[t].Offerings))
			for o := range types[t].Offerings {
				w.slotOf[c][t][o] = met.enter(&types[t].Offerings[o])
			}
		}
	}
	w.slots = slices.SortedFunc(slices.Values(met.slots), func(a, b Slot) int { return a.key.compare(b.key) })
	number := make([]int, len(w.slots))
	for i := range w.slots {
		number[met.byKey[w.slots[i].key]] = i
		for r := range w.slots[i].labels.All() {
			w.slotKeys[r.Key()] = true
		}
	}
	for _, types := range w.slotOf {
		for _, slots := range types {
			for o, met := range slots {
				slots[o] = number[met]
			}
		}
	}
	return w
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
func (w *wares) typesWith(c int, r requirement.Requirement) bitset.Set {
	text, _ := r.MarshalJSON() // cannot fail: plain strings and integers
	question := typeQuestion{c, string(text)}
	if found, ok := w.types[question]; ok {
		return found
	}
	asked := requirement.NewSet(r)
	types := w.catalogs[c].Types
	out := bitset.New(len(types))
	for t := range types {
		if types[t].Requirements.Intersects(asked) {
			out.Put(t)
		}
	}
	w.types[question] = out
	return out
}

// decidedByType reports whether every type of the catalogue says what the label will
// be: one value, or none.
func (w *wares) decidedByType(c int, key string) bool {
	question := labelQuestion{c, key}
	answer, known := w.decided[question]
	if !known {
		answer = decidedByAll(w.catalogs[c].Types, key)
		w.decided[question] = answer
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
