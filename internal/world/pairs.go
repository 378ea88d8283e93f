package world

import (
	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/order"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// pairs finds members by the name of the node or of the claim. A claim with two nodes is in two members;
// its name leads to the first.
type pairs struct {
	byNode, byClaim map[string]*member
	size            int
	shared          bool // a claim has two nodes
}

// member is a node, a claim or both, with its translation.
type member struct {
	node    *corev1.Node
	claim   *karpenterv1.NodeClaim
	prices  ingest.Prices
	value   snapshot.Node
	ok      bool
	at      int // its index in the list, if it is listed
	listed  bool
	pairing uint64 // the last pairing that it was in
}

// each visits every pair of node and claim, and every node or claim that is alone.
func (r *nodeState) each(visit func(node *corev1.Node, claim *karpenterv1.NodeClaim)) {
	all := make([]*karpenterv1.NodeClaim, 0, len(r.claims)+len(r.assumed))
	for _, name := range order.Keys(r.claims) {
		all = append(all, r.claims[name])
	}
	for _, name := range order.Keys(r.assumed) {
		all = append(all, r.assumed[name])
	}
	claims := ingest.Pair(all, func(name string) *corev1.Node { return r.nodes[name] })
	taken := make(map[*karpenterv1.NodeClaim]bool, len(all))
	for _, node := range r.nodes {
		claim := claims.Of(node)
		taken[claim] = claim != nil
		visit(node, claim)
	}
	for _, claim := range all {
		if !taken[claim] {
			visit(nil, claim)
		}
	}
}

// add enters a member under its names.
func (p *pairs) add(m *member) {
	p.size++
	if m.node != nil {
		p.byNode[m.node.Name] = m
	}
	if m.claim == nil {
		return
	}
	first := p.byClaim[m.claim.Name]
	if first != nil {
		p.shared = true
	}
	if first == nil || m.node.Name < first.node.Name {
		p.byClaim[m.claim.Name] = m
	}
}

// find returns the member that was made of exactly these two, or nil.
func (p pairs) find(node *corev1.Node, claim *karpenterv1.NodeClaim) *member {
	var m *member
	if node != nil {
		m = p.byNode[node.Name]
	} else {
		m = p.byClaim[claim.Name]
	}
	if m == nil || m.node != node || m.claim != claim {
		return nil
	}
	return m
}

func (p pairs) standing(node string) (leaving, known bool) {
	m := p.byNode[node]
	if m == nil || m.value.Name != node {
		m = p.byClaim[node] // a node without a name of its own yet has that of its claim
	}
	if m == nil || !m.ok || m.value.Name != node {
		return false, false
	}
	return m.value.Leaving, true
}

func (p pairs) nodeOf(claim string) (string, bool) {
	if m := p.byClaim[claim]; m != nil && m.ok {
		return m.value.Name, true
	}
	return "", false
}
