package cluster

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// ask is a pod that looks for a node, with what has to be counted once.
type ask struct {
	pod      *corev1.Pod
	requests vector
	affinity nodeaffinity.RequiredNodeAffinity
	spreads  []spread
	near     []company
	apart    []company
	// shunned are domains in which a pod is that will not have this one beside it.
	shunned map[domain]bool
}

// domain is a value of a topology's label.
type domain struct{ key, value string }

// spread is one constraint with its counts.
type spread struct {
	corev1.TopologySpreadConstraint
	counts map[string]int
	least  int
	self   int
}

// company is one term of affinity, and the domains in which it finds pods.
type company struct {
	key   string
	found map[string]bool
	// any says that some pod matches somewhere; self that the pod itself does.
	any, self bool
}

func newAsk(f *floor, pod *corev1.Pod) *ask {
	a := &ask{pod: pod, requests: requests(pod), affinity: nodeaffinity.GetRequiredNodeAffinity(pod)}
	for _, constraint := range pod.Spec.TopologySpreadConstraints {
		if constraint.WhenUnsatisfiable == corev1.DoNotSchedule {
			a.spreads = append(a.spreads, a.countSpread(f, constraint))
		}
	}
	if affinity := pod.Spec.Affinity; affinity != nil {
		if affinity.PodAffinity != nil {
			a.near = companies(f, pod, affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		if affinity.PodAntiAffinity != nil {
			a.apart = companies(f, pod, affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
	}
	a.shunned = shunned(f, pod)
	return a
}

// refused says why a node will not do, or "" if it will.
func (a *ask) refused(r *room) string {
	switch {
	case r.node.Spec.Unschedulable && !tolerates(a.pod, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}):
		return "node(s) were unschedulable"
	case a.tainted(r.node):
		return "node(s) had untolerated taint(s)"
	case !a.allowed(r.node):
		return "node(s) didn't match Pod's node affinity/selector"
	}
	for _, name := range []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory} {
		if a.requests[name] > r.free[name] {
			return lacking(name)
		}
	}
	for name, n := range a.requests {
		if n > 0 && n > r.free[name] {
			return "Insufficient resources"
		}
	}
	switch {
	case clashing(a.pod, r.pods):
		return "node(s) didn't have free ports for the requested pod ports"
	case !a.spreadHolds(r.node):
		return "node(s) didn't match pod topology spread constraints"
	case !a.companyHolds(r.node):
		return "node(s) didn't match pod affinity rules"
	}
	return ""
}

func lacking(name corev1.ResourceName) string {
	if name == corev1.ResourcePods {
		return "Too many pods"
	}
	return "Insufficient " + string(name)
}

func tolerates(pod *corev1.Pod, taint corev1.Taint) bool {
	return scheduling.TolerationsTolerateTaint(klog.Background(), pod.Spec.Tolerations, &taint, false)
}

func (a *ask) tainted(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(a.pod, t)
	})
}

func (a *ask) allowed(node *corev1.Node) bool {
	match, err := a.affinity.Match(node)
	return err == nil && match
}

func clashing(pod *corev1.Pod, others []*corev1.Pod) bool {
	mine := ports(pod)
	return len(mine) > 0 && slices.ContainsFunc(others, func(o *corev1.Pod) bool {
		return slices.ContainsFunc(ports(o), func(p corev1.ContainerPort) bool {
			return slices.ContainsFunc(mine, func(m corev1.ContainerPort) bool {
				return m.HostPort == p.HostPort && m.Protocol == p.Protocol && (m.HostIP == p.HostIP || anywhere(m.HostIP) || anywhere(p.HostIP))
			})
		})
	})
}

func anywhere(ip string) bool { return ip == "" || ip == "0.0.0.0" || ip == "::" }

func ports(pod *corev1.Pod) []corev1.ContainerPort {
	var out []corev1.ContainerPort
	for i := range pod.Spec.Containers {
		for _, p := range pod.Spec.Containers[i].Ports {
			if p.HostPort > 0 {
				out = append(out, p)
			}
		}
	}
	return out
}

// countSpread counts the pods of a constraint by domain, over the nodes that matter.
func (a *ask) countSpread(f *floor, constraint corev1.TopologySpreadConstraint) spread {
	s := spread{TopologySpreadConstraint: constraint, counts: map[string]int{}}
	selector := selectorOf(constraint.LabelSelector, constraint.MatchLabelKeys, a.pod)
	if selector.Matches(labels.Set(a.pod.Labels)) {
		s.self = 1
	}
	for _, r := range f.rooms {
		value, has := r.node.Labels[constraint.TopologyKey]
		if !has || !a.matters(constraint, r.node) {
			continue
		}
		s.counts[value] += 0
		for _, pod := range r.pods {
			if pod.Namespace == a.pod.Namespace && pod.DeletionTimestamp == nil && selector.Matches(labels.Set(pod.Labels)) {
				s.counts[value]++
			}
		}
	}
	s.least = math.MaxInt
	for _, n := range s.counts { // the least of all, in any order
		s.least = min(s.least, n)
	}
	if len(s.counts) < int(ptr.Deref(constraint.MinDomains, 1)) {
		s.least = 0
	}
	return s
}

// matters reports whether the pods of a node are counted.
func (a *ask) matters(constraint corev1.TopologySpreadConstraint, node *corev1.Node) bool {
	if ptr.Deref(constraint.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor) == corev1.NodeInclusionPolicyHonor && !a.allowed(node) {
		return false
	}
	return ptr.Deref(constraint.NodeTaintsPolicy, corev1.NodeInclusionPolicyIgnore) != corev1.NodeInclusionPolicyHonor || !a.tainted(node)
}

func selectorOf(selector *metav1.LabelSelector, keys []string, pod *corev1.Pod) labels.Selector {
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return labels.Nothing()
	}
	for _, key := range keys {
		if value, has := pod.Labels[key]; has {
			if r, err := labels.NewRequirement(key, "in", []string{value}); err == nil {
				s = s.Add(*r)
			}
		}
	}
	return s
}

func (a *ask) spreadHolds(node *corev1.Node) bool {
	for _, s := range a.spreads {
		value, has := node.Labels[s.TopologyKey]
		if !has || s.counts[value]+s.self-s.least > int(s.MaxSkew) {
			return false
		}
	}
	return true
}

func companies(f *floor, pod *corev1.Pod, terms []corev1.PodAffinityTerm) []company {
	out := make([]company, len(terms))
	for i, term := range terms {
		out[i] = company{key: term.TopologyKey, found: map[string]bool{}, self: meant(&term, pod, pod)}
		for _, r := range f.rooms {
			for _, other := range r.pods {
				if !meant(&term, pod, other) {
					continue
				}
				out[i].any = true
				if value, has := r.node.Labels[term.TopologyKey]; has {
					out[i].found[value] = true
				}
			}
		}
	}
	return out
}

// meant reports whether a term of one pod is about another. Namespaces are named; selectors
// of namespaces are taken for all of them.
func meant(term *corev1.PodAffinityTerm, of, other *corev1.Pod) bool {
	switch {
	case term.NamespaceSelector != nil:
	case len(term.Namespaces) > 0:
		if !slices.Contains(term.Namespaces, other.Namespace) {
			return false
		}
	case other.Namespace != of.Namespace:
		return false
	}
	return selectorOf(term.LabelSelector, term.MatchLabelKeys, of).Matches(labels.Set(other.Labels))
}

func (a *ask) companyHolds(node *corev1.Node) bool {
	for _, c := range a.near {
		value, has := node.Labels[c.key]
		if !has || !c.found[value] && (c.any || !c.self) {
			return false
		}
	}
	for _, c := range a.apart {
		if value, has := node.Labels[c.key]; has && c.found[value] {
			return false
		}
	}
	for d := range a.shunned { // one is enough, in any order
		if value, has := node.Labels[d.key]; has && value == d.value {
			return false
		}
	}
	return true
}

// shunned are the domains of pods that keep away from this one.
func shunned(f *floor, pod *corev1.Pod) map[domain]bool {
	out := map[domain]bool{}
	for _, r := range f.rooms {
		for _, other := range r.pods {
			if other.Spec.Affinity == nil || other.Spec.Affinity.PodAntiAffinity == nil {
				continue
			}
			for _, term := range other.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				if value, has := r.node.Labels[term.TopologyKey]; has && meant(&term, other, pod) {
					out[domain{term.TopologyKey, value}] = true
				}
			}
		}
	}
	return out
}

// Weights of the scores, as the real one has them.
const (
	weightTaints    = 3
	weightAffinity  = 2
	weightAllocated = 1
	fullScore       = 100
)

// score prefers nodes that are emptier, and what the pod prefers.
func (a *ask) score(r *room) int64 {
	score := weightAllocated * a.emptiness(r)
	if preferred := a.pod.Spec.Affinity; preferred != nil && preferred.NodeAffinity != nil {
		terms, err := nodeaffinity.NewPreferredSchedulingTerms(preferred.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		if err == nil {
			score += weightAffinity * min(terms.Score(r.node), fullScore)
		}
	}
	if !slices.ContainsFunc(r.node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectPreferNoSchedule && !tolerates(a.pod, t)
	}) {
		score += weightTaints * fullScore
	}
	return score
}

// emptiness is LeastAllocated: the share of CPU and memory that is left.
func (a *ask) emptiness(r *room) int64 {
	sum := int64(0)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		all := r.free[name] + r.used[name]
		if left := r.free[name] - a.requests[name]; all > 0 && left > 0 {
			sum += left * fullScore / all
		}
	}
	return sum / 2
}
