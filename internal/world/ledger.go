package world

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/owner"
)

// ledger holds what we have done and not yet seen: the claims that we made (among the nodes, as assumed),
// and the pods that each was made for. A pod keeps its place until it is bound, so that nothing is bought
// for it twice while the watches are behind.
type ledger struct {
	places    map[types.UID]string // claims by pod
	burst     time.Time            // when there came to be many of them
	byClaim   map[string]map[types.UID]placedPod
	since     map[string]time.Time         // when a claim was assumed
	taken     map[string]model.Resources   // what the claim takes of its pool's limits, until the list has it
	arranged  map[types.UID]arrangement    // see Arrange
	displaced map[owner.Ref][]displacement // pods that disruptions have moved, by workload
	kept      map[key]keptPlace            // the places of evicted pods whose successors do not exist yet
	crowded   map[string]bool              // claims whose room another pod may have taken
	opening   map[string]time.Time         // since when the nodes of claims are being opened, see NextToOpen
	guided    []*guidance                  // of the disruptions whose pods are guided, the oldest first
	guidedOn  time.Time                    // when a receiver last opened or closed for them
	wakeGuide func()
	wakeTurns func(...types.NamespacedName)

	shapes         map[snapshot.TemplateIndex]int // the number of places for pods of each template
	nominations    map[types.UID]*nominated       // what we wrote into pods, see NominationsFor
	toRecheck      map[types.UID]key              // pods whose nomination is to be looked at again
	foreign        map[key]struct{}               // pods with nominations that are not known to be ours
	inherited      map[types.UID]key              // pods with nominations of an earlier process, until the next decision
	countPlacement func(landed bool)              // see SubscribePlacements
	progress       time.Time                      // when a pod with a place was last bound
	lost           map[types.UID]time.Time        // when pods without a node first lost their places
}

// placedPod is a pod with a place, the template that says what it asks for, and the time since when.
type placedPod struct {
	key
	shape snapshot.TemplateIndex
	since time.Time
}

func newLedger() ledger {
	return ledger{places: map[types.UID]string{}, byClaim: map[string]map[types.UID]placedPod{}, since: map[string]time.Time{}, taken: map[string]model.Resources{}, arranged: map[types.UID]arrangement{}, displaced: map[owner.Ref][]displacement{}, kept: map[key]keptPlace{}, crowded: map[string]bool{}, opening: map[string]time.Time{},
		shapes: map[snapshot.TemplateIndex]int{}, nominations: map[types.UID]*nominated{}, toRecheck: map[types.UID]key{}, foreign: map[key]struct{}{}, inherited: map[types.UID]key{}, lost: map[types.UID]time.Time{}}
}

// patience is how long a pod keeps its place on a node that is ready for it. It restarts whenever a pod
// with a place is bound. The scheduler retries pods after at most ten seconds; a pod that is not bound by
// then stays away for an unknown reason, and the next decision looks at it again. During a large burst the
// scheduler may only be slow, so longestPatience bounds the whole wait.
const (
	patience        = 15 * time.Second
	longestPatience = 2 * time.Minute
)

// doubtful is how long the watches may lack a claim that we made before the API server is asked for it.
const doubtful = 15 * time.Second

// PodRef is a pod for which a place was found.
type PodRef struct {
	UID             types.UID
	Namespace, Name string
}

// RefOf names a pod of a snapshot.
func RefOf(p *snapshot.Pod) PodRef {
	return PodRef{UID: types.UID(p.UID), Namespace: p.Namespace, Name: p.Name}
}

// Assume enters a claim before it is made, with its share of the pool's limits and the pods that it is
// made for: from now on they have a place. Assume refuses a claim for which the limits leave no room. A
// caller that finds that the claim was not made takes it back with Retract.
func (w *World) Assume(claim *karpenterv1.NodeClaim, capacity model.Resources, pods []PodRef) reason.Cause {
	var cause reason.Cause
	w.change(func() {
		if w.nodes.claim(claim.Name) != nil {
			cause = reason.Cause{Code: reason.NameTaken, Where: claim.Name}
			return
		}
		pool := claim.Labels[karpenterv1.LabelNodePool]
		if cause = w.overrun(pool, capacity); cause.Code != reason.None {
			return
		}
		w.nodes.assumed[claim.Name] = claim
		w.nodes.stale = true
		w.ledger.since[claim.Name] = w.clock.Now()
		w.ledger.taken[claim.Name] = capacity
		w.made(claim.Name)
		w.commit(claim.Name, pods)
	})
	return cause
}

// overrun returns the limit of a pool, or of the cluster, that one more node would break.
func (w *World) overrun(name string, capacity model.Resources) reason.Cause {
	if pool := w.pools[name]; pool != nil && len(pool.Spec.Limits) > 0 {
		used, nodes := w.usage(w.nodes.list, func(of string) bool { return of == name })
		if cause := beyond(w.translator.Pool(pool).Limits, used.Add(capacity), nodes+1); cause.Code != reason.None {
			return cause
		}
	}
	if limits := w.options.Settings.Limits; len(limits) > 0 {
		used, nodes := w.usageOfAll()
		return beyond(limits, used.Add(capacity), nodes+1)
	}
	return reason.Cause{}
}

// beyond returns the limit that so many nodes would break.
func beyond(limits []model.Amount, used model.Resources, nodes int64) reason.Cause {
	for _, limit := range limits {
		have := used.Get(limit.Name)
		if limit.Name == model.Nodes {
			have = nodes
		}
		if have > limit.Value {
			return reason.Cause{Code: reason.LimitTaken, Where: limit.Name}
		}
	}
	return reason.Cause{}
}

// usageOfAll returns what counts for the limits of the cluster.
func (w *World) usageOfAll() (used model.Resources, nodes int64) {
	return w.usage(w.withUnderway(), func(string) bool { return true })
}

// usage returns what nodes of some pools take, without those that are leaving, together with those ordered
// since the last picture.
func (w *World) usage(list []snapshot.Node, counts func(pool string) bool) (used model.Resources, nodes int64) {
	for i := range list {
		if n := &list[i]; counts(n.Pool) && n.Counts() {
			used = used.Add(n.Capacity)
			nodes++
		}
	}
	for name, taken := range w.ledger.taken {
		if claim := w.nodes.claim(name); claim != nil && counts(claim.Labels[karpenterv1.LabelNodePool]) {
			used = used.Add(taken)
			nodes++
		}
	}
	return used, nodes
}

// Commit enters pods for a claim that exists already.
func (w *World) Commit(claim string, pods []PodRef) {
	w.change(func() {
		if w.nodes.claim(claim) != nil {
			w.commit(claim, pods)
		}
	})
}

// PlaceOf returns the claim on which a pod has its place; false if it has none.
func (w *World) PlaceOf(pod types.UID) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	claim, ok := w.ledger.places[pod]
	return claim, ok
}

// PodsOf returns the pods that have their places on a claim, by name.
func (w *World) PodsOf(claim string) []PodRef {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]PodRef, 0, len(w.ledger.byClaim[claim]))
	for uid, s := range w.ledger.byClaim[claim] {
		out = append(out, PodRef{UID: uid, Namespace: s.Namespace, Name: s.Name})
	}
	slices.SortFunc(out, func(a, b PodRef) int {
		return compareKeys(key{Namespace: a.Namespace, Name: a.Name}, key{Namespace: b.Namespace, Name: b.Name})
	})
	return out
}

// describe reports which places are not taken yet, and which were lost.
func (l *ledger) describe(out *snapshot.Waiting) {
	out.Placed, out.Landed, out.Moving = len(l.places), l.progress.UTC(), l.moving()
	for _, uid := range order.Keys(l.lost) {
		out.Lost = append(out.Lost, snapshot.Lost{UID: string(uid), At: l.lost[uid].UTC()})
	}
}

// Promised reports whether pods have their places on a claim.
func (w *World) Promised(claim string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.ledger.byClaim[claim]) > 0
}

// Expects reports whether a claim exists, or was made a moment ago, and is not being deleted.
func (w *World) Expects(claim string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.nodes.claim(claim)
	return c != nil && c.DeletionTimestamp == nil
}

// Launched reports whether an existing claim has a machine.
func (w *World) Launched(claim string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.nodes.claim(claim)
	return c != nil && c.Status.ProviderID != ""
}

// Retract takes an assumed claim back.
func (w *World) Retract(claim string) {
	w.change(func() {
		if w.nodes.assumed[claim] != nil {
			w.removeClaim(claim)
		}
	})
}

// Doubtful lists the claims that were made long enough ago to have been seen.
func (w *World) Doubtful(now time.Time) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, name := range order.Keys(w.nodes.assumed) {
		if now.Sub(w.ledger.since[name]) >= doubtful {
			out = append(out, name)
		}
	}
	return out
}

func (w *World) commit(claim string, pods []PodRef) {
	for _, p := range pods {
		k := key{Namespace: p.Namespace, Name: p.Name}
		pod := w.pods.all[k]
		if pod == nil || pod.UID != p.UID || pod.Spec.NodeName != "" {
			continue // it went or was bound meanwhile
		}
		if w.ledger.claimFor(p.UID) == claim {
			continue
		}
		w.givePlace(claim, p.UID, k, w.shapeOf(pod))
		w.pods.settle(k, pod)
	}
}

// givePlace gives a pod a place.
func (w *World) givePlace(claim string, pod types.UID, k key, shape snapshot.TemplateIndex) {
	late := isOpen(w.nodes.nodeFor(claim))
	w.ledger.place(claim, pod, placedPod{key: k, shape: shape, since: w.clock.Now()})
	w.pods.dirty[k] = struct{}{}
	if late || w.ledger.nominations[pod] != nil {
		w.recheckNomination(pod, k)
	}
}

func (l *ledger) place(claim string, pod types.UID, s placedPod) {
	before := len(l.places)
	l.release(pod)
	l.places[pod] = claim
	if before <= manyPlaces && len(l.places) > manyPlaces {
		l.burst = s.since
	}
	if l.byClaim[claim] == nil {
		l.byClaim[claim] = map[types.UID]placedPod{}
	}
	l.byClaim[claim][pod] = s
	l.shapes[s.shape]++
}

func (l *ledger) hasPlace(pod types.UID) bool { return l.places[pod] != "" }

func (l *ledger) claimFor(pod types.UID) string { return l.places[pod] }

func (l *ledger) release(pod types.UID) {
	claim, ok := l.places[pod]
	if !ok {
		return
	}
	shape := l.byClaim[claim][pod].shape
	if l.shapes[shape]--; l.shapes[shape] <= 0 {
		delete(l.shapes, shape)
	}
	delete(l.places, pod)
	delete(l.byClaim[claim], pod)
	if len(l.byClaim[claim]) == 0 {
		delete(l.byClaim, claim)
	}
}

// breakPromises takes back all places on a claim: it will not give its pods a place.
func (w *World) breakPromises(claim string) {
	delete(w.ledger.since, claim)
	delete(w.ledger.taken, claim)
	delete(w.ledger.opening, claim)
	pods := w.ledger.byClaim[claim]
	uids := slices.SortedFunc(maps.Keys(pods), func(a, b types.UID) int { return compareKeys(pods[a].key, pods[b].key) })
	for _, uid := range uids {
		w.breakPromise(uid, pods[uid].key)
	}
}

// breakPromise takes back a pod's place: the pod waits again.
func (w *World) breakPromise(uid types.UID, k key) {
	w.ledger.release(uid)
	if pod := w.pods.all[k]; pod != nil && pod.UID == uid {
		if w.ledger.lost[uid].IsZero() {
			w.ledger.lost[uid] = w.clock.Now()
		}
		w.pods.dirty[k] = struct{}{}
		w.recheckNomination(uid, k)
		w.await(k, pod, false)
	}
}

// exchangePlaces handles a pod that was bound to a node on which another pod had its place. If that other
// pod has the same template, it has lost its place, and gets the place that the bound pod left behind, or
// waits again. Of several such pods, one without a nomination loses its place: no nomination kept its room.
// exchangePlaces reports whether there was such a pod.
func (w *World) exchangePlaces(pod *corev1.Pod, host, left string) bool {
	shape := w.shapeOf(pod)
	places := w.ledger.byClaim[host]
	alike := slices.DeleteFunc(slices.Collect(maps.Keys(places)), func(uid types.UID) bool { return places[uid].shape != shape })
	if len(alike) == 0 {
		return false
	}
	loser := slices.MinFunc(alike, func(a, b types.UID) int {
		return cmp.Or(order.Bools(w.ledger.isNominated(a), w.ledger.isNominated(b)), compareKeys(places[a].key, places[b].key))
	})
	k := places[loser].key
	if left == "" || w.nodes.claim(left) == nil {
		w.breakPromise(loser, k)
		return true
	}
	w.givePlace(left, loser, k, shape)
	return true
}

// shapeOf returns the pod's template: pods with the same template ask for the same.
func (w *World) shapeOf(pod *corev1.Pod) snapshot.TemplateIndex {
	translated, ok := w.translator.PodOn(pod, false)
	if !ok {
		return -1
	}
	return translated.Template
}

// Settle takes back places that do not hold: on nodes that have been ready for too long, and on nodes
// whose room other pods have taken, because the scheduler puts a pod wherever it fits. Those pods wait
// again. Settle returns when to look again; zero means never.
func (w *World) Settle(now time.Time) time.Time {
	var next time.Time
	w.change(func() { next = w.settlePlaces(now) })
	return next
}

func (w *World) settlePlaces(now time.Time) time.Time {
	w.adopt()
	var next time.Time
	for _, name := range order.Keys(w.ledger.crowded) {
		w.dropPlaces(name)
	}
	clear(w.ledger.crowded)
	var expired []expiredPlace
	for name, pods := range w.ledger.byClaim {
		claim := w.nodes.claims[name]
		if claim == nil {
			continue
		}
		ready, ok := settled(claim)
		if !ok {
			continue
		}
		for uid, p := range pods {
			until := w.ledger.until(p, ready)
			if now.Before(until) {
				next = sooner(next, until)
				continue
			}
			expired = append(expired, expiredPlace{name, uid, p.key})
		}
	}
	slices.SortFunc(expired, func(a, b expiredPlace) int {
		return cmp.Or(cmp.Compare(a.claim, b.claim), compareKeys(a.pod, b.pod))
	})
	for _, e := range expired {
		w.breakPromise(e.uid, e.pod)
	}
	return next
}

// expiredPlace is a pod's place on a claim whose node has been ready for too long.
type expiredPlace struct {
	claim string
	uid   types.UID
	pod   key
}

// until returns how long a place is kept on a node that has been ready since a time.
func (l *ledger) until(s placedPod, ready time.Time) time.Time {
	from := later(ready, s.since)
	return earlier(later(from, l.progress).Add(patience), from.Add(longestPatience))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// dropPlaces takes places from pods, the smallest first, until the remaining promised pods fit on the claim's node beside the
// running pods. A small pod finds room elsewhere; the place of a large one, once lost, fills with small pods of other nodes, each of
// which leaves room there.
func (w *World) dropPlaces(claim string) {
	node := w.nodes.nodeFor(claim)
	if node == nil {
		return // the decision that promised the places knew the room
	}
	room := ingest.Resources(node.Status.Allocatable)
	for k := range w.pods.on[node.Name] {
		room = room.Sub(w.requests(w.pods.all[k]))
	}
	pods := w.ledger.byClaim[claim]
	asked := make(map[types.UID]model.Resources, len(pods))
	for uid, p := range pods {
		asked[uid] = w.requests(w.pods.all[p.key])
	}
	largestFirst := func(a, b types.UID) int {
		return cmp.Or(cmp.Compare(asked[b].Bulk(), asked[a].Bulk()), compareKeys(pods[a].key, pods[b].key))
	}
	for _, uid := range slices.SortedFunc(maps.Keys(pods), largestFirst) {
		if asked[uid].Fits(room) {
			room = room.Sub(asked[uid])
			continue
		}
		w.breakPromise(uid, pods[uid].key)
	}
}

// requests returns what a pod requests, according to its template.
func (w *World) requests(pod *corev1.Pod) model.Resources {
	if pod == nil {
		return model.Resources{}
	}
	translated, ok := w.translator.PodOn(pod, false)
	if !ok {
		return model.Resources{}
	}
	return w.translator.Templates()[translated.Template].Requests
}
