package mirror

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/sim/store"
)

// Client reads from the mirror, and writes to the server.
type Client struct {
	client.Client // the server
	mirror        *Mirror
}

var _ client.Client = (*Client)(nil)

// Client returns a client of the mirror.
func (m *Mirror) Client() *Client { return &Client{m.o.Store, m} }

// Get implements client.Reader: it returns the last seen state.
func (c *Client) Get(_ context.Context, key client.ObjectKey, out client.Object, options ...client.GetOption) error {
	k, seen, err := c.find(out)
	if err != nil {
		return err
	}
	if !k.Namespaced {
		key.Namespace = ""
	}
	e := seen.byKey[key]
	if e == nil {
		// Caches name the kind where servers name the resource.
		return apierrors.NewNotFound(schema.GroupResource{Group: k.GVK.Group, Resource: k.GVK.Kind}, key.Name)
	}
	object := e.object
	o := (&client.GetOptions{}).ApplyOptions(options)
	if o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy && Same(out, object) {
		reflect.ValueOf(out).Elem().Set(reflect.ValueOf(object).Elem())
		return nil
	}
	if err := k.Answer(out, object); err != nil {
		return err
	}
	out.GetObjectKind().SetGroupVersionKind(k.GVK)
	return nil
}

func (c *Client) find(object any) (*store.Kind, *cache, error) {
	var k *store.Kind
	var err error
	switch object := object.(type) {
	case client.Object:
		k, err = c.mirror.o.Store.KindOf(object)
	case client.ObjectList:
		k, err = c.mirror.o.Store.KindOf(object)
	}
	if err != nil {
		return nil, nil, err
	}
	return k, c.mirror.kinds[k.GVK], nil
}

// List implements client.Reader: it returns the last seen states, in the order of the keys. Selectors by
// fields need an index, as in caches.
func (c *Client) List(_ context.Context, out client.ObjectList, options ...client.ListOption) error {
	k, seen, err := c.find(out)
	if err != nil {
		return err
	}
	o := (&client.ListOptions{}).ApplyOptions(options)
	if o.Continue != "" {
		return fmt.Errorf("continue list option is not supported by the cache")
	}
	entries, err := seen.by(o.FieldSelector)
	if err != nil {
		return err
	}
	found := make([]client.Object, 0, len(entries))
	for _, e := range entries {
		if o.Limit > 0 && int64(len(found)) == o.Limit {
			break
		}
		if store.Matches(e.object, *o) {
			found = append(found, e.object)
		}
	}
	shared := o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy
	return store.Fill(out, k.GVK.Kind, found, 0, "", shared)
}

// by are the index entries with the selected value.
func (c *cache) by(selector fields.Selector) ([]*entry, error) {
	if selector == nil || selector.Empty() {
		return c.all, nil
	}
	var entries []*entry
	for i, r := range selector.Requirements() {
		if r.Operator != selection.Equals && r.Operator != selection.DoubleEquals {
			return nil, fmt.Errorf("non-exact field matches are not supported by the cache")
		}
		x, indexed := c.indexes[r.Field]
		if !indexed {
			return nil, fmt.Errorf("index with name field:%s does not exist", r.Field)
		}
		found := x.found[r.Value]
		if i > 0 {
			found = slices.DeleteFunc(slices.Clone(found), func(e *entry) bool {
				_, both := slices.BinarySearchFunc(entries, e, compareEntries)
				return !both
			})
		}
		entries = found
	}
	return entries, nil
}

// Find returns all objects of a kind in the order of their keys, or those with a value in an index. They
// must not be changed.
func (c *Client) Find(kind client.Object, field, value string) []client.Object {
	_, seen, err := c.find(kind)
	if err != nil {
		return nil
	}
	entries := seen.all
	if field != "" {
		entries = seen.indexes[field].found[value]
	}
	found := make([]client.Object, len(entries))
	for i, e := range entries {
		found[i] = e.object
	}
	return found
}
