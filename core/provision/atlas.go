// Package provision decides which nodes to buy for the pods that have none.
package provision

import (
	"strings"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/shape"
	"tenon/core/topology"
)

// atlas knows in which domains of a key a shape may go: on existing nodes, and on new
// ones of a size that holds one of its pods.
type atlas struct {
	set   *shape.Set
	pools []bool
	known map[question][]topology.Domain
}

type question struct {
	shape int
	key   string
	pins  string
}

func newAtlas(set *shape.Set, pools []bool) *atlas {
	return &atlas{set: set, pools: pools, known: map[question][]topology.Domain{}}
}

// Domains lists them sorted by name.
func (a *atlas) Domains(party int, key string, pins []topology.Pin) []topology.Domain {
	q := question{party, key, pinText(pins)}
	if found, ok := a.known[q]; ok {
		return found
	}
	prices := map[string]model.Money{}
	s := &a.set.Shapes[party]
	for _, places := range s.Alternatives {
		if len(pins) > 0 {
			if places = a.set.Narrow(places, s, pins); places == nil {
				continue
			}
		}
		a.onHosts(places, key, prices)
		a.onMachines(places, s, key, prices)
	}
	out := make([]topology.Domain, 0, len(prices))
	for _, value := range order.Keys(prices) {
		out = append(out, topology.Domain{Value: value, Price: prices[value]})
	}
	a.known[q] = out
	return out
}

func pinText(pins []topology.Pin) string {
	var b strings.Builder
	for _, p := range pins {
		b.WriteString(p.Key + "\x00" + strings.Join(p.Values, "\x01") + "\x02")
	}
	return b.String()
}

func (a *atlas) onHosts(places *feasible.Places, key string, prices map[string]model.Money) {
	sp := a.set.Space
	for h := range sp.Hosts {
		if !places.HostClasses.Has(sp.Hosts[h].Class) {
			continue
		}
		if value, ok := sp.HostLabel(h, key); ok {
			prices[value] = 0
		}
	}
}

func (a *atlas) onMachines(places *feasible.Places, s *shape.Shape, key string, prices map[string]model.Money) {
	sp := a.set.Space
	for m := range places.Machines.All {
		machine := &sp.Machines[m]
		if !a.pools[machine.Pool] || !feasible.Fits(s.Need, machine.Room) {
			continue
		}
		for slot := range machine.Slots.All {
			if !places.Slots.Has(slot) {
				continue
			}
			for _, value := range sp.Values(m, slot, key, places) {
				if old, ok := prices[value]; !ok || machine.Price[slot] < old {
					prices[value] = machine.Price[slot]
				}
			}
		}
	}
}
