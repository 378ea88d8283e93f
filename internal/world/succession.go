package world

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/snapshot"
	"tenon/core/wait"
	"tenon/internal/owner"
)

// successions returns the workloads of which pods end on nodes that stay, while new ones want a place.
func (w *World) successions(now time.Time) []snapshot.Succession {
	if len(w.pods.ending) == 0 || len(w.pods.waiting) == 0 {
		return nil
	}
	places := map[owner.Ref]int{}
	for k := range w.pods.ending {
		pod := w.pods.all[k]
		if leaving, known := w.nodes.standing(pod.Spec.NodeName); known && !leaving {
			places[w.workload(pod)]++
		}
	}
	waiting := map[owner.Ref][]key{}
	for k := range w.pods.waiting {
		pod := w.pods.all[k]
		if of := w.workload(pod); places[of] > 0 && now.Sub(pod.CreationTimestamp.Time) < wait.HandOver {
			waiting[of] = append(waiting[of], k)
		}
	}
	var out []snapshot.Succession
	for _, of := range slices.SortedFunc(maps.Keys(waiting), owner.Ref.Compare) {
		out = append(out, snapshot.Succession{Places: places[of], Pods: w.oldestFirst(waiting[of])})
	}
	return out
}

func (w *World) oldestFirst(keys []key) []snapshot.Successor {
	slices.SortFunc(keys, func(a, b key) int {
		if c := w.pods.all[a].CreationTimestamp.Compare(w.pods.all[b].CreationTimestamp.Time); c != 0 {
			return c
		}
		return compareKeys(a, b)
	})
	out := make([]snapshot.Successor, len(keys))
	for i, k := range keys {
		pod := w.pods.all[k]
		out[i] = snapshot.Successor{UID: string(pod.UID), Created: pod.CreationTimestamp.UTC()}
	}
	return out
}

// workload returns what a pod belongs to. A pod without an owner stands for itself, and takes no other
// pod's place.
func (w *World) workload(pod *corev1.Pod) owner.Ref {
	return cmp.Or(w.index.Workload(pod), owner.Ref{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name})
}

// displaced counts pods on leaving nodes: they want a place before they are evicted.
func (w *World) displaced() int {
	n := 0
	for _, node := range w.nodes.leaving {
		n += len(w.pods.on[node])
	}
	return n
}
