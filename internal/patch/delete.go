package patch

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
)

// Delete deletes an object, even if it has changed since it was looked at. Another object of its name stays: that is
// the API server's conflict. An object that is gone already is no error.
func Delete(ctx context.Context, kit reconcile.Kit, object client.Object) error {
	uid := object.GetUID()
	return client.IgnoreNotFound(kit.Client.Delete(ctx, object.DeepCopyObject().(client.Object), client.Preconditions{UID: &uid}))
}
