package advice

import (
	"reflect"
	"slices"

	"tenon/core/model"
	"tenon/core/snapshot"
)

// Memory are what was tried out for earlier plans: now for the current one, before for the last one. An
// entry that two plans in a row did not use is forgotten, and with it old catalogues.
type Memory struct {
	now, before map[simulationKey][]simulation
	// Recalled is how many simulations of the current plan were known before.
	Recalled int
}

// simulationKey tells most simulations apart at once.
type simulationKey struct {
	pool, namespace string
	types, pods     int
}

// simulation is a sandbox, and what came of it.
type simulation struct {
	sandbox *snapshot.Snapshot // without pods, time and what concerns disruptions
	result  simulated
}

// simulated is how a simulation ended: on which nodes all pods got a place, or that they did not.
type simulated struct {
	placed bool
	kinds  []string // of machines, one for each node
	taken  model.Resources
	price  model.Money
}

// Turn begins a new plan.
func (m *Memory) Turn() {
	if m != nil {
		m.before, m.now, m.Recalled = m.now, map[simulationKey][]simulation{}, 0
	}
}

// recall finds a simulation of the same, or else has it done and keeps it. The sandbox is the whole input:
// its pods are alike, and plans do not depend on the time. Comparing sandboxes costs little as long as they
// share what snapshots have in common.
func (m *Memory) recall(sandbox *snapshot.Snapshot, run func() simulated) simulated {
	if m == nil {
		return run()
	}
	at := simulationKey{sandbox.Pools[0].Name, sandbox.Templates[0].Namespace, len(sandbox.Catalogs[0].Types), len(sandbox.Pods)}
	r := simulation{sandbox: bare(sandbox)}
	for _, known := range [][]simulation{m.now[at], m.before[at]} {
		if i := slices.IndexFunc(known, r.same); i >= 0 {
			r = known[i]
			m.Recalled++
			if !slices.ContainsFunc(m.now[at], r.same) {
				m.now[at] = append(m.now[at], r)
			}
			return r.result
		}
	}
	r.result = run()
	m.now[at] = append(m.now[at], r)
	return r.result
}

// bare leaves out what no simulation looks at.
func bare(sandbox *snapshot.Snapshot) *snapshot.Snapshot {
	out := &snapshot.Snapshot{
		Settings: sandbox.Settings, Catalogs: sandbox.Catalogs, Pools: slices.Clone(sandbox.Pools), Templates: sandbox.Templates, Daemons: sandbox.Daemons,
	}
	out.Pools[0].Consolidation = snapshot.Consolidation{}
	return out
}

// same begins with what differs mostly.
func (r simulation) same(o simulation) bool {
	return reflect.DeepEqual(r.sandbox.Templates, o.sandbox.Templates) && reflect.DeepEqual(r.sandbox, o.sandbox)
}
