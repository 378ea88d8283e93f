package store

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var emptyKind schema.GroupVersionKind

// part is the part of an object that a request writes.
type part string

const (
	whole  part = ""
	status part = "status"
	birth  part = "birth"
)

// update replaces a stored object. Fields that the request may not change are taken from the stored object. An
// object that is being deleted is removed together with its last finalizer.
func (s *Store) update(k *Kind, p part, sent client.Object, try bool) (client.Object, error) {
	next, err := k.received(p, sent)
	if err != nil {
		return nil, err
	}
	old, err := s.stored(k, client.ObjectKeyFromObject(next))
	if err != nil {
		return nil, err
	}
	if next.GetUID() != "" && next.GetUID() != old.GetUID() {
		return nil, k.wrongUID(old.GetName(), next.GetUID(), old.GetUID())
	}
	return s.replace(k, p, old, next, try)
}

func (s *Store) stored(k *Kind, key types.NamespacedName) (client.Object, error) {
	object, there := s.tables[k.GVK].objects[key]
	if !there {
		return nil, k.notFound(key.Name)
	}
	return object, nil
}

// replace is the common part of updates and patches. It owns next.
func (s *Store) replace(k *Kind, p part, old, next client.Object, try bool) (client.Object, error) {
	if p == status && !k.Status {
		return nil, errNoSubresource
	}
	if err := k.checkVersion(old, next); err != nil {
		return nil, err
	}
	k.prepare(p, old, next)
	next, err := k.checkChange(p, old, next)
	if err != nil {
		return nil, err
	}
	if p == whole && k.Counted && k.grew(old, next) {
		next.SetGeneration(old.GetGeneration() + 1)
	}
	switch {
	case try:
	case ended(next):
		s.commit(k, old, nil)
	case !alike(old, next):
		s.commit(k, old, next)
	default:
		return old, nil // a write that changes nothing gets no new version
	}
	return next, nil
}

// checkVersion implements optimistic locking.
func (k *Kind) checkVersion(old, next client.Object) error {
	name := old.GetName()
	switch next.GetResourceVersion() {
	case old.GetResourceVersion():
		return nil
	case "":
		if k.Unconditional {
			return nil
		}
		resource := schema.GroupKind{Group: k.GVK.Group, Kind: k.Resource.Resource}
		return apierrors.NewInvalid(resource, name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update")})
	}
	return k.conflict(name, errModified)
}

// prepare copies the fields that this request cannot change from the old object.
func (k *Kind) prepare(p part, old, next client.Object) {
	next.SetResourceVersion(old.GetResourceVersion())
	switch {
	case p == status && k.StatusLabels:
		shareField("Spec", next, old)
		if _, isPod := next.(*corev1.Pod); isPod {
			next.SetOwnerReferences(old.GetOwnerReferences())
		}
	case p == status:
		kept := version(old)
		shareField("Status", kept, next)
		_ = assign(next, kept) // both have the kind's type
	case k.Status:
		shareField("Status", next, old)
	}
	if next.GetUID() == "" {
		next.SetUID(old.GetUID())
	}
	next.SetGeneration(old.GetGeneration())
	next.SetCreationTimestamp(old.GetCreationTimestamp())
	if old.GetDeletionTimestamp() != nil {
		next.SetDeletionTimestamp(old.GetDeletionTimestamp())
	}
	if next.GetDeletionGracePeriodSeconds() == nil {
		next.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
}

// checkChange checks a change against the rules and returns the new object, a custom one with its defaults.
func (k *Kind) checkChange(p part, old, next client.Object) (client.Object, error) {
	errs := k.badChange(next, old)
	if p == whole {
		errs = append(errs, changeOfSpec(old, next)...)
	}
	if len(errs) > 0 {
		return nil, k.invalid(old.GetName(), errs...)
	}
	kept := p == status || k.admit != nil && same("Spec", old, next)
	if k.admit == nil || kept && (same("Status", old, next) || k.seen(next)) {
		return next, nil
	}
	before, err := k.content(old)
	if err != nil {
		return nil, err
	}
	after, err := k.content(next)
	if err != nil {
		return nil, err
	}
	after = k.admit.Default(after)
	if errs := k.admit.Update(context.Background(), after, before); len(errs) > 0 {
		return nil, k.invalid(old.GetName(), unchecked(errs)...)
	}
	if kept {
		k.note(next)
	}
	return k.typed(after)
}

// grew reports whether the generation increases.
func (k *Kind) grew(old, next client.Object) bool { return !same("Spec", old, next) }

// ended reports whether an object is being deleted and nothing keeps it any more.
func ended(object client.Object) bool {
	grace := object.GetDeletionGracePeriodSeconds()
	return object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 && (grace == nil || *grace == 0)
}

// changeOfSpec returns Kubernetes' objections to changes of its own kinds, as far as the simulation needs them.
func changeOfSpec(old, next client.Object) field.ErrorList {
	spec := field.NewPath("spec")
	switch next := next.(type) {
	case *corev1.Pod:
		if !alike(frozen(&next.Spec, &old.(*corev1.Pod).Spec), &old.(*corev1.Pod).Spec) {
			return field.ErrorList{field.Forbidden(spec, "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)")}
		}
	case *corev1.Node:
		if was := old.(*corev1.Node).Spec.ProviderID; was != "" && was != next.Spec.ProviderID {
			return field.ErrorList{field.Forbidden(spec.Child("providerID"), `node updates may not change providerID except from "" to valid`)}
		}
	}
	return nil
}

// frozen returns the new spec without the changes that a pod's spec may have: images, deadlines, removed gates and
// added tolerations.
func frozen(next, old *corev1.PodSpec) *corev1.PodSpec {
	left := next.DeepCopy()
	left.ActiveDeadlineSeconds = old.ActiveDeadlineSeconds
	if len(left.SchedulingGates) < len(old.SchedulingGates) {
		left.SchedulingGates = old.SchedulingGates
	}
	if len(left.Tolerations) > len(old.Tolerations) && equality.Semantic.DeepEqual(left.Tolerations[:len(old.Tolerations)], old.Tolerations) {
		left.Tolerations = old.Tolerations
	}
	if len(left.Containers) == len(old.Containers) {
		for i := range left.Containers {
			left.Containers[i].Image = old.Containers[i].Image
		}
	}
	if len(left.InitContainers) == len(old.InitContainers) {
		for i := range left.InitContainers {
			left.InitContainers[i].Image = old.InitContainers[i].Image
		}
	}
	return left
}
