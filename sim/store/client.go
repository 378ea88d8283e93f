package store

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

var _ client.Client = (*Store)(nil)

// KindOf returns the kind of an object or a list.
func (s *Store) KindOf(object runtime.Object) (*Kind, error) {
	if k, served := s.served[reflect.TypeOf(object)]; served {
		return k, nil
	}
	gvk, err := apiutil.GVKForObject(object, s.scheme)
	if err != nil {
		return nil, err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	k, served := s.kinds[gvk]
	if !served {
		return nil, &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
	}
	return k, nil
}

// Get implements client.Reader. It answers from what is stored now.
func (s *Store) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	k, err := s.KindOf(object)
	if err != nil {
		return err
	}
	if !k.Namespaced {
		key.Namespace = ""
	}
	return s.get(k, key, object)
}

// List implements client.Reader. It answers from what is stored now.
func (s *Store) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	k, err := s.KindOf(list)
	if err != nil {
		return err
	}
	o := (&client.ListOptions{}).ApplyOptions(options)
	if o.Raw != nil && o.FieldSelector == nil && o.Raw.FieldSelector != "" {
		return fmt.Errorf("list %s: raw selectors are not served", k.GVK.Kind)
	}
	return s.list(k, list, *o)
}

// Create implements client.Writer.
func (s *Store) Create(_ context.Context, object client.Object, options ...client.CreateOption) error {
	k, err := s.KindOf(object)
	if err != nil {
		return err
	}
	o := (&client.CreateOptions{}).ApplyOptions(options)
	stored, err := s.create(k, object, len(o.DryRun) > 0)
	if err != nil {
		return err
	}
	return k.Answer(object, stored)
}

// Update implements client.Writer.
func (s *Store) Update(_ context.Context, object client.Object, options ...client.UpdateOption) error {
	o := (&client.UpdateOptions{}).ApplyOptions(options)
	return s.write(object, whole, len(o.DryRun) > 0)
}

func (s *Store) write(object client.Object, p part, try bool) error {
	k, err := s.KindOf(object)
	if err != nil {
		return err
	}
	stored, err := s.update(k, p, object, try)
	if err != nil {
		return err
	}
	return k.Answer(object, stored)
}

// Patch implements client.Writer.
func (s *Store) Patch(_ context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	o := (&client.PatchOptions{}).ApplyOptions(options)
	return s.patchWith(object, whole, patch, len(o.DryRun) > 0)
}

func (s *Store) patchWith(object client.Object, p part, patch client.Patch, try bool) error {
	k, err := s.KindOf(object)
	if err != nil {
		return err
	}
	if old, current := s.base(k, object, patch); current {
		next, err := k.received(p, object)
		if err != nil {
			return err
		}
		stored, err := s.replace(k, p, old, next, try)
		if err != nil {
			return err
		}
		return k.Answer(object, stored)
	}
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	stored, err := s.patch(k, p, client.ObjectKeyFromObject(object), patch.Type(), data, try)
	if err != nil {
		return err
	}
	return k.Answer(object, stored)
}

// difference is the type of patches that are computed from two versions of an object.
var difference = reflect.TypeOf(client.MergeFrom(nil))

// base returns the stored object if a patch is a difference to exactly that version. The patched object is then the
// one that the client sent, so the patch need not be computed.
func (s *Store) base(k *Kind, object client.Object, patch client.Patch) (client.Object, bool) {
	if reflect.TypeOf(patch) != difference || object.GetResourceVersion() == "" || patch.Type() != types.MergePatchType {
		return nil, false
	}
	old, err := s.stored(k, client.ObjectKeyFromObject(object))
	if err != nil || reflect.TypeOf(old) != reflect.TypeOf(object) {
		return nil, false
	}
	return old, old.GetResourceVersion() == object.GetResourceVersion()
}

// Delete implements client.Writer.
func (s *Store) Delete(_ context.Context, object client.Object, options ...client.DeleteOption) error {
	k, err := s.KindOf(object)
	if err != nil {
		return err
	}
	o := (&client.DeleteOptions{}).ApplyOptions(options)
	return s.remove(k, client.ObjectKeyFromObject(object), *o.AsDeleteOptions())
}

// DeleteAllOf implements client.Writer.
func (s *Store) DeleteAllOf(_ context.Context, object client.Object, options ...client.DeleteAllOfOption) error {
	k, err := s.KindOf(object)
	if err != nil {
		return err
	}
	o := (&client.DeleteAllOfOptions{}).ApplyOptions(options)
	if err := k.checkFields(o.FieldSelector); err != nil {
		return err
	}
	found, _, err := s.page(k, o.ListOptions)
	if err != nil {
		return err
	}
	for _, object := range found {
		if err := s.remove(k, client.ObjectKeyFromObject(object), *o.AsDeleteOptions()); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// Apply implements client.Writer. It refuses: the product does not use server-side apply (see the README).
func (s *Store) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return errApply
}

var errApply = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: 415, Reason: metav1.StatusReasonUnsupportedMediaType,
	Message: "server-side apply is not modelled",
}}

// Status implements client.StatusClient.
func (s *Store) Status() client.SubResourceWriter { return s.SubResource(string(status)) }

// SubResource implements client.SubResourceClientConstructor: status, eviction and binding.
func (s *Store) SubResource(name string) client.SubResourceClient { return subresource{s, name} }

// Scheme implements client.Client.
func (s *Store) Scheme() *runtime.Scheme { return s.scheme }

// RESTMapper implements client.Client.
func (s *Store) RESTMapper() meta.RESTMapper { return s.mapper }

// GroupVersionKindFor implements client.Client.
func (s *Store) GroupVersionKindFor(object runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(object, s.scheme)
}

// IsObjectNamespaced implements client.Client.
func (s *Store) IsObjectNamespaced(object runtime.Object) (bool, error) {
	k, err := s.KindOf(object)
	if err != nil {
		return false, err
	}
	return k.Namespaced, nil
}

type subresource struct {
	store *Store
	name  string
}

func (r subresource) Get(context.Context, client.Object, client.Object, ...client.SubResourceGetOption) error {
	return errNoSubresource
}

func (r subresource) Create(_ context.Context, object, body client.Object, options ...client.SubResourceCreateOption) error {
	o := (&client.SubResourceCreateOptions{}).ApplyOptions(options)
	return r.store.createSub(r.name, object, body, len(o.DryRun) > 0)
}

func (r subresource) Update(_ context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	if r.name != string(status) {
		return errNoSubresource
	}
	o := (&client.SubResourceUpdateOptions{}).ApplyOptions(options)
	return r.store.write(object, status, len(o.DryRun) > 0)
}

func (r subresource) Patch(_ context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	if r.name != string(status) {
		return errNoSubresource
	}
	o := (&client.SubResourcePatchOptions{}).ApplyOptions(options)
	return r.store.patchWith(object, status, patch, len(o.DryRun) > 0)
}

func (r subresource) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return errApply
}

// KeyOf is the key of an object.
func KeyOf(object client.Object) types.NamespacedName { return client.ObjectKeyFromObject(object) }
