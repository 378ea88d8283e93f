package aws

import (
	"context"
	"errors"
	"fmt"
	"maps"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/instance"
	"tenon/cloud/aws/instanceevents"
	"tenon/cloud/aws/offering"
	"tenon/core/catalog"
)

// SpotShort notes that EC2 is reclaiming spot capacity.
func (p *Provider) SpotShort(instanceType, zone string) {
	p.Shortages.Note(offering.Shortage{InstanceType: instanceType, Zone: zone, CapacityType: catalog.Spot})
}

// ReservationShort notes that EC2 is reclaiming reserved capacity.
func (p *Provider) ReservationShort(id string) { p.Counts.Exhausted(id) }

// Ill lists the account's unhealthy instances, including those of other clusters.
func (p *Provider) Ill(ctx context.Context) ([]instanceevents.Illness, error) {
	return instanceevents.Poll(ctx, p.Clients.EC2, p.Clock.Now())
}

// Label puts tags and the cluster's name on an instance, and keeps the tags that it already has. An instance
// that is gone is NotFound.
func (p *Provider) Label(ctx context.Context, providerID string, tags map[string]string) error {
	m, err := p.amongAll(ctx, providerID)
	if err != nil {
		return err
	}
	missing := maps.Clone(tags)
	missing[awsv1.TagClusterName] = p.Cluster.Name
	maps.DeleteFunc(missing, func(key, _ string) bool {
		_, has := m.Tags[key]
		return has
	})
	if len(missing) == 0 {
		return nil
	}
	if err := p.tag(ctx, m, missing); err != nil {
		return err
	}
	// The cache knows the present tags; no other call is needed.
	known := maps.Clone(m.Tags)
	maps.Copy(known, missing)
	m.Tags = known
	p.recent.Put(providerID, m)
	return nil
}

func (p *Provider) tag(ctx context.Context, m instance.Instance, tags map[string]string) error {
	err := p.Instances.Tag(ctx, m.ID, tags)
	p.Forget(m.ProviderID())
	switch {
	case errors.Is(err, instance.ErrGone):
		return &cloud.NotFound{ProviderID: m.ProviderID()}
	case err != nil:
		return throttled(fmt.Errorf("tag %s: %w", m.ProviderID(), err))
	}
	return nil
}

// Tidy deletes launch templates that have been idle for a while. Its first call also finds those of an
// earlier process.
func (p *Provider) Tidy(ctx context.Context) error {
	if !p.hydrated.Load() {
		if err := p.Templates.Hydrate(ctx); err != nil {
			return err
		}
		p.hydrated.Store(true)
	}
	return p.Templates.Sweep(ctx)
}
