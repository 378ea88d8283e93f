package rulecost

import (
	"slices"

	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// without is a copy of the snapshot in which the rules do not exist. What it has in common with
// the snapshot is shared.
func (f *finder) without(rules []found) *snapshot.Snapshot {
	out := *f.s
	out.Templates, out.Pools = slices.Clone(f.s.Templates), slices.Clone(f.s.Pools)
	lightest, _ := f.lightest()
	for i := range rules {
		r := &rules[i]
		if r.pool >= 0 {
			r.leavePool(&out.Pools[r.pool], lightest)
		}
		for _, t := range r.templates {
			r.leaveTemplate(&out.Templates[t])
		}
	}
	return &out
}

func (r *found) leavePool(p *snapshot.Pool, lightest int32) {
	switch r.Kind {
	case Weight:
		p.Weight = lightest
	case Limit:
		p.Limits = others(p.Limits, func(a model.Amount) bool { return a.Name == r.Key })
	case Zone:
		p.Requirements = p.Requirements.Without(requirement.KeyZone)
	case CapacityType:
		p.Requirements = p.Requirements.Without(requirement.KeyCapacityType)
	}
}

func (r *found) leaveTemplate(t *snapshot.Template) {
	switch r.Kind {
	case Spread:
		t.Spreads = others(t.Spreads, func(s snapshot.Spread) bool { return s.Key == r.Key && s.Soft == r.Soft })
	case AntiAffinity:
		if r.Soft {
			t.PreferredAntiAffinity = others(t.PreferredAntiAffinity, func(w snapshot.WeightedAffinity) bool { return w.Term.Key == r.Key })
		} else {
			t.AntiAffinity = others(t.AntiAffinity, func(a snapshot.AffinityTerm) bool { return a.Key == r.Key })
		}
	case Affinity:
		if r.Soft {
			t.PreferredAffinity = others(t.PreferredAffinity, func(w snapshot.WeightedAffinity) bool { return w.Term.Key == r.Key })
		} else {
			t.Affinity = others(t.Affinity, func(a snapshot.AffinityTerm) bool { return a.Key == r.Key })
		}
	case NodePreference:
		t.Preferred = nil
	case Zone:
		leaveLabel(t, requirement.KeyZone)
	case CapacityType:
		leaveLabel(t, requirement.KeyCapacityType)
	}
}

// leaveLabel lets the pods go wherever the label says. Where their volumes are still counts.
func leaveLabel(t *snapshot.Template, key string) {
	t.Selector = t.Selector.Without(key)
	t.Terms = slices.Clone(t.Terms)
	for i := range t.Terms {
		t.Terms[i] = t.Terms[i].Without(key)
	}
}

// others are the elements that are not meant, in a list of their own.
func others[T any](list []T, meant func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), meant)
}
