package memory

import (
	"context"
	"maps"
	"slices"

	"tenon/cloud"
	"tenon/core/catalog"
)

// view is a catalogue with what is known of it at the moment.
type view struct {
	base    *catalog.Catalog
	changes map[cloud.Offer]deviation
	shown   *catalog.Catalog
}

// deviation is how an offering differs from the base.
type deviation struct {
	short    bool // could not be had when it was last tried
	reserved bool
	left     int64 // of a reservation
}

// Catalog implements cloud.CatalogReader.
func (p *Provider) Catalog(ctx context.Context, ref cloud.ClassRef) (*catalog.Catalog, error) {
	return attempt(ctx, p.cloud, Catalog, ref.Name, func() (*catalog.Catalog, error) {
		class, err := p.cloud.class(ref)
		if err != nil {
			return nil, err
		}
		return p.look(ref.Name, class.Catalog), nil
	})
}

// look returns the previous catalogue while nothing has changed.
func (p *Provider) look(class string, base *catalog.Catalog) *catalog.Catalog {
	changes := p.changes(base)
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.views[class]
	if last.base != base || !maps.Equal(last.changes, changes) {
		last = view{base, changes, changed(base, changes)}
		p.views[class] = last
	}
	return last.shown
}

// changes are what this provider has learned, and what reservations have left, which the
// cloud tells at every look.
func (p *Provider) changes(base *catalog.Catalog) map[cloud.Offer]deviation {
	left := p.cloud.left(base)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	for offer := range p.shortages {
		c := left[offer]
		c.short = true
		left[offer] = c
	}
	return left
}

func (c *Cloud) left(base *catalog.Catalog) map[cloud.Offer]deviation {
	now := c.options.Clock.Now()
	held := reservations(base)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(now)
	left := map[cloud.Offer]deviation{}
	for offer, count := range held {
		if n, limited := c.stock[offer]; limited {
			count = int64(n)
		}
		left[offer] = deviation{reserved: true, left: count}
	}
	return left
}

// changed copies what differs and shares the rest.
func changed(base *catalog.Catalog, changes map[cloud.Offer]deviation) *catalog.Catalog {
	out := &catalog.Catalog{Types: slices.Clone(base.Types)}
	for i := range out.Types {
		t := &out.Types[i]
		t.Offerings = slices.Clone(t.Offerings)
		for j := range t.Offerings {
			o := &t.Offerings[j]
			c := changes[cloud.Candidate{Type: t, Offering: o}.Offer()]
			if c.reserved {
				o.ReservationCapacity = c.left
			}
			o.Available = o.Available && !c.short && (!c.reserved || c.left > 0)
		}
	}
	return out
}

// learn remembers shortages for a while. It ignores reservations, whose room the cloud reports at any time.
func (p *Provider) learn(tried []cloud.Offer) {
	until := p.cloud.options.Clock.Now().Add(p.cloud.options.ShortageMemory)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, offer := range tried {
		if offer.CapacityType != catalog.Reserved {
			p.shortages[offer] = until
		}
	}
}

// Shun marks an offering as unavailable for a while, because of news from another source.
func (p *Provider) Shun(o cloud.Offer) { p.learn([]cloud.Offer{o}) }

// forget drops what is no longer worth knowing.
func (p *Provider) forget() {
	now := p.cloud.options.Clock.Now()
	for offer, until := range p.shortages {
		if !now.Before(until) {
			delete(p.shortages, offer)
		}
	}
}

// split parts candidates into those that may be had and those that are known to be
// missing. Reservations are asked for either way: the cloud knows best what they hold.
func (p *Provider) split(suitable []cloud.Candidate) (left []cloud.Candidate, missing []cloud.Offer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	for _, candidate := range suitable {
		offer := candidate.Offer()
		if _, short := p.shortages[offer]; short || !candidate.Offering.Available {
			missing = append(missing, offer)
		} else {
			left = append(left, candidate)
		}
	}
	return left, missing
}
