package feasible

import (
	"slices"

	"tenon/core/bitset"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// daemon is a DaemonSet: its pod will land on every node that it may run on, and what
// it requests is not there for others.
type daemon struct {
	template *snapshot.Template
	requests model.Resources
	alts     []requirement.Set // one must hold
}

// daemonPlaces is where in one pool a daemon would run.
type daemonPlaces struct {
	ordinal int
	alts    []daemonAlt
}

type daemonAlt struct{ types, slots bitset.Set }

// sameDaemon reports whether a daemon runs in the same places of two pools of one catalogue.
func sameDaemon(a, b daemonPlaces) bool {
	return a.ordinal == b.ordinal && slices.EqualFunc(a.alts, b.alts, func(x, y daemonAlt) bool {
		return x.types.Equal(y.types) && x.slots.Equal(y.slots)
	})
}

// nodeLabels are carried by every node once it is in service, and DaemonSets may select
// them although no pool defines them.
var nodeLabels = requirement.FromLabels(map[string]string{
	"karpenter.sh/registered":  "true",
	"karpenter.sh/initialized": "true",
})

func (sp *Space) compileDaemons() {
	for _, d := range sp.Snapshot.Daemons {
		t := &sp.Snapshot.Templates[d.Template]
		alts := nodeAlternatives(t)
		sp.daemons = append(sp.daemons, daemon{template: t, requests: t.Requests, alts: alts})
		for _, alt := range alts {
			sp.daemonKeys = append(sp.daemonKeys, alt.Keys()...)
		}
	}
	slices.Sort(sp.daemonKeys)
	sp.daemonKeys = slices.Compact(sp.daemonKeys)
}

// daemonLabels are those of a node's labels that some daemon asks for: mostly few or none.
func (sp *Space) daemonLabels(all map[string]string) requirement.Set {
	var asked map[string]string
	for _, key := range sp.daemonKeys {
		if value, has := all[key]; has {
			if asked == nil {
				asked = make(map[string]string, len(sp.daemonKeys))
			}
			asked[key] = value
		}
	}
	return requirement.FromLabels(asked)
}

// daemonsOf says where in the pool each daemon runs. Startup taints and taints that
// only prefer keep no daemon away; each alternative is judged on its own.
func (sp *Space) daemonsOf(p snapshot.PoolIndex) []daemonPlaces {
	pool := &sp.Snapshot.Pools[p]
	requirements := pool.Requirements.Intersect(nodeLabels)
	types := sp.Snapshot.Catalogs[pool.Catalog].Types
	var out []daemonPlaces
	for i, d := range sp.daemons {
		if _, kept := model.Untolerated(pool.Taints, d.template.Tolerations, false); kept {
			continue
		}
		places := daemonPlaces{ordinal: i}
		for _, alt := range d.alts {
			if !requirements.Compatible(alt, sp.Snapshot.Settings.WellKnown) {
				continue
			}
			asked := requirements.Intersect(alt)
			on := bitset.New(len(types))
			for t := range types {
				if types[t].Requirements.Intersects(asked) {
					on.Put(t)
				}
			}
			places.alts = append(places.alts, daemonAlt{types: on, slots: sp.SlotsAllowed(alt)})
		}
		if len(places.alts) > 0 {
			out = append(out, places)
		}
	}
	return out
}

// daemonsOn lists the daemons, by number, that run on a type bought in a slot.
func daemonsOn(running []daemonPlaces, typeOrdinal, slot int) []int {
	var out []int
	for _, d := range running {
		for _, alt := range d.alts {
			if alt.types.Has(typeOrdinal) && alt.slots.Has(slot) {
				out = append(out, d.ordinal)
				break
			}
		}
	}
	return out
}

// daemonsOnHost is what the daemons that belong on an existing node request in all.
func (sp *Space) daemonsOnHost(labels requirement.Set, taints []model.Taint) model.Resources {
	var sum model.Resources
	for _, d := range sp.daemons {
		if _, kept := model.Untolerated(taints, d.template.Tolerations, false); kept {
			continue
		}
		for _, alt := range d.alts {
			if labels.Compatible(alt, requirement.KeySet{}) {
				sum = sum.Add(d.requests)
				break
			}
		}
	}
	return sum
}
