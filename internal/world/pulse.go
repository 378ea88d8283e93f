package world

import (
	"maps"
	"time"

	"tenon/core/wait"
	"tenon/internal/owner"
)

// Pulse says what has happened since the last decision, so that the provisioner can tell when to decide.
type Pulse struct {
	// Demand rises with every pod that begins to want a place, Supply with every change
	// that may give places to pods which had none.
	Demand, Supply uint64
	// Changes rises with every change that a decision about existing nodes may depend on.
	Changes uint64
	// Objections rises when the scheduler refuses a pod for which we may have seen a place.
	Objections uint64
	// Arriving describes the pods that want a place.
	wait.Arriving
	// Displaced is how many pods are on nodes that are leaving.
	Displaced int
	// Buffered is for how many pods buffers ask for room.
	Buffered int
}

// pulse counts what Pulse reports.
type pulse struct {
	count      uint64 // rises with every change that matters
	demand     uint64
	offer      uint64
	objections uint64
	changes    uint64
	open       bool // pods have come since the last decision
	first      time.Time
	last       time.Time
	joined     time.Time
	sets       map[owner.Ref]struct{}  // the ReplicaSets of these pods
	unmade     map[owner.Ref]time.Time // young ReplicaSets that have yet to make their first pod, and since when they are known
}

func (p *pulse) supply() {
	p.count++
	p.offer++
}

// arrive notes that a pod of a ReplicaSet begins to wait; only says that it may be the set's only pod.
func (p *pulse) arrive(set owner.Ref, only bool, now time.Time) {
	p.count++
	p.demand++
	if !p.open {
		p.open, p.first, p.sets = true, now, map[owner.Ref]struct{}{}
	}
	p.last = now
	if only {
		p.joined = now
	}
	p.sets[set] = struct{}{}
}

// hear notes that more is known about what the next decision waits for.
func (p *pulse) hear() { p.count++ }

// object notes that the scheduler finds no place for a pod that already waits.
func (p *pulse) object() {
	p.count++
	p.objections++
}

// Pulse returns what there is to decide about now.
func (w *World) Pulse() Pulse {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look()
}

func (w *World) look() Pulse {
	believed, doubted := w.coming()
	return Pulse{
		Demand: w.pulse.demand, Supply: w.pulse.offer, Objections: w.pulse.objections, Changes: w.pulse.changes,
		Displaced: w.displaced(), Buffered: w.buffered(),
		Arriving: wait.Arriving{
			Waiting: len(w.pods.waiting), First: w.pulse.first, Last: w.pulse.last, Joined: w.pulse.joined, Sets: len(w.pulse.sets),
			Coming: believed, Unlikely: doubted, Unconfirmed: w.unconfirmed(), Unmade: w.unmade(), NewPool: w.hasNewPool(),
		},
	}
}

// noteUnmade notes whether a ReplicaSet that was created a moment ago has yet to make its first pod. It does not count while something keeps
// it from making pods.
func (w *World) noteUnmade(set owner.Ref, created time.Time) {
	now := w.clock.Now()
	want, _ := w.index.Target(set)
	_, noted := w.pulse.unmade[set]
	switch is := want > 0 && !w.index.Hindered(set) && w.pods.count[set] == 0 && now.Sub(created) < wait.Making; {
	case is && !noted:
		w.pulse.unmade[set] = now
	case noted && !is:
		delete(w.pulse.unmade, set)
		w.pulse.hear()
	}
}

// unmade is since when the youngest ReplicaSet without pods has been known; zero without one. Where one was waited for in vain, others are not
// for a while.
func (w *World) unmade() time.Time {
	now, last := w.clock.Now(), time.Time{}
	maps.DeleteFunc(w.pulse.unmade, func(set owner.Ref, since time.Time) bool {
		inVain := now.Sub(since) >= wait.Making
		if inVain {
			w.promises.doubt(set, since.Add(wait.Making))
		}
		return inVain
	})
	for set, since := range w.pulse.unmade {
		if !w.promises.doubts(set.Namespace, now) {
			last = later(last, since)
		}
	}
	return last
}

// Reprice notes that what pools can buy, or its price, has changed.
func (w *World) Reprice() {
	w.change(func() {
		w.pulse.changes++
		w.pulse.supply()
	})
}

// BeginBurst starts a new burst with the next pod that comes, although pods of the present burst may
// still wait. The controller that decides calls it before it looks.
func (w *World) BeginBurst() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doubt()
	w.pulse.open, w.pulse.sets = false, nil
}

// WaitingSince returns when a pod began to want a place; false if it wants none, or has one.
func (w *World) WaitingSince(namespace, name string) (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	since, waits := w.pods.waiting[key{Namespace: namespace, Name: name}]
	return since, waits
}
