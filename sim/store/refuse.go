package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errModified is a server's answer when another client has changed the object meanwhile.
var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

func (k *Kind) notFound(name string) error { return apierrors.NewNotFound(k.Resource, name) }

func (k *Kind) conflict(name string, why error) error {
	return apierrors.NewConflict(k.Resource, name, why)
}

func (k *Kind) invalid(name string, errs ...*field.Error) error {
	return apierrors.NewInvalid(k.GroupKind(), name, errs)
}

// wrongUID is a server's answer when the name now belongs to another object.
func (k *Kind) wrongUID(name string, want, have any) error {
	//lint:ignore ST1005 These are the words of the real server.
	return k.conflict(name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", want, have))
}

// broken returns an error if a precondition of a deletion does not hold. As on real servers, the message names the
// kind where other messages name the resource.
func (k *Kind) broken(p *metav1.Preconditions, object client.Object) error {
	if p == nil {
		return nil
	}
	kind := schema.GroupResource{Group: k.GVK.Group, Resource: k.GVK.Kind}
	if p.UID != nil && *p.UID != object.GetUID() {
		return apierrors.NewConflict(kind, object.GetName(), fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, object.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != object.GetResourceVersion() {
		return apierrors.NewConflict(kind, object.GetName(), fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, object.GetResourceVersion()))
	}
	return nil
}

// badMeta returns a server's objections to the metadata of a new object.
func (k *Kind) badMeta(object client.Object) field.ErrorList {
	return validation.ValidateObjectMetaAccessor(object, k.Namespaced, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

// badChange returns a server's objections to a change of metadata. Stored metadata is valid.
func (k *Kind) badChange(next, old client.Object) field.ErrorList {
	if described(next, old) {
		return nil
	}
	return append(k.badMeta(next), validation.ValidateObjectMetaAccessorUpdate(next, old, field.NewPath("metadata"))...)
}

// unchecked adds, where fields are too wrong for the validation rules, that the rules were not checked.
func unchecked(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeDuplicate, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
	}
	return errs
}

// described reports whether two versions of an object agree in all metadata that is validated.
func described(a, b client.Object) bool {
	return a.GetName() == b.GetName() && a.GetNamespace() == b.GetNamespace() && a.GetGenerateName() == b.GetGenerateName() && a.GetUID() == b.GetUID() &&
		a.GetGeneration() == b.GetGeneration() && a.GetCreationTimestamp() == b.GetCreationTimestamp() && a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
		ptr.Equal(a.GetDeletionGracePeriodSeconds(), b.GetDeletionGracePeriodSeconds()) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) && maps.Equal(a.GetAnnotations(), b.GetAnnotations()) &&
		slices.Equal(a.GetFinalizers(), b.GetFinalizers()) && equality.Semantic.DeepEqual(a.GetOwnerReferences(), b.GetOwnerReferences())
}
