package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"tenon/cloud"
	"tenon/cloud/aws/instance"
	"tenon/core/catalog"
)

// incident is an event that repeats at random intervals; zero means never.
type incident struct {
	name   string
	about  time.Duration
	strike func(*rand.Rand)
	// rests says that the next interval begins when this event is over, not when it was due: a jump of the
	// clock would make the following ones due at once.
	rests bool
}

// schedule begins the repeated incidents.
func (s *Sim) schedule() {
	f := &s.options.Faults
	without := func(strike func()) func(*rand.Rand) { return func(*rand.Rand) { strike() } }
	for stream, d := range []incident{
		{"handover", f.Handovers, without(s.HandOver), true},
		{"shortage", f.Shortages, s.shorten, false},
		{"interruption", f.Interruptions, without(s.interrupt), true},
		{"price", f.Prices, s.move, false},
		{"jump", f.Jumps, without(s.jump), true},
		{"edits", f.Edits, without(s.editAtRandom), true},
		{"tenant", f.Tenants, s.scaleTenant, true},
	} {
		if d.about > 0 {
			s.await(d, rand.New(rand.NewPCG(s.options.Seed, firstIncident+uint64(stream))), s.begun)
		}
	}
}

// firstIncident is the stream of dice of the first incident.
const firstIncident = 100

// await repeats an incident until the run is calm. Each incident has its own dice, so that events of the
// market do not depend on the product, and so that an incident is the same whether or not earlier ones were
// allowed.
func (s *Sim) await(d incident, dice *rand.Rand, from time.Time) {
	at := from.Add(time.Duration(dice.ExpFloat64() * float64(d.about)))
	own := rand.New(rand.NewPCG(dice.Uint64(), dice.Uint64()))
	s.outside(at, d.name, func() {
		if s.calm {
			return
		}
		if s.mishap(d.name, "comes") {
			d.strike(own)
		}
		if d.rests {
			at = s.Clock.Now()
		}
		s.await(d, dice, at)
	})
}

// HandOver starts a second process, which the first one does not know for a moment.
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

// noticed is the time between a spot machine's notice and its end.
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

// TakeBack ends a machine. In one case out of eight, no notice comes in time.
func (s *Sim) TakeBack(i cloud.Instance) {
	_, id, _ := instance.Parse(i.ProviderID)
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

// announce sends a message in EventBridge's format. Some messages come late, some twice.
func (s *Sim) announce(kind, id, more string) {
	s.announced++
	s.watch.Announced(id)
	body := fmt.Sprintf(`{"version":"0","id":"%d","source":"aws.ec2","detail-type":%q,"time":%q,"detail":{"instance-id":%q%s}}`,
		s.announced, kind, s.Clock.Now().UTC().Format(time.RFC3339), id, more)
	times := 1
	if s.dice.IntN(10) == 0 {
		times = 2
	}
	s.Notices.Send(body, s.upTo(5*time.Second), times)
}

// jump moves the clock forward, as on a machine that was suspended.
func (s *Sim) jump() {
	to := s.Clock.Now().Add(s.upTo(10 * time.Minute))
	s.meter.advance(to)
	s.watch.Jumped(to.Sub(s.Clock.Now()))
	s.Clock.forward(to)
}
