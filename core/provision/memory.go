package provision

import (
	"tenon/core/feasible"
	"tenon/core/provision/advice"
	"tenon/core/snapshot"
)

// Memory keeps results of earlier plans of the same caller: compiled machines and simulations. Every plan
// asks again about pods without a place, and mostly the same change would help them. Memory changes no
// answer: each result is kept with everything that it depends on. It belongs to one caller at a time; nil
// keeps nothing.
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
