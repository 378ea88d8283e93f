package store

import (
	"fmt"
	"reflect"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// get copies the stored object with this key into out.
func (s *Store) get(k *Kind, key types.NamespacedName, out client.Object) error {
	object, err := s.stored(k, key)
	if err != nil {
		return err
	}
	return k.Answer(out, object)
}

// list copies the stored objects that match into out, in the order of their keys.
func (s *Store) list(k *Kind, out client.ObjectList, o client.ListOptions) error {
	if err := k.checkFields(o.FieldSelector); err != nil {
		return err
	}
	found, rest, err := s.page(k, o)
	if err != nil {
		return err
	}
	return Fill(out, k.GVK.Kind, found, s.version, rest, false)
}

func (s *Store) page(k *Kind, o client.ListOptions) (found []client.Object, rest string, err error) {
	from := 0
	if o.Continue != "" {
		if from, err = strconv.Atoi(o.Continue); err != nil {
			return nil, "", apierrors.NewBadRequest("continue key is not valid")
		}
	}
	t := s.tables[k.GVK]
	for i := from; i < len(t.keys); i++ {
		object := t.list[i]
		if !k.picked(object, o) {
			continue
		}
		if o.Limit > 0 && int64(len(found)) == o.Limit {
			return found, strconv.Itoa(i), nil
		}
		found = append(found, object)
	}
	return found, "", nil
}

func (k *Kind) picked(object client.Object, o client.ListOptions) bool {
	return Matches(object, o) && (o.FieldSelector == nil || o.FieldSelector.Empty() || o.FieldSelector.Matches(fieldsOf{k, object}))
}

// Matches reports whether an object has the namespace and the labels that the options ask for.
func Matches(object client.Object, o client.ListOptions) bool {
	if o.Namespace != "" && o.Namespace != object.GetNamespace() {
		return false
	}
	return o.LabelSelector == nil || o.LabelSelector.Empty() || o.LabelSelector.Matches(labelSet(object.GetLabels()))
}

// labelSet implements labels.Labels for a map of labels, without a copy.
type labelSet map[string]string

func (l labelSet) Has(key string) bool              { _, has := l[key]; return has }
func (l labelSet) Get(key string) string            { return l[key] }
func (l labelSet) Lookup(key string) (string, bool) { v, has := l[key]; return v, has }

// Fill writes objects into a list of any kind. If shared is true, the items share maps, slices and pointers with the
// objects; otherwise they are copies.
func Fill(out client.ObjectList, kind string, found []client.Object, version uint64, rest string, shared bool) error {
	out.SetResourceVersion(strconv.FormatUint(version, 10))
	out.SetContinue(rest)
	switch out := out.(type) {
	case *unstructured.UnstructuredList:
		return fillUnstructured(out, kind, found)
	case *metav1.PartialObjectMetadataList:
		out.Items = make([]metav1.PartialObjectMetadata, len(found))
		for i, object := range found {
			meta := reflect.ValueOf(object.DeepCopyObject()).Elem().FieldByName("ObjectMeta").Interface()
			out.Items[i].ObjectMeta = meta.(metav1.ObjectMeta)
		}
		return nil
	}
	pointer, err := meta.GetItemsPtr(out)
	if err != nil {
		return fmt.Errorf("fill %T: %w", out, err)
	}
	items := reflect.ValueOf(pointer).Elem()
	filled := reflect.MakeSlice(items.Type(), len(found), len(found))
	for i, object := range found {
		if !shared {
			object = clone(object)
		}
		filled.Index(i).Set(reflect.ValueOf(object).Elem())
	}
	items.Set(filled)
	return nil
}

func fillUnstructured(out *unstructured.UnstructuredList, kind string, found []client.Object) error {
	gvk := out.GroupVersionKind()
	k := &Kind{GVK: gvk.GroupVersion().WithKind(kind)}
	out.Items = make([]unstructured.Unstructured, len(found))
	for i, object := range found {
		if err := k.Answer(&out.Items[i], object); err != nil {
			return err
		}
	}
	return nil
}
