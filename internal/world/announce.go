package world

import (
	"fmt"
	"maps"
	"slices"

	"tenon/core/snapshot"
)

// mostAnnounced bounds what one ReplicaSet can announce: a typing error in a manifest is
// not to fill the memory.
const mostAnnounced = 20_000

// announced are the pods that ReplicaSets have yet to make, like those of them that wait.
// Deciding about the one that is there, and a moment later about the next two, would buy
// three small nodes where one large one is cheaper.
func (w *World) announced() []snapshot.Pod {
	models := map[key]key{}
	for k := range w.guests.waiting {
		if _, held := w.guests.held[k]; held {
			continue
		}
		set := replicaSetOf(w.guests.all[k])
		if model, found := models[set]; set.Name != "" && (!found || compareKeys(k, model) < 0) {
			models[set] = k
		}
	}
	var out []snapshot.Pod
	for _, set := range slices.SortedFunc(maps.Keys(models), compareKeys) {
		out = append(out, w.announcedBy(set, models[set])...)
	}
	return out
}

func (w *World) announcedBy(set, model key) []snapshot.Pod {
	missing := min(w.missing(set), mostAnnounced)
	first := w.guests.list.find(model)
	if missing <= 0 || first == nil || first.Refused != "" || !first.Pending {
		return nil
	}
	out := make([]snapshot.Pod, missing)
	for i := range out {
		out[i] = *first
		out[i].UID, out[i].Name = "", fmt.Sprintf("%s-announced-%d", set.Name, i)
	}
	return out
}

// coming counts what is announced.
func (w *World) coming() int {
	n := 0
	for set := range w.guests.waitingBy {
		n += w.missing(set)
	}
	return n
}

// hearsay reports whether what the ReplicaSets of those that have just come want is still on
// its way to us: one is unheard of, or has more pods than we know it to want. The watches of
// pods have overtaken those of ReplicaSets, and how many more pods will come is not known.
func (w *World) hearsay() bool {
	for set := range w.pulse.sets {
		if set.Name != "" && !w.index.Heard(set.Namespace, set.Name) {
			return true
		}
		if want, known := w.index.Wanted(set.Namespace, set.Name); known && w.guests.count[set] > want {
			return true
		}
	}
	return false
}

// missing is how many pods a ReplicaSet has yet to make.
func (w *World) missing(set key) int {
	want, known := w.index.Wanted(set.Namespace, set.Name)
	if !known {
		return 0
	}
	return max(want-w.guests.count[set], 0)
}
