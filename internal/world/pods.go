package world

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/owner"
	"tenon/internal/surge"
)

// podState holds the pods, as objects and as a list of values in the order of their names.
type podState struct {
	all       map[key]*corev1.Pod
	on        map[string]map[key]struct{}    // by the node that they are bound to
	waiting   map[key]time.Time              // pods that want a place and have no claim, since when
	waitingBy map[owner.Ref]int              // how many of the waiting pods each ReplicaSet has
	count     map[owner.Ref]int              // pods by ReplicaSet
	singles   map[owner.Ref]map[key]struct{} // pods to be replaced before they go, by ReplicaSet
	ending    map[key]struct{}               // bound pods that are being deleted
	gated     map[key]snapshot.Gated         // pods that scheduling gates hold
	held      map[string]time.Time           // by UID: pods that wait for other pods of their workload to end, until when
	dirty     map[key]struct{}               // to be translated again
	list      pages
}

func newPodState() podState {
	return podState{
		all: map[key]*corev1.Pod{}, on: map[string]map[key]struct{}{},
		waiting: map[key]time.Time{}, waitingBy: map[owner.Ref]int{}, count: map[owner.Ref]int{},
		singles: map[owner.Ref]map[key]struct{}{}, ending: map[key]struct{}{}, dirty: map[key]struct{}{}, gated: map[key]snapshot.Gated{},
	}
}

func (w *World) putPod(pod *corev1.Pod) {
	k := keyOf(pod)
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		w.removePod(k)
		return
	}
	pod = w.withoutNomination(pod)
	old := w.pods.all[k]
	if old != nil && old.UID != pod.UID {
		w.removePod(k) // a StatefulSet has made a pod again under the same name
		old = nil
	}
	if old != nil {
		w.pods.unlink(k, old)
	}
	w.pods.link(k, pod)
	w.credit(pod, old == nil)
	if pod.DeletionTimestamp == nil {
		delete(w.ledger.kept, k)
	} else if a, arranged := w.ledger.arranged[pod.UID]; arranged && (old == nil || old.DeletionTimestamp == nil) {
		w.keep(pod, a, false)
	}
	w.index.Replace(old, pod)
	if pod.Spec.NodeName != "" && (old == nil || old.Spec.NodeName == "") {
		w.bound(pod)
	}
	w.await(k, pod, old != nil && !ingest.IsJudged(old) && ingest.IsJudged(pod))
	if old != nil && ingest.DaemonSetOf(old) != ingest.DaemonSetOf(pod) {
		w.daemons.lost(old)
	}
	w.daemons.saw(pod, w.translator.Alike)
}

// credit notes what a ReplicaSet has made.
func (w *World) credit(pod *corev1.Pod, fresh bool) {
	set := replicaSetOf(pod)
	if set.None() || !w.index.Heard(set) {
		return
	}
	if fresh {
		delete(w.pulse.unmade, set)
		w.promises.came(set, w.pods.count[set], w.clock.Now())
	}
	w.promises.count(set.Namespace, w.pods.count[set])
}

// bound notes that the pod is bound. If it went elsewhere than to the place that was found for it, it may
// have taken another pod's.
func (w *World) bound(pod *corev1.Pod) {
	promised := w.ledger.claimFor(pod.UID)
	w.boundGuided(pod)
	w.ledger.release(pod.UID)
	delete(w.ledger.nominations, pod.UID)
	delete(w.ledger.lost, pod.UID)
	delete(w.ledger.toRecheck, pod.UID)
	host := w.nodes.claimOf(pod.Spec.NodeName)
	landed := host == promised
	if !landed && len(w.ledger.byClaim[host]) > 0 {
		if landed = w.exchangePlaces(pod, host, promised); !landed {
			w.ledger.crowded[host] = true
			w.pulse.count++ // the next look settles it
		}
	}
	if promised != "" {
		w.ledger.arrive(landed, w.clock.Now())
	}
}

// await notes whether the pod wants a place. judged says that the scheduler has just refused the pod.
func (w *World) await(k key, pod *corev1.Pod, judged bool) {
	_, waited := w.pods.waiting[k]
	waits := !w.ledger.hasPlace(pod.UID) && w.translator.Awaits(pod)
	switch {
	case waits && !waited:
		now := w.clock.Now()
		w.pods.waiting[k] = now
		if w.replacesMoved(pod) && w.ledger.lost[pod.UID].IsZero() {
			w.ledger.lost[pod.UID] = now
		}
		set := replicaSetOf(pod)
		w.pods.waitingBy[set]++
		w.pulse.arrive(set, !set.None() && w.pods.count[set] == 1, now)
	case waits && judged:
		w.pulse.object() // the scheduler found no place where we may have seen one
	case waited && !waits:
		w.pods.settle(k, pod)
	}
}

// settle notes that the pod no longer waits.
func (g *podState) settle(k key, pod *corev1.Pod) {
	if _, waited := g.waiting[k]; !waited {
		return
	}
	delete(g.waiting, k)
	set := replicaSetOf(pod)
	if g.waitingBy[set]--; g.waitingBy[set] <= 0 {
		delete(g.waitingBy, set)
	}
}

func (w *World) removePod(k key) {
	pod := w.pods.all[k]
	if pod == nil {
		return
	}
	w.pods.settle(k, pod)
	w.pods.unlink(k, pod)
	w.index.Replace(pod, nil)
	delete(w.pods.all, k)
	w.ledger.release(pod.UID)
	delete(w.ledger.nominations, pod.UID)
	delete(w.ledger.lost, pod.UID)
	delete(w.ledger.toRecheck, pod.UID)
	w.displace(pod)
	w.daemons.lost(pod)
	if len(w.pods.held) > 0 {
		w.pulse.supply() // a pod that was held for it need not wait any more
	}
}

// replicaSetOf returns the ReplicaSet that the pod names as its maker; empty if there is none.
func replicaSetOf(pod *corev1.Pod) owner.Ref {
	if ref := owner.Of(pod); ref.IsA("apps/v1", "ReplicaSet") {
		return ref
	}
	return owner.Ref{}
}

// counts reports whether a ReplicaSet counts the pod among those that it wants: as soon as a pod begins
// to end, the set makes another.
func counts(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func (g *podState) link(k key, pod *corev1.Pod) {
	g.all[k] = pod
	g.dirty[k] = struct{}{}
	if gated, is := ingest.Gated(pod); is {
		g.gated[k] = gated
	}
	set := replicaSetOf(pod)
	if counts(pod) {
		g.count[set]++
	}
	if surge.Wanted(pod) {
		if g.singles[set] == nil {
			g.singles[set] = map[key]struct{}{}
		}
		g.singles[set][k] = struct{}{}
	}
	if node := pod.Spec.NodeName; node != "" {
		if g.on[node] == nil {
			g.on[node] = map[key]struct{}{}
		}
		g.on[node][k] = struct{}{}
		if pod.DeletionTimestamp != nil {
			g.ending[k] = struct{}{}
		}
	}
}

func (g *podState) unlink(k key, pod *corev1.Pod) {
	g.dirty[k] = struct{}{}
	delete(g.ending, k)
	delete(g.gated, k)
	set := replicaSetOf(pod)
	if counts(pod) {
		if g.count[set]--; g.count[set] <= 0 {
			delete(g.count, set)
		}
	}
	if delete(g.singles[set], k); len(g.singles[set]) == 0 {
		delete(g.singles, set)
	}
	if node := pod.Spec.NodeName; node != "" {
		delete(g.on[node], k)
		if len(g.on[node]) == 0 {
			delete(g.on, node)
		}
	}
}

// gatedPods are the pods that scheduling gates hold, by namespace and name.
func (g *podState) gatedPods() []snapshot.Gated {
	return slices.SortedFunc(maps.Values(g.gated), func(a, b snapshot.Gated) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
}

func (g *podState) dirtyAll() {
	for k := range g.all {
		g.dirty[k] = struct{}{}
	}
}

func (g *podState) dirtyIn(namespace string) {
	for k := range g.all {
		if k.Namespace == namespace {
			g.dirty[k] = struct{}{}
		}
	}
}

// dirtySingles marks the pods of a ReplicaSet that are replaced before they go only while they are the
// set's only pod.
func (g *podState) dirtySingles(set owner.Ref) {
	for k := range g.singles[set] {
		g.dirty[k] = struct{}{}
	}
}

func (g *podState) dirtyAllSingles() {
	for set := range g.singles {
		g.dirtySingles(set)
	}
}

// dirtyWithClaims marks pods that use volumes, in one namespace or in all.
func (g *podState) dirtyWithClaims(namespace string) {
	for k, pod := range g.all {
		if (namespace == "" || k.Namespace == namespace) && hasVolumes(pod) {
			g.dirty[k] = struct{}{}
		}
	}
}

func hasVolumes(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil || v.Ephemeral != nil
	})
}

func (g *podState) dirtyOn(node string) {
	for k := range g.on[node] {
		g.dirty[k] = struct{}{}
	}
}

// refreshPods brings the list up to date.
func (w *World) refreshPods() {
	w.reconsider()
	w.releaseKept()
	if len(w.pods.dirty) == 0 {
		return
	}
	keys := make([]key, 0, len(w.pods.dirty))
	for k := range w.pods.dirty {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareKeys)
	fresh := make([]snapshot.Pod, 0, len(keys))
	for _, k := range keys {
		if successor, kept := w.successor(k); kept {
			fresh = append(fresh, successor)
		} else if pod := w.pods.all[k]; pod != nil {
			if translated, ok := w.translate(k, pod); ok {
				fresh = append(fresh, translated)
			}
		}
	}
	w.pods.list = w.pods.list.with(keys, fresh)
	clear(w.pods.dirty)
}

// reconsider marks the pods of leaving nodes that have become movable or unmovable: that depends on
// budgets and on the time.
func (w *World) reconsider() {
	for _, node := range w.nodes.leaving {
		stays := w.takenBack(node)
		for k := range w.pods.on[node] {
			movable := !stays && w.translator.Movable(w.pods.all[k])
			if known := w.pods.list.find(k); known == nil || known.Movable != movable {
				w.pods.dirty[k] = struct{}{}
			}
		}
	}
}

// translate leaves out pods that no decision can depend on: those on nodes that are not in the picture. A
// pod that a claim was bought for counts at its future place.
func (w *World) translate(k key, pod *corev1.Pod) (snapshot.Pod, bool) {
	node := pod.Spec.NodeName
	leaving, known := w.nodes.standing(node)
	if node != "" && !known {
		return snapshot.Pod{}, false
	}
	_, arranged := w.ledger.arranged[pod.UID]
	out, ok := w.translator.PodOn(pod, leaving && (arranged || !w.takenBack(node)))
	if ok && out.Pending {
		if promised, found := w.nodes.nodeOf(w.ledger.claimFor(pod.UID)); found {
			out.Node, out.Pending, out.Refused = promised, false, nil
			out.Tie = w.translator.Tie(pod)
			out.Tie.Promised = true
		}
	}
	if ok && leaving && out.Movable {
		if place, found := w.arranged(pod.UID); found {
			if out.Movable = false; place != "" {
				out.Node, out.Tie.Promised = place, true
			}
		}
	}
	return out, ok
}

// takenBack reports whether a node leaves for a disruption that will be cancelled.
func (w *World) takenBack(node string) bool {
	m := w.nodes.pairs.byNode[node]
	return m != nil && ingest.TakenBack(&m.value, m.node, m.claim, func(claim string) bool { return w.nodes.claim(claim) != nil })
}

func compareKeys(a, b key) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

func comparePod(p snapshot.Pod, k key) int {
	return compareKeys(key{Namespace: p.Namespace, Name: p.Name}, k)
}
