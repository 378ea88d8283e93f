package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tenon/cloud"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/instance"
)

// past is what EC2 told about purchases before this process began. It is asked for once,
// for all claims: what is bought later is in the purchases.
type past struct {
	turn chan struct{}
	// The holder of the turn may read and write these.
	known bool
	at    time.Time
	byUID map[string]instance.Instance
}

// findBought fills an empty purchase with what an earlier process bought.
func (d *Launcher) findBought(ctx context.Context, claim *cloud.Claim, r *purchase) error {
	if r.bought != nil || r.pending != nil {
		return nil
	}
	m, found, err := d.before(ctx, claim.UID)
	if err != nil {
		return err
	}
	if found {
		d.adopt(ctx, claim, r, m)
	}
	return nil
}

func (d *Launcher) before(ctx context.Context, uid string) (instance.Instance, bool, error) {
	select {
	case d.past.turn <- struct{}{}:
		defer func() { <-d.past.turn }()
	case <-ctx.Done():
		return instance.Instance{}, false, ctx.Err()
	}
	if !d.past.known {
		if err := d.remember(ctx); err != nil {
			return instance.Instance{}, false, err
		}
	}
	if d.past.byUID != nil && d.Clock.Now().Sub(d.past.at) > remembered {
		d.past.byUID = nil // those claims are not asked for any more
	}
	m, found := d.past.byUID[uid]
	return m, found, nil
}

func (d *Launcher) remember(ctx context.Context) error {
	all, err := d.Instances.History(ctx)
	if err != nil {
		return refused(fmt.Errorf("look for earlier purchases: %w", err))
	}
	d.past.known, d.past.at, d.past.byUID = true, d.Clock.Now(), map[string]instance.Instance{}
	for _, m := range all {
		if uid := m.ClaimUID(); uid != "" {
			d.past.byUID[uid] = m
		}
	}
	return nil
}

// refused is an error of a call that came before any purchase.
func refused(err error) error {
	if api.IsThrottled(err) {
		return &cloud.Throttled{RetryAfter: pause, Err: err}
	}
	return err
}

// adopt takes what was found as what the claim has bought. Its class may have become
// unusable since: then less is known of the instance, but it is the answer all the same.
func (d *Launcher) adopt(ctx context.Context, claim *cloud.Claim, r *purchase, m instance.Instance) {
	i := m.Instance()
	if facts, err := d.Facts(ctx, claim.Class); err == nil {
		offers := claim.Catalog
		if offers == nil {
			offers = facts.Catalog
		}
		if c, found := findOffer(offers, m.Offer()); found {
			i = described(claim, facts, c, i)
		}
	}
	r.bought = &bought{instance: i, id: m.ID, at: m.Launched, seen: true}
	r.pending = nil
}

// confirm gives the instance if it still is one.
func (d *Launcher) confirm(ctx context.Context, r *purchase) (cloud.Instance, error) {
	b := r.bought
	gone := &cloud.NotFound{ProviderID: b.instance.ProviderID}
	m, err := d.Instances.Look(ctx, b.id)
	switch {
	case errors.Is(err, instance.ErrGone) && !b.seen && d.Clock.Now().Sub(b.at) < d.VisibleWithin:
		return b.instance.Clone(), nil // not yet visible
	case errors.Is(err, instance.ErrGone):
		return cloud.Instance{}, gone
	case err != nil:
		return cloud.Instance{}, refused(err)
	case m.StateOf() == cloud.Terminating:
		return cloud.Instance{}, gone
	}
	b.seen = true
	b.instance.State = m.StateOf()
	return b.instance.Clone(), nil
}

// Fresh reports whether an instance was bought so recently that EC2 need not show it yet.
// What was bought before this process began, it cannot know: then nothing is certain until
// the process is older than EC2 is behind.
func (d *Launcher) Fresh(providerID string) bool {
	fresh := false
	d.bought(providerID, func(b *bought) { fresh = !b.seen && d.Clock.Now().Sub(b.at) < d.VisibleWithin })
	return fresh
}

// Ended notes that EC2 has ended an instance, so that it is not waited for.
func (d *Launcher) Ended(providerID string) {
	d.bought(providerID, func(b *bought) { b.seen = true })
}

// bought calls f with what was bought under a name, if anything was.
func (d *Launcher) bought(providerID string, f func(*bought)) {
	d.mu.Lock()
	purchases := make([]*purchase, 0, len(d.purchases))
	for _, r := range d.purchases {
		purchases = append(purchases, r)
	}
	d.mu.Unlock()
	for _, r := range purchases {
		select {
		case r.turn <- struct{}{}:
		default:
			continue // it is being bought: its ID is not known yet
		}
		found := r.bought != nil && r.bought.instance.ProviderID == providerID
		if found {
			f(r.bought)
		}
		<-r.turn
		if found {
			return
		}
	}
}
