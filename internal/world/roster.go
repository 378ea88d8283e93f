package world

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/core/order"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// roster is the nodes and claims, each pair as one node of the snapshot.
type roster struct {
	nodes   map[string]*corev1.Node
	claims  map[string]*karpenterv1.NodeClaim
	assumed map[string]*karpenterv1.NodeClaim // made by us, not seen yet

	members map[string]*member          // by claim, or by node for nodes without one: "claim/x", "node/y"
	dirty   map[string]bool             // nodes whose attachments changed
	stale   bool                        // something changed since the list was made
	market  map[string]*catalog.Catalog // as of the list

	list    []snapshot.Node
	known   map[string]bool   // nodes that pods refer to by name; true for those that leave
	leaving []string          // their names, sorted
	name    map[string]string // names of nodes by claim
	bought  map[string]string // claims by provider ID
}

// member is one translation, with what it was made from.
type member struct {
	node   *corev1.Node
	claim  *karpenterv1.NodeClaim
	offers *catalog.Catalog
	value  snapshot.Node
	ok     bool
}

func newRoster() roster {
	return roster{
		nodes: map[string]*corev1.Node{}, claims: map[string]*karpenterv1.NodeClaim{}, assumed: map[string]*karpenterv1.NodeClaim{},
		members: map[string]*member{}, dirty: map[string]bool{}, known: map[string]bool{}, name: map[string]string{}, bought: map[string]string{},
	}
}

func (w *World) putNode(node *corev1.Node) {
	old := w.roster.nodes[node.Name]
	if old != nil && sameNode(old, node) {
		return
	}
	w.roster.nodes[node.Name] = node
	w.roster.stale = true
	w.pulse.supply()
}

// sameNode: heartbeats and the counting of images are no change.
func sameNode(a, b *corev1.Node) bool {
	return a.ResourceVersion == b.ResourceVersion ||
		(a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
			equality.Semantic.DeepEqual(a.Labels, b.Labels) && equality.Semantic.DeepEqual(a.Annotations, b.Annotations) &&
			equality.Semantic.DeepEqual(a.Spec, b.Spec) && ingest.IsReady(a) == ingest.IsReady(b) &&
			equality.Semantic.DeepEqual(a.Status.Capacity, b.Status.Capacity) &&
			equality.Semantic.DeepEqual(a.Status.Allocatable, b.Status.Allocatable)
}

func (r *roster) removeNode(name string) {
	delete(r.nodes, name)
	r.stale = true
}

func (r *roster) dirtyNode(name string) {
	r.dirty[name] = true
	r.stale = true
}

func (w *World) putClaim(claim *karpenterv1.NodeClaim) {
	if w.roster.assumed[claim.Name] != nil {
		delete(w.roster.assumed, claim.Name)
		delete(w.ledger.since, claim.Name)
	}
	old := w.roster.claims[claim.Name]
	if old != nil && old.ResourceVersion == claim.ResourceVersion {
		return
	}
	w.roster.claims[claim.Name] = claim
	if claim.Status.ProviderID != "" {
		w.roster.bought[claim.Status.ProviderID] = claim.Name
	}
	w.roster.stale = true
	if old == nil || (old.DeletionTimestamp == nil) != (claim.DeletionTimestamp == nil) {
		w.pulse.supply()
	}
	if claim.DeletionTimestamp != nil {
		w.breakPromises(claim.Name)
	}
}

func (w *World) removeClaim(name string) {
	if c := w.roster.claims[name]; c != nil {
		delete(w.roster.bought, c.Status.ProviderID)
	}
	delete(w.roster.claims, name)
	delete(w.roster.assumed, name)
	w.roster.stale = true
	w.pulse.supply()
	w.breakPromises(name)
}

// claim finds one that was seen or is assumed.
func (r *roster) claim(name string) *karpenterv1.NodeClaim {
	if c := r.claims[name]; c != nil {
		return c
	}
	return r.assumed[name]
}

// unborn counts claims that no node has come from yet.
func (r *roster) unborn() int {
	n := len(r.assumed)
	for _, c := range r.claims {
		if c.Status.NodeName == "" {
			n++
		}
	}
	return n
}

// standing says whether a node is in the picture, and whether it is leaving.
func (r *roster) standing(node string) (leaving, known bool) {
	leaving, known = r.known[node]
	return leaving, known
}

// nodeOf is the name under which a claim's node is in the list.
func (r *roster) nodeOf(claim string) (string, bool) {
	name, found := r.name[claim]
	return name, found
}

// claimOf is the claim of a node; empty if it has none. Unlike the list it knows what was
// put last.
func (r *roster) claimOf(node string) string {
	if n := r.nodes[node]; n != nil && n.Spec.ProviderID != "" {
		return r.bought[n.Spec.ProviderID]
	}
	return ""
}

// nodeFor is the node that has come of a claim, or nil.
func (r *roster) nodeFor(claim string) *corev1.Node {
	if c := r.claims[claim]; c != nil {
		return r.nodes[c.Status.NodeName]
	}
	return nil
}

// refreshNodes brings the list up to date, and marks the pods that it concerns.
func (w *World) refreshNodes(market map[string]*catalog.Catalog) {
	r := &w.roster
	if !r.stale && maps.Equal(r.market, market) {
		return
	}
	r.market = market
	members := make(map[string]*member, len(r.nodes)+len(r.claims))
	changed := len(r.members) == 0
	visit := func(id string, node *corev1.Node, claim *karpenterv1.NodeClaim) {
		offers := market[poolName(node, claim)]
		m := r.members[id]
		if m == nil || m.node != node || m.claim != claim || m.offers != offers || node != nil && r.dirty[node.Name] {
			m = &member{node: node, claim: claim, offers: offers}
			m.value, m.ok = w.translator.Node(node, claim, offers)
			changed = true
		}
		members[id] = m
	}
	r.each(visit)
	if changed = changed || len(members) != len(r.members); !changed {
		r.stale = false
		return
	}
	r.members, r.stale = members, false
	clear(r.dirty)
	w.relist()
}

func poolName(node *corev1.Node, claim *karpenterv1.NodeClaim) string {
	return ingest.PoolOf(node, claim)
}

// each visits every pair of node and claim, and those that are alone.
func (r *roster) each(visit func(id string, node *corev1.Node, claim *karpenterv1.NodeClaim)) {
	all := make([]*karpenterv1.NodeClaim, 0, len(r.claims)+len(r.assumed))
	for _, name := range order.Keys(r.claims) {
		all = append(all, r.claims[name])
	}
	for _, name := range order.Keys(r.assumed) {
		all = append(all, r.assumed[name])
	}
	pairs := ingest.Pair(all)
	taken := map[string]bool{}
	for _, node := range r.nodes {
		claim := pairs.Of(node)
		if claim == nil {
			visit("node/"+node.Name, node, nil)
			continue
		}
		taken[claim.Name] = true
		visit("claim/"+claim.Name+"/"+node.Name, node, claim)
	}
	for _, claim := range all {
		if !taken[claim.Name] {
			visit("claim/"+claim.Name, nil, claim)
		}
	}
}

// relist makes the list, and has those pods looked at again whose node came, went, began
// to leave or got another name.
func (w *World) relist() {
	r := &w.roster
	list := make([]snapshot.Node, 0, len(r.members))
	known, names := make(map[string]bool, len(r.members)), make(map[string]string, len(r.members))
	var leaving []string
	for _, m := range r.members {
		if !m.ok {
			continue
		}
		list = append(list, m.value)
		known[m.value.Name] = m.value.Leaving
		if m.value.Leaving {
			leaving = append(leaving, m.value.Name)
		}
		if m.claim != nil {
			names[m.claim.Name] = m.value.Name
			delete(w.ledger.taken, m.claim.Name)
		}
	}
	slices.SortFunc(list, func(a, b snapshot.Node) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Claim, b.Claim))
	})
	slices.Sort(leaving)
	for name := range w.guests.on {
		was, had := r.known[name]
		if is, has := known[name]; was != is || had != has {
			w.guests.dirtyOn(name)
		}
	}
	for claim, pods := range w.ledger.byClaim {
		if names[claim] != r.name[claim] {
			for _, s := range pods {
				w.guests.dirty[s.key] = struct{}{}
			}
		}
	}
	r.list, r.known, r.name, r.leaving = list, known, names, leaving
}

// settled is when a claim's node became ready for pods; false while it is not.
func settled(claim *karpenterv1.NodeClaim) (time.Time, bool) {
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == karpenterv1.ConditionInitialized && c.Status == "True" {
			return c.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}
