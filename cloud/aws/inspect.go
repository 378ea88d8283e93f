package aws

import (
	"context"
	"fmt"

	"tenon/cloud"
	"tenon/cloud/aws/classstatus"
)

// Drifted implements cloud.Inspector. A class that is gone causes no drift.
func (p *Provider) Drifted(ctx context.Context, claim cloud.Claim, instance cloud.Instance) (cloud.DriftReason, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	class, err := p.class(ctx, claim.Class.Name)
	if err != nil {
		return "", fmt.Errorf("find node class %s: %w", claim.Class.Name, err)
	}
	m, err := p.inspect(ctx, instance.ProviderID)
	if err != nil || class == nil || class.DeletionTimestamp != nil {
		return "", err
	}
	offer, err := p.offer(class)
	if err != nil {
		return "", err
	}
	f := classstatus.DriftFacts{Claim: &claim, Class: class, Catalog: offer.Catalog, Machine: m, Reservations: class.Status.CapacityReservations}
	if group := p.Network.LastPlacement(class); group != nil {
		f.Group = group.ID
	}
	reason, err := classstatus.DriftOf(f)
	if err == nil && reason == classstatus.CapacityReservationDrift {
		// The status may be out of date: ask EC2 before a node is replaced.
		if f.Reservations, _, err = p.FindReservations(ctx, class); err == nil {
			reason, err = classstatus.DriftOf(f)
		}
	}
	if err != nil {
		return "", fmt.Errorf("compare %s with node class %s: %w", instance.ProviderID, class.Name, err)
	}
	return reason, nil
}
