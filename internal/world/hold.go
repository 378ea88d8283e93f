package world

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/internal/owner"
)

// handOver is how long a new pod may wait for an ending one of its workload. In a
// roll-out most new pods take the place of an old one that has yet to end; a node bought
// for them would be empty a minute later.
const handOver = 10 * time.Second

// hold finds the pods that will get the place of an ending one: of each workload as many
// as end on nodes that stay, the oldest first.
func (w *World) hold(now time.Time) {
	before := w.guests.held
	w.guests.held = map[key]struct{}{}
	if len(w.guests.ending) > 0 && len(w.guests.waiting) > 0 {
		w.chooseHeld(now)
	}
	for k := range before {
		if _, still := w.guests.held[k]; !still {
			w.guests.dirty[k] = struct{}{}
		}
	}
	for k := range w.guests.held {
		if _, already := before[k]; !already {
			w.guests.dirty[k] = struct{}{}
		}
	}
}

func (w *World) chooseHeld(now time.Time) {
	places := map[owner.Ref]int{}
	for k := range w.guests.ending {
		pod := w.guests.all[k]
		if leaving, known := w.roster.standing(pod.Spec.NodeName); known && !leaving {
			places[w.workload(pod)]++
		}
	}
	young := []key{}
	for k := range w.guests.waiting {
		if pod := w.guests.all[k]; places[w.workload(pod)] > 0 && now.Sub(pod.CreationTimestamp.Time) < handOver {
			young = append(young, k)
		}
	}
	slices.SortFunc(young, func(a, b key) int {
		if c := w.guests.all[a].CreationTimestamp.Compare(w.guests.all[b].CreationTimestamp.Time); c != 0 {
			return c
		}
		return compareKeys(a, b)
	})
	for _, k := range young {
		if of := w.workload(w.guests.all[k]); places[of] > 0 {
			places[of]--
			w.guests.held[k] = struct{}{}
		}
	}
}

// workload is what a pod belongs to. A pod without an owner stands for itself, and takes no
// other pod's place.
func (w *World) workload(pod *corev1.Pod) owner.Ref {
	return cmp.Or(w.index.Workload(pod), owner.Ref{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name})
}

// displaced counts pods on leaving nodes: they want a place before they are evicted.
func (w *World) displaced() int {
	n := 0
	for _, node := range w.roster.leaving {
		n += len(w.guests.on[node])
	}
	return n
}
