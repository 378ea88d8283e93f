package rulecost

import (
	"slices"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// broken reports whether a plan that was made without some rules breaks one of them. A plan that keeps them
// all is also a plan with them: then they cost nothing, and the difference is only rounding. A rule for
// which this is hard to check counts as broken.
func (f *finder) broken(p *plan.Plan, rules []found) bool {
	return slices.ContainsFunc(rules, func(r found) bool {
		switch r.Kind {
		case Limit:
			return f.overrun(p, &r)
		case Zone:
			return f.elsewhere(p, &r, requirement.KeyZone, func(c *plan.Claim) string { return c.Offer.Zone })
		case CapacityType:
			return f.elsewhere(p, &r, requirement.KeyCapacityType, func(c *plan.Claim) string { return c.Offer.CapacityType })
		case Spread, AntiAffinity:
			return r.Key != requirement.KeyHostname || f.crowded(p, &r)
		}
		return true
	})
}

// overrun reports whether the pool's nodes take more of the limit than there is.
func (f *finder) overrun(p *plan.Plan, r *found) bool {
	pool := &f.s.Pools[r.pool]
	left := int64(0)
	for _, l := range pool.Limits {
		if l.Name == r.Key {
			left = l.Value
		}
	}
	share := func(capacity model.Resources) int64 {
		if r.Key == model.Nodes {
			return 1
		}
		return capacity.Get(r.Key)
	}
	for i := range f.s.Nodes {
		if n := &f.s.Nodes[i]; n.Pool == pool.Name && n.Counts() {
			left -= share(n.Capacity)
		}
	}
	for i := range p.Claims {
		if c := &p.Claims[i]; c.Pool == pool.Name {
			left -= share(c.Capacity)
		}
	}
	return left < 0
}

// elsewhere reports whether a pod or a node that the rule is about is where the rule does not
// let it be.
func (f *finder) elsewhere(p *plan.Plan, r *found, key string, at func(*plan.Claim) string) bool {
	for i := range p.Claims {
		c := &p.Claims[i]
		switch value := at(c); {
		case r.pool >= 0:
			if pool := &f.s.Pools[r.pool]; c.Pool == pool.Name && !pool.Requirements.Get(key).Has(value) {
				return true
			}
		case slices.ContainsFunc(c.Pods, func(pod snapshot.PodIndex) bool { return f.forbids(r, pod, key, value) }):
			return true
		}
	}
	return r.pool < 0 && slices.ContainsFunc(p.Existing, func(e plan.Placement) bool {
		return slices.ContainsFunc(e.Pods, func(pod snapshot.PodIndex) bool { return slices.Contains(r.templates, f.s.Pods[pod].Template) })
	})
}

// forbids reports whether the pod has the rule, and may not be where a label has the value.
func (f *finder) forbids(r *found, pod snapshot.PodIndex, key, value string) bool {
	if !slices.Contains(r.templates, f.s.Pods[pod].Template) {
		return false
	}
	t := &f.s.Templates[f.s.Pods[pod].Template]
	allows := func(set requirement.Set) bool { return !set.Has(key) || set.Get(key).Has(value) }
	return !allows(t.Selector) || len(t.Terms) > 0 && !slices.ContainsFunc(t.Terms, allows)
}

// crowded reports whether a node holds more of the rule's pods than it lets one hold, as far as
// that can be said without looking at other pods; pods on nodes that are there count as crowded.
func (f *finder) crowded(p *plan.Plan, r *found) bool {
	most := 1
	if r.Kind == Spread {
		for _, t := range r.templates {
			for _, s := range f.s.Templates[t].Spreads {
				if s.Key == r.Key && s.Soft == r.Soft {
					most = max(most, int(s.MaxSkew))
				}
			}
		}
	}
	ruled := func(pods []snapshot.PodIndex) (n int) {
		for _, pod := range pods {
			if t := f.s.Pods[pod].Template; slices.Contains(r.templates, t) && selectsSelf(&f.s.Templates[t], r) {
				n++
			} else if slices.Contains(r.templates, t) {
				n += most + 1 // it is about others
			}
		}
		return n
	}
	return slices.ContainsFunc(p.Claims, func(c plan.Claim) bool { return ruled(c.Pods) > most }) ||
		slices.ContainsFunc(p.Existing, func(e plan.Placement) bool { return ruled(e.Pods) > 0 })
}

// selectsSelf reports whether all of a template's rules of the kind are about its own pods.
func selectsSelf(t *snapshot.Template, r *found) bool {
	for _, s := range t.Spreads {
		if r.Kind == Spread && s.Key == r.Key && s.Soft == r.Soft && !s.Selector.Matches(t.Labels) {
			return false
		}
	}
	if r.Kind != AntiAffinity {
		return true
	}
	for _, a := range t.AntiAffinity {
		if !r.Soft && a.Key == r.Key && !a.Selector.Matches(t.Labels) {
			return false
		}
	}
	for _, w := range t.PreferredAntiAffinity {
		if r.Soft && w.Term.Key == r.Key && !w.Term.Selector.Matches(t.Labels) {
			return false
		}
	}
	return true
}
