package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tenon/cloud"
	"tenon/cloud/aws/machine"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
)

// schedule begins what happens every so often.
func (s *Sim) schedule() {
	f := &s.options.Faults
	s.every(f.Handovers, "handover", s.HandOver)
	s.every(f.Shortages, "shortage", s.shorten)
	s.every(f.Interruptions, "interruption", s.interrupt)
	s.every(f.Prices, "price", s.move)
	s.every(f.Jumps, "jump", s.jump)
	s.every(f.Vandals, "vandal", s.vandalize)
}

// every has something happen again and again, until the run is calm.
func (s *Sim) every(about time.Duration, what string, do func()) {
	if about <= 0 {
		return
	}
	s.outside(s.Clock.Now().Add(time.Duration(s.dice.ExpFloat64()*float64(about))), what, func() {
		if s.calm {
			return
		}
		if s.befalls(what, "comes") {
			do()
		}
		s.every(about, what, do)
	})
}

// HandOver starts a second process; the first one does not know for a moment.
func (s *Sim) HandOver() {
	old := append([]*process(nil), s.processes...)
	s.must(s.start())
	s.outside(s.Clock.Now().Add(s.upTo(15*time.Second)), "the old leader ends", func() {
		for _, p := range old {
			p.end()
		}
	})
}

// Crash ends every process of the product; another starts a moment later.
func (s *Sim) Crash() {
	for _, p := range s.processes {
		p.end()
	}
	s.revive()
}

// shorten takes an offering off the market for a while, or everything of a type, of a zone,
// or all spot machines of one.
func (s *Sim) shorten() {
	t := &s.catalog.Types[s.dice.IntN(len(s.catalog.Types))]
	o := &t.Offerings[s.dice.IntN(len(t.Offerings))]
	wide := s.dice.IntN(8)
	short := s.offers(func(kind *catalog.Type, other *catalog.Offering) bool {
		switch wide {
		case 0:
			return other.Zone == o.Zone
		case 1:
			return other.Zone == o.Zone && other.CapacityType == catalog.Spot
		case 2, 3:
			return kind.Name == t.Name
		}
		return kind.Name == t.Name && other.Zone == o.Zone && other.CapacityType == o.CapacityType
	})
	for _, offer := range short {
		s.Cloud.SetStock(offer, s.dice.IntN(3)/2) // mostly none, here and there a last one
	}
	s.outside(s.Clock.Now().Add(s.upTo(time.Hour)), "stock", func() {
		s.watch.Stir()
		for _, offer := range short {
			s.Cloud.SetStock(offer, memory.Unlimited)
		}
	})
}

// offers are those of the catalogue that are asked for. Reservations have an end anyway.
func (s *Sim) offers(asked func(*catalog.Type, *catalog.Offering) bool) []cloud.Offer {
	var out []cloud.Offer
	for i := range s.catalog.Types {
		t := &s.catalog.Types[i]
		for j := range t.Offerings {
			if o := &t.Offerings[j]; o.ReservationID == "" && asked(t, o) {
				out = append(out, cloud.Candidate{Type: t, Offering: o}.Offer())
			}
		}
	}
	return out
}

// Deplete takes types of machines off the market until Restock.
func (s *Sim) Deplete(types ...string) {
	s.watch.Stir()
	for _, offer := range s.offers(func(t *catalog.Type, _ *catalog.Offering) bool { return slices.Contains(types, t.Name) }) {
		s.Cloud.SetStock(offer, 0)
	}
}

// Cheapest are the types that cost least on demand.
func (s *Sim) Cheapest(n int) []string {
	types := slices.Clone(s.catalog.Types)
	price := func(t *catalog.Type) model.Money {
		return s.meter.prices[cloud.Offer{InstanceType: t.Name, Zone: t.Offerings[0].Zone, CapacityType: catalog.OnDemand}]
	}
	slices.SortFunc(types, func(a, b catalog.Type) int {
		return cmp.Or(cmp.Compare(price(&a), price(&b)), cmp.Compare(a.Name, b.Name))
	})
	var names []string
	for i := range min(n, len(types)) {
		names = append(names, types[i].Name)
	}
	return names
}

// Restock ends all shortages.
func (s *Sim) Restock() {
	s.watch.Stir()
	for _, offer := range s.offers(func(*catalog.Type, *catalog.Offering) bool { return true }) {
		s.Cloud.SetStock(offer, memory.Unlimited)
	}
}

// noticed is how long before its end a spot machine is told of it.
const noticed = 2 * time.Minute

// interrupt takes back a spot machine, or several of a type at once.
func (s *Sim) interrupt() {
	var spot []cloud.Instance
	for _, i := range s.Cloud.Instances() {
		if i.Offer.CapacityType == catalog.Spot && i.State == cloud.Running {
			spot = append(spot, i)
		}
	}
	if len(spot) == 0 {
		return
	}
	chosen := spot[s.dice.IntN(len(spot))]
	several := s.dice.IntN(4) == 0
	for _, i := range spot {
		if i.ProviderID == chosen.ProviderID || several && i.Offer == chosen.Offer {
			s.TakeBack(i)
		}
	}
}

// TakeBack ends a machine. One in eight times nobody is told in time.
func (s *Sim) TakeBack(i cloud.Instance) {
	_, id, _ := machine.Parse(i.ProviderID)
	if s.dice.IntN(8) == 0 {
		s.Cloud.Kill(i.ProviderID)
		s.announce("EC2 Instance State-change Notification", id, `,"state":"terminated"`)
		return
	}
	if s.dice.IntN(4) == 0 {
		s.announce("EC2 Instance Rebalance Recommendation", id, "")
	}
	if s.Cloud.Interrupt(i.ProviderID, noticed) {
		s.announce("EC2 Spot Instance Interruption Warning", id, `,"instance-action":"terminate"`)
		s.outside(s.Clock.Now().Add(noticed), "notice of an end", func() {
			s.announce("EC2 Instance State-change Notification", id, `,"state":"terminated"`)
		})
	}
}

// announce sends a message as EventBridge writes it. Some come late, some twice.
func (s *Sim) announce(kind, id, more string) {
	s.announced++
	s.watch.Announced(id)
	body := fmt.Sprintf(`{"version":"0","id":"%d","source":"aws.ec2","detail-type":%q,"time":%q,"detail":{"instance-id":%q%s}}`,
		s.announced, kind, s.Clock.Now().UTC().Format(time.RFC3339), id, more)
	times := 1
	if s.dice.IntN(10) == 0 {
		times = 2
	}
	s.Mail.Send(body, s.upTo(5*time.Second), times)
}

// move changes the prices of a type's spot machines, each a little.
func (s *Sim) move() {
	const least, most = 20, 90 // percent of the price on demand
	s.reprice(s.catalog.Types[s.dice.IntN(len(s.catalog.Types))].Name, func(now, full model.Money) model.Money {
		return min(max(now*model.Money(70+s.dice.IntN(75))/100, full*least/100), full*most/100)
	})
}

// Reprice has the spot machines of a type cost so many percent of what they cost on demand.
func (s *Sim) Reprice(instanceType string, percent int) {
	s.watch.Stir()
	s.reprice(instanceType, func(_, full model.Money) model.Money { return full * model.Money(percent) / 100 })
}

func (s *Sim) reprice(instanceType string, price func(now, full model.Money) model.Money) {
	next := &catalog.Catalog{Types: slices.Clone(s.catalog.Types)}
	at := slices.IndexFunc(next.Types, func(t catalog.Type) bool { return t.Name == instanceType })
	if at < 0 {
		return
	}
	t := &next.Types[at]
	t.Offerings = slices.Clone(t.Offerings)
	for j := range t.Offerings {
		o := &t.Offerings[j]
		if o.CapacityType != catalog.Spot {
			continue
		}
		o.Price = price(o.Price, s.meter.prices[cloud.Offer{InstanceType: t.Name, Zone: o.Zone, CapacityType: catalog.OnDemand}])
		s.meter.reprice(cloud.Candidate{Type: t, Offering: o}.Offer(), o.Price)
	}
	s.catalog = next
	s.Cloud.SetCatalog(next)
}

// jump moves the clock, as a machine that slept does.
func (s *Sim) jump() {
	to := s.Clock.Now().Add(s.upTo(10 * time.Minute))
	s.meter.advance(to)
	s.Clock.forward(to)
}
