package sim

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/cloud/memory"
	"tenon/internal/reconcile"
	"tenon/sim/mirror"
)

// process is one process that runs controllers: its caches and its queues. Nothing in it outlives it.
type process struct {
	sim         *Sim
	name        string
	mirror      *mirror.Mirror
	controllers []*runner
	// told receives every event before the controllers are woken.
	told func(mirror.Event)
	dead bool
	// mapping says that keys are being looked up: no fault happens meanwhile.
	mapping bool
	// faulty processes are the product's; those of the cluster never fail.
	faulty bool
	log    logr.Logger
	// near is the process's client of the cloud.
	near *memory.Provider
}

// runner is one controller in a process.
type runner struct {
	reconcile.Controller
	of       *process
	waiting  map[reconcile.Key]*entry
	failures map[reconcile.Key]int
	active   map[reconcile.Key]bool
	parked   map[reconcile.Key]poll
	pause    time.Duration // of a follower
}

// crashed is the value with which a fault panics; it unwinds the frames of the process.
type crashed struct{ *process }

// setControllers gives a process its controllers. Singletons are woken once.
func (p *process) setControllers(controllers []reconcile.Controller) {
	for _, c := range controllers {
		r := &runner{Controller: c, of: p, waiting: map[reconcile.Key]*entry{}, failures: map[reconcile.Key]int{}, active: map[reconcile.Key]bool{}, parked: map[reconcile.Key]poll{}, pause: followers()[c.Name]}
		p.controllers = append(p.controllers, r)
		if c.Subscribe != nil {
			c.Subscribe(func() { r.wake(reconcile.Key{}, p.sim.Clock.Now()) })
		}
		if c.SubscribeKeys != nil {
			c.SubscribeKeys(func(keys ...reconcile.Key) {
				for _, key := range keys {
					r.wake(key, p.sim.Clock.Now())
				}
			})
		}
		if c.Singleton() {
			r.wake(reconcile.Key{}, p.sim.Clock.Now())
		}
	}
}

// arrived wakes the controllers that an event concerns.
func (p *process) arrived(e mirror.Event) {
	if p.told != nil {
		p.told(e)
	}
	p.mapping = true
	defer func() { p.mapping = false }()
	now := p.sim.Clock.Now()
	for _, r := range p.controllers {
		for _, w := range r.Watches {
			if !mirror.Same(w.Kind, e.Object()) {
				continue
			}
			r.unpark(w, e, now)
			if w.Wakes(object(e.Old), object(e.New)) {
				r.wakeAll(w, e, now)
			}
		}
	}
}

// object returns a nil interface for a nil object.
func object(o client.Object) client.Object {
	if o == nil || reflect.ValueOf(o).IsNil() {
		return nil
	}
	return o
}

// wakeAll finds the keys as controller-runtime does: those of the old object too, if the watch maps objects
// to keys.
func (r *runner) wakeAll(w reconcile.Watch, e mirror.Event, now time.Time) {
	ctx := logr.NewContext(context.Background(), r.of.log.WithName(r.Name))
	if w.Keys != nil && e.Old != nil && e.New != nil {
		for _, key := range w.KeysOf(ctx, e.Old) {
			r.wake(key, now)
		}
	}
	for _, key := range w.KeysOf(ctx, e.Object()) {
		r.wake(key, now)
	}
}

// wake queues a key once, at the earliest requested time.
func (r *runner) wake(key reconcile.Key, at time.Time) {
	if r.of.dead {
		return
	}
	delete(r.parked, key)
	if e, there := r.waiting[key]; there {
		if !e.at.After(at) {
			return
		}
		e.dropped = true
	}
	e := r.of.sim.later(at, r.of.name+" "+r.Name+" "+key.String(), r.of, func() { r.work(key) })
	e.ready = func() bool { return !r.active[key] && len(r.active) < r.Workers.For(1000) }
	r.waiting[key] = e
}

// work is one call of the controller.
func (r *runner) work(key reconcile.Key) {
	delete(r.waiting, key)
	r.active[key] = true
	defer delete(r.active, key)
	s := r.of.sim
	log := r.of.log.WithName(r.Name).WithValues("key", key.String())
	result, err := r.Reconcile(logr.NewContext(context.Background(), log), key)
	s.Reconciles++
	switch now := s.Clock.Now(); {
	case err != nil:
		log.Info("error", "err", err.Error())
		r.failures[key]++
		r.wake(key, now.Add(r.delay(r.failures[key])))
	case result.After > 0:
		delete(r.failures, key)
		if result.After == r.pause {
			r.parked[key] = poll{now.Add(r.pause), r.pause}
			return
		}
		r.wake(key, now.Add(result.After))
	default:
		delete(r.failures, key)
	}
}

// delay doubles with each failure.
func (r *runner) delay(failures int) time.Duration {
	first, longest := r.Retry.Times()
	d := first
	for range failures - 1 {
		if d *= 2; d >= longest {
			return longest
		}
	}
	return min(d, longest)
}

// end discards everything of a process.
func (p *process) end() {
	if p.dead {
		return
	}
	p.dead = true
	p.mirror.Close()
}

func (p *process) crash(where string) {
	p.sim.Log.Info("crash", "process", p.name, "where", where)
	p.sim.Crashed++
	p.end()
	panic(crashed{p})
}

// String returns the name of the process.
func (p *process) String() string { return fmt.Sprintf("process %s", p.name) }

// followers are controllers that reconcile again and again although they depend only on what they watch,
// and neither on the time nor on the cloud: while no event concerns their key, another reconciliation has
// the same result. The value is the pause of such reconciliations; a shorter requested pause is for a time
// that matters.
func followers() map[string]time.Duration {
	return map[string]time.Duration{
		"nodepool.counter":      30 * time.Second,
		"nodeclaim.consistency": 10 * time.Minute,
		// The clouds here change neither images nor what they list.
		"nodeclaim.disruption": 5 * time.Minute,
	}
}

// poll says when a key is reconciled again, and how often from then on.
type poll struct {
	next  time.Time
	every time.Duration
}

// unpark repeats the reconciliations that could change nothing until this event, from the first one on that
// is not over.
func (r *runner) unpark(w reconcile.Watch, e mirror.Event, now time.Time) {
	if len(r.parked) == 0 {
		return
	}
	for _, key := range w.KeysOf(context.Background(), e.Object()) {
		p, parked := r.parked[key]
		if !parked {
			continue
		}
		if late := now.Sub(p.next); late > 0 {
			p.next = p.next.Add((late + p.every - 1) / p.every * p.every)
		}
		r.wake(key, p.next)
	}
}
