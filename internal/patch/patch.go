// Package patch is how controllers change objects: each function writes the difference between an
// object as it was read and as it should be, and has its policy for conflicts.
//
//	Status, Fields, Values   the controller looks again soon, or is done if the object is gone
//	Retry, Current           the write is tried again on the object as the API server has it
//	IfUnchanged, Merge       the caller decides what a conflict means; see Outdated
//	ConfigMap                the only writer of an object that no cache has
//	Delete                   the object is deleted if it is still the same; package removal deletes claims
//	                         that have to be counted
//
// The lists in a status are replaced as a whole, so writes of them carry the version that was read:
// a late writer would otherwise undo what others have added.
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

// afterConflict is when to look again after another writer was faster. A stale cache wakes the
// controller earlier, once it has caught up.
const afterConflict = time.Second

// Outdated reports that a write failed because its object has changed, or is gone: the decision
// about it no longer holds.
func Outdated(err error) bool { return apierrors.IsConflict(err) || apierrors.IsNotFound(err) }

// LookAgain is the reaction of a controller to an object that has changed, or is gone: it looks again
// soon. It returns other errors.
func LookAgain(err error) (reconcile.Result, error) {
	if Outdated(err) {
		return reconcile.In(afterConflict), nil
	}
	return reconcile.Never, err
}

// Status writes the differences of the status. If the object has changed meanwhile, the controller
// looks again soon; if it is gone, nothing happens; only other failures are errors.
func Status(ctx context.Context, kit reconcile.Kit, before, after client.Object) (reconcile.Result, error) {
	if equality.Semantic.DeepEqual(before, after) {
		return reconcile.Never, nil
	}
	return Settled(after, StatusIfUnchanged(ctx, kit, before, after))
}

// Fields writes the differences outside the status. Maps are merged key by key, so that no version
// has to match for labels, annotations and single values.
func Fields(ctx context.Context, kit reconcile.Kit, before, after client.Object) (reconcile.Result, error) {
	if equality.Semantic.DeepEqual(before, after) {
		return reconcile.Never, nil
	}
	return Settled(after, Merge(ctx, kit, before, after))
}

// Values writes single values and maps of the status, like Fields.
func Values(ctx context.Context, kit reconcile.Kit, before, after client.Object) (reconcile.Result, error) {
	if equality.Semantic.DeepEqual(before, after) {
		return reconcile.Never, nil
	}
	return Settled(after, kit.Client.Status().Patch(ctx, after, client.MergeFrom(before)))
}

// IfUnchanged writes the differences outside the status, unless the object is no longer as before:
// then it returns the API server's conflict. Afterwards, after is the object as the API server has
// it.
func IfUnchanged(ctx context.Context, kit reconcile.Kit, before, after client.Object) error {
	return kit.Client.Patch(ctx, after, lock(before))
}

// StatusIfUnchanged is IfUnchanged for the status.
func StatusIfUnchanged(ctx context.Context, kit reconcile.Kit, before, after client.Object) error {
	return kit.Client.Status().Patch(ctx, after, lock(before))
}

// Merge writes single values and the keys of maps that differ outside the status, and keeps the changes of
// other writers.
func Merge(ctx context.Context, kit reconcile.Kit, before, after client.Object) error {
	return kit.Client.Patch(ctx, after, client.MergeFrom(before))
}

// Settled is the result of a write: after a conflict the controller looks again soon, and a missing
// object is ignored.
func Settled(object client.Object, err error) (reconcile.Result, error) {
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return reconcile.Never, nil
	case apierrors.IsConflict(err):
		return reconcile.In(afterConflict), nil
	}
	return reconcile.Never, fmt.Errorf("write %T %s: %w", object, object.GetName(), err)
}
