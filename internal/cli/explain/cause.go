package explain

import (
	"fmt"
	"slices"
	"strings"

	"tenon/core/catalog"
	"tenon/core/order"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// places says what the volumes and topology rules of a pod without a place ask for that does not exist. The
// reasons of pools are about offerings and do not name it. It reports whether a volume contradicts the
// pod's own labels: then changing one label does not help.
func (e *explainer) places(pod snapshot.PodIndex) (contradicted bool) {
	t := &e.s.Templates[e.s.Pods[pod].Template]
	for i := range t.Volumes {
		contradicted = e.volume(t, &t.Volumes[i]) || contradicted
	}
	for i := range t.Spreads {
		if !t.Spreads[i].Soft {
			e.domain("spread", t.Spreads[i].Key)
		}
	}
	for i := range t.Affinity {
		e.domain("pod affinity", t.Affinity[i].Key)
	}
	return contradicted
}

// volume says where a volume is, if the pod cannot be there or nothing is sold there.
func (e *explainer) volume(t *snapshot.Template, v *snapshot.Volume) (contradicted bool) {
	if len(v.Terms) == 0 {
		return false
	}
	where := fmt.Sprintf("volume %s is only where %s", v.ID, alternatives(v.Terms))
	if asked := own(t); !overlap(asked, v.Terms) {
		e.a.say("volume", "%s, and the pod asks for %s: no node is both", where, alternatives(asked))
		return true
	}
	zones := e.zones()
	sold := slices.ContainsFunc(v.Terms, func(term requirement.Set) bool {
		return slices.ContainsFunc(zones, term.Get(requirement.KeyZone).Has)
	})
	if !sold {
		e.a.say("volume", "%s: nothing is sold there, only in %s", where, strings.Join(zones, ", "))
	}
	return false
}

// own is what the pod itself asks of its node, as alternatives.
func own(t *snapshot.Template) []requirement.Set {
	if len(t.Terms) == 0 {
		return []requirement.Set{t.Selector}
	}
	out := make([]requirement.Set, len(t.Terms))
	for i, term := range t.Terms {
		out[i] = t.Selector.Intersect(term)
	}
	return out
}

func overlap(a, b []requirement.Set) bool {
	for _, x := range a {
		if slices.ContainsFunc(b, x.Intersects) {
			return true
		}
	}
	return false
}

func alternatives(sets []requirement.Set) string {
	texts := make([]string, len(sets))
	for i, set := range sets {
		texts[i] = set.String()
	}
	return strings.Join(texts, " or ")
}

// zones are those in which pools may find offerings.
func (e *explainer) zones() []string {
	zones := map[string]bool{}
	for i := range e.s.Pools {
		for _, t := range e.s.Catalogs[e.s.Pools[i].Catalog].Types {
			for k := range t.Offerings {
				zones[t.Offerings[k].Zone] = true
			}
		}
	}
	return order.Keys(zones)
}

// domain says that no node can have the label over which a rule counts pods.
func (e *explainer) domain(rule, key string) {
	known := []string{requirement.KeyHostname, requirement.KeyZone, requirement.KeyCapacityType}
	if slices.Contains(known, key) || e.labelled(key) {
		return
	}
	e.a.say(rule, "it counts pods by the label %s, which no node has and no pool or offering gives", key)
}

func (e *explainer) labelled(key string) bool {
	for i := range e.s.Nodes {
		if _, has := e.s.Nodes[i].Labels[key]; has {
			return true
		}
	}
	for i := range e.s.Pools {
		if e.s.Pools[i].Requirements.Has(key) {
			return true
		}
		for _, t := range e.s.Catalogs[e.s.Pools[i].Catalog].Types {
			if t.Requirements.Has(key) || slices.ContainsFunc(t.Offerings, func(o catalog.Offering) bool { return o.Extra.Has(key) }) {
				return true
			}
		}
	}
	return false
}
