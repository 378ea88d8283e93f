package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/instance"
)

// How soon the provider asks EC2 again to end an instance that EC2 does not show: because EC2 is ending it
// already, or because EC2 does not know it yet.
const (
	endAgain   = 15 * time.Second
	knownAgain = 5 * time.Second
)

// goneFor is how long the provider remembers that an instance is gone that was to be deleted.
const goneFor = 15 * time.Second

// pause is how long a throttled caller waits.
const pause = time.Second

// Create implements cloud.Instances.
func (p *Provider) Create(ctx context.Context, claim cloud.Claim) (cloud.Instance, error) {
	return p.launcher.Create(ctx, claim)
}

// Get implements cloud.Reader. It may answer from a recent look.
func (p *Provider) Get(ctx context.Context, providerID string) (cloud.Instance, error) {
	if err := ctx.Err(); err != nil {
		return cloud.Instance{}, err
	}
	m, err := p.look(ctx, providerID)
	if last, found := p.lastSeen(providerID); err != nil && found {
		return last.Instance(), nil
	}
	if err != nil {
		return cloud.Instance{}, err
	}
	return m.Instance(), nil
}

// look returns a machine from a recent look if there is one, and else asks EC2.
func (p *Provider) look(ctx context.Context, providerID string) (instance.Instance, error) {
	if m, seen := p.recent.Peek(providerID); seen {
		return m, nil
	}
	return p.lookNow(ctx, providerID)
}

func (p *Provider) lookNow(ctx context.Context, providerID string) (instance.Instance, error) {
	_, id, ok := instance.Parse(providerID)
	if !ok {
		return instance.Instance{}, &cloud.NotFound{ProviderID: providerID}
	}
	m, err := p.Instances.Look(ctx, id)
	switch {
	case errors.Is(err, instance.ErrGone) || err == nil && m.ProviderID() != providerID:
		p.Forget(providerID)
		return instance.Instance{}, &cloud.NotFound{ProviderID: providerID}
	case err != nil:
		return instance.Instance{}, throttled(fmt.Errorf("look at %s: %w", providerID, err))
	}
	p.note(m)
	return m, nil
}

func (p *Provider) note(m instance.Instance) {
	p.recent.Put(m.ProviderID(), m)
	p.inspected.Put(m.ProviderID(), m)
	p.seen.Note(m)
}

// Forget has the next question about an instance asked of EC2.
func (p *Provider) Forget(providerID string) {
	p.recent.Forget(providerID)
	p.inspected.Forget(providerID)
}

// lastSeen returns the last known state of an instance in a zone that traffic is shifted away from. An
// instance there may be running although EC2 does not show it.
func (p *Provider) lastSeen(providerID string) (instance.Instance, bool) {
	m, found := p.seen.Last(providerID)
	return m, found && p.shifted(m.ZoneID)
}

func throttled(err error) error {
	if api.IsThrottled(err) {
		return &cloud.Throttled{RetryAfter: pause, Err: err}
	}
	return err
}

// List implements cloud.Reader.
func (p *Provider) List(ctx context.Context) ([]cloud.Instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, err := p.Instances.List(ctx)
	if err != nil {
		return nil, throttled(err)
	}
	strays, err := p.strays(ctx)
	if err != nil {
		return nil, throttled(err)
	}
	all = append(all, strays...)
	for _, m := range all {
		p.note(m)
	}
	all = append(all, p.seen.Call(all, p.shifted)...)
	slices.SortFunc(all, func(a, b instance.Instance) int { return cmp.Compare(a.ProviderID(), b.ProviderID()) })
	list := make([]cloud.Instance, len(all))
	for i, m := range all {
		list[i] = m.Instance()
	}
	return list, nil
}

// straysEvery is how often the provider looks for instances that lost the tag with the cluster's name. The
// tagging controller restores the tag on instances with a claim; this search finds the others.
const straysEvery = 30 * time.Minute

// strays returns the instances that only a second query finds; the provider makes that query rarely.
func (p *Provider) strays(ctx context.Context) ([]instance.Instance, error) {
	now := p.Clock.Now()
	if last := p.strayed.Load(); last != nil && now.Sub(*last) < straysEvery {
		return nil, nil
	}
	found, err := p.Instances.Strays(ctx)
	if err == nil {
		p.strayed.Store(&now)
	}
	return found, err
}

// Delete implements cloud.Instances.
//
// An instance that EC2 does not show is gone, with three exceptions: this process bought it a moment ago; or
// this process is so young that an earlier one may just have bought it; or it was seen in a zone that traffic
// is now shifted away from. (The reference ends nothing in such a zone: it empties nodes there and pays for
// them until the shift is over.)
func (p *Provider) Delete(ctx context.Context, providerID string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, gone := p.gone.Peek(providerID); gone {
		return &cloud.NotFound{ProviderID: providerID}
	}
	ctx = api.WithPriority(ctx, api.Terminate)
	last, _ := p.recent.Peek(providerID)
	m, err := p.lookNow(ctx, providerID)
	switch {
	case cloud.IsNotFound(err):
		return p.deleteUnseen(ctx, providerID, last, err)
	case err != nil:
		return fmt.Errorf("delete %s: %w", providerID, err)
	}
	p.Counts.Leaves(providerID, m.Reservation)
	if m.StateOf() == cloud.Terminating {
		return nil
	}
	return p.end(ctx, m)
}

func (p *Provider) shifted(zoneID string) bool {
	if p.Shifted == nil {
		return false
	}
	zones, _ := p.Shifted()
	return zones[zoneID]
}

func (p *Provider) end(ctx context.Context, m instance.Instance) error {
	if _, told := p.ending.Peek(m.ProviderID()); told {
		return nil
	}
	err := p.Instances.End(ctx, m.ID)
	p.Forget(m.ProviderID())
	if err == nil || errors.Is(err, instance.ErrGone) {
		p.seen.Remove(m.ProviderID())
		if errors.Is(err, instance.ErrEnded) {
			p.launcher.Ended(m.ProviderID())
			return &cloud.NotFound{ProviderID: m.ProviderID()}
		}
		hold := endAgain
		if err != nil {
			hold = knownAgain
		}
		p.ending.PutFor(m.ProviderID(), struct{}{}, hold)
		return nil // the next call will see it
	}
	if p.observe.TerminationFailed != nil {
		p.observe.TerminationFailed(m.Zone, m.ZoneID)
	}
	return throttled(fmt.Errorf("delete %s: %w", m.ProviderID(), err))
}

func (p *Provider) deleteUnseen(ctx context.Context, providerID string, last instance.Instance, notFound error) error {
	zone, id, ok := instance.Parse(providerID)
	unsure, hidden := p.lastSeen(providerID)
	switch {
	case !ok:
		return notFound
	case hidden:
		return p.end(ctx, unsure)
	case p.launcher.Fresh(providerID):
		return p.end(ctx, instance.Instance{ID: id, Zone: zone})
	case last.ID == "" && p.Clock.Now().Sub(p.begun) < p.visible:
		return fmt.Errorf("delete %s: an instance that was just bought may not be visible yet", providerID)
	}
	p.Counts.Terminated(providerID)
	p.gone.Put(providerID, struct{}{})
	return notFound
}

// Admit implements cloud.Gate. In a placement group with partitions, EC2 decides which partition an instance
// is in, and reports it a moment after the launch.
func (p *Provider) Admit(ctx context.Context, claim cloud.Claim, instance cloud.Instance) (cloud.Admission, error) {
	group, value := claim.Labels[awsv1.LabelPlacementGroupID], ""
	value, partitioned := claim.Labels[awsv1.LabelPlacementGroupPartition]
	if group == "" || !partitioned || value != "" {
		return cloud.Admission{}, nil
	}
	m, err := p.lookNow(ctx, instance.ProviderID)
	if err != nil {
		return cloud.Admission{}, err
	}
	label, known := m.Instance().Labels[awsv1.LabelPlacementGroupPartition]
	if !known {
		return cloud.Admission{Awaiting: []string{"placement group partition"}, Again: pause}, nil
	}
	return cloud.Admission{Labels: map[string]string{awsv1.LabelPlacementGroupPartition: label}}, nil
}
