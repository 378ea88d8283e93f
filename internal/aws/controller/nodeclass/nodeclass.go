// Package nodeclass keeps the status of EC2NodeClasses: what their selectors find, and whether instances
// could be launched with them. It writes the hash by which their nodes drift, and removes a class's
// finalizer only when nothing in AWS is left of it.
//
// cloud/aws/classstatus decides what the findings mean; the package must not ask AWS itself.
package nodeclass

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/classstatus"
	"tenon/cloud/aws/inventory"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// Inventory looks at AWS for a class, and makes and removes what belongs to it there.
type Inventory interface {
	FindImages(ctx context.Context, class *awsv1.EC2NodeClass) (found []awsv1.AMI, unsupported string, err error)
	FindReservations(ctx context.Context, class *awsv1.EC2NodeClass) (found []awsv1.CapacityReservation, again time.Duration, err error)
	FindPlacement(ctx context.Context, class *awsv1.EC2NodeClass) (found bool, err error)
	FindSubnets(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.Subnet, error)
	FindSecurityGroups(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.SecurityGroup, error)
	EnsureProfile(ctx context.Context, class *awsv1.EC2NodeClass) (name string, err error)
	ServiceRange(ctx context.Context) (string, error)
	Try(ctx context.Context, class *awsv1.EC2NodeClass, pools []*karpenterv1.NodePool) (inventory.DryRunResult, error)
	Retire(ctx context.Context, class *awsv1.EC2NodeClass) error
	Forget(class *awsv1.EC2NodeClass)
}

type keeper struct {
	kit       reconcile.Kit
	inventory Inventory
}

// New makes the controllers: the one of the status and, beside it, the one of the hash.
// The certificate authority is the cluster's, as nodes get it.
func New(kit reconcile.Kit, inventory Inventory, certificateAuthority string) []reconcile.Controller {
	k := keeper{kit, inventory}
	return []reconcile.Controller{
		{
			Name: "nodeclass",
			Watches: []reconcile.Watch{
				{Kind: &awsv1.EC2NodeClass{}, Matters: matters},
				{Kind: &karpenterv1.NodeClaim{}, Keys: classOf, Matters: gone},
				{Kind: &karpenterv1.NodePool{}, Keys: classOfPool, Matters: refusalMatters},
			},
			Workers:   reconcile.Workers{Min: 10, Max: 10},
			Reconcile: k.reconcile,
		},
		newStamper(kit, certificateAuthority),
	}
}

// matters: anything but the status, which is this controller's own.
func matters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	return old.GetGeneration() != changed.GetGeneration() ||
		old.GetDeletionTimestamp().IsZero() != changed.GetDeletionTimestamp().IsZero() ||
		!slices.Equal(old.GetFinalizers(), changed.GetFinalizers()) ||
		!maps.Equal(old.GetAnnotations(), changed.GetAnnotations()) // another annotation asks for another dry run
}

// gone: a class that goes away waits for its claims.
func gone(_, changed client.Object) bool { return changed == nil }

func classOf(_ context.Context, claim client.Object) []reconcile.Key {
	ref := claim.(*karpenterv1.NodeClaim).Spec.NodeClassRef
	if ref == nil || ref.Group != awsv1.Group {
		return nil
	}
	return []reconcile.Key{{Name: ref.Name}}
}

func (k keeper) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	class := &awsv1.EC2NodeClass{}
	if err := k.kit.Client.Get(ctx, key, class); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !class.DeletionTimestamp.IsZero() {
		return k.finish(ctx, class)
	}
	if !controllerutil.ContainsFinalizer(class, awsv1.FinalizerTermination) {
		held := class.DeepCopy()
		controllerutil.AddFinalizer(held, awsv1.FinalizerTermination)
		if err := patch.IfUnchanged(ctx, k.kit, class, held); err != nil {
			return patch.Settled(class, err)
		}
		class = held
	}
	standing := classstatus.New(class, k.kit.Settings.FeatureGates.ReservedCapacity, k.kit.Clock.Now())
	again, failed := k.survey(ctx, standing)
	after := class.DeepCopy()
	after.Status = standing.Status()
	if err := k.showRefusal(ctx, after); err != nil {
		return reconcile.Never, err
	}
	written, err := patch.Status(ctx, k.kit, class, after)
	if err := errors.Join(failed, err); err != nil {
		return reconcile.Never, fmt.Errorf("look at class %s: %w", class.Name, err)
	}
	return again.Sooner(written), nil
}

// finish lets a class go once nothing depends on it: no claim, no profile, no template.
func (k keeper) finish(ctx context.Context, class *awsv1.EC2NodeClass) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(class, awsv1.FinalizerTermination) {
		return reconcile.Never, nil
	}
	claims, err := lookup.ClaimsWith(ctx, k.kit.Client, refOf(class))
	if err != nil {
		return reconcile.Never, err
	}
	if len(claims) > 0 {
		k.kit.Events.Publish(awaited(class, claims))
		return reconcile.In(classstatus.ClaimsHold), nil
	}
	if err := k.inventory.Retire(ctx, class); err != nil {
		return reconcile.Never, fmt.Errorf("remove what was made for class %s: %w", class.Name, err)
	}
	released := class.DeepCopy()
	controllerutil.RemoveFinalizer(released, awsv1.FinalizerTermination)
	if err := patch.IfUnchanged(ctx, k.kit, class, released); err != nil {
		return patch.Settled(class, err)
	}
	k.inventory.Forget(class)
	return reconcile.Never, nil
}

func awaited(class *awsv1.EC2NodeClass, claims []*karpenterv1.NodeClaim) telemetry.Event {
	names := make([]string, len(claims))
	for i, c := range claims {
		names[i] = c.Name
	}
	return telemetry.Normal(class, "WaitingOnNodeClaimTermination", classstatus.Awaited(names), string(class.UID))
}

func refOf(class *awsv1.EC2NodeClass) karpenterv1.NodeClassReference {
	return karpenterv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: class.Name}
}
