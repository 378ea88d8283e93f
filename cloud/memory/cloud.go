// Package memory is a cloud in the memory of one process: small, but complete enough for tests, the
// simulation and the lab.
//
// It has two sides. Cloud is the far side, the cloud itself: machines, stock, and the purchase for each
// token; it survives crashes of Tenon. Provider is the near side, which implements the contract and, when it
// is connected anew, forgets what it has learned.
//
// The cloud has no goroutine and no timer. What time brings (boots, ends, deaths) follows from recorded times
// and the given clock; every call brings it up to date. Chance comes from a seed and from a call's subject,
// never from the order of calls, so a run with any interleaving can be repeated.
//
// The package must not talk to anything: a Launcher simulates the machines.
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

// Options describe a cloud. The zero value is a healthy one that sells Sample at once and without limit.
type Options struct {
	// Clock is the system's when nil.
	Clock Clock
	// Seed makes the names of instances.
	Seed uint64
	// Kinds of node classes; nil is MemoryNodeClass.
	Kinds []cloud.ClassKind
	// Words are the additional words that the catalogue's labels need.
	Words requirement.Words
	// Classes by name. Nil means that any name is valid; otherwise a class that is missing here is not ready.
	Classes map[string]Class
	// Catalog is for classes without a catalogue; nil means Sample.
	Catalog *catalog.Catalog
	// Stock is how many instances of an offering there are. Offerings that are not listed have no limit,
	// except reservations, whose limit is in the catalogue.
	Stock map[cloud.Offer]int
	// Boot is how long an instance is Pending, Stop how long it is Terminating.
	Boot, Stop time.Duration
	// Lag is how far the answers of Get and List lag behind.
	Lag time.Duration
	// ShortageMemory is how long a provider treats an offering as unavailable after a shortage; zero means
	// three minutes.
	ShortageMemory time.Duration
	// Trouble decides what goes wrong with a call; nil means nothing does.
	Trouble func(Call) Fault
	// Lifetime is how long an instance lives before it dies by itself; nil means that no instance dies.
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
	// Image is the image that instances boot from. Instances that booted from another one have drifted.
	Image string
	// Catalog is what the class can buy; nil means the cloud's catalogue.
	Catalog *catalog.Catalog
}

// defaultShortageMemory is the value that has proved right for real clouds.
const defaultShortageMemory = 3 * time.Minute

// Cloud is the far side. All methods may be called by many goroutines.
type Cloud struct {
	options Options

	mu       sync.Mutex
	classes  map[string]Class
	records  map[string]*Entry // by provider ID
	present  []string          // provider IDs of those that may still be seen, sorted
	byToken  map[string]string // provider IDs by claim UID; it keeps every purchase
	stock    map[cloud.Offer]int
	attempts map[Call]int // calls so far, by method and subject
	due      time.Time    // when settle next has something to do; zero means never

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
