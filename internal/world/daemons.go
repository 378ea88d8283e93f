package world

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/snapshot"
)

// daemons are the DaemonSets, each with the pod of it that was made last: what admission
// made of that one tells more than the template.
type daemons struct {
	sets  map[key]*appsv1.DaemonSet
	last  map[key]*corev1.Pod
	dirty bool
	list  []snapshot.Daemon
}

func newDaemons() daemons {
	return daemons{sets: map[key]*appsv1.DaemonSet{}, last: map[key]*corev1.Pod{}}
}

func (d *daemons) put(set *appsv1.DaemonSet) {
	d.sets[keyOf(set)] = set
	d.dirty = true
}

func (d *daemons) remove(k key) {
	delete(d.sets, k)
	delete(d.last, k)
	d.dirty = true
}

func daemonOf(pod *corev1.Pod) (key, bool) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil || ref.Kind != "DaemonSet" {
		return key{}, false
	}
	return key{Namespace: pod.Namespace, Name: ref.Name}, true
}

// saw notes a pod that may be the latest of its DaemonSet.
func (d *daemons) saw(pod *corev1.Pod) {
	k, ok := daemonOf(pod)
	if !ok {
		return
	}
	if last := d.last[k]; last == nil || last.CreationTimestamp.Before(&pod.CreationTimestamp) {
		d.last[k] = pod
		d.dirty = true
	}
}

// lost notes that a pod is gone. Its DaemonSet's next one will be seen.
func (d *daemons) lost(pod *corev1.Pod) {
	if k, ok := daemonOf(pod); ok && d.last[k] != nil && d.last[k].UID == pod.UID {
		delete(d.last, k)
		d.dirty = true
	}
}

func (w *World) refreshDaemons() {
	if !w.daemons.dirty {
		return
	}
	keys := make([]key, 0, len(w.daemons.sets))
	for k := range w.daemons.sets {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareKeys)
	list := make([]snapshot.Daemon, 0, len(keys))
	for _, k := range keys {
		if daemon, ok := w.translator.Daemon(w.daemons.sets[k], w.daemons.last[k]); ok {
			list = append(list, daemon)
		}
	}
	w.daemons.list, w.daemons.dirty = list, false
}
