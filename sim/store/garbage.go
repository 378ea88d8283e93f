package store

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// In a real cluster a controller, the garbage collector, deletes dependents a moment after their owner. Here
// Collect does that, and the caller has to call it.

// own records an object by its UID and as a dependent of its owners.
func (s *Store) own(ref Ref, object client.Object, born bool) {
	s.byUID[object.GetUID()] = ref
	for _, owner := range object.GetOwnerReferences() {
		if s.dependents[owner.UID] == nil {
			s.dependents[owner.UID] = map[Ref]bool{}
		}
		s.dependents[owner.UID][ref] = true
		if _, lives := s.byUID[owner.UID]; !lives && born {
			s.garbage = append(s.garbage, ref)
		}
	}
}

// sameOwners reports whether two versions of an object have the same owners, so that nothing need be recorded anew.
func sameOwners(old, next client.Object) bool {
	return old.GetUID() == next.GetUID() && slices.EqualFunc(old.GetOwnerReferences(), next.GetOwnerReferences(),
		func(a, b metav1.OwnerReference) bool { return a.UID == b.UID })
}

// await remembers a deleted object that has to wait for its dependents.
func (s *Store) await(ref Ref, object client.Object) {
	if waits(object) && !slices.Contains(s.closing, ref) {
		s.closing = append(s.closing, ref)
	}
}

func (s *Store) removeOwner(ref Ref, object client.Object) {
	for _, owner := range object.GetOwnerReferences() {
		delete(s.dependents[owner.UID], ref)
		if len(s.dependents[owner.UID]) == 0 {
			delete(s.dependents, owner.UID)
		}
	}
}

// rememberDependents remembers the dependents of a removed object, which Collect looks at.
func (s *Store) rememberDependents(object client.Object) {
	delete(s.byUID, object.GetUID())
	s.garbage = append(s.garbage, s.Dependents(object.GetUID())...)
}

// Dependents are the objects that an object owns, in a fixed order.
func (s *Store) Dependents(owner types.UID) []Ref {
	refs := make([]Ref, 0, len(s.dependents[owner]))
	for ref := range s.dependents[owner] {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, func(a, b Ref) int {
		if c := strings.Compare(a.Kind.String(), b.Kind.String()); c != 0 {
			return c
		}
		return compareKeys(a.NamespacedName, b.NamespacedName)
	})
	return refs
}

// waits reports whether an object is deleted but waits until its dependents are deleted or orphaned.
func waits(object client.Object) bool {
	return object.GetDeletionTimestamp() != nil && (slices.Contains(object.GetFinalizers(), metav1.FinalizerDeleteDependents) ||
		slices.Contains(object.GetFinalizers(), metav1.FinalizerOrphanDependents))
}

// NeedsCollect reports whether Collect has something to do.
func (s *Store) NeedsCollect() bool { return len(s.garbage)+len(s.closing) > 0 }

// Collect removes objects whose owners are gone, and owners that waited for their dependents. It does one round:
// objects that it removes may have dependents of their own, which the next round removes.
func (s *Store) Collect() {
	garbage, closing := s.garbage, s.closing
	s.garbage, s.closing = nil, nil
	for _, ref := range garbage {
		s.sweep(ref)
	}
	for _, ref := range closing {
		s.finishDeletion(ref)
	}
}

// sweep removes an object none of whose owners exists any more, and drops references to missing owners.
func (s *Store) sweep(ref Ref) {
	k := s.kinds[ref.Kind]
	object, there := s.tables[ref.Kind].objects[ref.NamespacedName]
	if !there || len(object.GetOwnerReferences()) == 0 {
		return
	}
	left := slices.DeleteFunc(slices.Clone(object.GetOwnerReferences()), func(o metav1.OwnerReference) bool {
		_, lives := s.byUID[o.UID]
		return !lives
	})
	switch {
	case len(left) == 0:
		uid := object.GetUID()
		// The object exists and the precondition holds, so the store cannot refuse.
		_ = s.remove(k, ref.NamespacedName, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	case len(left) < len(object.GetOwnerReferences()):
		s.rewrite(k, object, func(o client.Object) { o.SetOwnerReferences(left) })
	}
}

// finishDeletion removes or orphans the dependents of an object that waits for them. Once none blocks it, the
// object's own finalizer is removed.
func (s *Store) finishDeletion(ref Ref) {
	k := s.kinds[ref.Kind]
	object, there := s.tables[ref.Kind].objects[ref.NamespacedName]
	if !there || !waits(object) {
		return
	}
	dependents := s.Dependents(object.GetUID())
	finalizer := metav1.FinalizerDeleteDependents
	if slices.Contains(object.GetFinalizers(), metav1.FinalizerOrphanDependents) {
		finalizer = metav1.FinalizerOrphanDependents
		for _, d := range dependents {
			s.orphan(d, object.GetUID())
		}
		dependents = nil
	}
	blocked := false
	for _, d := range dependents {
		blocked = s.removeDependent(d, object.GetUID()) || blocked
	}
	if blocked {
		s.closing = append(s.closing, ref)
		return
	}
	s.rewrite(k, object, func(o client.Object) {
		o.SetFinalizers(slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == finalizer }))
	})
}

// removeDependent removes a dependent, and reports whether its owner has to wait for it.
func (s *Store) removeDependent(ref Ref, owner types.UID) bool {
	// The dependent exists, because Dependents returned it, so the store cannot refuse.
	_ = s.remove(s.kinds[ref.Kind], ref.NamespacedName, metav1.DeleteOptions{})
	object, there := s.tables[ref.Kind].objects[ref.NamespacedName]
	return there && slices.ContainsFunc(object.GetOwnerReferences(), func(o metav1.OwnerReference) bool {
		return o.UID == owner && o.BlockOwnerDeletion != nil && *o.BlockOwnerDeletion
	})
}

func (s *Store) orphan(ref Ref, owner types.UID) {
	object := s.tables[ref.Kind].objects[ref.NamespacedName]
	s.rewrite(s.kinds[ref.Kind], object, func(o client.Object) {
		o.SetOwnerReferences(slices.DeleteFunc(slices.Clone(o.GetOwnerReferences()), func(r metav1.OwnerReference) bool { return r.UID == owner }))
	})
}

// rewrite changes metadata on behalf of the server itself.
func (s *Store) rewrite(k *Kind, old client.Object, edit func(client.Object)) {
	next := version(old)
	edit(next)
	if ended(next) {
		next = nil
	}
	s.commit(k, old, next)
}
