// Package mirror is one process's view of the API server: caches that are filled by watches, and
// lag behind. Reads come from the caches, writes go to the server, as with any client of
// controller-runtime.
//
// Dice decide how late a change arrives, which changes arrive twice, and which kind overtakes which.
// Changes of one kind arrive in their order, as watches promise; between kinds there is no order. The
// package must not depend on its readers.
package mirror

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/lookup"
	"tenon/sim/store"
)

// Lag is how far caches lag behind. With the zero value they do not.
type Lag struct {
	// Most is the longest delay of an event.
	Most time.Duration
	// Repeated is how many events in a thousand arrive a second time.
	Repeated int
	// Stalled is how many events in a thousand hold up their kind for Stall.
	Stalled int
	Stall   time.Duration
	// Broken is how many watches in a thousand events see nothing for up to Blind. Then everything of
	// the kind is listed again: the changes since appear as one change, or not at all.
	Broken int
	Blind  time.Duration
}

// Event is a change that has arrived. Old is nil for a new object, New for a deleted one; a
// repeated event has the same object twice.
type Event struct {
	Kind     schema.GroupVersionKind
	Old, New client.Object
}

// Object returns the changed object, or the last state of a deleted one.
func (e Event) Object() client.Object {
	if e.New != nil {
		return e.New
	}
	return e.Old
}

// Options are the parameters of a mirror.
type Options struct {
	Store *store.Store
	Lag   Lag
	Dice  *rand.Rand
	// Now is the time.
	Now func() time.Time
	// Later calls a function at a time. It is not used without lag.
	Later func(at time.Time, do func())
	// Mishap reports whether a watch may break now; nil means always.
	Mishap func(what, to string) bool
	// Arrived is called with every event, after it is in the caches.
	Arrived func(Event)
	// Indexes are needed besides lookup's.
	Indexes []lookup.Index
}

// Mirror holds the caches of one process.
type Mirror struct {
	o      Options
	kinds  map[schema.GroupVersionKind]*cache
	order  []schema.GroupVersionKind
	latest map[schema.GroupVersionKind]time.Time      // when the last event of a kind arrives
	queues map[schema.GroupVersionKind][]store.Change // on their way
	blind  map[schema.GroupVersionKind]bool           // whose watch is broken
	closed bool
	stop   func()
}

// New makes an empty mirror; Open fills it.
func New(o Options) (*Mirror, error) {
	if o.Mishap == nil {
		o.Mishap = func(string, string) bool { return true }
	}
	m := &Mirror{o: o, kinds: map[schema.GroupVersionKind]*cache{}, order: o.Store.Kinds(), latest: map[schema.GroupVersionKind]time.Time{}, queues: map[schema.GroupVersionKind][]store.Change{}, blind: map[schema.GroupVersionKind]bool{}}
	for _, gvk := range m.order {
		m.kinds[gvk] = newCache()
	}
	for _, x := range slices.Concat(lookup.Indexes(), o.Indexes) {
		gvk, err := o.Store.GroupVersionKindFor(x.Kind)
		if err != nil {
			return nil, err
		}
		m.kinds[gvk].indexes[x.Field] = newIndex(x.Values)
	}
	return m, nil
}

// Open lists all objects, as a process does when it starts, and follows later changes.
func (m *Mirror) Open() {
	m.stop = m.o.Store.Listen(m.hear)
	for _, gvk := range m.order {
		m.o.Store.Each(gvk, func(object client.Object) bool {
			m.kinds[gvk].put(object)
			return true
		})
	}
	for _, gvk := range m.order {
		for _, e := range slices.Clone(m.kinds[gvk].all) {
			m.o.Arrived(Event{Kind: gvk, New: e.object})
		}
	}
}

// Close ends the watches: no more events arrive.
func (m *Mirror) Close() {
	m.closed = true
	m.stop()
}

// hear decides when a change arrives.
func (m *Mirror) hear(c store.Change) {
	if m.o.Lag.Most <= 0 {
		m.arrive(Event{c.Kind, c.Old, c.New})
		return
	}
	if m.blind[c.Kind] {
		return
	}
	if m.o.Dice.IntN(1000) < m.o.Lag.Broken && m.o.Mishap("watch of "+c.Kind.Kind, "breaks") {
		m.lose(c.Kind)
		return
	}
	at := m.o.Now().Add(time.Duration(m.o.Dice.Int64N(int64(m.o.Lag.Most))))
	if m.o.Dice.IntN(1000) < m.o.Lag.Stalled {
		at = at.Add(m.o.Lag.Stall)
	}
	if last := m.latest[c.Kind]; at.Before(last) {
		at = last
	}
	m.latest[c.Kind] = at
	m.queues[c.Kind] = append(m.queues[c.Kind], c)
	m.o.Later(at, func() { m.deliver(c.Kind) })
}

// deliver lets the next event of a kind arrive: events that are due at the same time keep
// their order.
func (m *Mirror) deliver(gvk schema.GroupVersionKind) {
	if len(m.queues[gvk]) == 0 {
		return // lost with the watch
	}
	c := m.queues[gvk][0]
	m.queues[gvk] = m.queues[gvk][1:]
	m.arrive(Event{c.Kind, c.Old, c.New})
	if c.New != nil && m.o.Dice.IntN(1000) < m.o.Lag.Repeated {
		m.arrive(Event{c.Kind, c.New, c.New})
	}
}

// lose ends the watch of a kind for a while.
func (m *Mirror) lose(gvk schema.GroupVersionKind) {
	m.blind[gvk] = true
	m.queues[gvk] = nil
	m.o.Later(m.o.Now().Add(time.Duration(m.o.Dice.Int64N(int64(m.o.Lag.Blind)))), func() {
		m.blind[gvk] = false
		m.relist(gvk)
	})
}

// relist brings the cache up to date at once. An existing object arrives as an update, changed or
// not; a deleted one arrives in the state in which it was last seen.
func (m *Mirror) relist(gvk schema.GroupVersionKind) {
	seen := m.kinds[gvk]
	there := map[types.NamespacedName]bool{}
	var events []Event
	m.o.Store.Each(gvk, func(object client.Object) bool {
		there[store.KeyOf(object)] = true
		e := Event{Kind: gvk, New: object}
		if old := seen.byKey[store.KeyOf(object)]; old != nil {
			e.Old = old.object
		}
		events = append(events, e)
		return true
	})
	for _, old := range seen.all {
		if !there[old.key] {
			events = append(events, Event{Kind: gvk, Old: old.object})
		}
	}
	for _, e := range events {
		m.arrive(e)
	}
}

func (m *Mirror) arrive(e Event) {
	if m.closed {
		return
	}
	if e.New != nil {
		m.kinds[e.Kind].put(e.New)
	} else {
		m.kinds[e.Kind].remove(store.KeyOf(e.Old))
	}
	m.o.Arrived(e)
}

// Same reports whether two kinds of watched objects are the same type.
func Same(a, b client.Object) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }
