package search

import (
	"tenon/core/catalog"
	"tenon/core/feasible"
)

// Memory is what can be bought, compiled, and catalogues in the order of their types. It is kept
// from one search of an asker to the next, and changes no answer; nil remembers nothing.
type Memory struct {
	compiled feasible.Compiled
	ordered  []ordered
}

// ordered is a list of types, and the same by name.
type ordered struct{ given, byName []catalog.Type }

// fewLists is how many catalogues are remembered in order.
const fewLists = 64

// Compiled is what is remembered of what can be bought.
func (m *Memory) Compiled() *feasible.Compiled {
	if m == nil {
		return nil
	}
	return &m.compiled
}

// byName puts types in order. The same list, which never changes, gives the same list.
func (m *Memory) byName(types []catalog.Type) []catalog.Type {
	if m == nil || len(types) == 0 {
		return ByName(types)
	}
	for _, o := range m.ordered {
		if len(o.given) == len(types) && &o.given[0] == &types[0] {
			return o.byName
		}
	}
	if len(m.ordered) >= fewLists {
		m.ordered = nil
	}
	out := ByName(types)
	m.ordered = append(m.ordered, ordered{types, out})
	return out
}
