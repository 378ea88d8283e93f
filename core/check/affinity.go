package check

import (
	"slices"

	"tenon/core/snapshot"
)

// checkAntiAffinity asks every pod with required anti-affinity, placed or running,
// whether a pod it keeps away may be in its domain; one of the two must be new. Pods
// that must not be evicted from a leaving node keep others away until they are gone.
func (e *state) checkAntiAffinity(f *finding) {
	homes := slices.Concat(e.nodes, e.leaving)
	for _, n := range homes {
		for _, pod := range e.counted(n) {
			for i := range e.template(pod).AntiAffinity {
				for _, other := range homes {
					e.checkApart(n, pod, &e.template(pod).AntiAffinity[i], other, f)
				}
			}
		}
	}
}

func (e *state) checkApart(n *node, pod snapshot.PodIndex, term *snapshot.AffinityTerm, other *node, f *finding) {
	domain, meet := mayMeet(n, other, term.Key)
	if !meet {
		return
	}
	for _, neighbour := range e.counted(other) {
		if neighbour == pod || !e.selects(term, neighbour) {
			continue
		}
		if slices.Contains(n.placed, pod) || slices.Contains(other.placed, neighbour) {
			f.note(Violation{
				Rule: AntiAffinity, Pod: e.s.Pods[pod].Key(), Node: n.name, Where: term.Key,
				Detail: "domain " + domain + " may hold " + e.s.Pods[neighbour].Key() + " on " + other.name,
			})
		}
	}
}

// mayMeet finds a domain that both nodes may be in.
func mayMeet(a, b *node, key string) (string, bool) {
	for i := range a.choices {
		domain, ok := a.choices[i].labels[key]
		if !ok {
			continue
		}
		if a == b {
			return domain, true
		}
		for j := range b.choices {
			if other, ok := b.choices[j].labels[key]; ok && other == domain {
				return domain, true
			}
		}
	}
	return "", false
}

func (e *state) selects(term *snapshot.AffinityTerm, pod snapshot.PodIndex) bool {
	t := e.template(pod)
	return slices.Contains(term.Namespaces, t.Namespace) && term.Selector.Matches(t.Labels)
}

// selectsByAll reports whether every term picks the pod. To kube-scheduler only such pods
// are partners for a pod with several affinity terms.
func (e *state) selectsByAll(terms []snapshot.AffinityTerm, pod snapshot.PodIndex) bool {
	for i := range terms {
		if !e.selects(&terms[i], pod) {
			return false
		}
	}
	return true
}

// checkAffinity asks for every placed pod's partners when all are where they will be.
func (e *state) checkAffinity(f *finding) {
	all := func(snapshot.PodIndex) bool { return true }
	for _, n := range e.nodes {
		for _, pod := range n.placed {
			if _, where, ok := e.affinityHolds(n, pod, all); !ok {
				f.note(Violation{Rule: Affinity, Pod: e.s.Pods[pod].Key(), Node: n.name, Where: where})
			}
		}
	}
}

// checkAffinityOrder lets pods arrive one by one. Those with partners come first; when
// none has any, one that is its own partner may begin, as kube-scheduler allows it
// where there is no other pod of its kind.
func (e *state) checkAffinityOrder(f *finding) {
	arrived := make([]bool, len(e.s.Pods))
	type arrival struct {
		n   *node
		pod snapshot.PodIndex
	}
	var waiting []arrival
	for _, n := range e.nodes {
		for _, pod := range n.stay {
			arrived[pod] = true
		}
		for _, pod := range n.placed {
			arrived[pod] = len(e.template(pod).Affinity) == 0
			if !arrived[pod] {
				waiting = append(waiting, arrival{n, pod})
			}
		}
	}
	present := func(pod snapshot.PodIndex) bool { return arrived[pod] }
	for len(waiting) > 0 {
		next := -1
		for i, a := range waiting {
			founds, _, ok := e.affinityHolds(a.n, a.pod, present)
			if ok && (next < 0 || !founds) {
				next = i
				if !founds {
					break
				}
			}
		}
		if next < 0 {
			break
		}
		arrived[waiting[next].pod] = true
		waiting = slices.Delete(waiting, next, next+1)
	}
	for _, a := range waiting {
		f.note(Violation{Rule: AffinityOrder, Pod: e.s.Pods[a.pod].Key(), Node: a.n.name})
	}
}

// affinityHolds reports whether a pod's required affinity holds on its node among those
// present, for every choice of the cloud. founds means that it holds only because no pod
// of its kind is there yet and the pod is its own partner.
func (e *state) affinityHolds(n *node, pod snapshot.PodIndex, present func(pod snapshot.PodIndex) bool) (founds bool, where string, ok bool) {
	terms := e.template(pod).Affinity
	if len(terms) == 0 {
		return false, "", true
	}
	partners, anywhere := e.affinityNodes(terms, pod, present)
	for i := range n.choices {
		for t := range terms {
			domain, labelled := n.choices[i].labels[terms[t].Key]
			if !labelled {
				return false, terms[t].Key + ": the node has no such label", false
			}
			if !slices.ContainsFunc(partners, func(c *node) bool { return c == n || surelyIn(c, terms[t].Key, domain) }) {
				founds, where = true, terms[t].Key
			}
		}
	}
	if founds && (anywhere || !e.selectsByAll(terms, pod)) {
		return false, where, false
	}
	return founds, where, true
}

// affinityNodes lists the nodes with a pod that all terms pick, and says whether any of
// them has a label that a term is about.
func (e *state) affinityNodes(terms []snapshot.AffinityTerm, pod snapshot.PodIndex, present func(pod snapshot.PodIndex) bool) (nodes []*node, anywhere bool) {
	for _, n := range e.nodes {
		if !slices.ContainsFunc(e.counted(n), func(other snapshot.PodIndex) bool {
			return other != pod && present(other) && e.selectsByAll(terms, other)
		}) {
			continue
		}
		nodes = append(nodes, n)
		for t := range terms {
			for i := range n.choices {
				if _, ok := n.choices[i].labels[terms[t].Key]; ok {
					anywhere = true
				}
			}
		}
	}
	return nodes, anywhere
}

func surelyIn(n *node, key, domain string) bool {
	for i := range n.choices {
		if value, ok := n.choices[i].labels[key]; !ok || value != domain {
			return false
		}
	}
	return len(n.choices) > 0
}
