package store

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// create stores a new object and returns it. A dry run (try) stores nothing.
func (s *Store) create(k *Kind, sent client.Object, try bool) (client.Object, error) {
	object, err := k.received(birth, sent)
	if err != nil {
		return nil, err
	}
	if object.GetResourceVersion() != "" {
		return nil, errVersioned
	}
	if err := s.admitNamespace(k, object.GetNamespace()); err != nil {
		return nil, err
	}
	if err := s.ranked(k, object); err != nil {
		return nil, err
	}
	s.chooseName(k, object)
	s.initialize(k, object)
	if object, err = s.admit(k, object); err != nil {
		return nil, err
	}
	if errs := k.badMeta(object); len(errs) > 0 {
		return nil, k.invalid(object.GetName(), errs...)
	}
	if _, taken := s.tables[k.GVK].objects[client.ObjectKeyFromObject(object)]; taken {
		return nil, apierrors.NewAlreadyExists(k.Resource, object.GetName())
	}
	if err := s.withinQuota(object, try); err != nil {
		return nil, err
	}
	if !try {
		s.commit(k, nil, object)
	}
	return object, nil
}

// admitNamespace refuses an object whose namespace is missing or being deleted.
func (s *Store) admitNamespace(k *Kind, name string) error {
	if !k.Namespaced {
		return nil
	}
	if name == "" {
		return apierrors.NewBadRequest("an empty namespace may not be set during creation")
	}
	namespace, there := s.tables[namespaceKind].objects[types.NamespacedName{Name: name}]
	switch {
	case !there:
		return apierrors.NewNotFound(s.kinds[namespaceKind].Resource, name)
	case namespace.GetDeletionTimestamp() != nil:
		return apierrors.NewForbidden(k.Resource, name, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", name))
	}
	return nil
}

var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// namesTried is how many random names a server tries until one is free.
const namesTried = 8

func (s *Store) chooseName(k *Kind, object client.Object) {
	if object.GetName() != "" || object.GetGenerateName() == "" {
		return
	}
	for range namesTried {
		object.SetName(object.GetGenerateName() + s.suffix())
		if _, taken := s.tables[k.GVK].objects[client.ObjectKeyFromObject(object)]; !taken {
			return
		}
	}
}

// initialize sets the fields of a new object that only the server sets.
func (s *Store) initialize(k *Kind, object client.Object) {
	object.SetUID(s.uid())
	object.SetCreationTimestamp(s.now())
	object.SetDeletionTimestamp(nil)
	object.SetDeletionGracePeriodSeconds(nil)
	object.SetSelfLink("")
	object.SetGeneration(0)
	if k.Counted {
		object.SetGeneration(1)
	}
	if k.Status && !k.BornWithStatus {
		clearField("Status", object)
	}
	s.setDefaults(object)
}

// admit fills in the defaults of a custom object and checks it against its definition.
func (s *Store) admit(k *Kind, object client.Object) (client.Object, error) {
	if k.admit == nil {
		return object, nil
	}
	content, err := k.content(object)
	if err != nil {
		return nil, err
	}
	if k.Status {
		delete(content, "status")
	}
	content = k.admit.Default(content)
	if errs := k.admit.Create(context.Background(), content); len(errs) > 0 {
		return nil, k.invalid(object.GetName(), unchecked(errs)...)
	}
	return k.typed(content)
}

// typed makes an object of the kind from its content as a map.
func (k *Kind) typed(content map[string]any) (client.Object, error) {
	into := k.blank()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, into); err != nil {
		return nil, fmt.Errorf("read %s: %w", k.GVK.Kind, err)
	}
	into.GetObjectKind().SetGroupVersionKind(emptyKind)
	return into, nil
}

// firstNamespaces are the namespaces of every new cluster.
var firstNamespaces = []string{"default", "kube-system", "kube-node-lease", "kube-public"}

// found creates the objects of every new cluster.
func (s *Store) found() error {
	k := s.kinds[namespaceKind]
	for _, name := range firstNamespaces {
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := s.create(k, object, false); err != nil {
			return fmt.Errorf("make namespace %s: %w", name, err)
		}
	}
	return nil
}

// createSub serves the subresources that clients create: eviction and binding.
func (s *Store) createSub(name string, object, body client.Object, try bool) error {
	pod, isPod := object.(*corev1.Pod)
	if !isPod {
		return errNoSubresource
	}
	switch body := body.(type) {
	case *policyv1.Eviction:
		if name == "eviction" {
			return s.evict(client.ObjectKeyFromObject(pod), body, try)
		}
	case *corev1.Binding:
		if name == "binding" {
			return s.bind(client.ObjectKeyFromObject(pod), body, try)
		}
	}
	return errNoSubresource
}

var errNoSubresource = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: 404, Reason: metav1.StatusReasonNotFound,
	Message: "the server could not find the requested resource",
}}

// errVersioned has the code of real servers, which answer this mistake of the client as an internal error.
var errVersioned = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: 500, Message: "resourceVersion should not be set on objects to be created",
}}
