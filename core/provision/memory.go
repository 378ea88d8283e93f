package provision

import (
	"reflect"
	"slices"

	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/snapshot"
)

// Memory is what earlier plans of the same asker have found out: what can be bought, compiled, and
// what was simulated. Pods that nothing can hold are asked about again with every plan, and
// what would help them is mostly what would have helped before. It changes no answer: all is
// remembered with everything that it depends on. It belongs to one asker at a time; nil
// remembers nothing.
type Memory struct {
	market  feasible.Market
	ordered []ordered
	// now are the simulations of the current plan, before those of the last one. What two plans
	// have not asked is forgotten, and with it catalogues that are sold no more.
	now, before map[simulationKey][]simulation
}

// NewMemory makes an empty one.
func NewMemory() *Memory { return &Memory{} }

// ordered is a list of types, and the same by name.
type ordered struct{ given, byName []catalog.Type }

// fewLists is how many catalogues are remembered in order.
const fewLists = 64

// sold is what is remembered of what can be bought.
func (m *Memory) sold() *feasible.Market {
	if m == nil {
		return nil
	}
	return &m.market
}

// byName puts types in order. The same list, which never changes, gives the same list.
func (m *Memory) byName(types []catalog.Type) []catalog.Type {
	if m == nil || len(types) == 0 {
		return byName(types)
	}
	for _, o := range m.ordered {
		if len(o.given) == len(types) && &o.given[0] == &types[0] {
			return o.byName
		}
	}
	if len(m.ordered) >= fewLists {
		m.ordered = nil
	}
	out := byName(types)
	m.ordered = append(m.ordered, ordered{types, out})
	return out
}

// simulationKey tells most simulations apart at once.
type simulationKey struct {
	pool, namespace string
	types, pods     int
}

// simulation is a sandbox, and what came of it.
type simulation struct {
	sandbox *snapshot.Snapshot // without pods, time and what concerns disruptions
	outcome outcome
}

// outcome is how a simulation ended: on which nodes all pods got a place, or that they did not.
type outcome struct {
	placed bool
	kinds  []string // of machines, one for each node
	taken  model.Resources
	price  model.Money
}

// turn begins a new plan.
func (m *Memory) turn() {
	if m != nil {
		m.before, m.now = m.now, map[simulationKey][]simulation{}
	}
}

// recall finds a simulation of the same, or else has it done and keeps it. The sandbox says
// everything: the pods on it are alike, and plans do not depend on the time. To compare sandboxes
// costs little as long as they share what snapshots have in common.
func (m *Memory) recall(sandbox *snapshot.Snapshot, run func() outcome) outcome {
	if m == nil {
		return run()
	}
	at := simulationKey{sandbox.Pools[0].Name, sandbox.Templates[0].Namespace, len(sandbox.Catalogs[0].Types), len(sandbox.Pods)}
	r := simulation{sandbox: bare(sandbox)}
	for _, known := range [][]simulation{m.now[at], m.before[at]} {
		if i := slices.IndexFunc(known, r.same); i >= 0 {
			r = known[i]
			if !slices.ContainsFunc(m.now[at], r.same) {
				m.now[at] = append(m.now[at], r)
			}
			return r.outcome
		}
	}
	r.outcome = run()
	m.now[at] = append(m.now[at], r)
	return r.outcome
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
