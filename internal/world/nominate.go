package world

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/order"
	"tenon/internal/ingest"
)

// Nomination says which node a pod's status.nominatedNodeName should name. An empty node takes back an
// earlier nomination.
type Nomination struct {
	PodRef
	Node string
}

// mostRemovals is after how many removals by kube-scheduler a pod is not nominated any more: it removes a nomination when it tried the pod and
// found no room. A new decision places the pod when its place expires.
const mostRemovals = 3

// nominated is what we wrote into a pod's status.
type nominated struct {
	node  string   // what it should say now; empty for nothing
	after string   // the pod's version before that
	seen  bool     // whether a watch has reported that
	nodes []string // all that were ever written
	// removed is how often kube-scheduler removed it from an open node. Nodes that are closed have room for nothing.
	removed int
}

// contended reports whether pods of different templates have places that they have not taken. Pods of one
// template fit in each other's places, so it does not matter which of them the scheduler puts where, and
// nominating each would be a useless write.
func (l *ledger) contended() bool { return len(l.shapes) > 1 }

// fewPlaces is up to how many pods of a single template are nominated for nodes that are open. Elsewhere
// there may be room that the plan keeps for others, such as a buffer's, which a pod that moves must not
// take. In a burst of equal pods all room is for them, and thousands of nominations slow the scheduler.
const fewPlaces = 100

// More pods than manyPlaces that are on their way are a burst. It lasts for longestBurst at most: in a cluster where many pods are
// always on their way, nothing may wait for the end.
const (
	manyPlaces   = 100
	longestBurst = 2 * time.Minute
)

// Bursting reports whether many pods are on their way to places that were found for them a short while ago.
func (w *World) Bursting() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ledger.places) > manyPlaces && w.clock.Now().Sub(w.ledger.burst) < longestBurst
}

// OpensWithOthers reports whether a claim's node opens together with those for which pods are nominated, and so does a node on
// which no pod has its place yet: pods of the others would come there, and those for which it was bought may yet be created.
func (w *World) OpensWithOthers(claim string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ledger.contended() {
		return false
	}
	for uid, s := range w.ledger.byClaim[claim] {
		if pod := w.pods.all[s.key]; pod != nil && pod.UID == uid && !inOrder(pod) {
			return true
		}
	}
	return len(w.ledger.byClaim[claim]) == 0
}

// inOrder reports whether the scheduler can put a pod into its domain only in turn with other pods: the
// pod is spread evenly, so the scheduler removes a nomination that is ahead of its turn.
func inOrder(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.DoNotSchedule && c.TopologyKey != corev1.LabelHostname
	})
}

// Unopened counts the pods with places on nodes that are closed or have yet to come.
type Unopened struct {
	Nodes, Places int
	Unbound       bool // there are pods that are nominated for open nodes
	Coming        bool // ReplicaSets are making pods that they have announced
}

// PlacesOn counts the pods with places on a claim's node.
func (w *World) PlacesOn(claim string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ledger.byClaim[claim])
}

// Unopened counts the pods with places on nodes that have yet to open, and these nodes.
func (w *World) Unopened() Unopened {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := Unopened{Coming: w.promises.coming(w.clock.Now())}
	for name, pods := range w.ledger.byClaim {
		if isOpen(w.nodes.nodeFor(name)) {
			out.Unbound = out.Unbound || w.ledger.nominated(pods) // every node that waits asks: looking at all pods would be most of it
			continue
		}
		out.Nodes++
		out.Places += len(pods)
	}
	return out
}

// nominated reports whether the nomination of one of some pods stands, as far as we know.
func (l *ledger) nominated(pods map[types.UID]placedPod) bool {
	for uid := range pods {
		if l.isNominated(uid) {
			return true
		}
	}
	return false
}

func (l *ledger) isNominated(pod types.UID) bool {
	said := l.nominations[pod]
	return said != nil && said.node != ""
}

// NominationsFor returns the nominations to write before the nodes of claims open for pods. A pod that is tried while its node is closed
// loses its nomination, so those that kube-scheduler tries next come last. The world assumes that the caller writes them.
func (w *World) NominationsFor(nodes map[string]string) []Nomination {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ledger.contended() {
		return nil
	}
	w.lineUp(order.Keys(nodes))
	pods := w.queueFor(nodes)
	slices.Reverse(pods)
	var out []Nomination
	for _, p := range pods {
		out = w.nominate(out, p.pod.UID, keyOf(p.pod), nodes[w.ledger.claimFor(p.pod.UID)])
	}
	return out
}

// Heard reports whether watches have reported all standing nominations for a claim's node.
func (w *World) Heard(claim, node string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for uid := range w.ledger.byClaim[claim] {
		if said := w.ledger.nominations[uid]; said != nil && said.node == node && !said.seen {
			return false
		}
	}
	return true
}

// Corrections returns the nominations that nodes which are open, or are being opened, lack, because the scheduler removed them or because
// the place was found after the node had opened, and those to take back. It returns each nomination once
// and assumes that the caller writes it.
func (w *World) Corrections() []Nomination {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Nomination
	for uid, k := range w.ledger.toRecheck {
		claim := w.ledger.claimFor(uid)
		node := w.nodes.nodeFor(claim)
		said := w.ledger.nominations[uid]
		switch {
		case node != nil && said != nil && said.node == node.Name: // it stands
		case !isOpen(node) && !w.isOpening(claim): // the pod has no place, or is nominated when its node opens
			out = w.withdraw(out, uid, k)
		case w.ledger.contended() || len(w.ledger.places) <= fewPlaces:
			out = w.nominate(out, uid, k, node.Name)
		}
	}
	clear(w.ledger.toRecheck)
	sortNominations(out)
	return out
}

// nominate appends the nomination of a pod, unless it stands already, it was tried too often, or the
// scheduler has nominated the pod itself.
func (w *World) nominate(out []Nomination, uid types.UID, k key, node string) []Nomination {
	if pod := w.pods.all[k]; pod == nil || !nominable(pod, uid) {
		return out
	}
	said := w.ledger.nominations[uid]
	if said == nil {
		said = &nominated{}
		w.ledger.nominations[uid] = said
	}
	if said.node == node || said.removed >= mostRemovals {
		return out
	}
	said.node, said.after, said.seen, said.nodes = node, w.pods.all[k].ResourceVersion, false, append(said.nodes, node)
	return append(out, Nomination{PodRef{uid, k.Namespace, k.Name}, node})
}

// nominable reports whether a pod waits, in no order with others, and not where the scheduler wants to make room for it.
func nominable(pod *corev1.Pod, uid types.UID) bool {
	return pod.UID == uid && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && pod.Status.NominatedNodeName == "" && !inOrder(pod)
}

func (w *World) withdraw(out []Nomination, uid types.UID, k key) []Nomination {
	said := w.ledger.nominations[uid]
	if said == nil || said.node == "" {
		return out
	}
	said.node, said.seen = "", false
	return append(out, Nomination{PodRef{uid, k.Namespace, k.Name}, ""})
}

func sortNominations(list []Nomination) {
	slices.SortFunc(list, func(a, b Nomination) int {
		return compareKeys(key{Namespace: a.Namespace, Name: a.Name}, key{Namespace: b.Namespace, Name: b.Name})
	})
}

// withoutNomination returns a pod as it would be without our nomination: it reserves no room of other
// pods, as a nomination by the scheduler does, and waits like every other pod.
func (w *World) withoutNomination(pod *corev1.Pod) *corev1.Pod {
	said, named := w.ledger.nominations[pod.UID], pod.Status.NominatedNodeName
	if named != "" && pod.Spec.NodeName == "" && (said == nil || !slices.Contains(said.nodes, named)) {
		w.ledger.foreign[keyOf(pod)] = struct{}{}
		w.pulse.count++ // the next look says whose it is
		return pod
	}
	if said == nil {
		return pod
	}
	if named == "" {
		if said.seen && pod.Spec.NodeName == "" { // the scheduler tried the node and removed the nomination
			if isOpen(w.nodes.nodes[said.node]) {
				said.removed++
			}
			said.node, said.seen = "", false
			w.recheckNomination(pod.UID, keyOf(pod))
		}
		return pod
	}
	if named == said.node {
		said.seen = true
	}
	bare := *pod
	bare.Status.NominatedNodeName = ""
	return &bare
}

// adopt treats nominations that the scheduler cannot have written as ours: the scheduler nominates a pod
// only for a node on which pods of lower priority make room. An earlier process or another autoscaler may
// have written them; a pod that was left alone because of them would wait for ever. The next decision may give
// the pod that place again. If it does not, the nomination is taken back, because it keeps the node's room
// from other pods.
func (w *World) adopt() {
	for uid, k := range w.ledger.inherited {
		if !w.ledger.hasPlace(uid) {
			w.recheckNomination(uid, k)
		}
	}
	clear(w.ledger.inherited)
	keys := slices.SortedFunc(maps.Keys(w.ledger.foreign), compareKeys)
	clear(w.ledger.foreign)
	for _, k := range keys {
		pod := w.pods.all[k]
		if pod == nil || pod.Spec.NodeName != "" || pod.Status.NominatedNodeName == "" {
			continue
		}
		node := pod.Status.NominatedNodeName
		if w.drivesAway(pod, node) {
			continue
		}
		w.ledger.nominations[pod.UID] = &nominated{node: node, seen: true, nodes: []string{node}}
		w.ledger.inherited[pod.UID] = k
		w.putPod(pod)
	}
}

// drivesAway reports whether a node has pods of lower priority than one that is nominated for it.
func (w *World) drivesAway(pod *corev1.Pod, node string) bool {
	for k := range w.pods.on[node] {
		if priorityOf(w.pods.all[k]) < priorityOf(pod) {
			return true
		}
	}
	return false
}

// recheckNomination marks the nomination of a pod for another look.
func (w *World) recheckNomination(pod types.UID, k key) {
	w.ledger.toRecheck[pod] = k
	w.pulse.count++
}

// recheckNominations marks the pods without a nomination that have their places on a claim whose node opens: the scheduler may have
// tried them when it did not know yet that the node is open, and what it took away keeps no room.
func (w *World) recheckNominations(claim string) {
	for uid, s := range w.ledger.byClaim[claim] {
		if !w.ledger.isNominated(uid) {
			w.recheckNomination(uid, s.key)
		}
	}
}

// SubscribePlacements has each pod with a place counted when it is bound: it landed in its own place or in one kept for a pod of the same
// template, or it strayed elsewhere. The function must not call the world.
func (w *World) SubscribePlacements(count func(landed bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ledger.countPlacement = count
}

// arrive counts a pod with a place when it is bound.
func (l *ledger) arrive(landed bool, now time.Time) {
	l.progress = now
	if l.countPlacement != nil {
		l.countPlacement(landed)
	}
}

// Refused reports whether the scheduler has tried a pod and found no place for it.
func (w *World) Refused(ref PodRef) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	pod := w.pods.all[key{Namespace: ref.Namespace, Name: ref.Name}]
	return pod != nil && pod.UID == ref.UID && ingest.IsJudged(pod)
}

// opening is how long a node counts as being opened at most: on a busy API server the write takes a second.
const opening = 5 * time.Second

// isOpening reports whether a claim's node is being opened: what kube-scheduler takes away meanwhile would be written too late once we see the
// node open, because others have taken the room by then.
func (w *World) isOpening(claim string) bool {
	at, is := w.ledger.opening[claim]
	return is && w.nodes.nodeFor(claim) != nil && w.clock.Since(at) < opening
}

// isOpen reports whether a node has been registered and takes pods.
func isOpen(node *corev1.Node) bool {
	if node == nil || node.DeletionTimestamp != nil || node.Labels[karpenterv1.LabelRegistered] != "true" {
		return false
	}
	closed := karpenterv1.TaintUnregistered()
	return !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&closed) })
}
