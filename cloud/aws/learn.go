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

// SpotShort notes that EC2 takes spot capacity back.
func (p *Provider) SpotShort(instanceType, zone string) {
	p.Shortages.Note(offering.Shortage{InstanceType: instanceType, Zone: zone, CapacityType: catalog.Spot})
}

// ReservationShort notes that EC2 takes reserved capacity back.
func (p *Provider) ReservationShort(id string) { p.Counts.Exhausted(id) }

// Ill are the instances of the account that are ill, also those of others.
func (p *Provider) Ill(ctx context.Context) ([]instanceevents.Illness, error) {
	return instanceevents.Poll(ctx, p.Clients.EC2, p.Clock.Now())
}

// Label puts tags on an instance, and the name of the cluster with them; those that it has are left
// as they are. An instance that is gone is NotFound.
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
	// Its present tags are known without another call.
	known := maps.Clone(m.Tags)
	maps.Copy(known, missing)
	m.Tags = known
	p.recent.Put(providerID, m)
	return nil
}

func (p *Provider) tag(ctx context.Context, m instance.Instance, tags map[string]string) error {
	err := p.Instances.Tag(ctx, m.ID, tags)
	p.forget(m.ProviderID())
	switch {
	case errors.Is(err, instance.ErrGone):
		return &cloud.NotFound{ProviderID: m.ProviderID()}
	case err != nil:
		return throttled(fmt.Errorf("tag %s: %w", m.ProviderID(), err))
	}
	return nil
}

// Tidy deletes launch templates that have not been used for a while, at first also those of
// an earlier process.
func (p *Provider) Tidy(ctx context.Context) error {
	if !p.hydrated.Load() {
		if err := p.Templates.Hydrate(ctx); err != nil {
			return err
		}
		p.hydrated.Store(true)
	}
	return p.Templates.Sweep(ctx)
}
