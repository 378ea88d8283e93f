// Package memory is a cloud that lives in the memory of one process: small, and real
// enough for tests, the simulation and the lab.
//
// It has two sides. Cloud is the far one: machines, stock, and what was bought for which
// token; it outlives crashes of ours. Provider is the near one, which implements the
// contract and forgets what it learned when it is connected anew.
//
// Nothing runs by itself: there is no goroutine and no timer. What time brings (boots,
// ends, deaths) follows from times that were written down, on the clock that was given,
// and is settled at every call. Chance comes from a seed and from what a call is
// about, never from the order of calls, so a run can be repeated however it interleaves.
//
// The package must not talk to anything: machines are played by a Launcher.
package memory

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// Options are what a cloud is like. The zero value is a healthy one that sells Sample at
// once and without end.
type Options struct {
	// Clock is the system's when nil.
	Clock Clock
	// Seed makes the names of instances.
	Seed uint64
	// Kinds of node classes; nil is MemoryNodeClass.
	Kinds []cloud.ClassKind
	// Words are what the catalogue's labels need beside the cloud's own.
	Words requirement.Words
	// Classes by name. Nil means that any name will do; otherwise a name that is missing
	// is not ready.
	Classes map[string]Class
	// Catalog is for classes that have none of their own; nil is Sample.
	Catalog *catalog.Catalog
	// Stock is how many instances of an offering there are. What is not listed has no
	// end, but for reservations, which hold what the catalogue says.
	Stock map[cloud.Offer]int
	// Boot is how long an instance is Pending, Stop how long it is Terminating.
	Boot, Stop time.Duration
	// Lag is how far Get and List are behind.
	Lag time.Duration
	// ShortageMemory is how long a provider takes an offering that could not be had for
	// unavailable; zero is three minutes.
	ShortageMemory time.Duration
	// Trouble decides what goes wrong with a call; nil is nothing.
	Trouble func(Call) Fault
	// Lifetime is how long an instance lives before it dies by itself, if it does; nil
	// means that none dies.
	Lifetime func(providerID string) (time.Duration, bool)
	// ProviderID names instances, from the zone and the name of the machine; nil is
	// "memory:///zone/name".
	ProviderID func(zone, name string) string
	// Launcher runs the machines; with nil they run nowhere.
	Launcher Launcher
	// State is what an earlier cloud left behind.
	State State
}

// Clock is where the time comes from. After is asked only for calls that a Fault delays.
type Clock interface {
	Now() time.Time
	After(time.Duration) <-chan time.Time
}

type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Class is what the cloud knows of a node class.
type Class struct {
	// NotReady says why it cannot be used; empty if it can.
	NotReady string
	// Image is what instances boot from. Those that booted from another have drifted.
	Image string
	// Catalog is what the class can buy; nil is the cloud's.
	Catalog *catalog.Catalog
}

// defaultShortageMemory is what providers of real clouds have found to work.
const defaultShortageMemory = 3 * time.Minute

// Cloud is the far side. All methods may be called by many goroutines.
type Cloud struct {
	options Options

	mu       sync.Mutex
	classes  map[string]Class
	records  map[string]*Entry // by provider ID
	present  []string          // provider IDs of those that may still be seen, sorted
	byToken  map[string]string // provider IDs by claim UID; what was bought once stays here
	stock    map[cloud.Offer]int
	attempts map[Call]int // calls so far, by method and subject
	due      time.Time    // when settle has next to do something; zero is never

	outbox
}

// New makes a cloud, with the machines that the state holds.
func New(o Options) *Cloud {
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	if o.Kinds == nil {
		o.Kinds = []cloud.ClassKind{{Group: Group, Version: "v1", Kind: "MemoryNodeClass"}}
	}
	if o.Catalog == nil {
		o.Catalog = Sample()
	}
	if o.ProviderID == nil {
		o.ProviderID = func(zone, name string) string { return "memory:///" + zone + "/" + name }
	}
	if o.ShortageMemory == 0 {
		o.ShortageMemory = defaultShortageMemory
	}
	c := &Cloud{
		options:  o,
		classes:  maps.Clone(o.Classes),
		records:  map[string]*Entry{},
		byToken:  map[string]string{},
		stock:    map[cloud.Offer]int{},
		attempts: map[Call]int{},
		outbox:   outbox{launcher: o.Launcher},
	}
	c.fill()
	c.restore(o.State)
	c.deliver()
	return c
}

// fill restocks: what reservations hold, then what was said.
func (c *Cloud) fill() {
	c.shelve(c.options.Catalog)
	for _, class := range c.classes {
		c.shelve(class.Catalog)
	}
	maps.Copy(c.stock, c.options.Stock)
}

// shelve keeps what it finds: another class may see the same reservation.
func (c *Cloud) shelve(offers *catalog.Catalog) {
	for offer, held := range reservations(offers) {
		if _, known := c.stock[offer]; !known {
			c.stock[offer] = int(held)
		}
	}
}

func reservations(offers *catalog.Catalog) map[cloud.Offer]int64 {
	held := map[cloud.Offer]int64{}
	if offers == nil {
		return held
	}
	for i := range offers.Types {
		t := &offers.Types[i]
		for j := range t.Offerings {
			if o := &t.Offerings[j]; o.CapacityType == catalog.Reserved {
				held[cloud.Candidate{Type: t, Offering: o}.Offer()] = o.ReservationCapacity
			}
		}
	}
	return held
}

// class finds a class that can be used.
func (c *Cloud) class(ref cloud.ClassRef) (Class, error) {
	if !(cloud.Description{Classes: c.options.Kinds}).Supports(ref) {
		return Class{}, &cloud.ClassNotReady{Class: ref, Err: fmt.Errorf("this cloud has no %s of %s", ref.Kind, ref.Group)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	class, known := c.classes[ref.Name]
	switch {
	case !known && c.classes != nil:
		return Class{}, &cloud.ClassNotReady{Class: ref, Err: fmt.Errorf("%s does not exist", ref)}
	case class.NotReady != "":
		return Class{}, &cloud.ClassNotReady{Class: ref, Err: fmt.Errorf("%s: %s", ref, class.NotReady)}
	}
	if class.Catalog == nil {
		class.Catalog = c.options.Catalog
	}
	return class, nil
}
