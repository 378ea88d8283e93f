package feasible

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// When anything changes from one snapshot to the next, a space that was compiled with a memory is the
// same as one that was compiled afresh.
func TestWhatIsRememberedOfAMarketIsWhatIsCompiled(t *testing.T) {
	t.Parallel()
	recalled := 0
	for seed := range uint64(40) {
		dice := rand.New(rand.NewPCG(seed, 1))
		m := &Compiled{}
		s := shop()
		for turn := range 15 {
			fresh, got := Compile(s, []snapshot.TemplateIndex{0}), CompileWith(s, []snapshot.TemplateIndex{0}, m)
			same(t, seed, turn, fresh, got)
			again := CompileWith(s, []snapshot.TemplateIndex{0}, m)
			if &again.Machines[0] == &got.Machines[0] {
				recalled++
			}
			got.Reserve("r-1", 1) // what one asker does to its space is its own affair
			same(t, seed, turn, fresh, CompileWith(s, []snapshot.TemplateIndex{0}, m))
			s = otherwise(dice, s)
		}
	}
	if recalled < 500 {
		t.Errorf("only %d compilations were remembered", recalled)
	}
}

func same(t *testing.T, seed uint64, turn int, fresh, got *Space) {
	t.Helper()
	if !reflect.DeepEqual(fresh.Slots, got.Slots) || !reflect.DeepEqual(fresh.Machines, got.Machines) {
		t.Fatalf("seed %d, turn %d: other slots or machines", seed, turn)
	}
	if !reflect.DeepEqual(fresh.pools, got.pools) || !reflect.DeepEqual(fresh.Hosts, got.Hosts) {
		t.Fatalf("seed %d, turn %d: other pools or hosts", seed, turn)
	}
	for _, a := range []Asker{
		{},
		{Require: requirement.NewSet(requirement.New(ZoneKey, requirement.NotIn, "a"))},
		{Require: requirement.NewSet(requirement.New(requirement.KeyInstanceType, requirement.In, "small", "tiny"))},
		{Tolerations: []model.Toleration{{Operator: "Exists"}}, Require: requirement.NewSet(requirement.New("team", requirement.In, "x"))},
	} {
		if want, got := fresh.Find(a), got.Find(a); !reflect.DeepEqual(want, got) {
			t.Fatalf("seed %d, turn %d: %v may be in other places", seed, turn, a.Require)
		}
	}
}

// otherwise is the snapshot a moment later, with something changed or nothing.
func otherwise(dice *rand.Rand, old *snapshot.Snapshot) *snapshot.Snapshot {
	s := *old
	s.Pools, s.Templates = append([]snapshot.Pool{}, old.Pools...), append([]snapshot.Template{}, old.Templates...)
	pool, asker := &s.Pools[dice.IntN(len(s.Pools))], &s.Templates[0]
	switch dice.IntN(12) {
	case 0:
		s.Catalogs = shop().Catalogs
		offers := s.Catalogs[0].Types[dice.IntN(2)].Offerings
		offers[dice.IntN(2)].Price += 7
	case 1:
		s.Catalogs = shop().Catalogs
		types := s.Catalogs[0].Types
		types[0].Offerings = append(types[0].Offerings, catalog.Offering{
			Zone: "a", CapacityType: catalog.Reserved, ReservationID: "r-1", ReservationCapacity: int64(1 + dice.IntN(2)), Available: true,
			Extra: requirement.FromLabels(map[string]string{"reservation": "r-1"}),
		})
	case 2:
		asker.Requests.Storage = int64(dice.IntN(2)) * gib
	case 3:
		asker.Selector = requirement.NewSet(requirement.New("team", requirement.In, []string{"x", "y"}[dice.IntN(2)]))
	case 4:
		pool.Taints = []model.Taint{{Key: "team", Value: "x", Effect: model.NoSchedule}}[:dice.IntN(2)]
	case 5:
		pool.Requirements = pool.Requirements.Replaced(requirement.New(ZoneKey, requirement.In, []string{"a", "b"}[:1+dice.IntN(2)]...))
	case 6:
		pool.NodePrice = model.Money(dice.IntN(3))
	case 7:
		pool.Unready.Code = []reason.Code{reason.None, reason.NotReady}[dice.IntN(2)]
	case 8:
		s.Settings.ReservedCapacity = !s.Settings.ReservedCapacity
	case 9:
		s.Daemons = nil
		if dice.IntN(3) > 0 {
			daemonOf(model.Resources{CPU: int64(100 * dice.IntN(3)), Pods: 1}, requirement.New(ZoneKey, requirement.In, "b"))(&s)
		}
	case 10:
		s.Pools = append(s.Pools[:1:1], snapshot.Pool{Name: "other", Requirements: requirement.FromLabels(map[string]string{requirement.KeyNodePool: "other"})})
	}
	s.Pools[0].Unready.Code = reason.None // or there might be no machine at all
	return &s
}
