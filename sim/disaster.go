package sim

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/sim/store"
)

// schedule begins what happens every so often.
func (s *Sim) schedule() {
	f := &s.options.Faults
	s.every(f.Handovers, "handover", s.handOver)
	s.every(f.Shortages, "shortage", s.shorten)
	s.every(f.Interruptions, "interruption", s.interrupt)
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

// handOver starts a second process; the first one does not know for a moment.
func (s *Sim) handOver() {
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

// shorten takes an offering off the market for a while.
func (s *Sim) shorten() {
	offers := memory.Sample()
	t := &offers.Types[s.dice.IntN(len(offers.Types))]
	o := &t.Offerings[s.dice.IntN(len(t.Offerings))]
	if o.ReservationID != "" {
		return // it has an end anyway
	}
	offer := cloud.Candidate{Type: t, Offering: o}.Offer()
	s.Cloud.SetStock(offer, 0)
	s.outside(s.Clock.Now().Add(s.upTo(time.Hour)), "stock", func() { s.Cloud.SetStock(offer, memory.Unlimited) })
}

// restock ends all shortages.
func (s *Sim) restock() {
	offers := memory.Sample()
	for i := range offers.Types {
		t := &offers.Types[i]
		for j := range t.Offerings {
			if t.Offerings[j].ReservationID == "" {
				s.Cloud.SetStock(cloud.Candidate{Type: t, Offering: &t.Offerings[j]}.Offer(), memory.Unlimited)
			}
		}
	}
}

// interrupt ends a spot machine.
func (s *Sim) interrupt() {
	var spot []string
	for _, i := range s.Cloud.Instances() {
		if i.Offer.CapacityType == "spot" && i.State == cloud.Running {
			spot = append(spot, i.ProviderID)
		}
	}
	if len(spot) > 0 {
		s.Cloud.Kill(spot[s.dice.IntN(len(spot))])
	}
}

// jump moves the clock, as a machine that slept does.
func (s *Sim) jump() {
	to := s.Clock.Now().Add(s.upTo(10 * time.Minute))
	s.meter.advance(to)
	s.Clock.forward(to)
}

// vandalize is a user who deletes something, or changes a pool.
func (s *Sim) vandalize() {
	ctx := context.Background()
	var object client.Object
	switch s.dice.IntN(4) {
	case 0:
		object = pick(s, store.All[*karpenterv1.NodeClaim](s.Store))
	case 1:
		object = pick(s, store.All[*corev1.Node](s.Store))
	case 2:
		object = pick(s, store.All[*corev1.Pod](s.Store))
	default:
		s.relabel(ctx)
	}
	if object != nil {
		s.Log.Info("vandal", "deletes", client.ObjectKeyFromObject(object).String())
		_ = s.Store.Delete(ctx, object.DeepCopyObject().(client.Object)) // it is there
	}
}

func pick[T client.Object](s *Sim, all []T) client.Object {
	if len(all) == 0 {
		return nil
	}
	return all[s.dice.IntN(len(all))]
}

// relabel changes the template of a pool, so that its claims have drifted.
func (s *Sim) relabel(ctx context.Context) {
	object := pick(s, store.All[*karpenterv1.NodePool](s.Store))
	if object == nil {
		return
	}
	pool := object.DeepCopyObject().(*karpenterv1.NodePool)
	if pool.Spec.Template.Labels == nil {
		pool.Spec.Template.Labels = map[string]string{}
	}
	pool.Spec.Template.Labels["team"] = s.suffix()
	_ = s.Store.Update(ctx, pool) // it was just read
}
