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
	Pool    snapshot.PoolIndex
	Type    *catalog.Type
	Ordinal int // of Type in its catalogue
	// Room is what pods can use. Of an overdrawn machine it is nothing.
	Room []int64
	// Overdrawn names a resource of which the daemons take more than there is. Such a machine is not bought for any pod.
	Overdrawn string
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
func (sp *Space) PoolMachines(p snapshot.PoolIndex) (first, end int) {
	return sp.pools[p].firstMachine, sp.pools[p].endMachine
}

// slotKey tells slots apart.
type slotKey struct{ zone, capacityType, reservation, extra string }

func (k slotKey) compare(o slotKey) int {
	return cmp.Or(
		strings.Compare(k.zone, o.zone), strings.Compare(k.capacityType, o.capacityType),
		strings.Compare(k.reservation, o.reservation), strings.Compare(k.extra, o.extra),
	)
}

func newSlot(o *catalog.Offering, key slotKey) Slot {
	return Slot{Zone: o.Zone, CapacityType: o.CapacityType, Reservation: o.ReservationID, labels: o.Labels(), key: key}
}

func (sp *Space) compilePools() {
	sp.pools = make([]poolView, len(sp.Snapshot.Pools))
	for p := range sp.Snapshot.Pools {
		pool := &sp.Snapshot.Pools[p]
		view := &sp.pools[p]
		view.types = bitset.Full(len(sp.Snapshot.Catalogs[pool.Catalog].Types))
		for r := range pool.Requirements.All() { // one by one: pools have most of them in common
			view.types = view.types.And(sp.market.typesWith(pool.Catalog, r))
		}
		view.slots = sp.SlotsAllowed(pool.Requirements)
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

// compileMachines lists, for every pool, its types; each split into groups of slots that
// share capacity and daemons.
func (sp *Space) compileMachines() {
	count := 0
	for p := range sp.pools {
		count += sp.pools[p].types.Count()
	}
	sp.Machines = make([]Machine, 0, count)
	var known []*sharedMachines
	for p := range snapshot.PoolIndex(len(sp.Snapshot.Pools)) {
		sp.pools[p].firstMachine = len(sp.Machines)
		if sp.Snapshot.Pools[p].MayLaunch() {
			m := sp.sharedBy(p, &known)
			for t := range sp.pools[p].types.All {
				sp.addMachines(p, m, t)
			}
		}
		sp.pools[p].endMachine = len(sp.Machines)
	}
}

// sharedMachines are the machines of pools in which types are the same: they share everything
// but the pool.
type sharedMachines struct {
	pool    snapshot.PoolIndex // the first of them
	running []daemonPlaces
	made    [][]Machine // by type
}

// sharedBy finds the machines that a pool shares with one that is there, or adds one.
func (sp *Space) sharedBy(p snapshot.PoolIndex, known *[]*sharedMachines) *sharedMachines {
	pool, running := &sp.Snapshot.Pools[p], sp.daemonsOf(p)
	for _, m := range *known {
		first := &sp.Snapshot.Pools[m.pool]
		if first.Catalog == pool.Catalog && first.NodePrice == pool.NodePrice &&
			sp.pools[m.pool].slots.Equal(sp.pools[p].slots) && slices.EqualFunc(m.running, running, sameDaemon) {
			return m
		}
	}
	m := &sharedMachines{pool: p, running: running, made: make([][]Machine, len(sp.Snapshot.Catalogs[pool.Catalog].Types))}
	*known = append(*known, m)
	return m
}

func (sp *Space) addMachines(p snapshot.PoolIndex, m *sharedMachines, ordinal int) {
	if m.made[ordinal] == nil {
		m.made[ordinal] = sp.machinesOf(m, ordinal)
	}
	for _, machine := range m.made[ordinal] {
		machine.Pool = p
		sp.Machines = append(sp.Machines, machine)
	}
}

// offeringGroup is a group of a type's offerings that make the same machine.
type offeringGroup struct {
	daemons   []int
	offerings []int
}

// machinesOf gives the machines of one type.
func (sp *Space) machinesOf(m *sharedMachines, ordinal int) []Machine {
	pool := &sp.Snapshot.Pools[m.pool]
	t := &sp.Snapshot.Catalogs[pool.Catalog].Types[ordinal]
	var groups []offeringGroup
	slots := sp.market.slotOf[pool.Catalog][ordinal]
	for o := range t.Offerings {
		offering := &t.Offerings[o]
		if offering.Unpriced || !sp.pools[m.pool].slots.Has(slots[o]) {
			continue
		}
		daemons := daemonsOn(m.running, ordinal, slots[o])
		i := slices.IndexFunc(groups, func(g offeringGroup) bool {
			return slices.Equal(g.daemons, daemons) && sameRoom(&t.Offerings[g.offerings[0]], offering)
		})
		if i < 0 {
			i = len(groups)
			groups = append(groups, offeringGroup{daemons, make([]int, 0, len(t.Offerings)-o)})
		}
		groups[i].offerings = append(groups[i].offerings, o)
	}
	out := make([]Machine, 0, len(groups))
	for _, c := range groups {
		out = append(out, sp.newMachine(pool, t, ordinal, c, slots))
	}
	return out
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

// newMachine is a machine of no pool yet.
func (sp *Space) newMachine(pool *snapshot.Pool, t *catalog.Type, ordinal int, c offeringGroup, slots []int) Machine {
	n := len(sp.Slots)
	first := &t.Offerings[c.offerings[0]]
	m := Machine{
		Type: t, Ordinal: ordinal,
		Allocatable: t.Allocatable(first),
		Capacity:    t.FullCapacity(first),
		Slots:       bitset.New(n), Listed: bitset.New(n),
		Price: make([]model.Money, n), Stock: make([]int64, n),
	}
	for _, d := range c.daemons {
		m.Daemons = m.Daemons.Add(sp.daemons[d].requests)
		m.Ports = append(m.Ports, sp.daemons[d].template.HostPorts...)
	}
	left := m.Allocatable.Sub(m.Daemons)
	m.Room, m.Overdrawn = sp.Vector(left), left.Overdrawn()
	if m.Overdrawn != "" {
		clear(m.Room)
	}
	for _, o := range c.offerings {
		m.list(&t.Offerings[o], slots[o], sp.Snapshot.Settings.ReservedCapacity, pool.NodePrice)
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
		if sp.market.decidedByType(pool.Catalog, key) || sp.SlotLabel(key) {
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
func (sp *Space) SlotLabel(key string) bool { return sp.market.slotKeys[key] }
