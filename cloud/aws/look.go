package aws

import (
	"context"
	"sync"
	"time"

	"tenon/cloud/aws/instance"
)

// lastList is when all machines were looked at last.
type lastList struct {
	sync.Mutex
	at time.Time
}

// roundEvery is how soon all machines may be looked at again. Nodes that join in a burst are asked about
// one after the other; a machine that the last look did not show is looked up alone.
const roundEvery = 5 * time.Second

// inspectedFor is how old what is known of a machine may be to compare it with its class. Image and subnet
// of a machine never change, and its groups only by hand; claims are compared every five minutes, each at
// its own time, and if every comparison looked the machine up, a quiet cluster would list all its machines
// four times a minute. Garbage collection lists them every two minutes anyway, which suffices.
const inspectedFor = 150 * time.Second

// inspect is a machine as it was some time ago at most. Of one that has just been launched EC2 may
// not have told everything yet.
func (p *Provider) inspect(ctx context.Context, providerID string) (instance.Instance, error) {
	if m, seen := p.inspected.Peek(providerID); seen && p.Clock.Now().Sub(m.Launched) > inspectedFor {
		return m, nil
	}
	return p.amongAll(ctx, providerID)
}

// amongAll is look, for questions that come up for every node of a cluster: it looks at all of them
// at once, and remembers the others. A call tells of a thousand instances.
func (p *Provider) amongAll(ctx context.Context, providerID string) (instance.Instance, error) {
	if m, seen := p.recent.Peek(providerID); seen {
		return m, nil
	}
	if err := p.lookAround(ctx, providerID); err != nil {
		return instance.Instance{}, err
	}
	return p.look(ctx, providerID)
}

// lookAround lists all machines, unless that was done a moment ago or this one was seen
// while we waited.
func (p *Provider) lookAround(ctx context.Context, providerID string) error {
	p.round.Lock()
	defer p.round.Unlock()
	now := p.Clock.Now()
	if _, seen := p.recent.Peek(providerID); seen || !p.round.at.IsZero() && now.Sub(p.round.at) < roundEvery {
		return nil
	}
	if _, err := p.List(ctx); err != nil {
		return err
	}
	p.round.at = now
	return nil
}
