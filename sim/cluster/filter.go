package cluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// ask is a pod that needs a node, with everything that is counted once for all nodes.
type ask struct {
	c        *Cluster
	pod      *corev1.Pod
	requests vector
	weighs   vector // the requests that scores use
	ports    []corev1.ContainerPort
	affinity nodeaffinity.RequiredNodeAffinity
	spreads  []spread
	soft     []spread
	near     []affinityTerm
	apart    []affinityTerm
	volumes  []*corev1.PersistentVolumeClaim
	missing  string // why its volumes are unavailable
	// refusedDomains are domains with a pod whose anti-affinity excludes this one.
	refusedIn map[domain]bool
}

// domain is a value of a topology key.
type domain struct{ key, value string }

// affinityTerm is one term of affinity, and the domains in which pods match it.
type affinityTerm struct {
	term  corev1.PodAffinityTerm
	found map[string]bool
	// anywhere says that some pod matches somewhere; self says that the pod matches its own term.
	anywhere, self bool
}

func newAsk(c *Cluster, pod *corev1.Pod) *ask {
	a := &ask{c: c, pod: pod, requests: requests(pod), weighs: weight(pod), ports: ports(pod), affinity: nodeaffinity.GetRequiredNodeAffinity(pod)}
	a.volumes, a.missing = c.volumesOf(pod)
	for _, constraint := range constraints(pod) {
		if constraint.WhenUnsatisfiable == corev1.DoNotSchedule {
			a.spreads = append(a.spreads, a.countSpread(c.nodes, constraint))
		} else {
			a.soft = append(a.soft, a.countSpread(c.nodes, constraint))
		}
	}
	if affinity := pod.Spec.Affinity; affinity != nil {
		if affinity.PodAffinity != nil {
			a.near = companies(c.nodes, pod, affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		if affinity.PodAntiAffinity != nil {
			a.apart = companies(c.nodes, pod, affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
	}
	a.refusedIn = refusedDomains(c.nodes, pod)
	return a
}

// saw counts a pod that was bound to a node after the ask was made.
func (a *ask) saw(r *room, pod *corev1.Pod) {
	for _, list := range [][]spread{a.spreads, a.soft} {
		for i := range list {
			if s := &list[i]; s.counted(a, r, pod) {
				s.counts[r.node.Labels[s.TopologyKey]]++
				s.settle()
			}
		}
	}
	for _, list := range [][]affinityTerm{a.near, a.apart} {
		for i := range list {
			list[i].see(a.pod, r, pod)
		}
	}
	if keepsAway(pod) {
		addRefused(a.refusedIn, r, pod, a.pod)
	}
}

// refused returns why a node does not fit, or "" if it fits.
func (a *ask) refused(r *room) string {
	switch {
	case a.missing != "":
		return a.missing
	case r.node.Spec.Unschedulable && !tolerates(a.pod, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}):
		return "node(s) were unschedulable"
	case a.tainted(r.node):
		return "node(s) had untolerated taint(s)"
	case !a.allowed(r.node):
		return "node(s) didn't match Pod's node affinity/selector"
	}
	if why := a.lacks(r, r.free); why != "" {
		return why
	}
	switch {
	case len(a.ports) > 0 && clashing(a.ports, r.pods):
		return "node(s) didn't have free ports for the requested pod ports"
	case len(a.volumes) > 0 && !a.volumesFit(r):
		return "node(s) had volume node affinity conflict"
	case len(a.volumes) > 0 && a.tooManyVolumes(r):
		return "node(s) exceed max volume count"
	case !a.spreadHolds(r.node):
		return "node(s) didn't match pod topology spread constraints"
	case !a.affinityHolds(r.node):
		return "node(s) didn't match pod affinity rules"
	}
	return ""
}

// lacks returns a resource that is insufficient, without the room that is kept for nominated pods.
func (a *ask) lacks(r *room, free vector) string {
	free.add(-1, a.c.nominated.reserved(r.node.Name, a.pod))
	switch {
	case a.requests.pods > free.pods:
		return "Too many pods"
	case a.requests.cpu > 0 && a.requests.cpu > free.cpu:
		return "Insufficient cpu"
	case a.requests.memory > 0 && a.requests.memory > free.memory:
		return "Insufficient memory"
	}
	for name, n := range a.requests.more { // one is enough, in any order
		if n > 0 && n > free.more[name] {
			return "Insufficient resources"
		}
	}
	return ""
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

func clashing(mine []corev1.ContainerPort, others []*placedPod) bool {
	return slices.ContainsFunc(others, func(o *placedPod) bool {
		return slices.ContainsFunc(ports(o.Pod), func(p corev1.ContainerPort) bool {
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

func companies(f *nodeIndex, pod *corev1.Pod, terms []corev1.PodAffinityTerm) []affinityTerm {
	out := make([]affinityTerm, len(terms))
	for i, term := range terms {
		out[i] = affinityTerm{term: term, found: map[string]bool{}, self: meant(&term, pod, pod)}
		for _, r := range f.rooms {
			for _, other := range r.pods {
				out[i].see(pod, r, other.Pod)
			}
		}
	}
	return out
}

// see notes a pod on a node, if the pod matches the term.
func (c *affinityTerm) see(of *corev1.Pod, r *room, pod *corev1.Pod) {
	if !meant(&c.term, of, pod) {
		return
	}
	c.anywhere = true
	if value, has := r.node.Labels[c.term.TopologyKey]; has {
		c.found[value] = true
	}
}

// meant reports whether a pod matches a term of another pod. Namespaces are given by name; a selector of
// namespaces counts as all of them.
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

func (a *ask) affinityHolds(node *corev1.Node) bool {
	for _, c := range a.near {
		value, has := node.Labels[c.term.TopologyKey]
		if !has || !c.found[value] && (c.anywhere || !c.self) {
			return false
		}
	}
	for _, c := range a.apart {
		if value, has := node.Labels[c.term.TopologyKey]; has && c.found[value] {
			return false
		}
	}
	for d := range a.refusedIn { // one is enough, in any order
		if value, has := node.Labels[d.key]; has && value == d.value {
			return false
		}
	}
	return true
}

// refusedIn returns the domains of pods whose anti-affinity excludes this pod.
func refusedDomains(f *nodeIndex, pod *corev1.Pod) map[domain]bool {
	out := map[domain]bool{}
	if f.apart == 0 {
		return out
	}
	for _, r := range f.rooms {
		for _, other := range r.pods {
			if keepsAway(other.Pod) {
				addRefused(out, r, other.Pod, pod)
			}
		}
	}
	return out
}

func addRefused(out map[domain]bool, r *room, other, pod *corev1.Pod) {
	for _, term := range other.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if value, has := r.node.Labels[term.TopologyKey]; has && meant(&term, other, pod) {
			out[domain{term.TopologyKey, value}] = true
		}
	}
}
