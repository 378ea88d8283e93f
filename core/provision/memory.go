package provision

import (
	"tenon/core/provision/advice"
	"tenon/core/provision/search"
)

// Memory is what earlier plans of the same asker have found out: what can be bought, compiled, and
// what was simulated. Pods that nothing can hold are asked about again with every plan, and
// what would help them is mostly what would have helped before. It changes no answer: all is
// remembered with everything that it depends on. It belongs to one asker at a time; nil
// remembers nothing.
type Memory struct {
	search   search.Memory
	remedies advice.Memory
}

// NewMemory makes an empty one.
func NewMemory() *Memory { return &Memory{} }

// Search is what is remembered of what can be bought.
func (m *Memory) Search() *search.Memory {
	if m == nil {
		return nil
	}
	return &m.search
}

// tried is what is remembered of simulations, for the next plan.
func (m *Memory) tried() *advice.Memory {
	if m == nil {
		return nil
	}
	m.remedies.Turn()
	return &m.remedies
}
