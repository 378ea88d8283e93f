package world

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/snapshot"
	"tenon/internal/owner"
)

// keptPlace is the place of an evicted pod, and since when it is kept.
type keptPlace struct {
	arrangement
	pod *corev1.Pod
	at  time.Time
}

// keep keeps the place of a pod for its successor: a ReplicaSet makes that as soon as the pod begins to end, a StatefulSet when the pod is gone.
// Of pods that others have made it is not known whether there will be one. The receiver to which the pod is guided learns of its end.
func (w *World) keep(pod *corev1.Pod, a arrangement, gone bool) {
	byReplicaSet, seenToEnd := !replicaSetOf(pod).None(), gone && pod.DeletionTimestamp != nil
	if !seenToEnd {
		w.endGuided(pod, a.round)
	}
	if byReplicaSet && !seenToEnd || gone && owner.Of(pod).IsA("apps/v1", "StatefulSet") {
		w.ledger.kept[keyOf(pod)] = keptPlace{a, pod, w.clock.Now()}
	}
}

// moving counts the pods that disruptions have yet to move, and those moved whose successors have yet to be made.
func (l *ledger) moving() int {
	n := len(l.arranged)
	for _, place := range l.kept {
		if _, ends := l.arranged[place.pod.UID]; !ends {
			n++
		}
	}
	return n
}

// releaseKept gives up places whose successors exist, or do not come. A ReplicaSet still makes as many as it lacks, for the pods that were
// evicted last. That of a pod of a StatefulSet has the pod's name.
func (w *World) releaseKept() {
	missing := map[owner.Ref]int{}
	lastFirst := func(a, b key) int { return cmp.Or(w.ledger.kept[b].at.Compare(w.ledger.kept[a].at), compareKeys(a, b)) }
	for _, k := range slices.SortedFunc(maps.Keys(w.ledger.kept), lastFirst) {
		w.pods.dirty[k] = struct{}{}
		place := w.ledger.kept[k]
		set := replicaSetOf(place.pod)
		if _, counted := missing[set]; !counted {
			missing[set] = w.missing(set)
		}
		if missing[set]--; w.clock.Since(place.at) >= landing || missing[set] < 0 && !set.None() {
			delete(w.ledger.kept, k)
		}
	}
}

// keptBySet counts the places that are kept for pods which ReplicaSets have yet to make.
func (w *World) keptBySet() map[owner.Ref]int {
	out := map[owner.Ref]int{}
	for _, place := range w.ledger.kept {
		out[replicaSetOf(place.pod)]++
	}
	return out
}

// successor is a pod that does not exist yet, at the place that is kept for it.
func (w *World) successor(k key) (snapshot.Pod, bool) {
	place, kept := w.ledger.kept[k]
	if !kept {
		return snapshot.Pod{}, false
	}
	node, found := w.nodeAt(place.arrangement)
	out, ok := w.translator.PodOn(place.pod, false)
	out.Node, out.Terminating, out.Tie.Promised = node, false, true
	return out, ok && found && node != ""
}
