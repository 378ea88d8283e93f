package world

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"tenon/core/order"
	"tenon/internal/departure"
	"tenon/internal/owner"
)

// guidance leads the successors of evicted pods to the nodes where a disruption planned them: while its pods are
// evicted, all nodes with room have a mark that kube-scheduler avoids, and one receiver after the other loses it
// while the pods that are planned on it are evicted. Nodes that are bought for them have it from the time when they join: they
// are empty, so that all other pods would come there.
//
//	pods are about to move ──▶ nodes are marked ──▶ a receiver opens ──▶ its pods are evicted, and their successors bound ──▶ the next one
//	                                                                                                                    └─▶ no mark
//
// Guidance never keeps a pod from being evicted for long, and pods that go elsewhere are no error.
type guidance struct {
	command string   // whose pods move
	marks   []string // nodes
	rounds  []*round // those that are not over, in their order
	begun   time.Time
}

// round is a receiver, and the pods that are evicted while it is open.
type round struct {
	of     *guidance
	on     string // a node or a claim
	bought bool   // the node is bought for these pods
	pods   []PodRef
	asked  map[types.UID]bool // for their turn
	first  time.Time          // when the first of them did
	opened time.Time
	again  bool // it was open before
	over   bool
	// due counts the successors that are to come of pods that have ended since the receiver opened, and bound the pods of these
	// workloads that were made and bound since.
	due, bound int
	workloads  map[owner.Ref]bool
	// done is how many pods have ended or were bound, and moved when it last changed while the receiver was open.
	done  int
	moved time.Time
}

const (
	// longestPause is how long a receiver is open while none of its pods is evicted or bound, and longestGathering how long it
	// stays closed after the first of its pods could be evicted, for the others: nodes begin to drain one after the other, and
	// receivers whose pods are ready go first.
	longestPause     = 3 * time.Second
	longestGathering = 10 * time.Second
	// longestStandstill is how long pods wait for their rounds while no receiver opens or closes, and longestGuidance how long
	// those of one disruption are guided at all.
	longestStandstill = 30 * time.Second
	longestGuidance   = 5 * time.Minute
	// turnRetry is when a pod that waits for its round asks again, should it not be woken.
	turnRetry = 3 * time.Second
)

// guide notes how the pods of a command are to be guided; not at all without marks. A receiver has a round for each run of pods that
// are to go there one after the other.
func (w *World) guide(command string, marks []string, places []Place, evict []types.UID) {
	if len(marks) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	g, r := &guidance{command: command, marks: slices.Clone(marks)}, (*round)(nil)
	for _, m := range inTurn(places, evict) {
		a, arranged := w.ledger.arranged[m.UID]
		if !arranged {
			continue
		}
		if r == nil || r.on != m.to {
			r = &round{on: m.to, bought: w.nodes.nodes[m.to] == nil, of: g, asked: map[types.UID]bool{}, workloads: map[owner.Ref]bool{}}
			g.rounds = append(g.rounds, r)
		}
		a.round = r
		w.ledger.arranged[m.UID] = a
		r.pods = append(r.pods, m.PodRef)
		r.workloads[w.workload(w.pods.all[key{Namespace: m.Namespace, Name: m.Name}])] = true
	}
	w.ledger.guided = append(w.ledger.guided, g)
}

// startGuidance has nodes marked for the pods of a command whose nodes are closed. It does not wait for the first pod that asks for its turn.
func (w *World) startGuidance(command string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range w.ledger.guided {
		if g.command == command {
			w.beginGuiding(g)
		}
	}
}

// beginGuiding notes that pods begin to be guided.
func (w *World) beginGuiding(g *guidance) {
	if g.begun.IsZero() {
		g.begun = w.clock.Now()
		w.notifyGuide()
	}
}

// move is a pod that goes to a receiver.
type move struct {
	PodRef
	to string
}

// inTurn are the pods of some places in the order of their evictions, and at last those that are not in it.
func inTurn(places []Place, evict []types.UID) []move {
	turn := make(map[types.UID]int, len(evict))
	for i, uid := range evict {
		turn[uid] = i - len(evict)
	}
	var out []move
	for _, p := range places {
		for _, ref := range p.Pods {
			out = append(out, move{ref, p.On})
		}
	}
	slices.SortStableFunc(out, func(a, b move) int { return turn[a.UID] - turn[b.UID] })
	return out
}

// turnOf is how long a pod waits for its round.
func (w *World) turnOf(pod types.UID, r *round) time.Duration {
	now := w.clock.Now()
	r.asked[pod] = true
	if r.first.IsZero() {
		r.first = now
	}
	w.beginGuiding(r.of)
	if r.opened.IsZero() && w.canOpen(r, now) {
		w.notifyGuide()
	}
	if r.over || !r.opened.IsZero() || w.late(r.of, now) {
		return 0
	}
	return turnRetry
}

// late reports whether the pods of a disruption have been guided, or have waited for that, for long enough.
func (w *World) late(g *guidance, now time.Time) bool {
	if g.begun.IsZero() {
		return false
	}
	moved := w.ledger.guidedOn
	if moved.Before(g.begun) {
		moved = g.begun
	}
	return now.Sub(moved) >= longestStandstill || now.Sub(g.begun) >= longestGuidance
}

// Guide takes the rounds of all disruptions further, and returns the nodes that are to have the mark now. Nodes that have it already are
// given: no receiver opens before all others are marked, except the one that has just closed, whose mark is written at the same time. Guiding
// reports whether there is anything left to do.
func (w *World) Guide(marked map[string]bool) (marks map[string]bool, guiding bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	closing := w.openRound() // unless it stays open
	w.forgetGuided(now)
	marks = map[string]bool{}
	begun := slices.ContainsFunc(w.ledger.guided, func(g *guidance) bool { return !g.begun.IsZero() })
	for _, g := range w.ledger.guided { // those that wait for their receivers, too: the pods of others would take the room
		for _, r := range g.rounds {
			if begun || r.bought {
				marks[w.nodeNamed(r.on)] = true
			}
		}
		if begun {
			for _, name := range g.marks {
				marks[name] = true
			}
		}
	}
	maps.DeleteFunc(marks, func(name string, _ bool) bool { // nor does a node need the mark that another disruption has closed
		return w.nodes.nodes[name] == nil || departure.Closed(w.nodes.nodes[name])
	})
	open := w.openRound()
	unmarked := func(name string) bool { return !marked[name] && (closing == nil || name != w.nodeNamed(closing.on)) }
	if open == nil && begun && !slices.ContainsFunc(order.Keys(marks), unmarked) {
		if open = w.nextRound(now); open != nil {
			open.opened, open.moved, w.ledger.guidedOn = now, now, now
			w.notifyTurns(w.leftOf(open))
		}
	}
	if open != nil {
		delete(marks, w.nodeNamed(open.on))
	}
	return marks, len(marks) > 0 || begun
}

// forgetGuided forgets the disruptions whose pods have all moved, once all have. Until then their nodes keep their marks, for a while if the next one
// does not begin: pods that came elsewhere than planned leave room behind that no later disruption knows of.
func (w *World) forgetGuided(now time.Time) {
	left := 0
	for _, g := range w.ledger.guided {
		if !w.guidanceOver(g, now) {
			left++
		}
	}
	w.ledger.guided = slices.DeleteFunc(w.ledger.guided, func(g *guidance) bool {
		return len(g.rounds) == 0 && (left == 0 || g.begun.IsZero() || now.Sub(w.ledger.guidedOn) >= longestStandstill)
	})
}

// openRound is the one whose receiver is open; nil if there is none. With more receivers at the same time, pods would get into each other's places.
func (w *World) openRound() *round {
	for _, g := range w.ledger.guided {
		for _, r := range g.rounds {
			if !r.opened.IsZero() {
				return r
			}
		}
	}
	return nil
}

// nextRound is the first one that can be opened; nil if there is none.
func (w *World) nextRound(now time.Time) *round {
	for _, g := range w.ledger.guided {
		for _, r := range g.rounds {
			if w.canOpen(r, now) {
				return r
			}
		}
	}
	return nil
}

// guidanceOver takes the rounds out that are over, and reports whether none is left. Pods that could not be evicted in time get a
// second round, after all others.
func (w *World) guidanceOver(g *guidance, now time.Time) bool {
	late := w.late(g, now)
	var again []*round
	g.rounds = slices.DeleteFunc(g.rounds, func(r *round) bool {
		left, isOpen := w.leftOf(r), !r.opened.IsZero()
		if done := len(r.pods) - len(left) + r.bound; isOpen && r.done != done {
			r.done, r.moved = done, now
		}
		done := len(left) == 0 && r.bound >= r.due
		timedOut := isOpen && now.Sub(r.moved) >= longestPause
		if !late && timedOut && len(left) > 0 && !r.again {
			again = append(again, &round{on: r.on, bought: r.bought, pods: left, asked: r.asked, of: g, workloads: r.workloads, first: r.first, again: true})
		}
		r.over = late || done || timedOut
		if r.over && isOpen {
			w.ledger.guidedOn = now
		}
		return r.over
	})
	for _, r := range again {
		for _, ref := range r.pods {
			a := w.ledger.arranged[ref.UID]
			a.round = r
			w.ledger.arranged[ref.UID] = a
		}
	}
	g.rounds = append(g.rounds, again...)
	return len(g.rounds) == 0
}

// canOpen reports whether the pods of a round can be evicted, or have waited for each other for long enough.
func (w *World) canOpen(r *round, now time.Time) bool {
	if r.first.IsZero() {
		return false
	}
	if now.Sub(r.first) >= longestGathering {
		return true
	}
	for _, ref := range w.leftOf(r) {
		if !r.asked[ref.UID] {
			return false
		}
	}
	return true
}

// leftOf returns the pods of a round that are to be evicted yet. It leaves out pods that stay, because their places were taken back.
func (w *World) leftOf(r *round) []PodRef {
	var left []PodRef
	for _, ref := range r.pods {
		pod := w.pods.all[key{Namespace: ref.Namespace, Name: ref.Name}]
		if pod != nil && pod.UID == ref.UID && pod.DeletionTimestamp == nil && w.ledger.arranged[ref.UID].round == r {
			left = append(left, ref)
		}
	}
	return left
}

// endGuided notes that a pod of a round ends. While its receiver is open, a successor is awaited, unless the pod's ReplicaSet makes none: it
// has been scaled down.
func (w *World) endGuided(pod *corev1.Pod, r *round) {
	if r == nil || r.opened.IsZero() {
		return
	}
	set := replicaSetOf(pod)
	if _, known := w.index.Target(set); !known || w.missing(set) > 0 {
		r.due++
	} else {
		w.notifyGuide()
	}
}

// boundGuided counts a pod that was bound for the round that awaits it.
func (w *World) boundGuided(pod *corev1.Pod) {
	if r := w.openRound(); r != nil && r.workloads[w.workload(pod)] && !pod.CreationTimestamp.Time.Before(r.opened.Truncate(time.Second)) {
		r.bound++
		w.notifyGuide()
	}
}

// nodeNamed is the node of a claim, from the time when it joins, or the node of that name.
func (w *World) nodeNamed(place string) string {
	if node := w.nodes.nodeFor(place); node != nil {
		return node.Name
	}
	return place
}

// SubscribeTurns registers wake, which is called with the pods that are to be evicted because their receiver opens. It is not open yet:
// until their successors are made, the mark is gone. wake must return at once.
func (w *World) SubscribeTurns(wake func(...types.NamespacedName)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ledger.wakeTurns = wake
}

func (w *World) notifyTurns(pods []PodRef) {
	if w.ledger.wakeTurns == nil {
		return
	}
	for _, ref := range pods {
		w.ledger.wakeTurns(types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	}
}

// SubscribeGuidance registers wake, which is called when pods begin to be guided, and when a receiver may open or close. wake must return at once.
func (w *World) SubscribeGuidance(wake func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ledger.wakeGuide = wake
}

func (w *World) notifyGuide() {
	if w.ledger.wakeGuide != nil {
		w.ledger.wakeGuide()
	}
}
