package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"tenon/cloud"
	"tenon/core/requirement"
)

// Group is the API group of the cloud's own node classes, and the domain of its labels.
const Group = "memory.tenon.dev"

// Labels of the cloud's own.
const (
	LabelFamily      = Group + "/instance-family"
	LabelCPU         = Group + "/instance-cpu"
	LabelReservation = Group + "/reservation-id"
)

// ImageDrift is why an instance that booted from another image than its class has now is
// to be replaced.
const ImageDrift cloud.DriftReason = "ImageDrift"

// Provider is the near side: it knows of the cloud what calls have told it.
type Provider struct {
	cloud *Cloud

	mu        sync.Mutex
	shortages map[cloud.Offer]time.Time // until when
	views     map[string]view           // by class
	strayed   time.Time                 // when instances without the cluster's tag were last listed
}

// Connect makes a provider that has learned nothing yet, as a process that has just
// started is. Several may be connected at a time.
func (c *Cloud) Connect() *Provider {
	return &Provider{cloud: c, shortages: map[cloud.Offer]time.Time{}, views: map[string]view{}}
}

var _ cloud.Provider = (*Provider)(nil)

// Describe implements cloud.Provider.
func (p *Provider) Describe() cloud.Description {
	return cloud.Description{
		Name:             "memory",
		Words:            p.cloud.words(),
		Classes:          slices.Clone(p.cloud.options.Kinds),
		ReservationLabel: LabelReservation,
		ReservedLabels:   []string{LabelReservation},
		VisibleWithin:    p.cloud.options.Lag,
		Repairs: []cloud.RepairPolicy{
			{Condition: "Ready", Status: "False", Toleration: 10 * time.Minute},
			{Condition: "Ready", Status: "Unknown", Toleration: 10 * time.Minute},
		},
	}
}

// words are the cloud's own with those of its catalogue.
func (c *Cloud) words() requirement.Words {
	words := c.options.Words
	words.WellKnown = append([]string{LabelFamily, LabelCPU, LabelReservation}, words.WellKnown...)
	words.RestrictedDomains = append([]string{Group}, words.RestrictedDomains...)
	return words
}

// Delete implements cloud.Instances.
func (p *Provider) Delete(ctx context.Context, providerID string) error {
	_, err := attempt(ctx, p.cloud, Delete, providerID, func() (struct{}, error) {
		return struct{}{}, p.cloud.delete(providerID)
	})
	return err
}

// living is the record of an instance that is not gone; nil for others. The caller holds the lock.
func (c *Cloud) living(providerID string, now time.Time) *Entry {
	c.settle(now)
	if r, known := c.records[providerID]; known && !r.goneBy(now) {
		return r
	}
	return nil
}

func (c *Cloud) delete(providerID string) error {
	now := c.options.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.living(providerID, now)
	if r == nil {
		return &cloud.NotFound{ProviderID: providerID}
	}
	if r.Deleted.IsZero() {
		r.end(now, c.options.Stop)
		c.await(r.next())
		c.outbox.terminate(providerID)
	}
	return nil
}

// Get implements cloud.Reader.
func (p *Provider) Get(ctx context.Context, providerID string) (cloud.Instance, error) {
	return attempt(ctx, p.cloud, Get, providerID, func() (cloud.Instance, error) {
		return p.cloud.get(providerID, p.cloud.options.Lag)
	})
}

func (c *Cloud) get(providerID string, lag time.Duration) (cloud.Instance, error) {
	now := c.options.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(now)
	if r, known := c.records[providerID]; known {
		if i, exists := r.at(now.Add(-lag)); exists {
			return r.told(i), nil
		}
	}
	return cloud.Instance{}, &cloud.NotFound{ProviderID: providerID}
}

// List implements cloud.Reader.
func (p *Provider) List(ctx context.Context) ([]cloud.Instance, error) {
	return attempt(ctx, p.cloud, List, "", func() ([]cloud.Instance, error) {
		strays := p.strays()
		var found []cloud.Instance
		for r, i := range p.cloud.existing(p.cloud.options.Lag) {
			if r.listed(strays) {
				found = append(found, r.told(i))
			}
		}
		return found, nil
	})
}

// existing are the instances that there were so long ago, with their records, in the order of their
// provider IDs.
func (c *Cloud) existing(ago time.Duration) iter.Seq2[*Entry, cloud.Instance] {
	return func(yield func(*Entry, cloud.Instance) bool) {
		now := c.options.Clock.Now()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.settle(now)
		for _, id := range c.present {
			if i, exists := c.records[id].at(now.Add(-ago)); exists && !yield(c.records[id], i) {
				return
			}
		}
	}
}

// Drifted implements cloud.Inspector.
func (p *Provider) Drifted(ctx context.Context, claim cloud.Claim, instance cloud.Instance) (cloud.DriftReason, error) {
	return attempt(ctx, p.cloud, Drifted, instance.ProviderID, func() (cloud.DriftReason, error) {
		if _, err := p.cloud.get(instance.ProviderID, 0); err != nil {
			return "", err
		}
		class, err := p.cloud.class(claim.Class)
		if err != nil {
			return "", err
		}
		if instance.ImageID != class.Image {
			return ImageDrift, nil
		}
		return "", nil
	})
}

// attempt makes a call of the near side to the far one, and lets go wrong what is to go
// wrong. The effect is not begun once the context has ended.
func attempt[T any](ctx context.Context, c *Cloud, m Method, subject string, effect func() (T, error)) (T, error) {
	var nothing T
	fault := c.trouble(m, subject)
	if err := c.wait(ctx, fault.Delay); err != nil {
		return nothing, fmt.Errorf("%s %s: %w", m, subject, err)
	}
	if fault.Before != nil {
		return nothing, fmt.Errorf("%s %s: %w", m, subject, fault.Before)
	}
	answer, err := effect()
	c.deliver()
	switch {
	case err != nil:
		return nothing, err
	case fault.After != nil:
		return nothing, fmt.Errorf("%s %s: %w", m, subject, fault.After)
	}
	return answer, nil
}

func (c *Cloud) trouble(m Method, subject string) Fault {
	if c.options.Trouble == nil {
		return Fault{}
	}
	c.mu.Lock()
	key := Call{Method: m, Subject: subject}
	c.attempts[key]++
	call := Call{Method: m, Subject: subject, Attempt: c.attempts[key]}
	c.mu.Unlock()
	return c.options.Trouble(call)
}

func (c *Cloud) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case <-c.options.Clock.After(d):
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
