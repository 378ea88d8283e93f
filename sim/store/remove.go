package store

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// remove serves a deletion. The object is removed at once unless it has finalizers or, as a pod, a grace period;
// otherwise it is marked as being deleted.
func (s *Store) remove(k *Kind, key types.NamespacedName, o metav1.DeleteOptions) error {
	old, err := s.stored(k, key)
	if err != nil {
		return err
	}
	if err := k.broken(o.Preconditions, old); err != nil {
		return err
	}
	next := version(old)
	next.SetFinalizers(withPropagation(old.GetFinalizers(), o.PropagationPolicy))
	if k.Graceful {
		s.beginEnd(next, o.GracePeriodSeconds)
	} else {
		s.mark(next)
	}
	switch {
	case len(o.DryRun) > 0:
	case gone(next):
		s.commit(k, old, nil)
	case changed(old, next):
		s.commit(k, old, next)
	}
	return nil
}

func gone(object client.Object) bool {
	grace := object.GetDeletionGracePeriodSeconds()
	return len(object.GetFinalizers()) == 0 && (grace == nil || *grace == 0)
}

func changed(old, next client.Object) bool {
	return !old.GetDeletionTimestamp().Equal(next.GetDeletionTimestamp()) ||
		ptr.Deref(old.GetDeletionGracePeriodSeconds(), -1) != ptr.Deref(next.GetDeletionGracePeriodSeconds(), -1) ||
		!slices.Equal(old.GetFinalizers(), next.GetFinalizers())
}

// withPropagation adds the finalizer by which the garbage collector handles the dependents first.
func withPropagation(finalizers []string, policy *metav1.DeletionPropagation) []string {
	if policy == nil {
		return finalizers
	}
	kept := slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch *policy {
	case metav1.DeletePropagationForeground:
		return append(kept, metav1.FinalizerDeleteDependents)
	case metav1.DeletePropagationOrphan:
		return append(kept, metav1.FinalizerOrphanDependents)
	}
	return kept
}

// mark marks an object as being deleted.
func (s *Store) mark(object client.Object) {
	if object.GetDeletionTimestamp() != nil {
		return
	}
	now := s.now()
	object.SetDeletionTimestamp(&now)
	object.SetDeletionGracePeriodSeconds(ptr.To[int64](0))
	if object.GetGeneration() > 0 {
		object.SetGeneration(object.GetGeneration() + 1)
	}
}

// beginEnd starts the grace period of a pod. A later request may only shorten it.
func (s *Store) beginEnd(object client.Object, asked *int64) {
	pod := object.(*corev1.Pod)
	if asked != nil && *asked < 0 {
		asked = ptr.To[int64](1)
	}
	if pod.DeletionTimestamp != nil {
		s.shortenGrace(pod, asked)
		return
	}
	period := ptr.Deref(asked, ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 0))
	switch {
	case pod.Spec.NodeName == "", pod.Status.Phase == corev1.PodFailed, pod.Status.Phase == corev1.PodSucceeded:
		period = 0
	case period < 0:
		period = 1
	}
	s.mark(pod)
	pod.DeletionTimestamp = ptr.To(metav1.NewTime(s.now().Add(time.Duration(period) * time.Second)))
	pod.DeletionGracePeriodSeconds = &period
}

func (s *Store) shortenGrace(pod *corev1.Pod, asked *int64) {
	left := ptr.Deref(pod.DeletionGracePeriodSeconds, 0)
	if asked == nil || *asked >= left {
		return
	}
	period := *asked
	end := pod.DeletionTimestamp.Add(time.Duration(period-left) * time.Second)
	if now := s.now().Time; end.Before(now) {
		end = now
		if period != 0 {
			period = 1
		}
	}
	pod.DeletionTimestamp = ptr.To(metav1.NewTime(end))
	pod.DeletionGracePeriodSeconds = &period
}
