package patch

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
)

// attempts is how often a conflicting write is tried.
const attempts = 5

// Retry writes an object that others write all the time: first as it was seen, and after each
// conflict as the API server has it now. Write returns the error of the API server as it is, or
// wrapped. If the object is gone, or another of its name has replaced it, the error is NotFound;
// after too many conflicts it is the last of them.
func Retry[T any, P interface {
	*T
	client.Object
}](ctx context.Context, kit reconcile.Kit, seen P, write func(P) error) error {
	for try := 1; ; try++ {
		err := write(seen)
		if !apierrors.IsConflict(err) || try == attempts {
			return err
		}
		fresh := P(new(T))
		if err := kit.Uncached(reconcile.AfterConflict).Get(ctx, client.ObjectKeyFromObject(seen), fresh); err != nil {
			return fmt.Errorf("read %T %s: %w", seen, seen.GetName(), err)
		}
		if fresh.GetUID() != seen.GetUID() {
			return Gone(seen)
		}
		seen = fresh
	}
}

// Gone is the error of a write on an object that no longer exists, or no longer meets the writer's
// condition.
func Gone(object client.Object) error {
	return fmt.Errorf("read %T %s: %w", object, object.GetName(), apierrors.NewNotFound(schema.GroupResource{}, object.GetName()))
}

// Current is Retry on the object of a name as the API server has it, for successive writes that are
// faster than a cache. A missing object is ignored.
func Current[T any, P interface {
	*T
	client.Object
}](ctx context.Context, kit reconcile.Kit, name string, write func(P) error) error {
	object := P(new(T))
	err := kit.Uncached(reconcile.AfterOwnWrite).Get(ctx, client.ObjectKey{Name: name}, object)
	if err == nil {
		err = Retry(ctx, kit, object, write)
	}
	return client.IgnoreNotFound(err)
}
