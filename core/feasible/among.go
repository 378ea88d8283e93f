package feasible

import (
	"encoding/binary"
	"slices"

	"tenon/core/snapshot"
)

// Among is the same space with other existing nodes, and with nodes that leave beside those
// that leave anyway. It shares all that does not depend on them, and belongs to the same
// goroutine.
func (sp *Space) Among(hosts, departing []Host) *Space {
	out := *sp
	out.Hosts = hosts
	out.Departing = slices.Concat(sp.Departing, departing)
	return &out
}

// Fork is a space that begins as this one: what is foreseen or reserved in it does not concern the
// other. It belongs to the same goroutine.
func (sp *Space) Fork() *Space {
	out := *sp
	out.HostClasses = slices.Clip(sp.HostClasses)
	return &out
}

// Taking is the host with more pods on it.
func (sp *Space) Taking(h Host, pods []snapshot.PodIndex) Host {
	h.Room = slices.Clone(h.Room)
	h.Bound = slices.Concat(h.Bound, pods)
	attached := map[string]bool{}
	for _, p := range h.Bound[:len(h.Bound)-len(pods)] {
		for _, v := range sp.Snapshot.Templates[sp.Snapshot.Pods[p].Template].Volumes {
			attached[v.ID] = true
		}
	}
	for _, p := range pods {
		t := &sp.Snapshot.Templates[sp.Snapshot.Pods[p].Template]
		for d, n := range sp.Vector(t.Requests) {
			h.Room[d] -= n
		}
		for _, v := range t.Volumes {
			if !attached[v.ID] {
				attached[v.ID] = true
				h.Volumes = without(h.Volumes, v.Driver)
			}
		}
	}
	return h
}

// Full is the host without room: it takes no pod, and what is on it counts for the rules
// between pods.
func (h Host) Full() Host {
	h.Room = make([]int64, len(h.Room))
	return h
}

// Foresee is a node to come as a host that takes no pod. Answers about places are looked up
// anew after it, since there may be a new class of hosts.
func (sp *Space) Foresee(n *snapshot.Node, pods []snapshot.PodIndex) Host {
	classes := make(map[string]int, len(sp.HostClasses))
	for i := range sp.HostClasses {
		classes[classKey(sp.HostClasses[i].labels(), sp.HostClasses[i].taints)] = i
	}
	before := len(sp.HostClasses)
	class := sp.hostClass(n, classes)
	if len(sp.HostClasses) > before {
		sp.places = map[string]*Places{}
	}
	return Host{Node: -1, Class: class, Room: make([]int64, len(sp.Dims)), Bound: pods}
}

// labels are those that pods ask about.
func (c *HostClass) labels() map[string]string {
	out := map[string]string{}
	for r := range c.Labels.All() {
		if value, ok := r.Single(); ok {
			out[r.Key()] = value
		}
	}
	return out
}

// Stock is how many instances a slot that belongs to a reservation still has for the machines that are bought from it.
func (sp *Space) Stock(slot int) int64 {
	most := int64(0)
	for i := range sp.Machines {
		if m := &sp.Machines[i]; m.Slots.Has(slot) {
			most = max(most, m.Stock[slot])
		}
	}
	return most
}

// Reserve takes instances of a reservation away, for good: others bought them.
func (sp *Space) Reserve(reservation string, n int64) {
	sp.Machines = slices.Clone(sp.Machines) // a Market may remember them as they were
	for i := range sp.Machines {
		m := &sp.Machines[i]
		for slot := range sp.Slots {
			if sp.Slots[slot].Reservation != reservation || m.Stock[slot] < 0 || !m.Listed.Has(slot) {
				continue
			}
			m.Stock = slices.Clone(m.Stock) // machines of other pools may share it
			if m.Stock[slot] -= n; m.Stock[slot] <= 0 && m.Slots.Has(slot) {
				m.Slots = m.Slots.Clone()
				m.Slots[slot>>6] &^= 1 << (slot & 63)
			}
		}
	}
}

// Range says what a pool sells: pools of one range and weight are as good as each other for
// pods that may use both.
func (sp *Space) Range(pool snapshot.PoolIndex) string {
	first, end := sp.PoolMachines(pool)
	b := binary.AppendVarint(nil, int64(sp.Snapshot.Pools[pool].Catalog))
	for i := first; i < end; i++ {
		m := &sp.Machines[i]
		b = binary.AppendVarint(b, int64(m.Ordinal))
		for _, r := range m.Room {
			b = binary.AppendVarint(b, r)
		}
		for slot := range m.Slots.All {
			b = binary.AppendVarint(b, int64(slot))
			b = binary.AppendVarint(b, int64(m.Price[slot]))
		}
	}
	return string(b)
}
