package cost

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tenon/core/model"
	"tenon/core/order"
)

// Machine is one that is paid for.
type Machine struct {
	Name               string // unique
	Pool, CapacityType string
	// Price is an hour's; zero if it is unknown: then the one before counts, or the first that is known.
	Price model.Money
	// From is when it was launched, and Until when its end was asked for; zero while it was not.
	From, Until time.Time
}

// Spending is what machines have cost since the meter began.
type Spending struct {
	Pool, CapacityType string
	Cost               model.Money
}

// Meter adds up what machines cost: price times the time from launch to end. Each reading pays for the time
// since the reading before, at the present price. The zero value begins with its first reading.
type Meter struct {
	begun, at time.Time
	paid      map[string]running // by name
	sums      map[spender]sum
}

// running is a machine as the last reading saw it, and until when it is paid for.
type running struct {
	Machine
	to time.Time
}

type spender struct{ pool, capacityType string }

// sum is money, and a rest in prices an hour times milliseconds that is not a whole micro yet.
type sum struct {
	whole model.Money
	rest  int64
}

const millisecondsAnHour = 3_600_000

// Read takes all machines that there are at a time. One that is missing without having said when it ended is
// paid for until halfway between the readings.
func (m *Meter) Read(now time.Time, machines []Machine) {
	if m.begun.IsZero() {
		m.begun, m.at = now, now
		m.sums = map[spender]sum{}
	}
	before := m.paid
	m.paid = make(map[string]running, len(machines))
	for _, machine := range machines {
		since := later(machine.From, m.begun)
		if known, is := before[machine.Name]; is {
			since = later(known.to, since)
			if machine.Price == 0 {
				machine.Price = known.Price
			}
			delete(before, machine.Name)
		}
		to := now
		if !machine.Until.IsZero() && machine.Until.Before(to) {
			to = machine.Until
		}
		if to = later(to, since); machine.Price == 0 {
			to = since // it is paid for once its price is known
		}
		m.pay(&machine, to.Sub(since))
		m.paid[machine.Name] = running{machine, to}
	}
	for _, name := range order.Keys(before) {
		gone := before[name]
		if gone.Until.IsZero() {
			m.pay(&gone.Machine, m.at.Add(now.Sub(m.at)/2).Sub(gone.to))
		}
	}
	m.at = now
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (m *Meter) pay(machine *Machine, spent time.Duration) {
	if spent <= 0 {
		return
	}
	key := spender{machine.Pool, machine.CapacityType}
	s := m.sums[key]
	hours, rest := spent/time.Hour, spent%time.Hour
	s.rest += int64(machine.Price) * rest.Milliseconds()
	s.whole += machine.Price*model.Money(hours) + model.Money(s.rest/millisecondsAnHour)
	s.rest %= millisecondsAnHour
	m.sums[key] = s
}

// Spent returns what machines have cost, by pool and capacity type.
func (m *Meter) Spent() []Spending {
	out := make([]Spending, 0, len(m.sums))
	for key, s := range m.sums {
		out = append(out, Spending{key.pool, key.capacityType, s.whole})
	}
	slices.SortFunc(out, func(a, b Spending) int {
		return cmp.Or(strings.Compare(a.Pool, b.Pool), strings.Compare(a.CapacityType, b.CapacityType))
	})
	return out
}
