// Package capacityreservation follows the capacity reservations that claims run in: when a reservation has
// ended, the claim says what its instance is from then on, and claims in a capacity block are deleted before EC2
// reclaims the block.
//
// The provider knows when a reservation ends; the package must not call AWS.
package capacityreservation

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/order"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// Reservations knows reservations.
type Reservations interface {
	// Expiring reports whether a reservation is so near its end that its instances leave.
	Expiring(ctx context.Context, reservation string) (bool, error)
}

const period = time.Minute

type keeper struct {
	kit          reconcile.Kit
	reservations Reservations
}

// New makes the controllers. They are of use only where reservations are.
func New(kit reconcile.Kit, ledger Reservations) []reconcile.Controller {
	k := keeper{kit, ledger}
	return []reconcile.Controller{
		{Name: "capacityreservation.capacitytype", Workers: reconcile.One, Reconcile: k.demote},
		{Name: "capacityreservation.expiration", Workers: reconcile.One, Reconcile: k.expire},
	}
}

// demote corrects claims and nodes whose label says reserved although their reservation has ended. It never
// does the reverse: no instance moves into a reservation that we know of.
func (k keeper) demote(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	// Only labels that say reserved can be wrong. Most clusters have none, and need not list all their
	// instances every minute.
	var reserved karpenterv1.NodeClaimList
	if err := k.kit.Client.List(ctx, &reserved, client.MatchingLabels{karpenterv1.LabelCapacityType: catalog.Reserved}, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, fmt.Errorf("list the reserved claims: %w", err)
	}
	if len(reserved.Items) == 0 {
		return reconcile.In(period), nil
	}
	instances, err := k.kit.Cloud.List(ctx)
	if err != nil {
		return reconcile.Never, fmt.Errorf("list the instances: %w", err)
	}
	for _, i := range instances {
		if i.Offer.CapacityType != catalog.OnDemand {
			continue
		}
		claims, err := lookup.ClaimsOf(ctx, k.kit.Client, i.ProviderID)
		if err != nil {
			return reconcile.Never, err
		}
		for _, claim := range claims {
			if err := k.correct(ctx, claim); err != nil {
				return reconcile.Never, err
			}
		}
	}
	return reconcile.In(period), nil
}

// correct changes the claim last: while the claim is wrong, the next round finds it again.
func (k keeper) correct(ctx context.Context, claim *karpenterv1.NodeClaim) error {
	if claim.Labels[karpenterv1.LabelCapacityType] != catalog.Reserved {
		return nil
	}
	nodes, err := lookup.NodesOfClaim(ctx, k.kit.Client, claim)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if node.Labels[karpenterv1.LabelRegistered] != "true" {
			continue
		}
		mended := node.DeepCopy()
		demoted(mended)
		if _, err := patch.Fields(ctx, k.kit, node, mended); err != nil {
			return err
		}
	}
	mended := claim.DeepCopy()
	demoted(mended)
	_, err = patch.Fields(ctx, k.kit, claim, mended)
	return err
}

// demoted keeps the label that says whether the capacity could be taken back: users' selectors may depend
// on it, and it has no effect here.
func demoted(o client.Object) {
	labels := o.GetLabels()
	labels[karpenterv1.LabelCapacityType] = catalog.OnDemand
	delete(labels, awsv1.LabelCapacityReservationID)
	delete(labels, awsv1.LabelCapacityReservationType)
	o.SetLabels(labels)
}

// expire deletes the claims in reservations that end soon.
func (k keeper) expire(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	var list karpenterv1.NodeClaimList
	if err := k.kit.Client.List(ctx, &list, client.HasLabels{awsv1.LabelCapacityReservationID}, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, fmt.Errorf("list the claims in reservations: %w", err)
	}
	inside := map[string][]*karpenterv1.NodeClaim{}
	for i := range list.Items {
		if c := &list.Items[i]; c.DeletionTimestamp.IsZero() {
			id := c.Labels[awsv1.LabelCapacityReservationID]
			inside[id] = append(inside[id], c)
		}
	}
	for _, id := range order.Keys(inside) {
		ends, err := k.reservations.Expiring(ctx, id)
		if err != nil {
			return reconcile.Never, err
		}
		if !ends {
			continue
		}
		for _, claim := range inside[id] {
			if err := patch.Delete(ctx, k.kit, claim); err != nil {
				return reconcile.Never, fmt.Errorf("delete claim %s: %w", claim.Name, err)
			}
			reconcile.Log(ctx).Info("deleted nodeclaim in a capacity block that ends", "NodeClaim", claim.Name, "reservation", id)
		}
	}
	return reconcile.In(period), nil
}
