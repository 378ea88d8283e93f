package feasible

import (
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Variant is what a template asks for while some of its preferences are given up. A
// template is never edited: preferences have numbers, and a set of them is dropped.
type Variant struct {
	// Alternatives for the node: one must hold.
	Alternatives []Asker
	// Nodes are the alternatives without the places of volumes and without preferences:
	// what node filters of spreads look at.
	Nodes        []Asker
	Spreads      []snapshot.Spread
	Affinity     []snapshot.AffinityTerm
	AntiAffinity []snapshot.AffinityTerm
	// SoftAffinity and SoftAntiAffinity are kept preferences: the pod follows them like
	// rules, but they bind no other pod.
	SoftAffinity     []snapshot.AffinityTerm
	SoftAntiAffinity []snapshot.AffinityTerm
}

// Dropped is a set of a template's preferences, by number, that are given up.
//
// They are numbered in the documented order of giving them up: preferred pod affinity, preferred pod
// anti-affinity, preferred node affinity (heaviest first each), ScheduleAnyway spreads, and finally
// avoiding PreferNoSchedule taints. Required node-affinity terms are alternatives, not preferences.
type Dropped uint64

// manyPreferences bounds how many of a template are told apart; more are dropped.
const manyPreferences = 63

// Has reports whether preference i is given up.
func (d Dropped) Has(i int) bool { return i >= manyPreferences || d>>i&1 == 1 }

// With gives up preference i too.
func (d Dropped) With(i int) Dropped { return d | 1<<min(i, manyPreferences) }

// Without takes preference i up again.
func (d Dropped) Without(i int) Dropped { return d &^ (1 << min(i, manyPreferences)) }

// Next gives up the next preference, in order, of n; without any left it returns false.
func (d Dropped) Next(n int) (Dropped, bool) {
	for i := range min(n, manyPreferences) {
		if !d.Has(i) {
			return d.With(i), true
		}
	}
	return d, false
}

// Preferences is how many the template has.
func (sp *Space) Preferences(t *snapshot.Template) int {
	n := len(t.PreferredAffinity) + len(t.PreferredAntiAffinity) + len(t.Preferred) + softSpreads(t)
	if sp.softTaint {
		n++
	}
	return n
}

// AllDropped gives up every preference of the template.
func (sp *Space) AllDropped(t *snapshot.Template) Dropped {
	return Dropped(1)<<min(sp.Preferences(t), manyPreferences) - 1
}

// AtFirst is what the policy gives up before any attempt: nothing, or all preferences except avoiding
// PreferNoSchedule taints.
func (sp *Space) AtFirst(t *snapshot.Template) Dropped {
	if sp.Snapshot.Settings.Preferences == snapshot.Respect {
		return 0
	}
	all := sp.AllDropped(t)
	if sp.softTaint {
		all = all.Without(sp.Preferences(t) - 1)
	}
	return all
}

// Variant gives what the template asks for while some preferences are given up. Of its
// preferred node-affinity terms only the heaviest that is kept speaks, as users of the
// API know it.
func (sp *Space) Variant(t *snapshot.Template, d Dropped) Variant {
	v := Variant{Affinity: t.Affinity, AntiAffinity: t.AntiAffinity}
	at := 0
	v.SoftAffinity = kept(t.PreferredAffinity, d, &at)
	v.SoftAntiAffinity = kept(t.PreferredAntiAffinity, d, &at)
	wish := requirement.Set{}
	for i := range t.Preferred {
		if wish.IsZero() && !d.Has(at) {
			wish = t.Preferred[i].Term
		}
		at++
	}
	for _, s := range t.Spreads {
		if s.Soft {
			at++
		}
		if !s.Soft || !d.Has(at-1) {
			v.Spreads = append(v.Spreads, s)
		}
	}
	strict, domains := sp.softTaint && !d.Has(at), sp.chosenDomains(t, &v)
	for _, alternative := range alternatives(t) {
		v.Alternatives = append(v.Alternatives, Asker{
			Require: alternative.Intersect(wish), Tolerations: t.Tolerations, Strict: strict, Domains: domains, Expendable: t.Priority < sp.expendableBelow,
		})
	}
	for _, alternative := range nodeAlternatives(t) {
		v.Nodes = append(v.Nodes, Asker{Require: alternative, Tolerations: t.Tolerations})
	}
	return v
}

// kept are the preferred terms that are not given up; it moves on over their numbers.
func kept(preferred []snapshot.WeightedAffinity, d Dropped, at *int) []snapshot.AffinityTerm {
	var out []snapshot.AffinityTerm
	for _, p := range preferred {
		if !d.Has(*at) {
			out = append(out, p.Term)
		}
		*at++
	}
	return out
}

func softSpreads(t *snapshot.Template) int {
	n := 0
	for _, s := range t.Spreads {
		if s.Soft {
			n++
		}
	}
	return n
}

// hasSoftTaint reports whether some pool or node has a PreferNoSchedule taint.
func hasSoftTaint(s *snapshot.Snapshot) bool {
	soft := func(taints []model.Taint) bool {
		for _, t := range taints {
			if t.Effect == model.PreferNoSchedule {
				return true
			}
		}
		return false
	}
	for i := range s.Pools {
		if soft(s.Pools[i].Taints) {
			return true
		}
	}
	for i := range s.Nodes {
		if soft(s.Nodes[i].Taints) {
			return true
		}
	}
	return false
}

// expendableBelow is DrainRules.ExpendableBelow of the groups that have these rules: all have it from the same flag.
func expendableBelow(s *snapshot.Snapshot) int32 {
	for i := range s.Pools {
		if rules := s.Pools[i].Rules(); rules != nil {
			return rules.Drain.ExpendableBelow
		}
	}
	return -1 << 31 // no priority is lower
}

// manyAlternatives bounds the cross product of node terms and volume terms.
const manyAlternatives = 64

// alternatives joins the alternatives for the node with those of each volume. Pairs
// that contradict each other are left out, unless nothing would be left: the pod then
// fails with a reason that names the contradiction.
func alternatives(t *snapshot.Template) []requirement.Set {
	out := nodeAlternatives(t)
	for _, v := range t.Volumes {
		if len(v.Terms) == 0 {
			continue
		}
		var joined, all []requirement.Set
		for _, a := range out {
			for _, term := range v.Terms {
				if len(all) >= manyAlternatives {
					break
				}
				both := a.Intersect(term)
				all = append(all, both)
				if a.Intersects(term) {
					joined = append(joined, both)
				}
			}
		}
		out = joined
		if len(out) == 0 {
			out = all
		}
	}
	return out
}
