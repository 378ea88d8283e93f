package world

import (
	"maps"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"tenon/internal/owner"
)

// refer takes an object that pods or nodes refer to, and notes whose translation it may change. Most
// changes of such objects (a ReplicaSet's count of ready pods) affect no translation.
func (w *World) refer(object any) {
	old := w.index.Find(object)
	w.index.Put(object)
	if set, is := object.(*appsv1.ReplicaSet); is {
		ref := owner.Is("apps/v1", "ReplicaSet", set)
		w.pods.dirtySingles(ref)
		if w.pods.waitingBy[ref] > 0 {
			w.pulse.hear() // how many more will come
		}
		w.noteUnmade(ref, set.CreationTimestamp.Time)
	}
	if old != nil && !touches(old, object) && !w.recounts(old, object) {
		return
	}
	w.reread(object)
}

// recounts reports whether a ReplicaSet gets another number of replicas, where the rules of a group count them.
func (w *World) recounts(old, changed any) bool {
	was, is := old.(*appsv1.ReplicaSet)
	if !is || w.options.ScaleDown == nil || w.options.ScaleDown.Drain.MinReplicaCount == 0 {
		return false
	}
	return !reflect.DeepEqual(was.Spec.Replicas, changed.(*appsv1.ReplicaSet).Spec.Replicas)
}

// referDeployment reports whether something has changed. Pods are found through their ReplicaSets; a
// Deployment says which of them are replaced before they go. We know our own writes before the watch
// reports them, and the watch may first report an older state.
func (w *World) referDeployment(d *appsv1.Deployment) bool {
	old := w.index.Find(d)
	if before, known := old.(*appsv1.Deployment); known && before.UID == d.UID && d.Generation < before.Generation {
		return false
	}
	w.index.Put(d)
	if before, known := old.(*appsv1.Deployment); known && before.UID == d.UID {
		w.scaleDowns.note(keyOf(d), int(ptr.Deref(before.Spec.Replicas, 1)), int(ptr.Deref(d.Spec.Replicas, 1)), w.clock.Now())
	}
	if old != nil && !touches(old, d) {
		return false
	}
	w.pods.dirtyAllSingles()
	return true
}

func (w *World) unrefer(object any) {
	if w.index.Find(object) == nil {
		return
	}
	w.index.Remove(object)
	if set, is := object.(*appsv1.ReplicaSet); is {
		w.noteUnmade(owner.Is("apps/v1", "ReplicaSet", set), set.CreationTimestamp.Time)
	}
	w.reread(object)
}

// reread marks what an object's change requires to be translated again.
func (w *World) reread(object any) {
	switch o := object.(type) {
	case *corev1.Namespace, *schedulingv1.PriorityClass:
		w.translator.Forget()
		w.pods.dirtyAll()
	case *corev1.PersistentVolume, *storagev1.StorageClass:
		w.pods.dirtyWithClaims("")
	case *corev1.PersistentVolumeClaim:
		w.pods.dirtyWithClaims(o.Namespace)
	case *storagev1.CSINode:
		w.nodes.dirtyNode(o.Name)
	case *policyv1.PodDisruptionBudget:
		w.pods.dirtyIn(o.Namespace) // pods say which budgets cover them
		return                      // it gives no pod a place
	case metav1.Object: // workloads, services, limit ranges: they matter in their namespace
		w.translator.Forget()
		w.pods.dirtyIn(o.GetNamespace())
		w.daemons.dirty = true
	}
	w.pulse.supply()
}

// touches reports whether a change of an object can change a translation.
func touches(old, changed any) bool {
	switch o := old.(type) {
	case *corev1.Namespace:
		return !maps.Equal(o.Labels, changed.(*corev1.Namespace).Labels)
	case *policyv1.PodDisruptionBudget:
		return !reflect.DeepEqual(o.Spec, changed.(*policyv1.PodDisruptionBudget).Spec) // what a budget allows is read every time
	case *corev1.Service:
		return !maps.Equal(o.Spec.Selector, changed.(*corev1.Service).Spec.Selector)
	case *corev1.ReplicationController:
		return !maps.Equal(o.Spec.Selector, changed.(*corev1.ReplicationController).Spec.Selector)
	case *appsv1.ReplicaSet:
		c := changed.(*appsv1.ReplicaSet)
		return !reflect.DeepEqual(o.Spec.Selector, c.Spec.Selector) || !sameOwner(o, c)
	case *appsv1.StatefulSet:
		return !reflect.DeepEqual(o.Spec.Selector, changed.(*appsv1.StatefulSet).Spec.Selector)
	case *appsv1.Deployment:
		return o.Generation != changed.(*appsv1.Deployment).Generation || (o.DeletionTimestamp == nil) != (changed.(*appsv1.Deployment).DeletionTimestamp == nil)
	case *batchv1.Job:
		return !sameOwner(o, changed.(*batchv1.Job))
	}
	return old.(metav1.Object).GetResourceVersion() != changed.(metav1.Object).GetResourceVersion()
}

func sameOwner(a, b metav1.Object) bool {
	return owner.Of(a) == owner.Of(b)
}
