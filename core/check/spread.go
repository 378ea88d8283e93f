package check

import (
	"slices"

	"tenon/core/model"
	"tenon/core/snapshot"
)

// checkSpreads asks every DoNotSchedule constraint of every placed pod whether the pod
// could still go to its node if all others were where they will be. That is stronger
// than some order in which pods could arrive, because the order is not controlled.
func (e *state) checkSpreads(f *finding) {
	for _, n := range e.nodes {
		for _, pod := range n.placed {
			hard := hardSpreads(e.template(pod))
			for i := range hard {
				for _, v := range n.choices {
					e.checkSpread(n, &v, pod, hard, &hard[i], f)
				}
			}
		}
	}
}

func hardSpreads(t *snapshot.Template) []snapshot.Spread {
	return slices.DeleteFunc(slices.Clone(t.Spreads), func(s snapshot.Spread) bool { return s.Soft })
}

func (e *state) checkSpread(home *node, as *choice, pod snapshot.PodIndex, hard []snapshot.Spread, c *snapshot.Spread, f *finding) {
	broken := Violation{Rule: Spread, Pod: e.s.Pods[pod].Key(), Node: home.name, Offer: as.text(), Where: c.Key}
	here, ok := as.labels[c.Key]
	if !ok {
		broken.Detail = "the node has no such label"
		f.note(broken)
		return
	}
	t := e.template(pod)
	self := int64(0)
	if c.Selector.Matches(t.Labels) {
		self = 1
	}
	others, low, domains := e.spreadCounts(home, as, pod, hard, c, here)
	if domains < int64(c.MinDomains) {
		low = 0
	}
	if skew := others + self - low; skew > int64(c.MaxSkew) {
		broken.Have, broken.Want = skew, int64(c.MaxSkew)
		broken.Detail = "domain " + here
		f.note(broken)
	}
}

// spreadCounts counts the pods that the constraint selects, without the pod itself, for the cloud's worst
// choice. here counts all pods that may be in the pod's own domain, low is the least count of a domain with
// only the pods that are surely there, and domains is how many domains certainly exist.
func (e *state) spreadCounts(home *node, as *choice, pod snapshot.PodIndex, hard []snapshot.Spread, c *snapshot.Spread, domain string) (here, low, domains int64) {
	t := e.template(pod)
	sure, exists := map[string]int64{}, map[string]bool{domain: true}
	for _, n := range e.nodes {
		faces := n.choices
		if n == home {
			faces = []choice{*as}
		}
		matching := e.matching(n, pod, c.Selector, t.Namespace)
		may, must := spreadDomains(faces, n.taints, t, hard, c)
		if may[domain] {
			here += matching
		}
		for d := range may {
			if d != domain {
				sure[d] += 0
			}
		}
		if must != "" {
			exists[must] = true
			if must != domain {
				sure[must] += matching
			}
		}
	}
	low = here
	for _, count := range sure {
		low = min(low, count)
	}
	return here, low, int64(len(exists))
}

// spreadDomains are the domains in which the node may count, and the one in which it
// surely does, if there is one.
func spreadDomains(faces []choice, taints []model.Taint, t *snapshot.Template, hard []snapshot.Spread, c *snapshot.Spread) (may map[string]bool, must string) {
	may = map[string]bool{}
	all := true
	for i := range faces {
		if !faces[i].countsFor(taints, t, hard, c) {
			all = false
			continue
		}
		may[faces[i].labels[c.Key]] = true
	}
	if all && len(may) == 1 {
		for d := range may {
			must = d
		}
	}
	return may, must
}

// countsFor reports whether a constraint looks at the node: it has all the labels that
// the pod's constraints are about, and passes the node policies.
func (v *choice) countsFor(taints []model.Taint, t *snapshot.Template, hard []snapshot.Spread, c *snapshot.Spread) bool {
	for i := range hard {
		if _, ok := v.labels[hard[i].Key]; !ok {
			return false
		}
	}
	if !c.IgnoreNodeAffinity && !v.matchesNodeRules(t) {
		return false
	}
	if c.HonorTaints {
		if _, kept := untolerated(taints, t.Tolerations); kept {
			return false
		}
	}
	return true
}

// matching counts the pods on a node, but for one, that a selector picks. An empty
// selector picks everything elsewhere; kube-scheduler counts no pod for it here.
func (e *state) matching(n *node, except snapshot.PodIndex, picks model.Selector, namespace string) int64 {
	if len(picks.Expressions) == 0 {
		return 0
	}
	var count int64
	for _, pod := range e.counted(n) {
		if t := e.template(pod); pod != except && t.Namespace == namespace && picks.Matches(t.Labels) {
			count++
		}
	}
	return count
}
