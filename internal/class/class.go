// Package class reads node classes of every kind that a cloud has: whether one is
// there, whether it is ready, and which objects have to be watched to notice a change.
//
// It must not know any particular kind, and never writes a class: the cloud that owns the kind does.
package class

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/lookup"
	"tenon/internal/reconcile"
)

// Class is what others need to know of a node class.
type Class struct {
	// Found is false if there is none of that name; the rest is then empty.
	Found      bool
	Deleting   bool
	Generation int64
	// Ready is the root condition. Its status is empty if the class has not been judged yet.
	Ready metav1.Condition
}

// Of names the class of a pool's template, which is zero if there is none: such a pool is
// ignored.
func Of(pool *karpenterv1.NodePool) cloud.ClassRef {
	ref := pool.Spec.Template.Spec.NodeClassRef
	if ref == nil {
		return cloud.ClassRef{}
	}
	return cloud.ClassRef{Group: ref.Group, Kind: ref.Kind, Name: ref.Name}
}

// Reader is where classes are read, and which kinds there are.
type Reader struct {
	Client client.Client
	Kinds  []cloud.ClassKind
}

// From is the reader of a controller.
func From(kit reconcile.Kit) Reader {
	return Reader{Client: kit.Client, Kinds: kit.Cloud.Describe().Classes}
}

// Find reads a class. A kind that the cluster does not know has no classes.
func (r Reader) Find(ctx context.Context, ref cloud.ClassRef) (Class, error) {
	object, found, err := r.Object(ctx, ref)
	if err != nil || !found {
		return Class{}, err
	}
	return describe(object)
}

// Object is a class itself, to say something about it; false if there is none.
func (r Reader) Object(ctx context.Context, ref cloud.ClassRef) (client.Object, bool, error) {
	for _, kind := range r.Kinds {
		if kind.Group != ref.Group || kind.Kind != ref.Kind {
			continue
		}
		object := r.object(kind)
		err := r.Client.Get(ctx, client.ObjectKey{Name: ref.Name}, object)
		switch {
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
			return nil, false, nil
		case err != nil:
			return nil, false, fmt.Errorf("read node class %s: %w", ref, err)
		}
		return object, true, nil
	}
	return nil, false, nil
}

// object is an empty one of a kind: typed where the type is known, so that there is no
// second cache of the same objects.
func (r Reader) object(kind cloud.ClassKind) client.Object {
	gvk := schema.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}
	if made, err := r.Client.Scheme().New(gvk); err == nil {
		if object, ok := made.(client.Object); ok {
			object.GetObjectKind().SetGroupVersionKind(gvk)
			return object
		}
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk)
	return object
}

func describe(object client.Object) (Class, error) {
	c := Class{Found: true, Deleting: object.GetDeletionTimestamp() != nil, Generation: object.GetGeneration()}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return Class{}, fmt.Errorf("read node class %s: %w", object.GetName(), err)
	}
	list, _, _ := unstructured.NestedSlice(fields, "status", "conditions") // other shapes hold no condition
	for _, item := range list {
		entry, ok := item.(map[string]any)
		if !ok || entry["type"] != condition.Ready {
			continue
		}
		text := func(key string) string { s, _ := entry[key].(string); return s } // absent is empty
		c.Ready = metav1.Condition{Type: condition.Ready, Status: metav1.ConditionStatus(text("status")),
			Reason: text("reason"), Message: text("message")}
	}
	return c, nil
}

// Watches are those that notice a change of any class, for controllers that work for what
// keys finds.
func (r Reader) Watches(keys func(context.Context, karpenterv1.NodeClassReference) []reconcile.Key) []reconcile.Watch {
	var out []reconcile.Watch
	for _, kind := range r.Kinds {
		out = append(out, reconcile.Watch{
			Kind: r.object(kind),
			Keys: func(ctx context.Context, object client.Object) []reconcile.Key {
				return keys(ctx, karpenterv1.NodeClassReference{Group: kind.Group, Kind: kind.Kind, Name: object.GetName()})
			},
		})
	}
	return out
}

// Pools are the keys of the pools of a class, as Watches wants them.
func Pools(kit reconcile.Kit) func(context.Context, karpenterv1.NodeClassReference) []reconcile.Key {
	return func(ctx context.Context, ref karpenterv1.NodeClassReference) []reconcile.Key {
		pools, err := lookup.PoolsWith(ctx, kit.Client, ref)
		return keysOf(ctx, pools, err)
	}
}

// Claims are the keys of the claims of a class, as Watches wants them.
func Claims(kit reconcile.Kit) func(context.Context, karpenterv1.NodeClassReference) []reconcile.Key {
	return func(ctx context.Context, ref karpenterv1.NodeClassReference) []reconcile.Key {
		claims, err := lookup.ClaimsWith(ctx, kit.Client, ref)
		return keysOf(ctx, claims, err)
	}
}

// keysOf makes keys. Looking up in a cache fails only when an index is missing.
func keysOf[T client.Object](ctx context.Context, objects []T, err error) []reconcile.Key {
	if err != nil {
		reconcile.Log(ctx).Error(err, "finding what a node class concerns")
		return nil
	}
	keys := make([]reconcile.Key, len(objects))
	for i, o := range objects {
		keys[i] = client.ObjectKeyFromObject(o)
	}
	return keys
}
