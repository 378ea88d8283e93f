package world

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/snapshot"
	"tenon/internal/command"
	"tenon/internal/ingest"
)

// nodeState holds the nodes and claims, each pair as one node of the snapshot.
type nodeState struct {
	nodes    map[string]*corev1.Node
	claims   map[string]*karpenterv1.NodeClaim
	assumed  map[string]*karpenterv1.NodeClaim // made by us, not seen yet
	bought   map[string]string                 // claims by provider ID
	joined   map[string]string                 // nodes by provider ID
	nodeless map[string]bool                   // claims in use whose node was removed
	unjoined int                               // how many of the claims have no node yet

	list    []snapshot.Node          // as of the last refresh, like everything below
	leaving []string                 // names of nodes in the list that leave, sorted
	prices  map[string]ingest.Prices // by pool
	pairs   pairs

	stale    bool             // nodes and claims have to be paired anew
	touched  map[*member]bool // pairs to be translated again
	pairings uint64           // how often all of them were paired
	fresh    []*member        // made in the last pairing
}

func newNodeState() nodeState {
	return nodeState{
		nodes: map[string]*corev1.Node{}, claims: map[string]*karpenterv1.NodeClaim{}, assumed: map[string]*karpenterv1.NodeClaim{},
		bought: map[string]string{}, joined: map[string]string{}, nodeless: map[string]bool{}, touched: map[*member]bool{}, stale: true,
	}
}

// NodeWritten enters the state of a node that is being written, or was just written, before the watch has it, if the node is still there.
func (w *World) NodeWritten(node *corev1.Node) {
	w.change(func() {
		if old := w.nodes.nodes[node.Name]; old != nil && old.UID == node.UID && !older(node, old) {
			w.enterNode(node)
			w.pulse.changes++
		}
	})
}

// putNode enters the state of a node. An older state than that which was just written is ignored.
func (w *World) putNode(node *corev1.Node) {
	old := w.nodes.nodes[node.Name]
	if old != nil && (older(node, old) || sameNode(old, node)) {
		return
	}
	w.enterNode(node)
}

func (w *World) enterNode(node *corev1.Node) {
	old := w.nodes.nodes[node.Name]
	w.nodes.nodes[node.Name] = node
	w.nodes.joined[node.Spec.ProviderID] = node.Name
	w.nodes.nodeReturned(node)
	if isOpen(node) && !isOpen(old) {
		w.recheckNominations(w.nodes.claimOf(node.Name))
	}
	if old == nil || old.Spec.ProviderID != node.Spec.ProviderID || len(old.OwnerReferences) != len(node.OwnerReferences) {
		w.nodes.stale = true
		if len(w.ledger.guided) > 0 { // it may be bought for them
			w.notifyGuide()
		}
	}
	w.nodes.dirtyNode(node.Name)
	w.pulse.supply()
}

// sameNode reports whether two states of a node are the same to decisions: heartbeats and lists of images
// do not matter.
func sameNode(a, b *corev1.Node) bool {
	return a.ResourceVersion == b.ResourceVersion ||
		(a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) && len(a.OwnerReferences) == len(b.OwnerReferences) &&
			equality.Semantic.DeepEqual(a.Labels, b.Labels) && equality.Semantic.DeepEqual(a.Annotations, b.Annotations) &&
			sameSpec(&a.Spec, &b.Spec) && ingest.IsReady(a) == ingest.IsReady(b) &&
			equality.Semantic.DeepEqual(a.Status.Capacity, b.Status.Capacity) &&
			equality.Semantic.DeepEqual(a.Status.Allocatable, b.Status.Allocatable)
}

// sameSpec compares specs, but for whether nodes are passed over while pods move.
func sameSpec(a, b *corev1.NodeSpec) bool {
	if equality.Semantic.DeepEqual(a, b) {
		return true
	}
	x, y := &corev1.Node{Spec: *a.DeepCopy()}, &corev1.Node{Spec: *b.DeepCopy()}
	ingest.SetReceives(x, true)
	ingest.SetReceives(y, true)
	return equality.Semantic.DeepEqual(x.Spec, y.Spec)
}

func (r *nodeState) removeNode(name string) {
	if node := r.nodes[name]; node != nil {
		r.nodeRemoved(node)
		if r.joined[node.Spec.ProviderID] == name {
			delete(r.joined, node.Spec.ProviderID)
		}
	}
	delete(r.nodes, name)
	r.stale = true
}

// dirtyNode marks a node for translation. A node that is not known yet is translated anyway.
func (r *nodeState) dirtyNode(name string) {
	if m := r.pairs.byNode[name]; m != nil {
		r.touched[m] = true
	}
}

func (w *World) putClaim(claim *karpenterv1.NodeClaim) {
	if w.nodes.assumed[claim.Name] != nil {
		delete(w.nodes.assumed, claim.Name)
		delete(w.ledger.since, claim.Name)
	}
	w.made(claim.Name)
	old := w.nodes.claims[claim.Name]
	if old != nil && old.ResourceVersion == claim.ResourceVersion {
		return
	}
	w.nodes.setClaim(claim.Name, claim)
	if claim.Status.ProviderID != "" {
		w.nodes.bought[claim.Status.ProviderID] = claim.Name
	}
	if old == nil || old.Status.ProviderID != claim.Status.ProviderID || old.Status.NodeName != claim.Status.NodeName {
		w.nodes.stale = true
	}
	if m := w.nodes.pairs.byClaim[claim.Name]; m != nil {
		w.nodes.touched[m] = true
	}
	if old == nil || (old.DeletionTimestamp == nil) != (claim.DeletionTimestamp == nil) || w.comesDue(old, claim) {
		w.pulse.supply()
	}
	if claim.DeletionTimestamp != nil {
		w.breakPromises(claim.Name)
	}
}

// sameClaim reports whether two states of a claim are the same to decisions. Our own verdict about a
// claim does not count: it follows from a decision, and would lead to the next one.
func sameClaim(a, b *karpenterv1.NodeClaim) bool {
	if a.Generation != b.Generation || (a.DeletionTimestamp == nil) != (b.DeletionTimestamp == nil) ||
		!maps.Equal(a.Labels, b.Labels) || !maps.Equal(a.Annotations, b.Annotations) {
		return false
	}
	before, after := a.Status, b.Status
	before.Conditions, after.Conditions = withoutVerdict(before.Conditions), withoutVerdict(after.Conditions)
	return equality.Semantic.DeepEqual(before, after)
}

func withoutVerdict(list []metav1.Condition) []metav1.Condition {
	out := slices.DeleteFunc(slices.Clone(list), func(c metav1.Condition) bool { return c.Type == karpenterv1.ConditionDisruptable })
	slices.SortFunc(out, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
	return out
}

func (w *World) removeClaim(name string) {
	if c := w.nodes.claims[name]; c != nil {
		delete(w.nodes.bought, c.Status.ProviderID)
	}
	w.nodes.setClaim(name, nil)
	delete(w.nodes.assumed, name)
	delete(w.nodes.nodeless, name)
	w.nodes.stale = true
	w.pulse.supply()
	w.breakPromises(name)
}

// claim finds a claim that was seen or is assumed.
func (r *nodeState) claim(name string) *karpenterv1.NodeClaim {
	if c := r.claims[name]; c != nil {
		return c
	}
	return r.assumed[name]
}

// setClaim replaces a claim, or removes it if it is nil.
func (r *nodeState) setClaim(name string, claim *karpenterv1.NodeClaim) {
	if old := r.claims[name]; old != nil && old.Status.NodeName == "" {
		r.unjoined--
	}
	if claim == nil {
		delete(r.claims, name)
		return
	}
	r.claims[name] = claim
	if claim.Status.NodeName == "" {
		r.unjoined++
	}
}

// standing reports whether a node is in the picture, and whether it is leaving.
func (r *nodeState) standing(node string) (leaving, known bool) { return r.pairs.standing(node) }

// nodeOf returns the name under which the list has a claim's node.
func (r *nodeState) nodeOf(claim string) (string, bool) { return r.pairs.nodeOf(claim) }

// claimOf returns the claim of a node; empty if it has none. Unlike the list, it knows what was put last.
func (r *nodeState) claimOf(node string) string {
	if n := r.nodes[node]; n != nil && n.Spec.ProviderID != "" {
		return r.bought[n.Spec.ProviderID]
	}
	return ""
}

// memberOf is how a record names a node that it may name: by its claim, or by itself if it is one of a group; otherwise empty.
func (r *nodeState) memberOf(node string) string {
	claim := r.claimOf(node)
	if n := r.nodes[node]; claim == "" && (n == nil || n.Annotations[tenonv1alpha1.AnnotationGroup] == "") {
		return ""
	}
	return command.MemberOf(claim, node)
}

// nodeFor returns the node of a claim, or nil if there is none yet. A node opens before its claim names it.
func (r *nodeState) nodeFor(claim string) *corev1.Node {
	c := r.claims[claim]
	switch {
	case c == nil || c.Status.ProviderID == "":
		return nil
	case c.Status.NodeName != "":
		return r.nodes[c.Status.NodeName]
	}
	return r.nodes[r.joined[c.Status.ProviderID]]
}

// refreshNodes brings the list up to date, and marks the affected pods.
func (w *World) refreshNodes(prices map[string]ingest.Prices) {
	r := &w.nodes
	repriced := !maps.Equal(r.prices, prices)
	r.prices = prices
	if !r.stale && !repriced && !r.pairs.shared && w.retouch() {
		return
	}
	before := r.pairs
	if r.pair(w.translator, repriced) {
		r.relist()
		w.follow(before, r.moved(before))
	}
	r.stale, r.fresh = false, nil
	clear(r.touched)
}

// retouch translates the touched members again. It returns false if one of them changed its name, began
// to leave, entered the list or left it: then all nodes must be paired again.
func (w *World) retouch() bool {
	r := &w.nodes
	if len(r.touched) == 0 {
		return true
	}
	list := slices.Clone(r.list)
	for m := range r.touched {
		again := r.again(m, w.translator)
		if again.ok != m.ok || again.value.Name != m.value.Name || again.value.Leaving != m.value.Leaving {
			return false
		}
		*m = again
		if m.ok {
			list[m.at] = m.value
		}
	}
	r.list = list
	clear(r.touched)
	return true
}

// again makes a member anew from the present state of its node and claim.
func (r *nodeState) again(m *member, t *ingest.Translator) member {
	out := member{at: m.at, listed: m.listed, pairing: m.pairing}
	if m.node != nil {
		out.node = r.nodes[m.node.Name]
	}
	if m.claim != nil {
		out.claim = r.claim(m.claim.Name)
	}
	out.prices = r.prices[ingest.PoolOf(out.node, out.claim)]
	out.value, out.ok = r.translate(t, out.node, out.claim, out.prices)
	return out
}

// pair finds out which claim belongs to which node, and translates what is new. It reports whether
// anything changed.
func (r *nodeState) pair(t *ingest.Translator, repriced bool) bool {
	old := r.pairs
	r.pairings++
	r.pairs = pairs{byNode: make(map[string]*member, len(r.nodes)), byClaim: make(map[string]*member, len(r.claims)+len(r.assumed))}
	r.each(func(node *corev1.Node, claim *karpenterv1.NodeClaim) {
		m := old.find(node, claim)
		if m == nil || r.touched[m] || repriced && m.prices != r.prices[ingest.PoolOf(node, claim)] {
			m = &member{node: node, claim: claim, prices: r.prices[ingest.PoolOf(node, claim)]}
			m.value, m.ok = r.translate(t, node, claim, m.prices)
			r.fresh = append(r.fresh, m)
		}
		m.pairing = r.pairings
		r.pairs.add(m)
	})
	return len(r.fresh) > 0 || r.pairs.size != old.size
}

// relist makes the list. Members of the last list keep their order, so only the fresh ones are sorted.
func (r *nodeState) relist() {
	kept, fresh := make([]*member, len(r.list)), []*member(nil)
	add := func(m *member) {
		switch {
		case !m.ok:
		case m.listed:
			kept[m.at] = m
		default:
			fresh = append(fresh, m)
		}
	}
	for _, m := range r.pairs.byNode {
		add(m)
	}
	for _, m := range r.pairs.byClaim {
		if m.node == nil {
			add(m)
		}
	}
	slices.SortFunc(fresh, compareMembers)
	members := together(slices.DeleteFunc(kept, func(m *member) bool { return m == nil }), fresh)
	r.list, r.leaving = make([]snapshot.Node, len(members)), nil
	for i, m := range members {
		r.list[i], m.at, m.listed = m.value, i, true
		if m.value.Leaving {
			r.leaving = append(r.leaving, m.value.Name)
		}
	}
}

func compareMembers(a, b *member) int {
	return ingest.CompareNodes(a.value, b.value)
}

// together merges two sorted lists.
func together(a, b []*member) []*member {
	out := make([]*member, 0, len(a)+len(b))
	for _, m := range b {
		at, _ := slices.BinarySearchFunc(a, m, compareMembers)
		out = append(append(out, a[:at]...), m)
		a = a[at:]
	}
	return append(out, a...)
}

// moved returns the names that now lead to another member than before, or to none: the names of new
// members and of members that are gone.
func (r *nodeState) moved(before pairs) map[string]bool {
	names := map[string]bool{}
	add := func(m *member) {
		if m.node != nil {
			names[m.node.Name] = true
		}
		if m.claim != nil {
			names[m.claim.Name] = true
		}
	}
	for _, m := range r.fresh {
		add(m)
	}
	for _, all := range []map[string]*member{before.byNode, before.byClaim} {
		for _, m := range all {
			if m.pairing != r.pairings {
				add(m)
			}
		}
	}
	return names
}

// follow marks the pods whose node came, went, began to leave or changed its name, and forgets the orders
// that the list now has.
func (w *World) follow(before pairs, names map[string]bool) {
	now := w.nodes.pairs
	for name := range names {
		was, had := before.standing(name)
		if is, has := now.standing(name); was != is || had != has {
			w.pods.dirtyOn(name)
		}
	}
	for claim, pods := range w.ledger.byClaim {
		was, _ := before.nodeOf(claim)
		if is, _ := now.nodeOf(claim); was != is {
			for _, s := range pods {
				w.pods.dirty[s.key] = struct{}{}
			}
		}
	}
	for claim := range w.ledger.taken {
		if _, listed := now.nodeOf(claim); listed {
			delete(w.ledger.taken, claim)
		}
	}
}

// comesDue reports whether a change of a claim starts the time after which places on it can be taken
// back: the caller has to know when. The watches may have reported the node earlier.
func (w *World) comesDue(old, claim *karpenterv1.NodeClaim) bool {
	_, was := settled(old)
	_, is := settled(claim)
	return is && !was && len(w.ledger.byClaim[claim.Name]) > 0
}

// settled returns when a claim's node became ready for pods; false while it is not.
func settled(claim *karpenterv1.NodeClaim) (time.Time, bool) {
	c := meta.FindStatusCondition(claim.Status.Conditions, karpenterv1.ConditionInitialized)
	if c == nil || c.Status != metav1.ConditionTrue {
		return time.Time{}, false
	}
	return c.LastTransitionTime.Time, true
}
