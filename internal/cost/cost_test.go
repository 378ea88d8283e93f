package cost_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/model"
	"tenon/internal/cost"
)

func cents(n int) model.Money { return model.Money(n) * model.Unit / 100 }

// TestDivide checks that parts follow the scarcer resource, and that they and the rest add up to the price.
func TestDivide(t *testing.T) {
	t.Parallel()
	node := model.Resources{CPU: 4000, Memory: 16 << 30}
	for name, tc := range map[string]struct {
		requests []model.Resources
		want     []model.Money
		idle     model.Money
	}{
		"nothing runs":            {idle: cents(100), want: []model.Money{}},
		"half of cpu":             {requests: []model.Resources{{CPU: 2000, Memory: 1 << 30}}, want: []model.Money{cents(50)}, idle: cents(50)},
		"a quarter of memory":     {requests: []model.Resources{{CPU: 100, Memory: 4 << 30}}, want: []model.Money{cents(25)}, idle: cents(75)},
		"more than there is":      {requests: []model.Resources{{CPU: 4000}, {Memory: 16 << 30}}, want: []model.Money{cents(50), cents(50)}},
		"a pod without a request": {requests: []model.Resources{{}}, want: []model.Money{0}, idle: cents(100)},
	} {
		parts, idle := cost.Divide(cents(100), node, tc.requests)
		if diff := cmp.Diff(tc.want, parts); diff != "" || idle != tc.idle {
			t.Errorf("%s: idle %s, parts (-want +got):\n%s", name, idle, diff)
		}
	}
}

// TestEveryDimensionHasTheSameSum checks lines and their counts, and that no money is lost between them.
func TestEveryDimensionHasTheSameSum(t *testing.T) {
	t.Parallel()
	at := func(pool, capacity string, kind cost.Kind, namespace, owner string, price int) cost.Part {
		return cost.Part{Pool: pool, CapacityType: capacity, Kind: kind, Namespace: namespace, Owner: owner, Price: cents(price)}
	}
	parts := []cost.Part{
		at("a", "spot", cost.Pods, "shop", "Deployment/web", 30), at("a", "spot", cost.Daemons, "kube-system", "DaemonSet/proxy", 5), at("a", "spot", cost.Idle, "", "", 15),
		at("b", "on-demand", cost.Pods, "shop", "Deployment/web", 20), at("b", "on-demand", cost.Pods, "shop", "", 10), at("b", "on-demand", cost.Idle, "", "", 0),
		at("", "", cost.Idle, "", "", 0),
	}
	want := map[cost.Dimension][]cost.Line{
		cost.ByPool:         {{"a", cents(50), 1}, {"b", cents(30), 1}, {cost.NoneLine, 0, 1}},
		cost.ByCapacityType: {{"spot", cents(50), 1}, {"on-demand", cents(30), 1}, {cost.NoneLine, 0, 1}},
		cost.ByNamespace:    {{"shop", cents(60), 3}, {cost.IdleLine, cents(15), 1}, {cost.DaemonLine, cents(5), 1}},
		cost.ByOwner:        {{"shop/Deployment/web", cents(50), 2}, {cost.IdleLine, cents(15), 1}, {cost.NoneLine, cents(10), 1}, {cost.DaemonLine, cents(5), 1}},
	}
	for by, lines := range want {
		if diff := cmp.Diff(lines, cost.Lines(by, slices.Values(parts))); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", by, diff)
		}
	}
	for _, by := range cost.Dimensions {
		sum := model.Money(0)
		for _, line := range cost.Lines(by, slices.Values(parts)) {
			sum += line.Price
		}
		if sum != cents(80) {
			t.Errorf("by %s the sum is %s", by, sum)
		}
	}
}

var epoch = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return epoch.Add(time.Duration(n) * time.Minute) }

// TestMeterPaysForTheTimeOfAMachine checks from when and until when a machine is paid for, with a reading every ten minutes.
func TestMeterPaysForTheTimeOfAMachine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		at   func(minute int) []cost.Machine
		want model.Money // after an hour, at 6.00 an hour
	}{
		"all the time":                          {func(int) []cost.Machine { return []cost.Machine{{From: minute(-90)}} }, cents(600)},
		"from its launch between readings":      {func(m int) []cost.Machine { return since(m, 25, cost.Machine{From: minute(25)}) }, cents(350)},
		"until its end":                         {func(m int) []cost.Machine { return []cost.Machine{{From: epoch, Until: until(m, 34)}} }, cents(340)},
		"until its end, seen once after that":   {func(m int) []cost.Machine { return before(m, 45, cost.Machine{From: epoch, Until: until(m, 34)}) }, cents(340)},
		"until halfway when its end is unknown": {func(m int) []cost.Machine { return before(m, 35, cost.Machine{From: epoch}) }, cents(350)},
		"a dearer price from a reading on": {func(m int) []cost.Machine {
			price := model.Money(0)
			if m > 30 {
				price = cents(600)
			}
			return []cost.Machine{{From: epoch, Price: price + cents(600)}}
		}, cents(900)},
	} {
		var meter cost.Meter
		for m := 0; m <= 60; m += 10 {
			machines := tc.at(m)
			for i := range machines {
				machines[i].Name, machines[i].Pool, machines[i].CapacityType = "m", "p", "spot"
				if machines[i].Price == 0 {
					machines[i].Price = cents(600)
				}
			}
			meter.Read(minute(m), machines)
		}
		if diff := cmp.Diff([]cost.Spending{{Pool: "p", CapacityType: "spot", Cost: tc.want}}, meter.Spent()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func since(now, m int, machine cost.Machine) []cost.Machine {
	if now < m {
		return nil
	}
	return []cost.Machine{machine}
}

func before(now, m int, machine cost.Machine) []cost.Machine {
	if now >= m {
		return nil
	}
	return []cost.Machine{machine}
}

func until(now, m int) time.Time {
	if now < m {
		return time.Time{}
	}
	return minute(m)
}

// TestManyReadingsAreAsRightAsOne checks that what rounding leaves over is not lost, however often the meter is read.
func TestManyReadingsAreAsRightAsOne(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(1, 1))
	var often, once cost.Meter
	var machines []cost.Machine
	for i := range 20 {
		machines = append(machines, cost.Machine{Name: strconv.Itoa(i), Price: model.Money(1 + dice.IntN(10_000_000)), From: epoch})
	}
	once.Read(epoch, machines)
	now := epoch
	for now.Before(epoch.Add(30 * time.Hour)) {
		often.Read(now, machines)
		now = now.Add(time.Duration(dice.IntN(20_000)) * time.Millisecond)
	}
	often.Read(now, machines)
	once.Read(now, machines)
	if a, b := often.Spent()[0].Cost, once.Spent()[0].Cost; a != b {
		t.Errorf("many readings: %s, one: %s", a, b)
	}
}
