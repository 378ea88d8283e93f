package world

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/owner"
)

// daemons holds the DaemonSets, each with its pods. The newest pod, which admission has changed, tells
// more than the template.
type daemons struct {
	sets  map[key]*appsv1.DaemonSet
	pods  map[owner.Ref]map[key]*corev1.Pod
	last  map[owner.Ref]*corev1.Pod
	dirty bool
	list  []snapshot.Daemon
}

func newDaemons() daemons {
	return daemons{sets: map[key]*appsv1.DaemonSet{}, pods: map[owner.Ref]map[key]*corev1.Pod{}, last: map[owner.Ref]*corev1.Pod{}}
}

func (d *daemons) put(set *appsv1.DaemonSet) {
	d.sets[keyOf(set)] = set
	d.dirty = true
}

func (d *daemons) remove(k key) {
	delete(d.sets, k)
	d.dirty = true
}

// saw notes the current state of a pod. same reports whether two states of a pod have one template: most
// changes are of the status.
func (d *daemons) saw(pod *corev1.Pod, same func(a, b *corev1.Pod) bool) {
	set, k := ingest.DaemonSetOf(pod), keyOf(pod)
	if set.None() {
		return
	}
	if d.pods[set] == nil {
		d.pods[set] = map[key]*corev1.Pod{}
	}
	d.pods[set][k] = pod
	switch last := d.last[set]; {
	case last != nil && keyOf(last) == k:
		d.last[set] = pod
		d.dirty = d.dirty || !same(last, pod)
	case ingest.Newer(pod, last):
		d.last[set] = pod
		d.dirty = true
	}
}

// lost notes that a pod is gone: the newest of the remaining pods counts now.
func (d *daemons) lost(pod *corev1.Pod) {
	set, k := ingest.DaemonSetOf(pod), keyOf(pod)
	if set.None() {
		return
	}
	delete(d.pods[set], k)
	if len(d.pods[set]) == 0 {
		delete(d.pods, set)
	}
	if last := d.last[set]; last == nil || keyOf(last) != k {
		return
	}
	delete(d.last, set)
	for _, left := range d.pods[set] {
		if ingest.Newer(left, d.last[set]) {
			d.last[set] = left
		}
	}
	d.dirty = true
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
		set := w.daemons.sets[k]
		if daemon, ok := w.translator.Daemon(set, w.daemons.last[owner.Is("apps/v1", "DaemonSet", set)]); ok {
			list = append(list, daemon)
		}
	}
	w.daemons.list, w.daemons.dirty = list, false
}
