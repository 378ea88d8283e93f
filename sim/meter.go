package sim

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/sim/cluster"
	"tenon/sim/invariant"
	"tenon/sim/store"
)

// pricesOf returns the prices of a catalogue, by offering.
func pricesOf(c *catalog.Catalog) map[cloud.Offer]model.Money {
	prices := map[cloud.Offer]model.Money{}
	for i := range c.Types {
		t := &c.Types[i]
		for j := range t.Offerings {
			prices[cloud.Candidate{Type: t, Offering: &t.Offerings[j]}.Offer()] = t.Offerings[j].Price
		}
	}
	return prices
}

// meter measures the cost of a run, and passes on calls about machines.
type meter struct {
	sim      *Sim
	next     memory.Launcher
	prices   map[cloud.Offer]model.Money
	running  map[string]paid // by provider ID
	rate     model.Money     // an hour
	waiting  int
	at       time.Time
	cost     float64 // of Money
	pending  float64 // pod seconds
	most     int
	reviving bool
	lifetime func(providerID string) (time.Duration, bool) // how long a machine lives until it dies by itself
}

// paid is what a machine costs at the moment.
type paid struct {
	offer cloud.Offer
	price model.Money
	dies  time.Time // by itself; zero is never
}

// reprice changes the price of an offering from now on, for running machines too.
func (m *meter) reprice(o cloud.Offer, price model.Money) {
	m.prices[o] = price
	for id, p := range m.running { // a sum, in any order
		if p.offer == o {
			m.rate += price - p.price
			p.price = price
			m.running[id] = p
		}
	}
}

// Launch implements memory.Launcher.
func (m *meter) Launch(machine memory.Machine) {
	if m.running == nil {
		m.running = map[string]paid{}
	}
	offer := machine.Instance.Offer
	price := m.prices[offer]
	id, dies := machine.Instance.ProviderID, time.Time{}
	if life, ends := m.lifetime(id); ends {
		dies = machine.Instance.Launched.Add(life)
	}
	m.running[id] = paid{offer, price, dies}
	m.rate += price
	m.most = max(m.most, len(m.running))
	m.sim.watch.Launched(machine)
	m.next.Launch(machine)
}

// Terminate implements memory.Launcher.
func (m *meter) Terminate(id string) {
	machine := m.running[id]
	m.rate -= machine.price
	if !machine.dies.IsZero() && !m.sim.Clock.Now().Before(machine.dies) {
		m.sim.watch.Stir()
	}
	delete(m.running, id)
	m.next.Terminate(id)
}

// advance adds up the time that has passed.
func (m *meter) advance(to time.Time) {
	if m.at.IsZero() {
		m.at = m.sim.begun
	}
	if d := to.Sub(m.at); d > 0 {
		m.cost += float64(m.rate) * d.Hours()
		m.pending += float64(m.waiting) * d.Seconds()
		m.at = to
	}
}

// hear counts pending pods.
func (m *meter) hear(c store.Change) {
	if old, is := c.Old.(*corev1.Pod); is && c.Old != nil && waits(old) {
		m.waiting--
	}
	if pod, is := c.New.(*corev1.Pod); is && c.New != nil && waits(pod) {
		m.waiting++
	}
}

func waits(p *corev1.Pod) bool {
	return p.Spec.NodeName == "" && p.DeletionTimestamp == nil && !cluster.Finished(p) && p.Annotations[invariant.Infeasible] == ""
}
