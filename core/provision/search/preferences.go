package search

import (
	"cmp"
	"slices"

	"tenon/core/model"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// A preference is worth at most a tenth of what a pod costs on average, at the full
// weight of 100; one that has no weight counts as half of that.
const (
	worthAtMost = 10 // one part in so many of the pod's price
	fullWeight  = 100
	noWeight    = 50
)

// manyPreferenceGroups bounds how many kinds of preferences are weighed one by one; each costs a packing.
// The rest, those with the least weight, are given up.
const manyPreferenceGroups = 12

// preferenceGroup is preferences of the same kind on the same key: they are honoured or given up
// together, by all pods that have them.
type preferenceGroup struct {
	kind, key string
	members   []preference
	// weight is the sum over the pods of all members.
	weight int64
}

// preference is one of a template's.
type preference struct {
	template snapshot.TemplateIndex
	number   int
}

// weigh starts from the plan without preferences and honours, family by family, those
// that are worth their price. A preference never leaves a pod without a place.
func (d *Search) weigh(plain *Draft) *Draft {
	best := plain
	pods := d.CountPods()
	for _, f := range d.preferenceGroups() {
		wishes := restorePreferences(best.wishes, f)
		trial := d.place(wishes)
		extra := trial.Result.Price - best.Result.Price
		worth := model.Money(int64(plain.Result.Price) / int64(max(pods, 1)) * f.weight / fullWeight / worthAtMost)
		if slices.Compare(trial.lacking(), best.lacking()) <= 0 && extra <= worth {
			best = trial
		}
	}
	return best
}

// restorePreferences takes the family's preferences up again.
func restorePreferences(wishes []shape.Wish, f preferenceGroup) []shape.Wish {
	out := slices.Clone(wishes)
	for i := range out {
		for _, m := range f.members {
			if m.template == out[i].Template {
				out[i].Dropped = out[i].Dropped.Without(m.number)
			}
		}
	}
	return out
}

// preferenceGroups gathers the preferences of the pods that want a place, those of most weight
// first.
func (d *Search) preferenceGroups() []preferenceGroup {
	var out []preferenceGroup
	add := func(kind, key string, w shape.Wish, number int, weight int64) {
		if number >= d.Space.Preferences(&d.Snapshot.Templates[w.Template]) {
			return
		}
		i := slices.IndexFunc(out, func(f preferenceGroup) bool { return f.kind == kind && f.key == key })
		if i < 0 {
			i = len(out)
			out = append(out, preferenceGroup{kind: kind, key: key})
		}
		out[i].members = append(out[i].members, preference{w.Template, number})
		out[i].weight += weight * int64(len(w.Pods))
	}
	for _, w := range d.Wishes {
		eachPreference(&d.Snapshot.Templates[w.Template], func(number int, kind, key string, weight int64) {
			add(kind, key, w, number, weight)
		})
	}
	slices.SortStableFunc(out, func(a, b preferenceGroup) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.kind, b.kind), cmp.Compare(a.key, b.key))
	})
	return out[:min(len(out), manyPreferenceGroups)]
}

// eachPreference lists a template's preferences as feasible.Dropped numbers them, except avoiding
// PreferNoSchedule taints, which no policy gives up early.
func eachPreference(t *snapshot.Template, do func(number int, kind, key string, weight int64)) {
	n := 0
	for _, terms := range []struct {
		kind string
		list []snapshot.WeightedAffinity
	}{{"affinity", t.PreferredAffinity}, {"anti-affinity", t.PreferredAntiAffinity}} {
		for _, p := range terms.list {
			do(n, terms.kind, p.Term.Key, int64(p.Weight))
			n++
		}
	}
	for _, p := range t.Preferred {
		do(n, "node", p.Term.String(), int64(p.Weight))
		n++
	}
	for _, s := range t.Spreads {
		if s.Soft {
			do(n, "spread", s.Key, noWeight)
			n++
		}
	}
}
