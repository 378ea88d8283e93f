package feasible

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"tenon/core/bitset"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Machine is an instance type as one pool would buy it: what is left of it for pods
// once its daemons run, and what it costs in each slot. A type whose daemons or
// capacity depend on the slot is several machines.
type Machine struct {
	Pool    int // index into Snapshot.Pools
	Type    *catalog.Type
	Ordinal int // of Type in its catalogue
	// Room is what pods can use.
	Room []int64
	// Daemons is what the daemons take, beside Room.
	Daemons     model.Resources
	Allocatable model.Resources
	Capacity    model.Resources
	// Ports are taken by the daemons.
	Ports []model.HostPort
	// Slots in which it can be had now, and Listed: in which it is offered at all.
	Slots  bitset.Set
	Listed bitset.Set
	// Price by slot; meaningful where Listed.
	Price []model.Money
	// Stock by slot is how many can be had; -1 where there is no such limit.
	Stock []int64
}

// poolView is what is asked of a pool again and again.
type poolView struct {
	types bitset.Set // of its catalogue's types: those that the pool admits
	slots bitset.Set
	open  map[string]bool // keys whose value pods choose: see Places.Open
	// Its machines are Space.Machines[firstMachine:endMachine].
	firstMachine, endMachine int
}

// PoolMachines is the range of a pool's machines, end excluded.
func (sp *Space) PoolMachines(p int) (first, end int) {
	return sp.pools[p].firstMachine, sp.pools[p].endMachine
}

// compileSlots numbers the distinct offerings in the order of their keys.
func (sp *Space) compileSlots() {
	index := map[slotKey]int{}
	sp.slotOf = make([][][]int, len(sp.Snapshot.Catalogs))
	sp.eachOffering(func(_, _, _ int, o *catalog.Offering) {
		if key := keyOf(o); !hasKey(index, key) {
			index[key] = 0
			sp.Slots = append(sp.Slots, newSlot(o, key))
		}
	})
	slices.SortFunc(sp.Slots, func(a, b Slot) int { return a.key.compare(b.key) })
	sp.slotKeys = map[string]bool{}
	for i := range sp.Slots {
		index[sp.Slots[i].key] = i
		for r := range sp.Slots[i].labels.All() {
			sp.slotKeys[r.Key()] = true
		}
	}
	for c := range sp.Snapshot.Catalogs {
		sp.slotOf[c] = make([][]int, len(sp.Snapshot.Catalogs[c].Types))
	}
	sp.eachOffering(func(c, t, _ int, o *catalog.Offering) {
		sp.slotOf[c][t] = append(sp.slotOf[c][t], index[keyOf(o)])
	})
}

func (sp *Space) eachOffering(do func(c, t, o int, offering *catalog.Offering)) {
	for c := range sp.Snapshot.Catalogs {
		types := sp.Snapshot.Catalogs[c].Types
		for t := range types {
			for o := range types[t].Offerings {
				do(c, t, o, &types[t].Offerings[o])
			}
		}
	}
}

// slotKey tells slots apart.
type slotKey struct{ zone, capacityType, reservation, extra string }

func (k slotKey) compare(o slotKey) int {
	return cmp.Or(
		strings.Compare(k.zone, o.zone), strings.Compare(k.capacityType, o.capacityType),
		strings.Compare(k.reservation, o.reservation), strings.Compare(k.extra, o.extra),
	)
}

func hasKey(m map[slotKey]int, k slotKey) bool { _, ok := m[k]; return ok }

func keyOf(o *catalog.Offering) slotKey {
	key := slotKey{zone: o.Zone, capacityType: o.CapacityType, reservation: o.ReservationID}
	if !o.Extra.IsZero() {
		key.extra = o.Extra.String()
	}
	return key
}

func newSlot(o *catalog.Offering, key slotKey) Slot {
	labels := o.Extra.With(
		requirement.New(ZoneKey, requirement.In, o.Zone),
		requirement.New(CapacityTypeKey, requirement.In, o.CapacityType),
	)
	return Slot{Zone: o.Zone, CapacityType: o.CapacityType, Reservation: o.ReservationID, labels: labels, key: key}
}

func (sp *Space) compilePools() {
	sp.pools = make([]poolView, len(sp.Snapshot.Pools))
	for p := range sp.Snapshot.Pools {
		pool := &sp.Snapshot.Pools[p]
		view := &sp.pools[p]
		types := sp.Snapshot.Catalogs[pool.Catalog].Types
		view.types = bitset.New(len(types))
		for t := range types {
			if types[t].Requirements.Intersects(pool.Requirements) {
				view.types.Put(t)
			}
		}
		view.slots = sp.SlotsAllowed(pool.Requirements)
		view.open = sp.openKeys(pool)
	}
}

// SlotsAllowed is the set of slots whose labels meet the requirements.
func (sp *Space) SlotsAllowed(r requirement.Set) bitset.Set {
	out := bitset.New(len(sp.Slots))
	for i := range sp.Slots {
		if sp.Slots[i].labels.Intersects(r) {
			out.Put(i)
		}
	}
	return out
}

// compileMachines lists, for every pool, its types; each split into cells of slots that
// share capacity and daemons.
func (sp *Space) compileMachines() {
	for p := range sp.Snapshot.Pools {
		pool := &sp.Snapshot.Pools[p]
		sp.pools[p].firstMachine = len(sp.Machines)
		if pool.Unready != "" {
			sp.pools[p].endMachine = len(sp.Machines)
			continue
		}
		types := sp.Snapshot.Catalogs[pool.Catalog].Types
		running := sp.daemonsOf(p)
		for t := range sp.pools[p].types.All {
			sp.addMachines(p, &types[t], t, running)
		}
		sp.pools[p].endMachine = len(sp.Machines)
	}
}

// cell is a group of a type's offerings that make the same machine.
type cell struct {
	daemons   []int
	offerings []int
}

func (sp *Space) addMachines(p int, t *catalog.Type, ordinal int, running []daemonPlaces) {
	var cells []cell
	slots := sp.slotOf[sp.Snapshot.Pools[p].Catalog][ordinal]
	for o := range t.Offerings {
		offering := &t.Offerings[o]
		if !sp.pools[p].slots.Has(slots[o]) {
			continue
		}
		daemons := daemonsOn(running, ordinal, slots[o])
		i := slices.IndexFunc(cells, func(c cell) bool {
			return slices.Equal(c.daemons, daemons) && sameRoom(&t.Offerings[c.offerings[0]], offering)
		})
		if i < 0 {
			i = len(cells)
			cells = append(cells, cell{daemons: daemons})
		}
		cells[i].offerings = append(cells[i].offerings, o)
	}
	for _, c := range cells {
		sp.Machines = append(sp.Machines, sp.newMachine(p, t, ordinal, c, slots))
	}
}

func sameRoom(a, b *catalog.Offering) bool {
	return equalOverride(a.Capacity, b.Capacity) && equalOverride(a.Overhead, b.Overhead)
}

func equalOverride(a, b *model.Resources) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

func (sp *Space) newMachine(p int, t *catalog.Type, ordinal int, c cell, slots []int) Machine {
	n := len(sp.Slots)
	first := &t.Offerings[c.offerings[0]]
	m := Machine{
		Pool: p, Type: t, Ordinal: ordinal,
		Allocatable: t.Allocatable(first),
		Capacity:    t.FullCapacity(first),
		Slots:       bitset.New(n), Listed: bitset.New(n),
		Price: make([]model.Money, n), Stock: make([]int64, n),
	}
	for _, d := range c.daemons {
		m.Daemons = m.Daemons.Add(sp.daemons[d].requests)
		m.Ports = append(m.Ports, sp.daemons[d].template.HostPorts...)
	}
	m.Room = sp.Vector(m.Allocatable.Sub(m.Daemons))
	for _, o := range c.offerings {
		m.list(&t.Offerings[o], slots[o], sp.Snapshot.Settings.ReservedCapacity, sp.Snapshot.Pools[p].NodePrice)
	}
	return m
}

// list enters one offering. A reserved one counts its stock while the gate is on.
func (m *Machine) list(o *catalog.Offering, slot int, reserved bool, nodePrice model.Money) {
	m.Listed.Put(slot)
	m.Price[slot] = o.Price + nodePrice
	m.Stock[slot] = -1
	available := o.Available
	if o.CapacityType == catalog.Reserved {
		m.Stock[slot] = o.ReservationCapacity
		available = available && reserved && o.ReservationCapacity > 0
	}
	if available {
		m.Slots.Put(slot)
	}
}

// Cheapest is the slot of the set in which the machine can be had at the least price;
// ties go to the lower number. It is -1 when there is none.
func (m *Machine) Cheapest(slots bitset.Set) int {
	best := -1
	for w := range m.Slots {
		word := m.Slots[w] & slots[w]
		for ; word != 0; word &= word - 1 {
			slot := w<<6 + bits.TrailingZeros64(word)
			if best < 0 || m.Price[slot] < m.Price[best] {
				best = slot
			}
		}
	}
	return best
}

// openKeys are the labels of a pool's node that pods choose by asking: the pool admits
// several values, and neither the type nor the slot decides. Two pods that ask for
// different values cannot share a node.
func (sp *Space) openKeys(pool *snapshot.Pool) map[string]bool {
	open := map[string]bool{}
	for key := range sp.keys {
		if sp.decidedByType(pool.Catalog, key) || sp.SlotLabel(key) {
			continue
		}
		if _, single := pool.Requirements.Get(key).Single(); single {
			continue
		}
		open[key] = true
	}
	return open
}

// SlotLabel reports whether the label is one that slots decide, such as the zone.
func (sp *Space) SlotLabel(key string) bool { return sp.slotKeys[key] }

// decidedByType reports whether every type of the catalogue says what the label will
// be: one value, or none.
func (sp *Space) decidedByType(c int, key string) bool {
	for t := range sp.Snapshot.Catalogs[c].Types {
		labels := &sp.Snapshot.Catalogs[c].Types[t].Requirements
		if !labels.Has(key) || labels.Get(key).Len() > 1 {
			return false
		}
	}
	return len(sp.Snapshot.Catalogs[c].Types) > 0
}
