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

// past is what EC2 knows of purchases before this process began. The launcher asks for it once, for all
// claims; it keeps later purchases itself.
type past struct {
	turn chan struct{}
	// Only the holder of the turn may read and write these.
	known bool
	at    time.Time
	byUID map[string]instance.Instance
}

// findBought fills an empty purchase with what an earlier process bought for the claim.
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
		d.past.byUID = nil // the launcher does not ask for those claims again
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

// refused is the error of a call that failed before any purchase.
func refused(err error) error {
	if api.IsThrottled(err) {
		return &cloud.Throttled{RetryAfter: pause, Err: err}
	}
	return err
}

// adopt records an instance that was found as the claim's purchase. If its class has become unusable since
// then, less is known of the instance, but it still is the answer.
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

// confirm returns the instance if it still exists.
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

// Fresh reports whether this process bought an instance so recently that EC2 may not show it yet. It does not
// know about the purchases of earlier processes: until this process is older than EC2's delay, the caller
// must not conclude that such an instance is gone.
func (d *Launcher) Fresh(providerID string) bool {
	fresh := false
	d.bought(providerID, func(b *bought) { fresh = !b.seen && d.Clock.Now().Sub(b.at) < d.VisibleWithin })
	return fresh
}

// Ended notes that EC2 has ended an instance, so that the launcher does not wait for it to appear.
func (d *Launcher) Ended(providerID string) {
	d.bought(providerID, func(b *bought) { b.seen = true })
}

// bought calls f with the purchase of the instance, if there is one.
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
			continue // the purchase is in progress: its ID is not known yet
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
