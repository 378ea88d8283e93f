// Package garbagecollection deletes instance profiles that are not needed any more: those that a
// class had before its role changed, once the last claim that was launched with one is
// gone, and those that were made for a class and never noted.
//
// The package knows which profiles are in use. The provider knows which exist, and deletes them.
package garbagecollection

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/reconcile"
)

// Cleaner deletes the profiles of the cluster that are not in use.
type Cleaner interface {
	Clean(ctx context.Context, inUse map[string]bool) (removed []string, err error)
}

const period = 30 * time.Minute

// New makes the controller. In an isolated network IAM is out of reach, and nothing should run it.
func New(kit reconcile.Kit, profiles Cleaner) reconcile.Controller {
	return reconcile.Controller{
		Name: "instanceprofile.garbagecollection", Workers: reconcile.One,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
			used, err := inUse(ctx, kit.Client)
			if err != nil {
				return reconcile.Never, err
			}
			removed, err := profiles.Clean(ctx, used)
			if len(removed) > 0 {
				reconcile.Log(ctx).Info("deleted instance profiles that nothing uses", "profiles", removed)
			}
			if err != nil {
				return reconcile.Never, fmt.Errorf("delete instance profiles: %w", err)
			}
			return reconcile.In(period), nil
		},
	}
}

// inUse are the profiles that classes name in their status, and those that claims were
// launched with.
func inUse(ctx context.Context, r client.Reader) (map[string]bool, error) {
	used := map[string]bool{}
	var classes awsv1.EC2NodeClassList
	if err := r.List(ctx, &classes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the node classes: %w", err)
	}
	for i := range classes.Items {
		used[classes.Items[i].Status.InstanceProfile] = true
	}
	var claims karpenterv1.NodeClaimList
	if err := r.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the claims: %w", err)
	}
	for i := range claims.Items {
		used[claims.Items[i].Annotations[awsv1.AnnotationInstanceProfileName]] = true
	}
	return used, nil
}
