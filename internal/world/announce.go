package world

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/snapshot"
	"tenon/internal/owner"
	"tenon/internal/quota"
)

// mostAnnounced bounds what one ReplicaSet can announce, so that a typing error in a manifest does not fill
// the memory.
const mostAnnounced = 20_000

// announced returns the pods that ReplicaSets have yet to make, modelled on their waiting pods. A
// decision about the first pod, and a moment later one about the next two, would buy three small nodes
// where one large node is cheaper. What was announced stays so while the set is believed, even if all its existing pods have
// their places: others that come first would get the room that was bought for it. announced leaves out pods that the API server
// would refuse, pods that the workload is not believed to make, and those for which the places of evicted pods are kept.
func (w *World) announced() []snapshot.Pod {
	now := w.clock.Now()
	w.judgePromises(now)
	rooms, kept := map[string]*quota.Room{}, w.keptBySet()
	models := w.models()
	var out []snapshot.Pod
	for _, set := range slices.SortedFunc(maps.Keys(models), owner.Ref.Compare) {
		pod, n := models[set], min(w.believed(set)-kept[set], mostAnnounced)
		if n <= 0 || !quota.Permits(w.index.Ranges(set.Namespace), pod) {
			continue
		}
		model, ok := w.translator.PodOn(pod, false)
		if !ok || len(model.Refused) > 0 {
			continue
		}
		if rooms[set.Namespace] == nil {
			rooms[set.Namespace] = quota.Of(w.index.Quotas(set.Namespace))
		}
		if n = rooms[set.Namespace].Take(pod, n); n > 0 {
			w.promises.promise(set, w.index.Parent(set), pod, w.pods.count[set], n, now)
			out = append(out, replicas(set, &model, n)...)
		}
	}
	return out
}

func replicas(set owner.Ref, model *snapshot.Pod, n int) []snapshot.Pod {
	out := make([]snapshot.Pod, n)
	for i := range out {
		out[i] = *model
		out[i].UID, out[i].Name = "", fmt.Sprintf("%s-announced-%d", set.Name, i)
	}
	return out
}

// judgePromises finds out which ReplicaSets have made the pods that they announced.
func (w *World) judgePromises(now time.Time) {
	for _, set := range slices.SortedFunc(maps.Keys(w.promises.open), owner.Ref.Compare) {
		want, known := w.index.Target(set)
		w.promises.judge(set, w.pods.count[set], !known || w.index.Hindered(set) || want < w.promises.open[set].Due, now)
	}
}

// shape counts the waiting pods of one ReplicaSet that no rule can tell apart.
type shape struct {
	first key // by name
	count int
}

// models returns, for each ReplicaSet, a pod like those to come: the first of the shape with the most
// waiting pods, or the one that it was when the set announced the others. A single pod of another shape may belong to the set
// although its template did not make it. A set of which only held pods wait has no model: those to come will be held, too.
func (w *World) models() map[owner.Ref]*corev1.Pod {
	shapes, held := map[owner.Ref]map[snapshot.TemplateIndex]shape{}, map[owner.Ref]bool{}
	for k := range w.pods.waiting {
		set, pod := replicaSetOf(w.pods.all[k]), w.pods.list.find(k)
		if set.None() || pod == nil || len(pod.Refused) > 0 || !pod.Pending {
			continue
		}
		if _, is := w.pods.held[pod.UID]; is {
			held[set] = true
			continue
		}
		if shapes[set] == nil {
			shapes[set] = map[snapshot.TemplateIndex]shape{}
		}
		found, known := shapes[set][pod.Template]
		if found.count++; !known || compareKeys(k, found.first) < 0 {
			found.first = k
		}
		shapes[set][pod.Template] = found
	}
	out := make(map[owner.Ref]*corev1.Pod, len(shapes))
	for set, promise := range w.promises.open {
		if !held[set] {
			out[set] = promise.model
		}
	}
	for set, all := range shapes {
		usual := slices.MaxFunc(slices.Collect(maps.Values(all)), func(a, b shape) int {
			return cmp.Or(cmp.Compare(a.count, b.count), compareKeys(b.first, a.first))
		})
		out[set] = w.pods.all[usual.first]
	}
	return out
}

// missing returns how many pods a ReplicaSet has yet to make; none if something keeps it from making them.
func (w *World) missing(set owner.Ref) int {
	want, known := w.index.Target(set)
	if !known || w.index.Hindered(set) {
		return 0
	}
	return max(want-w.pods.count[set], 0)
}

// surplus returns how many more pods ReplicaSets have than they want.
func (w *World) surplus() int {
	n := 0
	for set, has := range w.pods.count {
		if want, known := w.index.Target(set); known {
			n += max(has-want, 0)
		}
	}
	return n
}

// ending counts the pods that are being deleted on nodes that stay: the scheduler gives their room to others once they are gone.
func (w *World) ending() int {
	n := 0
	for k := range w.pods.ending {
		if leaving, known := w.nodes.standing(w.pods.all[k].Spec.NodeName); known && !leaving {
			n++
		}
	}
	return n
}

// believed returns how many of the missing pods of a ReplicaSet are expected to come.
func (w *World) believed(set owner.Ref) int {
	missing := w.missing(set)
	if missing == 0 {
		return 0
	}
	return w.promises.believed(w.index.Parent(set), w.pods.count[set], missing)
}

// coming counts the pods that the ReplicaSets of waiting pods are believed to make, and the further pods
// that they announce.
func (w *World) coming() (believed, doubted int) {
	for set := range w.pods.waitingBy {
		n := w.believed(set)
		believed += n
		doubted += w.missing(set) - n
	}
	return believed, doubted
}

// unconfirmed reports whether the watches have yet to tell how many pods the ReplicaSets of the newest
// pods want.
func (w *World) unconfirmed() bool {
	now := w.clock.Now()
	for set := range w.pulse.sets {
		if w.isUnheard(set) && !w.promises.doubts(set.Namespace, now) {
			return true
		}
	}
	return false
}

// isUnheard reports whether a set is unknown, or has more pods than it is known to want. Either the watch
// of pods is ahead of the watch of ReplicaSets, and the number of pods still to come is unknown, or the
// pods only claim to belong to the set.
func (w *World) isUnheard(set owner.Ref) bool {
	if set.None() {
		return false
	}
	want, known := w.index.Wanted(set)
	return !w.index.Heard(set) || known && w.pods.count[set] > want
}

// doubt notes which sets failed to appear in time; the decision is made now without them.
func (w *World) doubt() {
	now := w.clock.Now()
	for set := range w.pulse.sets {
		if w.isUnheard(set) {
			w.promises.doubt(set, now)
		}
	}
}
