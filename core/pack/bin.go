package pack

import (
	"slices"

	"tenon/core/bitset"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/topology"
)

// bin is a node that takes pods: an existing one (host ≥ 0) or one to be bought.
type bin struct {
	host    int
	machine int
	slot    int
	price   model.Money // cost of choosing it: see packer.cost
	room    []int64
	load    []int64
	content []taken
	// slots that suit all pods on it; only for a new bin.
	slots bitset.Set
	// options are the machines that suit all pods on it; only for pools that ask for a minimum of
	// values.
	options bitset.Set
	// open joins what its pods ask of the labels that pods choose.
	open    requirement.Set
	hasOpen bool
	tallies []tally
	ports   []model.HostPort
	volumes []model.Amount
	// attached volumes, by ID, of an existing node.
	attached map[string]bool
	// A sealed bin keeps its content, because moving a pod would break a need that it satisfies.
	sealed bool
	// partners are the pods that an existing node keeps when it is filled anew.
	partners []taken
	// before is how many pods of each host group an existing node had.
	before []tally
}

func (b *bin) groupsOfHost() []tally { return b.before }

// tally is how many pods of a host group are on a bin, and how many may be.
type tally struct {
	group topology.HostGroup
	n     int32
	limit int32
}

const noLimit = int32(1) << 30

func (b *bin) tally(g topology.HostGroup) *tally {
	for i := range b.tallies {
		if b.tallies[i].group == g {
			return &b.tallies[i]
		}
	}
	return nil
}

func (b *bin) entry(g topology.HostGroup) *tally {
	if t := b.tally(g); t != nil {
		return t
	}
	b.tallies = append(b.tallies, tally{group: g, limit: noLimit})
	return &b.tallies[len(b.tallies)-1]
}

// most is the exact test. It returns how many of the lot's next pods, up to n, the bin can take,
// and by which of the lot's alternatives.
func (p *packer) most(b *bin, l *lot, n int) (count, alternative int) {
	if !b.hasPartners(l) {
		return 0, 0
	}
	return p.fits(b, l, n)
}

// fits is like most, for pods whose partners come with them.
func (p *packer) fits(b *bin, l *lot, n int) (count, alternative int) {
	alternative = p.alternative(b, l)
	if alternative < 0 {
		return 0, 0
	}
	n = mostBySize(l.shape.Need, b.room, min(n, l.Count))
	if n > 0 && b.host < 0 && len(p.minimums[p.sp.Machines[b.machine].Pool]) > 0 {
		n, alternative = p.mostVaried(b, l, alternative, n)
	}
	if n == 0 || l.free {
		return n, alternative
	}
	n = min(n, b.mostByRules(l), mostByPorts(b.ports, l.shape.Ports))
	if n > 0 && b.host >= 0 {
		n = min(n, b.mostByVolumes(l, n))
	}
	return n, alternative
}

// alternative returns the first of the lot's alternatives that the bin satisfies, or -1.
func (p *packer) alternative(b *bin, l *lot) int {
	return slices.IndexFunc(l.alternatives, func(places *feasible.Places) bool { return p.satisfies(b, places) })
}

// alternativeLike returns the alternative by which pods of the lot are elsewhere if the bin satisfies it too,
// else the first that it satisfies, or -1.
func (p *packer) alternativeLike(b *bin, l *lot, elsewhere int) int {
	if p.satisfies(b, l.alternatives[elsewhere]) {
		return elsewhere
	}
	return p.alternative(b, l)
}

func (p *packer) satisfies(b *bin, places *feasible.Places) bool {
	if b.host >= 0 {
		return places.HostClasses.Has(p.sp.Hosts[b.host].Class)
	}
	return places.Machines.Has(b.machine) && places.Slots.Has(b.slot) && p.agrees(b, places)
}

// agrees reports whether one node can have all the labels that the bin's pods and the places ask
// for, among the labels that pods choose.
func (p *packer) agrees(b *bin, places *feasible.Places) bool {
	open := places.Open[p.sp.Machines[b.machine].Pool]
	if open == nil || !b.hasOpen && p.sp.Machines[b.machine].Type.Requirements.Intersects(*open) {
		return true
	}
	joined := b.open.Intersect(*open)
	return !joined.Impossible() && p.sp.Machines[b.machine].Type.Requirements.Intersects(joined)
}

func mostBySize(need, room []int64, n int) int {
	for i, want := range need {
		if want <= 0 {
			continue
		}
		if room[i] < want {
			return 0
		}
		if int64(n)*want > room[i] {
			n = int(room[i] / want)
		}
	}
	return n
}

// mostByRules asks the caps of the lot and of the pods that are there. Both caps describe the
// finished node, so the order in which pods arrive does not matter.
func (b *bin) mostByRules(l *lot) int {
	most := int(noLimit)
	r := &l.shape.Rules
	for _, g := range r.HostCounts {
		if t := b.tally(g); t != nil {
			most = min(most, int(t.limit-t.n))
		}
	}
	for _, c := range r.HostCaps {
		have := int32(0)
		if t := b.tally(c.Group); t != nil {
			have = t.n
		}
		_, self := slices.BinarySearch(r.HostCounts, c.Group)
		switch {
		case self:
			most = min(most, int(c.Max-have))
		case have > c.Max:
			return 0
		}
	}
	return max(most, 0)
}

// hasPartners reports whether the partners that the lot needs on its node are there.
func (b *bin) hasPartners(l *lot) bool {
	return !slices.ContainsFunc(l.shape.Rules.HostNeeds, func(n topology.Need[topology.HostGroup]) bool { return !b.has(n.Group) })
}

func mostByPorts(taken, wanted []model.HostPort) int {
	if len(wanted) == 0 {
		return int(noLimit)
	}
	for _, w := range wanted {
		if slices.ContainsFunc(taken, w.Conflicts) {
			return 0
		}
	}
	return 1 // a second one conflicts with the first
}

// mostByVolumes asks the limits of the node's CSI drivers. A volume that is attached already takes
// no more of them.
func (b *bin) mostByVolumes(l *lot, n int) int {
	for _, limit := range b.volumes {
		var each int64
		for _, v := range l.shape.Attach {
			if v.Driver == limit.Name && !b.attached[v.ID] {
				each++
			}
		}
		if each > 0 {
			n = min(n, int(max(limit.Value, 0)/each))
		}
	}
	return n
}

// newBin opens a machine in a slot.
func (p *packer) newBin(machine, slot int) *bin {
	m := &p.sp.Machines[machine]
	var options bitset.Set
	if len(p.minimums[m.Pool]) > 0 {
		options = bitset.Full(len(p.sp.Machines))
	}
	return &bin{
		options: options,
		host:    -1, machine: machine, slot: slot, price: p.cost(machine, slot),
		room: slices.Clone(m.Room), load: make([]int64, len(m.Room)),
		slots: bitset.Full(len(p.sp.Slots)), ports: slices.Clip(m.Ports),
	}
}

// hostBin makes a bin of an existing node, with the rules of the pods that are there.
func (p *packer) hostBin(h int) *bin {
	host := &p.sp.Hosts[h]
	b := &bin{
		host: h, machine: -1,
		room: slices.Clone(host.Room), load: make([]int64, len(host.Room)),
		volumes: slices.Clone(host.Volumes),
	}
	for _, i := range host.Bound {
		pod := &p.sp.Snapshot.Pods[i]
		t := &p.sp.Snapshot.Templates[pod.Template]
		b.ports = append(b.ports, t.HostPorts...)
		for _, v := range t.Volumes {
			b.note(v)
		}
		if pod.Terminating {
			continue
		}
		rules := p.set.Registry.Bound(t)
		for _, g := range rules.HostCounts {
			b.entry(g).n++
			p.groupTotal[g]++
		}
		for _, c := range rules.HostCaps {
			e := b.entry(c.Group)
			e.limit = min(e.limit, c.Max)
		}
	}
	b.before = slices.Clone(b.tallies)
	return b
}
