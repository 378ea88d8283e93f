package memory

import (
	"maps"
	"slices"
	"time"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/order"
)

// The methods in this file are for the owner of the cloud, who sees every change at once.

// Unlimited is a stock without end.
const Unlimited = -1

// SetStock says how many more instances of an offering there are. Providers learn of it
// when they try.
func (c *Cloud) SetStock(o cloud.Offer, left int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left == Unlimited {
		delete(c.stock, o)
		return
	}
	c.stock[o] = left
}

// SetClass makes or changes a class. From then on only classes that were set can be used.
func (c *Cloud) SetClass(name string, class Class) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.classes == nil {
		c.classes = map[string]Class{}
	}
	c.classes[name] = class
	c.shelve(class.Catalog)
}

// Kill ends a machine at once, as a crash of its host or the end of a spot instance does.
// It says whether there was one.
func (c *Cloud) Kill(providerID string) bool {
	killed := c.kill(providerID, c.options.Clock.Now())
	c.deliver()
	return killed
}

func (c *Cloud) kill(providerID string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.living(providerID, now)
	if r == nil {
		return false
	}
	if r.Deleted.IsZero() {
		c.outbox.terminate(providerID)
	}
	r.end(now, 0)
	c.await(now)
	c.settle(now)
	return true
}

// Interrupt takes a machine back after a while, as clouds do with spot instances. It says whether there was
// one that stays until then. The caller sends the notice.
func (c *Cloud) Interrupt(providerID string, after time.Duration) bool {
	now := c.options.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(now)
	r, known := c.records[providerID]
	dies := now.Add(after)
	if !known || !r.Deleted.IsZero() || !r.Dies.IsZero() && r.Dies.Before(dies) {
		return false
	}
	r.Dies = dies
	c.await(dies)
	return true
}

// SetCatalog changes what classes sell that have no catalogue of their own: other prices,
// say. It must not be changed afterwards.
func (c *Cloud) SetCatalog(offers *catalog.Catalog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.options.Catalog = offers
	c.shelve(offers)
}

// Bought is how many instances were ever sold.
func (c *Cloud) Bought() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.records)
}

// Instances are those that exist now, without lag, with or without tags, in the order of their
// provider IDs.
func (c *Cloud) Instances() []cloud.Instance {
	var all []cloud.Instance
	for _, i := range c.existing(0) {
		all = append(all, i)
	}
	return all
}

// State is all that the cloud has written down. It can be kept as JSON, and another cloud
// can go on from it.
type State struct {
	Records []Entry `json:"records,omitempty"`
	Stock   []Stock `json:"stock,omitempty"`
}

// Stock is what is left of one offering.
type Stock struct {
	Offer cloud.Offer `json:"offer"`
	Left  int         `json:"left"`
}

// State returns a copy of the records.
func (c *Cloud) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	var s State
	for _, id := range order.Keys(c.records) {
		r := *c.records[id]
		r.Machine, r.Lacks = r.Machine.clone(), slices.Clone(r.Lacks)
		s.Records = append(s.Records, r)
	}
	for _, offer := range slices.SortedFunc(maps.Keys(c.stock), cloud.Offer.Compare) {
		s.Stock = append(s.Stock, Stock{offer, c.stock[offer]})
	}
	return s
}

// restore loads the records of an earlier cloud. It launches the machines again: their Launcher knows which
// of them have joined.
func (c *Cloud) restore(s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range s.Records {
		r.Machine, r.Lacks = r.Machine.clone(), slices.Clone(r.Lacks)
		c.keep(&r)
		if token := r.Machine.Instance.ClaimUID; token != "" {
			c.byToken[token] = r.Machine.Instance.ProviderID
		}
		c.await(r.next())
		if r.Deleted.IsZero() {
			c.outbox.launch(r.Machine.clone())
		}
	}
	for _, stock := range s.Stock {
		c.stock[stock.Offer] = stock.Left
	}
}
