package provision

import (
	"tenon/core/feasible"
	"tenon/core/provision/advice"
	"tenon/core/snapshot"
)

// Memory is what earlier plans of the same asker have found out: what can be bought, compiled, and
// what was simulated. Pods that nothing can hold are asked about again with every plan, and
// what would help them is mostly what would have helped before. It changes no answer: all is
// remembered with everything that it depends on. It belongs to one asker at a time; nil
// remembers nothing.
type Memory struct {
	types    snapshot.TypeOrders
	compiled feasible.Compiled
	remedies advice.Memory
}

// NewMemory makes an empty one.
func NewMemory() *Memory { return &Memory{} }

// Types is what is remembered of the order of types.
func (m *Memory) Types() *snapshot.TypeOrders {
	if m == nil {
		return nil
	}
	return &m.types
}

// Compiled is what is remembered of what can be bought.
func (m *Memory) Compiled() *feasible.Compiled {
	if m == nil {
		return nil
	}
	return &m.compiled
}

// tried is what is remembered of simulations, for the next plan.
func (m *Memory) tried() *advice.Memory {
	if m == nil {
		return nil
	}
	m.remedies.Turn()
	return &m.remedies
}
