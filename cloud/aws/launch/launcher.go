package launch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"tenon/cloud"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/capacityreservation"
	"tenon/cloud/aws/instance"
	"tenon/cloud/aws/launchtemplate"
	"tenon/cloud/aws/network"
	"tenon/cloud/aws/offering"
)

// LauncherOptions configure a launcher.
type LauncherOptions struct {
	EC2       api.EC2Launches
	Instances *instance.Client
	Templates *launchtemplate.Store
	Shortages *offering.Shortages
	Addresses *network.Addresses
	Counts    *capacityreservation.Counts
	Clock     clock.PassiveClock
	// Facts returns the current facts of a class. Create returns its errors unchanged.
	Facts func(context.Context, cloud.ClassRef) (Facts, error)
	// VisibleWithin is how long EC2 may take to show a new instance.
	VisibleWithin time.Duration
	// Failed receives every override that did not lead to an instance, for metrics. NoSpotRole receives
	// claims for spot capacity that the account may not buy. Both may be nil.
	Failed     func(zone, zoneID, capacityType, reason string)
	NoSpotRole func(cloud.Claim)
	// Narrow receives claims that allow spot and are bought on demand with few types to choose from. It may
	// be nil.
	Narrow func(claim cloud.Claim, types int)
}

// Launcher buys instances.
type Launcher struct {
	LauncherOptions

	mu        sync.Mutex
	purchases map[string]*purchase
	swept     time.Time

	past past
}

// New makes a launcher that remembers no purchase yet.
func New(o LauncherOptions) *Launcher {
	if o.Failed == nil {
		o.Failed = func(string, string, string, string) {}
	}
	if o.NoSpotRole == nil {
		o.NoSpotRole = func(cloud.Claim) {}
	}
	if o.Narrow == nil {
		o.Narrow = func(cloud.Claim, int) {}
	}
	return &Launcher{LauncherOptions: o, purchases: map[string]*purchase{}, past: past{turn: make(chan struct{}, 1)}}
}

// purchase is the state of one claim's purchase. Only the caller that holds its turn may read and write it.
//
//	          prepare             send: instance
//	(empty) ──────────▶ pending ────────────────────▶ bought
//	    ▲                │    ▲
//	    │ surely nothing │    │ not certain
//	    └────────────────┘    └── sent again as it is
type purchase struct {
	turn    chan struct{}
	touched time.Time // guarded by the launcher's lock

	// attempt numbers the tokens of a claim: after an empty fleet, the claim needs a new token.
	attempt int
	pending *pending
	bought  *bought
}

// pending is a request that is ready to be sent, or that was sent with an unknown effect.
type pending struct {
	order Order
	facts Facts
	// unsure is the time since which the request may have bought something.
	unsure time.Time
}

// bought is what the claim has.
type bought struct {
	instance cloud.Instance
	id       string
	at       time.Time
	// seen says that EC2 has shown the instance. Until then, its absence from EC2's answers means nothing.
	seen bool
}

// remembered is how long the launcher keeps a claim's purchase after the last call: longer than a claim may
// take to become a node.
const remembered = 30 * time.Minute

// Create implements cloud.Instances.
func (d *Launcher) Create(ctx context.Context, claim cloud.Claim) (cloud.Instance, error) {
	if claim.UID == "" {
		return cloud.Instance{}, &cloud.Rejected{Reason: "NoToken", Message: "A claim without a UID cannot be launched"}
	}
	ctx = api.WithPriority(ctx, priority(&claim))
	r, leave, err := d.enter(ctx, claim.UID)
	if err != nil {
		return cloud.Instance{}, fmt.Errorf("launch claim %s: %w", claim.Name, err)
	}
	defer leave()
	i, err := d.create(ctx, &claim, r)
	if err != nil && !cloud.NothingBought(err) && !cloud.IsNotFound(err) {
		return cloud.Instance{}, fmt.Errorf("launch claim %s: %w", claim.Name, err)
	}
	return i, err
}

// priority is the priority of all calls for a claim.
func priority(claim *cloud.Claim) api.Priority {
	if claim.Replaces {
		return api.Background
	}
	return api.Launch
}

func (d *Launcher) create(ctx context.Context, claim *cloud.Claim, r *purchase) (cloud.Instance, error) {
	// 1. An earlier purchase is the answer.
	if err := d.findBought(ctx, claim, r); err != nil {
		return cloud.Instance{}, err
	}
	if r.bought != nil {
		return d.confirm(ctx, r)
	}
	// 2. A request that was sent already is repeated unchanged: after any change, EC2 would take it for
	// another one.
	if r.pending != nil {
		return d.send(ctx, claim, r)
	}
	// 3. Otherwise the launcher decides and sends a new request. A launch template may have disappeared
	// since.
	i, err := d.decideAndSend(ctx, claim, r)
	if isTemplateGone(err) {
		i, err = d.decideAndSend(ctx, claim, r)
	}
	return i, err
}

func (d *Launcher) decideAndSend(ctx context.Context, claim *cloud.Claim, r *purchase) (cloud.Instance, error) {
	facts, err := d.Facts(ctx, claim.Class)
	if err != nil {
		return cloud.Instance{}, err
	}
	order, err := Choose(claim, facts)
	if err != nil {
		return cloud.Instance{}, err
	}
	if types, narrow := order.Narrow(claim); narrow {
		d.Narrow(*claim, types)
	}
	r.pending = &pending{order: order, facts: facts}
	return d.send(ctx, claim, r)
}

// enter waits for the purchase of a claim. It gives up when the context ends.
func (d *Launcher) enter(ctx context.Context, uid string) (*purchase, func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	r := d.purchaseOf(uid)
	select {
	case r.turn <- struct{}{}:
		return r, func() { <-r.turn }, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

func (d *Launcher) purchaseOf(uid string) *purchase {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Clock.Now()
	if now.Sub(d.swept) > time.Minute {
		d.swept = now
		for uid, r := range d.purchases {
			if now.Sub(r.touched) > remembered && len(r.turn) == 0 {
				delete(d.purchases, uid)
			}
		}
	}
	r := d.purchases[uid]
	if r == nil {
		r = &purchase{turn: make(chan struct{}, 1)}
		d.purchases[uid] = r
	}
	r.touched = now
	return r
}
