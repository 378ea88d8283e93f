package ingest

import (
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fingerprint writes, one after the other, all fields of a pod that determine its Template, so that
// two pods with the same bytes have the same Template. Looking 100,000 pods up by these bytes makes
// ingesting them cheap: only the first pod of each kind is translated. Every text and list is
// preceded by its length, so that two different pods never write the same bytes.
//
// It leaves out what the caller handles by itself: claims (pods with claims are always translated),
// resizes under way, and labels that no selector looks at.
type fingerprint struct {
	bytes []byte
	names []string // scratch for sorting keys
}

// of writes the fingerprint of a pod. The result is valid until the next call.
func (f *fingerprint) of(pod *corev1.Pod, hidden func(string) bool) []byte {
	f.bytes = f.bytes[:0]
	f.text(namespaceOf(pod))
	f.labels(pod.Labels, hidden)
	f.owner(metav1.GetControllerOfNoCopy(pod), pod.Labels)
	f.spec(&pod.Spec)
	return f.bytes
}

func (f *fingerprint) spec(s *corev1.PodSpec) {
	f.labels(s.NodeSelector, nil)
	f.text(s.PriorityClassName)
	f.optional(s.Priority != nil)
	if s.Priority != nil {
		f.number(int64(*s.Priority))
	}
	f.optional(s.HostNetwork)
	f.number(int64(len(s.ResourceClaims)))
	f.containers(s.InitContainers)
	f.containers(s.Containers)
	f.resources(s.Overhead)
	f.optional(s.Resources != nil)
	if s.Resources != nil {
		f.resources(s.Resources.Requests)
	}
	f.tolerations(s.Tolerations)
	f.affinity(s.Affinity)
	f.spreads(s.TopologySpreadConstraints)
}

func (f *fingerprint) text(s string) {
	f.bytes = append(binary.AppendUvarint(f.bytes, uint64(len(s))), s...)
}

func (f *fingerprint) number(n int64) { f.bytes = binary.AppendVarint(f.bytes, n) }

func (f *fingerprint) optional(present bool) {
	if present {
		f.bytes = append(f.bytes, 1)
	} else {
		f.bytes = append(f.bytes, 0)
	}
}

func (f *fingerprint) texts(list []string) {
	f.number(int64(len(list)))
	for _, s := range list {
		f.text(s)
	}
}

func (f *fingerprint) labels(m map[string]string, hidden func(string) bool) {
	f.names = f.names[:0]
	for name := range m {
		if hidden == nil || !hidden(name) {
			f.names = append(f.names, name)
		}
	}
	slices.Sort(f.names)
	f.number(int64(len(f.names)))
	for _, name := range f.names {
		f.text(name)
		f.text(m[name])
	}
}

// owner writes the name of the owner as users see it. The Deployment of a ReplicaSet is found with
// the help of the template hash, which may be among the hidden labels.
func (f *fingerprint) owner(ref *metav1.OwnerReference, labels map[string]string) {
	f.optional(ref != nil)
	if ref != nil {
		f.text(ref.APIVersion)
		f.text(ref.Kind)
		f.text(ref.Name)
		f.text(labels["pod-template-hash"])
	}
}

func (f *fingerprint) containers(list []corev1.Container) {
	f.number(int64(len(list)))
	for i := range list {
		c := &list[i]
		f.resources(c.Resources.Requests)
		f.number(int64(len(c.Resources.Claims)))
		f.optional(isSidecar(c))
		f.number(int64(len(c.Ports)))
		for j := range c.Ports {
			p := &c.Ports[j]
			f.number(int64(p.HostPort))
			f.number(int64(p.ContainerPort))
			f.text(string(p.Protocol))
			f.text(p.HostIP)
		}
	}
}

func (f *fingerprint) resources(list corev1.ResourceList) {
	f.names = f.names[:0]
	for name := range list {
		f.names = append(f.names, string(name))
	}
	slices.Sort(f.names)
	f.number(int64(len(f.names)))
	for _, name := range f.names {
		f.text(name)
		f.quantity(list[corev1.ResourceName(name)])
	}
}

// quantity writes an exact number where possible, since equal quantities may be written in several
// ways, and the text otherwise.
func (f *fingerprint) quantity(q resource.Quantity) {
	n := q.MilliValue()
	exact := resource.NewMilliQuantity(n, resource.DecimalSI).Cmp(q) == 0
	f.optional(exact)
	if exact {
		f.number(n)
	} else {
		f.text(q.String())
	}
}

func (f *fingerprint) tolerations(list []corev1.Toleration) {
	f.number(int64(len(list)))
	for i := range list {
		f.text(list[i].Key)
		f.text(string(list[i].Operator))
		f.text(list[i].Value)
		f.text(string(list[i].Effect))
	}
}

func (f *fingerprint) affinity(a *corev1.Affinity) {
	f.optional(a != nil)
	if a == nil {
		return
	}
	f.optional(a.NodeAffinity != nil)
	if n := a.NodeAffinity; n != nil {
		f.nodeAffinity(n)
	}
	f.optional(a.PodAffinity != nil)
	if p := a.PodAffinity; p != nil {
		f.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution)
		f.weightedPodTerms(p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	f.optional(a.PodAntiAffinity != nil)
	if p := a.PodAntiAffinity; p != nil {
		f.podTerms(p.RequiredDuringSchedulingIgnoredDuringExecution)
		f.weightedPodTerms(p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (f *fingerprint) nodeAffinity(n *corev1.NodeAffinity) {
	required := n.RequiredDuringSchedulingIgnoredDuringExecution
	f.optional(required != nil)
	if required != nil {
		f.number(int64(len(required.NodeSelectorTerms)))
		for i := range required.NodeSelectorTerms {
			f.nodeTerm(&required.NodeSelectorTerms[i])
		}
	}
	f.number(int64(len(n.PreferredDuringSchedulingIgnoredDuringExecution)))
	for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
		p := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
		f.number(int64(p.Weight))
		f.nodeTerm(&p.Preference)
	}
}

// nodeTerm writes the fields too, except the name of the node that a daemon pod is pinned to: it
// says where the pod is, not what it asks for.
func (f *fingerprint) nodeTerm(term *corev1.NodeSelectorTerm) {
	f.nodeExpressions(term.MatchExpressions)
	f.number(int64(len(term.MatchFields)))
	for i := range term.MatchFields {
		f.text(term.MatchFields[i].Key)
	}
}

func (f *fingerprint) nodeExpressions(list []corev1.NodeSelectorRequirement) {
	f.number(int64(len(list)))
	for i := range list {
		f.text(list[i].Key)
		f.text(string(list[i].Operator))
		f.texts(list[i].Values)
	}
}

func (f *fingerprint) podTerms(list []corev1.PodAffinityTerm) {
	f.number(int64(len(list)))
	for i := range list {
		f.podTerm(&list[i])
	}
}

func (f *fingerprint) weightedPodTerms(list []corev1.WeightedPodAffinityTerm) {
	f.number(int64(len(list)))
	for i := range list {
		f.number(int64(list[i].Weight))
		f.podTerm(&list[i].PodAffinityTerm)
	}
}

func (f *fingerprint) podTerm(term *corev1.PodAffinityTerm) {
	f.text(term.TopologyKey)
	f.texts(term.Namespaces)
	f.selector(term.LabelSelector)
	f.selector(term.NamespaceSelector)
	f.texts(term.MatchLabelKeys)
	f.texts(term.MismatchLabelKeys)
}

func (f *fingerprint) selector(s *metav1.LabelSelector) {
	f.optional(s != nil)
	if s == nil {
		return
	}
	f.labels(s.MatchLabels, nil)
	f.number(int64(len(s.MatchExpressions)))
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		f.text(e.Key)
		f.text(string(e.Operator))
		f.texts(e.Values)
	}
}

func (f *fingerprint) spreads(list []corev1.TopologySpreadConstraint) {
	f.number(int64(len(list)))
	for i := range list {
		c := &list[i]
		f.number(int64(c.MaxSkew))
		f.text(c.TopologyKey)
		f.text(string(c.WhenUnsatisfiable))
		f.selector(c.LabelSelector)
		f.optional(c.MinDomains != nil)
		if c.MinDomains != nil {
			f.number(int64(*c.MinDomains))
		}
		f.policy(c.NodeAffinityPolicy)
		f.policy(c.NodeTaintsPolicy)
		f.texts(c.MatchLabelKeys)
	}
}

func (f *fingerprint) policy(p *corev1.NodeInclusionPolicy) {
	f.optional(p != nil)
	if p != nil {
		f.text(string(*p))
	}
}
