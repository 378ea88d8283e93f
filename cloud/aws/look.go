package aws

import (
	"context"
	"sync"
	"time"

	"tenon/cloud/aws/instance"
)

// lastList records when the provider last listed all machines.
type lastList struct {
	sync.Mutex
	at time.Time
}

// roundEvery is the least time between two listings of all machines. Nodes that join in a burst are asked
// about one after the other; the provider looks up alone a machine that the last listing did not show.
const roundEvery = 5 * time.Second

// inspectedFor is the greatest age of data that drift compares with a class. A machine's image and subnet
// never change, and its groups change only by hand. Each claim is compared every five minutes at a different
// time; if every comparison looked its machine up, a quiet cluster would list all its machines four times a
// minute. Garbage collection lists them every two minutes anyway, which suffices.
const inspectedFor = 150 * time.Second

// inspect returns a machine as it was at most inspectedFor ago. EC2 may not have reported everything yet
// about a machine that has just been launched.
func (p *Provider) inspect(ctx context.Context, providerID string) (instance.Instance, error) {
	if m, seen := p.inspected.Peek(providerID); seen && p.Clock.Now().Sub(m.Launched) > inspectedFor {
		return m, nil
	}
	return p.amongAll(ctx, providerID)
}

// amongAll is look for questions that come up for every node of a cluster: it lists all machines at once and
// remembers them. One call returns a thousand instances.
func (p *Provider) amongAll(ctx context.Context, providerID string) (instance.Instance, error) {
	if m, seen := p.recent.Peek(providerID); seen {
		return m, nil
	}
	if err := p.lookAround(ctx, providerID); err != nil {
		return instance.Instance{}, err
	}
	return p.look(ctx, providerID)
}

// lookAround lists all machines, unless that was done a moment ago or another caller found this one while we
// waited.
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
