package patch

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
)

// Delete deletes an object, even if it has changed since it was read. Another object of its name stays: the API
// server reports a conflict. A missing object is no error.
func Delete(ctx context.Context, kit reconcile.Kit, object client.Object) error {
	uid := object.GetUID()
	return client.IgnoreNotFound(kit.Client.Delete(ctx, object.DeepCopyObject().(client.Object), client.Preconditions{UID: &uid}))
}
