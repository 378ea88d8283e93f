package feasible

import (
	"slices"

	"tenon/core/order"
	"tenon/core/snapshot"
)

// A group of instances is one offering, although the cloud chooses zone, type or capacity type of each instance. Places for which
// that choice could matter are left out here, so that no other part of the core has to know of it.

// chosenLabels are those of which the cloud chooses the value in some pool.
func chosenLabels(s *snapshot.Snapshot) map[string]bool {
	out := map[string]bool{}
	for i := range s.Pools {
		if g := s.Pools[i].Group; g != nil {
			for _, key := range order.Keys(g.Chosen) {
				out[key] = true
			}
		}
	}
	return out
}

// leavesChoice reports whether a pod does as well with every value that the cloud may choose for a node of the pool.
func leavesChoice(pool *snapshot.Pool, a *Asker) bool {
	if pool.Group == nil || len(pool.Group.Chosen) == 0 {
		return true
	}
	if slices.ContainsFunc(a.Domains, pool.Chooses) {
		return false
	}
	for r := range a.Require.All() {
		values, chosen := pool.Group.Chosen[r.Key()]
		if chosen && (len(values) == 0 || slices.ContainsFunc(values, func(value string) bool { return !r.Has(value) })) {
			return false
		}
	}
	return true
}

// chosenDomains are the labels, of those that the cloud chooses somewhere, by which the rules of a variant or the anti-affinity
// of other pods count the template's nodes.
func (sp *Space) chosenDomains(t *snapshot.Template, v *Variant) []string {
	if len(sp.chosen) == 0 {
		return nil
	}
	keys := map[string]bool{}
	for _, s := range v.Spreads {
		keys[s.Key] = sp.chosen[s.Key]
	}
	for _, terms := range [][]snapshot.AffinityTerm{v.Affinity, v.AntiAffinity, v.SoftAffinity, v.SoftAntiAffinity} {
		for _, term := range terms {
			keys[term.Key] = sp.chosen[term.Key]
		}
	}
	for i := range sp.Snapshot.Templates {
		for _, term := range sp.Snapshot.Templates[i].AntiAffinity {
			if sp.chosen[term.Key] && slices.Contains(term.Namespaces, t.Namespace) && term.Selector.Matches(t.Labels) {
				keys[term.Key] = true
			}
		}
	}
	return slices.DeleteFunc(order.Keys(keys), func(key string) bool { return !keys[key] })
}
