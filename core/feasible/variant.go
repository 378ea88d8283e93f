package feasible

import (
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Variant is what a template asks for at one level of giving up preferences. A template
// is never edited: levels are numbers, and each names the preferences already dropped.
type Variant struct {
	// Alternatives for the node: one must hold.
	Alternatives []Asker
	Spreads      []snapshot.Spread
	Affinity     []snapshot.AffinityTerm
	AntiAffinity []snapshot.AffinityTerm
}

// Levels is how many variants the template has. The last one has no preferences left.
//
// Preferences are dropped in the documented order: preferred pod affinity, preferred
// pod anti-affinity, preferred node affinity (heaviest first each), ScheduleAnyway
// spreads, and at last the dislike of PreferNoSchedule taints. Required node-affinity
// terms are alternatives at every level, not preferences.
func (sp *Space) Levels(t *snapshot.Template) int {
	n := 1
	if sp.anySoftTaint() {
		n++
	}
	if sp.Snapshot.Settings.Preferences == snapshot.Ignore {
		return n
	}
	return n + len(t.PreferredAffinity) + len(t.PreferredAntiAffinity) + len(t.Preferred) + softSpreads(t)
}

// Variant gives what the template asks for at a level, 0 being all that it wishes.
func (sp *Space) Variant(t *snapshot.Template, level int) Variant {
	v := Variant{AntiAffinity: t.AntiAffinity, Affinity: t.Affinity}
	drop := level
	if sp.Snapshot.Settings.Preferences == snapshot.Ignore {
		drop += len(t.PreferredAffinity) + len(t.PreferredAntiAffinity) + len(t.Preferred) + softSpreads(t)
	}
	v.Affinity, drop = withPreferred(t.Affinity, t.PreferredAffinity, drop)
	v.AntiAffinity, drop = withPreferred(t.AntiAffinity, t.PreferredAntiAffinity, drop)
	wish := requirement.Set{}
	if drop < len(t.Preferred) {
		wish, drop = t.Preferred[drop].Term, 0
	} else {
		drop -= len(t.Preferred)
	}
	v.Spreads, drop = keptSpreads(t.Spreads, drop)
	strict := sp.anySoftTaint() && drop == 0
	for _, alternative := range alternatives(t) {
		v.Alternatives = append(v.Alternatives, Asker{
			Require: alternative.Intersect(wish), Tolerations: t.Tolerations, Strict: strict,
		})
	}
	return v
}

// withPreferred adds to the required terms the preferred ones that are left after
// dropping the heaviest, and returns how many more preferences are to be dropped.
func withPreferred(required []snapshot.AffinityTerm, preferred []snapshot.WeightedAffinity, drop int) ([]snapshot.AffinityTerm, int) {
	if drop >= len(preferred) {
		return required, drop - len(preferred)
	}
	out := append([]snapshot.AffinityTerm(nil), required...)
	for _, p := range preferred[drop:] {
		out = append(out, p.Term)
	}
	return out, 0
}

// keptSpreads leaves out the first soft spreads, as many as are to be dropped.
func keptSpreads(spreads []snapshot.Spread, drop int) ([]snapshot.Spread, int) {
	var out []snapshot.Spread
	for _, s := range spreads {
		if s.Soft && drop > 0 {
			drop--
			continue
		}
		out = append(out, s)
	}
	return out, drop
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

// anySoftTaint reports whether some pool or node has a PreferNoSchedule taint.
func (sp *Space) anySoftTaint() bool { return sp.softTaint }

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
