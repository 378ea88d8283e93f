package feasible

import (
	"slices"
	"testing"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

const gib = int64(1) << 30

// shop sells a small and a large machine in zones a and b to one pool.
func shop(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Settings:  snapshot.Settings{WellKnown: requirement.Core().WellKnown(), ReservedCapacity: true},
		Catalogs:  []catalog.Catalog{{Types: []catalog.Type{machineType("large", 8), machineType("small", 2)}}},
		Pools:     []snapshot.Pool{{Name: "default", Requirements: requirement.NewSet(requirement.New(requirement.KeyNodePool, requirement.In, "default"))}},
		Templates: []snapshot.Template{{Namespace: "default", Requests: model.Resources{CPU: 1000, Memory: gib, Pods: 1}}},
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

func machineType(name string, cores int64) catalog.Type {
	t := catalog.Type{
		Name:     name,
		Capacity: model.Resources{CPU: cores * 1000, Memory: cores * 4 * gib, Pods: 10},
		Overhead: model.Resources{CPU: 100},
		Requirements: requirement.NewSet(
			requirement.New(requirement.KeyInstanceType, requirement.In, name),
			requirement.New(ZoneKey, requirement.In, "a", "b"),
			requirement.New(CapacityTypeKey, requirement.In, catalog.OnDemand),
		),
	}
	for i, zone := range []string{"a", "b"} {
		t.Offerings = append(t.Offerings, catalog.Offering{Zone: zone, CapacityType: catalog.OnDemand, Price: model.Money(cores*100 + int64(i)), Available: true})
	}
	return t
}

func compiled(s *snapshot.Snapshot) *Space { return Compile(s, []snapshot.TemplateIndex{0}) }

func daemonOf(r model.Resources, require ...requirement.Requirement) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Templates = append(s.Templates, snapshot.Template{Namespace: "kube-system", Daemon: true, Requests: r, Selector: requirement.NewSet(require...)})
		s.Daemons = append(s.Daemons, snapshot.Daemon{Namespace: "kube-system", Name: "agent", Template: snapshot.TemplateIndex(len(s.Templates) - 1)})
	}
}

// What is left of a machine is its capacity without overhead and daemons.
func TestRoomIsWhatDaemonsLeave(t *testing.T) {
	t.Parallel()
	sp := compiled(shop(daemonOf(model.Resources{CPU: 200, Memory: gib, Pods: 1})))
	if len(sp.Machines) != 2 {
		t.Fatalf("%d machines", len(sp.Machines))
	}
	small := sp.Machines[1]
	if want := []int64{2000 - 100 - 200, 7 * gib, 9}; small.Type.Name != "small" || !slices.Equal(small.Room, want) {
		t.Errorf("%s has room %v, not %v", small.Type.Name, small.Room, want)
	}
}

// A type whose daemons depend on the zone is two machines; each offering is of one.
func TestMachinesAreSplitWhereDaemonsDiffer(t *testing.T) {
	t.Parallel()
	sp := compiled(shop(daemonOf(model.Resources{CPU: 200, Pods: 1}, requirement.New(ZoneKey, requirement.In, "b"))))
	if len(sp.Machines) != 4 {
		t.Fatalf("%d machines", len(sp.Machines))
	}
	for i := range sp.Machines {
		m := &sp.Machines[i]
		slot := m.Slots.Next(0)
		cheaper := sp.Slots[slot].Zone == "b"
		if m.Slots.Count() != 1 || (m.Daemons.CPU == 200) != cheaper {
			t.Errorf("%s in %v has daemons of %d", m.Type.Name, sp.Slots[slot], m.Daemons.CPU)
		}
	}
}

// The cheapest slot is one of those asked for, or none.
func TestCheapestSlot(t *testing.T) {
	t.Parallel()
	sp := compiled(shop())
	m := &sp.Machines[0]
	for zone, want := range map[string]model.Money{"a": 800, "b": 801} {
		slots := sp.SlotsAllowed(requirement.NewSet(requirement.New(ZoneKey, requirement.In, zone)))
		if slot := m.Cheapest(slots); slot < 0 || m.Price[slot] != want {
			t.Errorf("slot %d in zone %s", slot, zone)
		}
	}
	if slot := m.Cheapest(sp.SlotsAllowed(requirement.NewSet(requirement.New(ZoneKey, requirement.In, "c")))); slot >= 0 {
		t.Errorf("slot %d in a zone that is not there", slot)
	}
}

// A reservation can be had while the gate is open and something is left of it.
func TestReservationsHaveAStock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gate  bool
		stock int64
		want  bool
	}{"left": {true, 2, true}, "used up": {true, 0, false}, "gate shut": {false, 2, false}} {
		sp := compiled(shop(func(s *snapshot.Snapshot) {
			s.Settings.ReservedCapacity = c.gate
			s.Catalogs[0].Types = []catalog.Type{{
				Name: "reserved", Capacity: model.Resources{CPU: 1000, Memory: gib, Pods: 1},
				Offerings: []catalog.Offering{{Zone: "a", CapacityType: catalog.Reserved, ReservationID: "r", ReservationCapacity: c.stock, Available: true}},
			}}
		}))
		m := &sp.Machines[0]
		if m.Slots.Has(0) != c.want || m.Stock[0] != c.stock || !m.Listed.Has(0) {
			t.Errorf("%s: had %t, stock %d", name, m.Slots.Has(0), m.Stock[0])
		}
	}
}

// An instance of a reservation is taken once, however many pools could buy it.
func TestPoolsShareAReservation(t *testing.T) {
	t.Parallel()
	sp := compiled(shop(func(s *snapshot.Snapshot) {
		s.Pools = append(s.Pools, snapshot.Pool{Name: "other"})
		s.Catalogs[0].Types[1].Offerings = []catalog.Offering{{Zone: "a", CapacityType: catalog.Reserved, ReservationID: "r", ReservationCapacity: 3, Available: true}}
	}))
	sp.Reserve("r", 1)
	for _, machine := range []int{1, 3} {
		m := &sp.Machines[machine]
		if slot := m.Slots.Next(0); m.Type.Name != "small" || slot < 0 || m.Stock[slot] != 2 {
			t.Errorf("%s of pool %d has stock %v, not 2", m.Type.Name, m.Pool, m.Stock)
		}
	}
}

// Where an asker may go depends on labels and taints, and on nothing else.
func TestPlaces(t *testing.T) {
	t.Parallel()
	tainted := func(s *snapshot.Snapshot) {
		s.Pools[0].Taints = []model.Taint{{Key: "dedicated", Effect: model.NoSchedule}}
	}
	unready := func(s *snapshot.Snapshot) { s.Pools[0].Unready.Code = reason.NotReady }
	zone := func(z string) Asker {
		return Asker{Require: requirement.NewSet(requirement.New(ZoneKey, requirement.In, z))}
	}
	for name, c := range map[string]struct {
		s    *snapshot.Snapshot
		ask  Asker
		want int
	}{
		"anywhere":                    {shop(), Asker{}, 2},
		"a zone":                      {shop(), zone("a"), 2},
		"a zone that is not there":    {shop(), zone("c"), 0},
		"a type":                      {shop(), Asker{Require: requirement.NewSet(requirement.New(requirement.KeyInstanceType, requirement.In, "small"))}, 1},
		"a label that no machine has": {shop(), Asker{Require: requirement.NewSet(requirement.New("team", requirement.In, "red"))}, 0},
		"a taint that is tolerated":   {shop(tainted), Asker{Tolerations: []model.Toleration{{Operator: "Exists"}}}, 2},
		"a taint that is not":         {shop(tainted), Asker{}, 0},
		"a pool that is not ready":    {shop(unready), Asker{}, 0},
		"the absence of a label":      {shop(), Asker{Require: requirement.NewSet(requirement.New("team", requirement.DoesNotExist))}, 2},
		"a pool by its name":          {shop(), Asker{Require: requirement.NewSet(requirement.New(requirement.KeyNodePool, requirement.In, "default"))}, 2},
		"another pool by its name":    {shop(), Asker{Require: requirement.NewSet(requirement.New(requirement.KeyNodePool, requirement.In, "gone"))}, 0},
		"zone a, asked for elsewhere": {shop(), Asker{Require: zone("a").Require.With(requirement.New(ZoneKey, requirement.NotIn, "a"))}, 0},
	} {
		sp := compiled(c.s)
		found := sp.Find(c.ask)
		able := 0
		for m := range found.Machines.All {
			if sp.Machines[m].Slots.Meets(found.Slots) {
				able++
			}
		}
		if able != c.want {
			t.Errorf("%s: %d machines, not %d", name, able, c.want)
		}
		if sp.Find(c.ask) != found {
			t.Errorf("%s: asked twice, answered twice", name)
		}
	}
}

// An existing node has the room that its pods and the daemons to come leave, and a leaving
// one takes no pod but keeps those that are not moved.
func TestHosts(t *testing.T) {
	t.Parallel()
	s := shop(daemonOf(model.Resources{CPU: 200, Pods: 1}))
	node := func(name string, leaving bool) snapshot.Node {
		return snapshot.Node{Name: name, Leaving: leaving, Initialized: true, Labels: map[string]string{ZoneKey: "a"}, Allocatable: model.Resources{CPU: 4000, Memory: 8 * gib, Pods: 10}}
	}
	s.Nodes = []snapshot.Node{node("stays", false), node("leaves", true)}
	s.Pods = []snapshot.Pod{
		{Namespace: "default", Name: "a", Node: "stays"},
		{Namespace: "default", Name: "b", Node: "leaves", Movable: true},
		{Namespace: "default", Name: "c", Node: "leaves"},
	}
	sp := compiled(s)
	if len(sp.Hosts) != 1 || !slices.Equal(sp.Hosts[0].Room, []int64{4000 - 1000 - 200, 7 * gib, 8}) {
		t.Errorf("hosts %+v", sp.Hosts)
	}
	if len(sp.Departing) != 1 || !slices.Equal(sp.Departing[0].Bound, []snapshot.PodIndex{2}) {
		t.Errorf("departing %+v", sp.Departing)
	}
}

// What is not asked for does not matter, even where it is overdrawn.
func TestFits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		need, room []int64
		want       bool
	}{
		{[]int64{1, 0}, []int64{1, 0}, true},
		{[]int64{1, 0}, []int64{1, -5}, true},
		{[]int64{1, 1}, []int64{1, 0}, false},
		{[]int64{2, 0}, []int64{1, 9}, false},
	} {
		if Fits(c.need, c.room) != c.want {
			t.Errorf("%v in %v: not %t", c.need, c.room, c.want)
		}
	}
}

// Preferences are given up in their documented order, one by one, and each only once.
func TestPreferencesAreGivenUpInOrder(t *testing.T) {
	t.Parallel()
	s := shop()
	s.Templates[0].PreferredAffinity = []snapshot.WeightedAffinity{{Weight: 1, Term: snapshot.AffinityTerm{Key: ZoneKey}}}
	s.Templates[0].Preferred = []snapshot.WeightedTerm{{Weight: 1, Term: requirement.NewSet(requirement.New(ZoneKey, requirement.In, "a"))}}
	s.Templates[0].Spreads = []snapshot.Spread{{Key: ZoneKey, MaxSkew: 1, Soft: true}, {Key: HostnameKey, MaxSkew: 1}}
	sp := compiled(s)
	tpl := &s.Templates[0]
	var seen []string
	for d, more := Dropped(0), true; more; d, more = d.Next(sp.Preferences(tpl)) {
		v := sp.Variant(tpl, d)
		text := ""
		if len(v.SoftAffinity) > 0 {
			text += "affinity "
		}
		if v.Alternatives[0].Require.Has(ZoneKey) {
			text += "node "
		}
		if len(v.Spreads) == 2 {
			text += "spread "
		}
		seen = append(seen, text)
	}
	if want := []string{"affinity node spread ", "node spread ", "spread ", ""}; !slices.Equal(seen, want) {
		t.Errorf("%q, not %q", seen, want)
	}
}
