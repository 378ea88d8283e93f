package patch

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
)

// ConfigMap writes a ConfigMap that no other program should write: change gets the present one, or an empty one if there
// is none, and returns the new one. No cache has ConfigMaps, so it reads the API server itself. If another writer
// interferes, the error is a conflict or that the object exists, and the caller tries again later.
func ConfigMap(ctx context.Context, kit reconcile.Kit, key client.ObjectKey, change func(*corev1.ConfigMap) error) error {
	stored := &corev1.ConfigMap{}
	err := kit.Uncached(reconcile.Unwatched).Get(ctx, key, stored)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return fmt.Errorf("read ConfigMap %s: %w", key, err)
	}
	stored.Namespace, stored.Name = key.Namespace, key.Name
	if err := change(stored); err != nil {
		return err
	}
	if missing {
		err = kit.Client.Create(ctx, stored)
	} else {
		err = kit.Client.Update(ctx, stored)
	}
	if err != nil {
		return fmt.Errorf("write ConfigMap %s: %w", key, err)
	}
	return nil
}
