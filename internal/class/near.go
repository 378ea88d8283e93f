package class

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/cloud"
	"tenon/core/requirement"
)

// Missing says that there is no class of the name, and which class of the kind has the most similar name.
func (r Reader) Missing(ctx context.Context, ref cloud.ClassRef) (string, error) {
	names, err := r.names(ctx, ref)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return fmt.Sprintf("there is no %s %q, nor any other", ref.Kind, ref.Name), nil
	}
	near := slices.MinFunc(names, func(a, b string) int {
		return requirement.EditDistance(ref.Name, a) - requirement.EditDistance(ref.Name, b)
	})
	return fmt.Sprintf("there is no %s %q; the nearest name is %q", ref.Kind, ref.Name, near), nil
}

// names of all classes of the kind, sorted. A kind that the cluster does not know has none.
func (r Reader) names(ctx context.Context, ref cloud.ClassRef) ([]string, error) {
	for _, kind := range r.Kinds {
		if kind.Group != ref.Group || kind.Kind != ref.Kind {
			continue
		}
		list := r.list(kind)
		if err := r.Client.List(ctx, list); meta.IsNoMatchError(err) {
			return nil, nil
		} else if err != nil {
			return nil, fmt.Errorf("list node classes of kind %s: %w", ref.Kind, err)
		}
		var names []string
		err := meta.EachListItem(list, func(o runtime.Object) error {
			names = append(names, o.(client.Object).GetName())
			return nil
		})
		slices.Sort(names)
		return names, err
	}
	return nil, nil
}

// list is an empty one of a kind, typed where the type is known.
func (r Reader) list(kind cloud.ClassKind) client.ObjectList {
	gvk := schema.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind + "List"}
	if made, err := r.Client.Scheme().New(gvk); err == nil {
		if list, ok := made.(client.ObjectList); ok {
			list.GetObjectKind().SetGroupVersionKind(gvk)
			return list
		}
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk)
	return list
}
