package search

import (
	"encoding/binary"
	"strings"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/shape"
	"tenon/core/topology"
)

// domains knows in which domains of a key a shape may go: on existing nodes, and on new
// ones of a size that holds one of its pods.
type domains struct {
	set   *shape.Set
	pools []bool
	known map[question][]topology.Domain
	// prices by slot, shared between shapes of one size in the same places.
	prices map[sized][]model.Money
	hosts  map[sited][]string
}

type question struct {
	shape int
	key   string
	pins  string
}

func newDomains(set *shape.Set, pools []bool) *domains {
	return &domains{set: set, pools: pools, known: map[question][]topology.Domain{}, prices: map[sized][]model.Money{}, hosts: map[sited][]string{}}
}

// Domains lists them sorted by name.
func (a *domains) Domains(shape int, key string, pins []topology.Pin) []topology.Domain {
	q := question{shape, key, pinText(pins)}
	if found, ok := a.known[q]; ok {
		return found
	}
	s := &a.set.Shapes[shape]
	places := s.Alternatives
	if len(pins) > 0 {
		places = nil
		for _, p := range s.Alternatives {
			if narrowed := a.set.Narrow(p, s, pins); narrowed != nil {
				places = append(places, narrowed)
			}
		}
	}
	out := a.within(places, s.Need, key)
	a.known[q] = out
	return out
}

// Within lists the domains of some places for pods of any size.
func (a *domains) Within(places []*feasible.Places, key string) []topology.Domain {
	return a.within(places, nil, key)
}

func (a *domains) within(places []*feasible.Places, need []int64, key string) []topology.Domain {
	prices := map[string]model.Money{}
	for _, p := range places {
		a.onHosts(p, key, prices)
		a.onMachines(p, need, key, prices)
	}
	out := make([]topology.Domain, 0, len(prices))
	for _, value := range order.Keys(prices) {
		out = append(out, topology.Domain{Value: value, Price: prices[value]})
	}
	return out
}

func pinText(pins []topology.Pin) string {
	var b strings.Builder
	for _, p := range pins {
		b.WriteString(p.Key + "\x00" + strings.Join(p.Values, "\x01") + "\x02")
	}
	return b.String()
}

// onHosts finds the domains of existing nodes, once for all shapes in the same places.
func (a *domains) onHosts(places *feasible.Places, key string, prices map[string]model.Money) {
	at := sited{places, key}
	found, ok := a.hosts[at]
	if !ok {
		sp := a.set.Space
		for c := range places.HostClasses.All {
			if value, ok := sp.HostClasses[c].Labels.Get(key).Single(); ok {
				found = append(found, value)
			}
		}
		a.hosts[at] = found
	}
	for _, value := range found {
		prices[value] = 0
	}
}

type sited struct {
	places *feasible.Places
	key    string
}

func (a *domains) onMachines(places *feasible.Places, need []int64, key string, prices map[string]model.Money) {
	sp := a.set.Space
	note := func(value string, price model.Money) {
		if old, ok := prices[value]; !ok || price < old {
			prices[value] = price
		}
	}
	if sp.SlotLabel(key) {
		for slot, price := range a.slotPrices(places, need) {
			if value, ok := sp.Slots[slot].Label(key); ok && price >= 0 {
				note(value, price)
			}
		}
		return
	}
	for m := range places.Machines.All {
		machine := &sp.Machines[m]
		slot := machine.Cheapest(places.Slots)
		if slot < 0 || !a.pools[machine.Pool] || !feasible.Fits(need, machine.Room) {
			continue
		}
		for _, value := range sp.Values(m, key, places) {
			note(value, machine.Price[slot])
		}
	}
}

// slotPrices is, by slot, the least price of a machine with room for the need; -1 where
// there is none.
func (a *domains) slotPrices(places *feasible.Places, need []int64) []model.Money {
	key := sized{places: places, need: needText(need)}
	if found, ok := a.prices[key]; ok {
		return found
	}
	sp := a.set.Space
	out := make([]model.Money, len(sp.Slots))
	for i := range out {
		out[i] = -1
	}
	for m := range places.Machines.All {
		machine := &sp.Machines[m]
		if !a.pools[machine.Pool] || !feasible.Fits(need, machine.Room) {
			continue
		}
		for slot := range machine.Slots.All {
			if places.Slots.Has(slot) && (out[slot] < 0 || machine.Price[slot] < out[slot]) {
				out[slot] = machine.Price[slot]
			}
		}
	}
	a.prices[key] = out
	return out
}

type sized struct {
	places *feasible.Places
	need   string
}

func needText(need []int64) string {
	var b []byte
	for _, n := range need {
		b = binary.AppendVarint(b, n)
	}
	return string(b)
}
