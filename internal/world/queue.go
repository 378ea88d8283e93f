package world

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"tenon/core/order"
	"tenon/core/snapshot"
)

// lineUp exchanges places between pods of one template, so that those that kube-scheduler tries first have theirs together on few
// nodes: these open after the others. A pod that is tried before its node is open loses its nomination, and another may take its room.
func (w *World) lineUp(claims []string) {
	var pods []queuedPod
	free := map[snapshot.TemplateIndex][]freePlaces{}
	for _, claim := range claims {
		for uid, s := range w.ledger.byClaim[claim] {
			if pod := w.pods.all[s.key]; s.shape >= 0 && pod != nil && nominable(pod, uid) && !w.ledger.isNominated(uid) {
				pods = append(pods, w.queued(pod, s.shape))
				free[s.shape] = addPlace(free[s.shape], claim)
			}
		}
	}
	for _, places := range free {
		slices.SortStableFunc(places, func(a, b freePlaces) int { return cmp.Compare(b.count, a.count) })
	}
	opens := map[string]bool{}
	slices.SortFunc(pods, triedFirst)
	for _, p := range pods {
		claim := takePlace(free[p.shape], opens)
		opens[claim] = true
		if claim != w.ledger.claimFor(p.pod.UID) {
			w.givePlace(claim, p.pod.UID, keyOf(p.pod), p.shape)
		}
	}
}

// freePlaces are a claim's places for pods of one template.
type freePlaces struct {
	claim string
	count int
}

// addPlace counts one place more on a claim, which is the last one in the list or a new one.
func addPlace(list []freePlaces, claim string) []freePlaces {
	if n := len(list); n > 0 && list[n-1].claim == claim {
		list[n-1].count++
		return list
	}
	return append(list, freePlaces{claim, 1})
}

// takePlace takes a place on a node that opens already for others, or else on the one with the most places.
func takePlace(list []freePlaces, opens map[string]bool) string {
	free := -1
	for i, p := range list {
		if p.count > 0 && (free < 0 || opens[p.claim]) {
			free = i
			if opens[p.claim] {
				break
			}
		}
	}
	list[free].count--
	return list[free].claim
}

// How many pods kube-scheduler may try while nodes open, before we hear of the first: leastTried, and one more for every nodesATry nodes.
const (
	leastTried = 20
	nodesATry  = 2
)

// NextToOpen returns which nodes are to open next, by claim, of nodes that open together and of which some are closed still: those with pods
// that are all nominated and that kube-scheduler does not try meanwhile, or all if there are none. Those of the pods that it tries first come
// first, and nodes without pods last. A pod that is tried while its node is closed loses its nomination. That does no harm if the pod
// is nominated again before the node opens; but we learn of it later, and a node that opens meanwhile has room for others.
// The world assumes that the caller opens them.
func (w *World) NextToOpen(together, closed map[string]string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	queue := w.queueFor(together)
	first := map[string]int{} // where the first pod of each claim is in the queue
	for claim := range closed {
		first[claim] = len(queue)
	}
	for i, p := range slices.Backward(queue) {
		first[w.ledger.claimFor(p.pod.UID)] = i
	}
	claims := order.Keys(closed)
	slices.SortStableFunc(claims, func(a, b string) int { return cmp.Compare(first[a], first[b]) })
	soon := leastTried + len(closed)/nodesATry
	later := slices.DeleteFunc(slices.Clone(claims), func(claim string) bool {
		return first[claim] < soon || first[claim] == len(queue) || w.lacksNominations(claim, closed[claim])
	})
	if len(later) > 0 {
		claims = later
	}
	for _, claim := range claims {
		w.ledger.opening[claim] = w.clock.Now()
	}
	return claims
}

// lacksNominations reports whether a pod that has its place on a claim's node is not known to be nominated for it, and may be.
func (w *World) lacksNominations(claim, node string) bool {
	for uid, s := range w.ledger.byClaim[claim] {
		said := w.ledger.nominations[uid]
		if said != nil && (said.node == node && said.seen || said.removed >= mostRemovals) {
			continue
		}
		if pod := w.pods.all[s.key]; pod != nil && nominable(pod, uid) {
			return true
		}
	}
	return false
}

// queueFor returns the pods with places on claims in the order in which kube-scheduler tries them.
func (w *World) queueFor(claims map[string]string) []queuedPod {
	var pods []queuedPod
	for claim := range claims {
		for uid, s := range w.ledger.byClaim[claim] {
			if pod := w.pods.all[s.key]; pod != nil && pod.UID == uid {
				pods = append(pods, w.queued(pod, s.shape))
			}
		}
	}
	slices.SortFunc(pods, triedFirst)
	return pods
}

// queuedPod is a pod in kube-scheduler's queue.
type queuedPod struct {
	pod     *corev1.Pod
	shape   snapshot.TemplateIndex
	tried   bool   // no node was found for it, so it sleeps until one opens
	version string // when it was created, or last tried
}

// queued says where in kube-scheduler's queue a pod is. The scheduler writes into a pod when it has found no node for it, so the version
// of a pod tells when that was, unless it is we who wrote last.
func (w *World) queued(pod *corev1.Pod, shape snapshot.TemplateIndex) queuedPod {
	q := queuedPod{pod: pod, shape: shape, version: pod.ResourceVersion}
	if said := w.ledger.nominations[pod.UID]; said != nil && said.node != "" {
		q.version = said.after
	}
	q.tried = slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
	})
	return q
}

// triedFirst compares pods by when kube-scheduler comes to them: those of higher priority first, of these the ones that it has not tried yet,
// and then those that it has not tried for longest.
func triedFirst(a, b queuedPod) int {
	newer, err := resourceversion.CompareResourceVersion(a.version, b.version)
	if err != nil {
		newer = 0
	}
	return cmp.Or(cmp.Compare(priorityOf(b.pod), priorityOf(a.pod)), order.Bools(a.tried, b.tried), newer, compareKeys(keyOf(a.pod), keyOf(b.pod)))
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}
