// Package patch writes what has changed about an object, and nothing when nothing has. What
// follows from a conflict is decided here: the controller looks again soon (Settled), or, where
// it cannot wait for the cache, writes on the object as it is now (Retry).
//
// The lists in a status are replaced as a whole, so writes of them carry the version that
// was looked at: a late writer would otherwise undo what others have added.
//
// It must not decide what to write.
package patch

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
)

// AfterConflict is when to look again after another writer was faster. The cache that was
// behind wakes the controller before that when it has caught up.
const AfterConflict = time.Second

// Outdated reports that a write was for an object that has changed meanwhile, or is gone: what was
// decided about it holds no more.
func Outdated(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// Status writes the status of after, as far as it differs from before. An object that has
// changed meanwhile is looked at again soon, and one that is gone is left alone; only
// other troubles are errors.
func Status(ctx context.Context, c client.Client, before, after client.Object) (reconcile.Result, error) {
	if equality.Semantic.DeepEqual(before, after) {
		return reconcile.Never, nil
	}
	return Settled(after, c.Status().Patch(ctx, after, Locked(before)))
}

// Fields writes what differs beside the status. Maps are merged key by key, so that no
// version has to match for labels, annotations and single values.
func Fields(ctx context.Context, c client.Client, before, after client.Object) (reconcile.Result, error) {
	if equality.Semantic.DeepEqual(before, after) {
		return reconcile.Never, nil
	}
	return Settled(after, c.Patch(ctx, after, client.MergeFrom(before)))
}

// Values writes single values and maps of the status, like Fields.
func Values(ctx context.Context, c client.Client, before, after client.Object) (reconcile.Result, error) {
	if equality.Semantic.DeepEqual(before, after) {
		return reconcile.Never, nil
	}
	return Settled(after, c.Status().Patch(ctx, after, client.MergeFrom(before)))
}

// Settled is what follows from an attempt to write: after a conflict the object is looked at again
// soon, and one that is gone is left alone.
func Settled(object client.Object, err error) (reconcile.Result, error) {
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return reconcile.Never, nil
	case apierrors.IsConflict(err):
		return reconcile.In(AfterConflict), nil
	}
	return reconcile.Never, fmt.Errorf("write %T %s: %w", object, object.GetName(), err)
}
