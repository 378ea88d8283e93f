package feasible

import (
	"slices"
	"strings"

	"tenon/core/bitset"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Places is where one set of requirements, with one set of tolerations, may be met:
// labels and taints only, not sizes. Machines that are overdrawn without any pod are none.
type Places struct {
	Asker
	// Machines that may be bought for it, in one of Slots.
	Machines bitset.Set
	Slots    bitset.Set
	// HostClasses that meet it.
	HostClasses bitset.Set
	// Open, by pool, is what it asks of the labels that pods choose; pods that share a
	// node must agree on them. Nil where it asks for nothing.
	Open []*requirement.Set
}

// Choosy reports whether it asks for labels that pods choose, in some pool.
func (p *Places) Choosy() bool {
	return slices.ContainsFunc(p.Open, func(open *requirement.Set) bool { return open != nil })
}

// Asker is what a pod brings to a node: one of its alternatives.
type Asker struct {
	Require     requirement.Set
	Tolerations []model.Toleration
	// Strict pods keep away from PreferNoSchedule taints too.
	Strict bool
	// Domains are labels by which rules between pods count the pod's node. Where the cloud chooses the value of one, no such
	// rule can be kept.
	Domains []string
	// Expendable pods get no nodes of groups that are managed by the rules of Cluster Autoscaler.
	Expendable bool
}

// Key tells askers apart that may get different answers.
func (a *Asker) Key() string {
	var b strings.Builder
	text, _ := a.Require.MarshalJSON() // cannot fail: plain strings and integers
	b.Write(text)
	if a.Strict {
		b.WriteByte('!')
	}
	if a.Expendable {
		b.WriteByte('-')
	}
	for _, key := range a.Domains {
		b.WriteString("@" + key)
	}
	for _, t := range a.Tolerations {
		b.WriteString("|" + t.Key + "\x00" + t.Operator + "\x00" + t.Value + "\x00" + string(t.Effect))
	}
	return b.String()
}

// Find answers where an asker may go. Equal questions are answered once.
func (sp *Space) Find(a Asker) *Places {
	key := a.Key()
	if found, ok := sp.places[key]; ok {
		return found
	}
	out := &Places{
		Asker:       a,
		Machines:    bitset.New(len(sp.Machines)),
		Slots:       sp.SlotsAllowed(a.Require),
		HostClasses: bitset.New(len(sp.HostClasses)),
		Open:        make([]*requirement.Set, len(sp.Snapshot.Pools)),
	}
	for p := range snapshot.PoolIndex(len(sp.Snapshot.Pools)) {
		sp.findInPool(p, &a, out)
	}
	for c := range sp.HostClasses {
		if sp.HostClassMeets(c, &a) {
			out.HostClasses.Put(c)
		}
	}
	sp.places[key] = out
	return out
}

// HostClassMeets reports whether the asker may go to hosts of a class, as Find answers for all classes.
func (sp *Space) HostClassMeets(class int, a *Asker) bool {
	c := &sp.HostClasses[class]
	_, kept := model.Untolerated(c.taints, a.Tolerations, a.Strict)
	return !kept && c.Labels.Compatible(a.Require, requirement.KeySet{})
}

// Admits reports whether a class of hosts meets the asker's labels and taints, as far as
// each is asked for.
func (sp *Space) Admits(class int, a *Asker, labels, taints bool) bool {
	c := &sp.HostClasses[class]
	if taints {
		if _, kept := model.Untolerated(c.taints, a.Tolerations, false); kept {
			return false
		}
	}
	return !labels || c.Labels.Compatible(a.Require, requirement.KeySet{})
}

func (sp *Space) findInPool(p snapshot.PoolIndex, a *Asker, out *Places) {
	pool := &sp.Snapshot.Pools[p]
	if !pool.MayLaunch() {
		return
	}
	if _, kept := model.Untolerated(pool.Taints, a.Tolerations, a.Strict); kept || a.Expendable && pool.Rules() != nil {
		return
	}
	if !leavesChoice(pool, a) || !pool.Requirements.Compatible(a.Require, sp.Snapshot.Settings.WellKnown) {
		return
	}
	types := sp.TypesFor(p, a.Require)
	first, end := sp.PoolMachines(p)
	for m := first; m < end; m++ {
		machine := &sp.Machines[m]
		if machine.Overdrawn == "" && types.Has(machine.Ordinal) && machine.Slots.Meets(out.Slots) {
			out.Machines.Put(m)
		}
	}
	out.Open[p] = sp.openPart(p, a.Require)
}

// openPart is what the requirements ask of labels that pods choose.
func (sp *Space) openPart(p snapshot.PoolIndex, r requirement.Set) *requirement.Set {
	var open []requirement.Requirement
	for q := range r.All() {
		if sp.pools[p].open[q.Key()] {
			open = append(open, q)
		}
	}
	if len(open) == 0 {
		return nil
	}
	set := requirement.NewSet(open...)
	return &set
}

// typeQuestion is one key's requirement, joined with the pool's, of one catalogue.
type typeQuestion struct {
	catalog snapshot.CatalogIndex
	text    string
}

// TypesFor is the set of a catalogue's types that meet what pool and pod ask together.
func (sp *Space) TypesFor(p snapshot.PoolIndex, r requirement.Set) bitset.Set {
	pool := &sp.Snapshot.Pools[p]
	out := sp.pools[p].types
	for q := range r.All() {
		if sp.SlotLabel(q.Key()) {
			continue
		}
		joined := q
		if pool.Requirements.Has(q.Key()) {
			joined = pool.Requirements.Get(q.Key()).Intersect(q)
		}
		out = out.And(sp.market.typesWith(pool.Catalog, joined))
	}
	return out
}

// nodeAlternatives are the sets of requirements of which a pod needs one: its node
// selector with each required node-affinity term.
func nodeAlternatives(t *snapshot.Template) []requirement.Set {
	if len(t.Terms) == 0 {
		return []requirement.Set{t.Selector}
	}
	out := make([]requirement.Set, len(t.Terms))
	for i, term := range t.Terms {
		out[i] = t.Selector.Intersect(term)
	}
	return out
}

// askedKeys are the label keys that rules of the askers, their volumes or their
// topology look at.
func askedKeys(s *snapshot.Snapshot, askers []snapshot.TemplateIndex) map[string]bool {
	keys := map[string]bool{}
	note := func(r requirement.Set) {
		for q := range r.All() {
			keys[q.Key()] = true
		}
	}
	for _, i := range askers {
		t := &s.Templates[i]
		note(t.Selector)
		for _, term := range t.Terms {
			note(term)
		}
		for _, p := range t.Preferred {
			note(p.Term)
		}
		for _, v := range t.Volumes {
			for _, term := range v.Terms {
				note(term)
			}
		}
		for _, key := range topologyKeys(t) {
			keys[key] = true
		}
	}
	// Anti-affinity of pods that run already speaks about domains of the askers too.
	for i := range s.Templates {
		for _, term := range s.Templates[i].AntiAffinity {
			keys[term.Key] = true
		}
	}
	delete(keys, HostnameKey) // a node is its own host; see askedHostname
	if askedHostname(s, askers) {
		keys[HostnameKey] = true
	}
	return keys
}

func topologyKeys(t *snapshot.Template) []string {
	var keys []string
	for _, s := range t.Spreads {
		keys = append(keys, s.Key)
	}
	for _, terms := range [][]snapshot.AffinityTerm{t.Affinity, t.AntiAffinity} {
		for _, term := range terms {
			keys = append(keys, term.Key)
		}
	}
	for _, terms := range [][]snapshot.WeightedAffinity{t.PreferredAffinity, t.PreferredAntiAffinity} {
		for _, term := range terms {
			keys = append(keys, term.Term.Key)
		}
	}
	return keys
}

// askedHostname reports whether some asker names hosts in its node rules or volumes.
// Only then are hosts told apart by name: it costs a class for each.
func askedHostname(s *snapshot.Snapshot, askers []snapshot.TemplateIndex) bool {
	for _, i := range askers {
		t := &s.Templates[i]
		sets := append([]requirement.Set{t.Selector}, t.Terms...)
		for _, p := range t.Preferred {
			sets = append(sets, p.Term)
		}
		for _, v := range t.Volumes {
			sets = append(sets, v.Terms...)
		}
		for _, set := range sets {
			if set.Has(HostnameKey) {
				return true
			}
		}
	}
	return false
}
