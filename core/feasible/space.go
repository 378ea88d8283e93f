// Package feasible answers "may this pod go there?" by Kubernetes' rules, one file a
// rule, for rules that do not depend on where other pods go.
//
// A snapshot is compiled once into a Space: resources become dense vectors, what can be
// bought becomes numbered machines and slots, and what a pod asks of a node becomes a
// set of them. Rules between pods are core/topology's.
package feasible

import (
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Space is a snapshot, compiled. It is not changed after Compile, but for a cache of
// answers that its methods fill; it belongs to one goroutine.
type Space struct {
	Snapshot *snapshot.Snapshot
	// Dims are the resources that some pod asks for; vectors are in this order. See Others.
	Dims []string
	// Slots are the different ways in which machines are offered.
	Slots []Slot
	// Machines are the things that can be bought.
	Machines []Machine
	// Hosts are the existing nodes that may take pods.
	Hosts []Host
	// Departing are nodes that are being removed, with the pods that stay on them.
	Departing []Host
	// HostClasses are hosts that no label rule and no taint can tell apart.
	HostClasses []HostClass

	pools   []poolView
	market  *market
	places  map[string]*Places
	keys    map[string]bool // label keys that some pod asks about
	daemons []daemon
	// daemonKeys are the labels that daemons ask for.
	daemonKeys []string

	others    map[string]bool // resources without a dimension of their own
	softTaint bool            // some pool or node has a PreferNoSchedule taint
	chosen    map[string]bool // labels of which the cloud chooses the value, in some pool

	expendableBelow int32 // the lowest priority of pods that get nodes of groups with Cluster Autoscaler's rules
}

// Slot is zone × capacity type × reservation: what an offering adds to its type.
type Slot struct {
	Zone         string
	CapacityType string
	Reservation  string
	labels       requirement.Set
	key          slotKey
}

// Compile numbers everything that can be bought and everything that is there. Askers
// are the templates of the pods that want a place: only what they ask about matters.
func Compile(s *snapshot.Snapshot, askers []snapshot.TemplateIndex) *Space {
	return CompileWith(s, askers, nil)
}

// CompileWith is Compile for an asker that remembers what can be bought.
func CompileWith(s *snapshot.Snapshot, askers []snapshot.TemplateIndex, m *Compiled) *Space {
	sp := &Space{Snapshot: s, places: map[string]*Places{}, softTaint: hasSoftTaint(s), chosen: chosenLabels(s), expendableBelow: expendableBelow(s)}
	sp.Dims, sp.others = dimensions(s, askers)
	sp.keys = askedKeys(s, askers)
	sp.compileDaemons()
	sp.compileMarket(m)
	sp.compileHosts()
	return sp
}

// Labels are those that the slot gives a node.
func (s *Slot) Labels() requirement.Set { return s.labels }

// Label is the value of a label that the slot gives a node, if it is known.
func (s *Slot) Label(key string) (string, bool) {
	return s.labels.Get(key).Single()
}

// Labels of well-known meaning that the core itself speaks about.
const (
	ZoneKey         = requirement.KeyZone
	CapacityTypeKey = requirement.KeyCapacityType
	HostnameKey     = requirement.KeyHostname
)

// Vector is r in the order of Dims.
func (sp *Space) Vector(r model.Resources) []int64 {
	v := make([]int64, len(sp.Dims))
	v[0], v[1], v[2] = r.CPU, r.Memory, r.Pods
	for i := 3; i < len(sp.Dims); i++ {
		v[i] = r.Get(sp.Dims[i])
	}
	if len(sp.others) > 0 {
		for _, a := range r.Extended {
			if sp.others[a.Name] {
				v[len(v)-1] = max(v[len(v)-1], a.Value)
			}
		}
	}
	return v
}

// Fits reports whether need can be taken from room. As in Kubernetes, what is not
// requested does not matter even where it is overdrawn: that rule is for existing nodes.
// Machines that are overdrawn before a pod comes have no room at all; see Machine.
func Fits(need, room []int64) bool {
	for i, n := range need {
		if n > room[i] && n > 0 {
			return false
		}
	}
	return true
}

// Values lists what the label may be on a new machine, as far as type, pool or the
// pods' own wish decide it; labels of slots are Slot.Label's.
func (sp *Space) Values(machine int, key string, places *Places) []string {
	m := &sp.Machines[machine]
	r := sp.Snapshot.Pools[m.Pool].Requirements.Get(key)
	if m.Type.Requirements.Has(key) {
		r = r.Intersect(m.Type.Requirements.Get(key))
	}
	if places.Require.Has(key) {
		r = r.Intersect(places.Require.Get(key))
	}
	if r.Complement() {
		return nil
	}
	return r.Values()
}
