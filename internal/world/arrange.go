package world

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// arrangement says where a pod of a leaving node will go (to a node, or to the node of a claim) and which
// disruption moves it. The claim may not exist yet: a disruption closes its nodes first.
type arrangement struct {
	place, by string
	unmade    bool
	turn      int // see Turn
	line      *evictionOrder
	round     *round
}

// evictionOrder lists the pods of a disruption in the order in which they are evicted.
type evictionOrder struct {
	begun time.Time // when the turn of the first pod came; zero before
}

// displacement is a pod that had to go because of a disruption.
type displacement struct {
	by string
	at time.Time
}

// Arrange enters that pods of leaving nodes have places elsewhere: on a node, or on the node of a claim.
// From now on these places are taken, and the pods need no others. A pod keeps its place until its successor exists: that is a
// new pod, and finds the room free. If the world forgets all of this, new places are found.
func (w *World) Arrange(place, by string, pods []PodRef) {
	w.change(func() {
		for _, p := range pods {
			k := key{Namespace: p.Namespace, Name: p.Name}
			if pod := w.pods.all[k]; pod == nil || pod.UID != p.UID {
				continue
			}
			w.ledger.arranged[p.UID] = arrangement{place: place, by: by, unmade: !w.nodes.isKnown(place)}
			w.pods.dirty[k] = struct{}{}
		}
	})
}

// orderEvictions notes the order in which to evict pods that have places elsewhere.
func (w *World) orderEvictions(pods []types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := &evictionOrder{}
	for i, uid := range pods {
		if a, arranged := w.ledger.arranged[uid]; arranged {
			a.turn, a.line = i, all
			w.ledger.arranged[uid] = a
		}
	}
}

// Pods with an order of evictions leave this long after each other, so that kube-scheduler has placed one
// before the next comes. In long queues the time is shorter, because nodes cost money while they wait.
const (
	apart       = 25 * time.Millisecond
	longestLine = 10 * time.Second
)

// Turn returns how long a pod that could be evicted waits for other pods of the same disruption, on whichever nodes they are, so that
// kube-scheduler leaves room for each. Turns begin when Turn is first called for any of them. Zero is that it is the pod's turn.
func (w *World) Turn(pod types.UID) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, now := w.ledger.arranged[pod], w.clock.Now()
	if a.round != nil {
		return w.turnOf(pod, a.round)
	}
	if a.line == nil {
		return 0
	}
	if a.line.begun.IsZero() {
		a.line.begun = now
	}
	return max(a.line.begun.Add(min(time.Duration(a.turn)*apart, longestLine)).Sub(now), 0)
}

// CancelPlaces takes back the places that were arranged for pods: their nodes stay.
func (w *World) CancelPlaces(pods []PodRef) {
	w.change(func() {
		for _, p := range pods {
			w.cancelPlace(key{Namespace: p.Namespace, Name: p.Name}, p.UID)
		}
	})
}

// CancelPlacesOn takes back the places that were arranged for the pods of a node: the node stays.
func (w *World) CancelPlacesOn(node string) {
	w.change(func() {
		for k := range w.pods.on[node] {
			w.cancelPlace(k, w.pods.all[k].UID)
		}
	})
}

func (w *World) cancelPlace(k key, pod types.UID) {
	if _, arranged := w.ledger.arranged[pod]; arranged {
		delete(w.ledger.arranged, pod)
		w.pods.dirty[k] = struct{}{}
	}
}

// made notes that a claim exists for which pods were waiting: if the claim goes, their places go too.
func (w *World) made(claim string) {
	for uid, a := range w.ledger.arranged {
		if a.unmade && a.place == claim {
			a.unmade = false
			w.ledger.arranged[uid] = a
		}
	}
}

// isKnown reports whether there is a node or a claim with the name.
func (r *nodeState) isKnown(name string) bool { return r.nodes[name] != nil || r.claim(name) != nil }

// arranged returns the node on which a pod of a leaving node has its place; empty while the claim of that
// node is not made yet.
func (w *World) arranged(pod types.UID) (string, bool) {
	a, ok := w.ledger.arranged[pod]
	if !ok {
		return "", false
	}
	return w.nodeAt(a)
}

// nodeAt returns the node of an arrangement's place; empty while the claim of that node is not made yet.
func (w *World) nodeAt(a arrangement) (string, bool) {
	if name, found := w.nodes.nodeOf(a.place); found {
		return name, true
	}
	if a.unmade {
		return "", true
	}
	leaving, known := w.nodes.standing(a.place)
	return a.place, known && !leaving
}

// remembered is how long after an eviction a new pod of the same workload counts as the replacement of
// the evicted pod.
const remembered = 2 * time.Minute

// displace notes that a pod with an arranged place is gone.
func (w *World) displace(pod *corev1.Pod) {
	a, ok := w.ledger.arranged[pod.UID]
	if !ok {
		return
	}
	w.keep(pod, a, true)
	delete(w.ledger.arranged, pod.UID)
	of := w.workload(pod)
	w.ledger.displaced[of] = append(w.ledger.displaced[of], displacement{a.by, w.clock.Now()})
}

// replacesMoved reports whether a waiting pod replaces one that a disruption moves and that has lost its
// arranged place.
func (w *World) replacesMoved(pod *corev1.Pod) bool {
	if len(w.ledger.arranged)+len(w.ledger.displaced) == 0 {
		return false
	}
	of, now := w.workload(pod), w.clock.Now()
	if slices.ContainsFunc(w.ledger.displaced[of], func(d displacement) bool { return now.Sub(d.at) <= remembered }) {
		return true
	}
	for k := range w.pods.ending {
		ends := w.pods.all[k]
		if _, moved := w.ledger.arranged[ends.UID]; moved && w.workload(ends) == of {
			return true
		}
	}
	return false
}

// evicting counts the pods that disruptions will move and have not evicted yet.
func (w *World) evicting() int {
	n := 0
	for _, node := range w.nodes.leaving {
		for k := range w.pods.on[node] {
			pod := w.pods.all[k]
			if _, arranged := w.ledger.arranged[pod.UID]; arranged && pod.DeletionTimestamp == nil {
				n++
			}
		}
	}
	return n
}

// DisplacedBy returns the disruption whose displaced pod this pod replaces, empty if there is none. It
// returns each displaced pod only once.
func (w *World) DisplacedBy(ref PodRef) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	pod := w.pods.all[key{Namespace: ref.Namespace, Name: ref.Name}]
	if pod == nil || pod.UID != ref.UID {
		return ""
	}
	of := w.workload(pod)
	left := slices.DeleteFunc(w.ledger.displaced[of], func(d displacement) bool { return w.clock.Since(d.at) > remembered })
	by := ""
	if len(left) > 0 {
		by, left = left[0].by, left[1:]
	}
	if len(left) == 0 {
		delete(w.ledger.displaced, of)
	} else {
		w.ledger.displaced[of] = left
	}
	return by
}
