package ingest

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/owner"
)

// Daemon translates a DaemonSet. live is its latest pod, or nil: after admission the pod says more
// than the template, except about affinity, which pins each pod to its node. The result is false
// for a DaemonSet that is ignored.
func (t *Translator) Daemon(set *appsv1.DaemonSet, live *corev1.Pod) (snapshot.Daemon, bool) {
	pod := t.daemonPod(set, live)
	if usesDynamicResources(&pod.Spec) || set.DeletionTimestamp != nil {
		return snapshot.Daemon{}, false
	}
	template, _ := t.describe(pod, nil) // what makes a pod refused does not matter here: daemon pods run on every node that they match
	template.Selector = joining(template.Selector)
	for i, term := range template.Terms {
		template.Terms[i] = joining(term)
	}
	return snapshot.Daemon{Namespace: namespaceOf(set), Name: set.Name, Template: t.intern(template)}, true
}

// DaemonSetOf is the DaemonSet of which a pod may be the latest; empty for all other pods. A daemon
// pod is made for one node. A pod that neither runs on a node nor is pinned to one was not made by
// the DaemonSet controller.
func DaemonSetOf(pod *corev1.Pod) owner.Ref {
	ref := owner.Of(pod)
	if !ref.IsA("apps/v1", "DaemonSet") || pod.Spec.NodeName == "" && !isPinned(pod) {
		return owner.Ref{}
	}
	return ref
}

// isPinned reports whether every term of the required node affinity names nodes.
func isPinned(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchFields, func(f corev1.NodeSelectorRequirement) bool {
			return f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn
		})
	})
}

// Newer reports whether a pod of a DaemonSet was created after another one, which may be nil. If
// both were created in the same second, the names are compared.
func Newer(pod, than *corev1.Pod) bool {
	if than == nil {
		return true
	}
	return cmp.Or(pod.CreationTimestamp.Compare(than.CreationTimestamp.Time), strings.Compare(than.Name, pod.Name)) > 0
}

func (t *Translator) daemonPod(set *appsv1.DaemonSet, live *corev1.Pod) *corev1.Pod {
	if live == nil {
		pod := t.admitted(podOf(set, "apps/v1", "DaemonSet", &set.Spec.Template))
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, daemonTolerations(&pod.Spec)...)
		return pod
	}
	pod := *live
	pod.Spec.NodeName = ""
	pod.Spec.Affinity = withRequiredNodes(live.Spec.Affinity, set.Spec.Template.Spec.Affinity)
	return &pod
}

// podOf is a pod as the owner's controller would create it from a template.
func podOf(owner metav1.Object, apiVersion, kind string, template *corev1.PodTemplateSpec) *corev1.Pod {
	yes := true
	pod := &corev1.Pod{Spec: template.Spec}
	pod.Namespace, pod.Name = namespaceOf(owner), owner.GetName()
	pod.Labels, pod.Annotations = template.Labels, template.Annotations
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: apiVersion, Kind: kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: &yes,
	}}
	return pod
}

// daemonTolerations are the tolerations that the DaemonSet controller adds to every pod.
func daemonTolerations(spec *corev1.PodSpec) []corev1.Toleration {
	exists := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	out := []corev1.Toleration{
		exists(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	}
	if spec.HostNetwork {
		out = append(out, exists(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule))
	}
	return out
}

// withRequiredNodes is a copy of the live affinity with the required node terms of the
// template.
func withRequiredNodes(live, template *corev1.Affinity) *corev1.Affinity {
	var required *corev1.NodeSelector
	if template != nil && template.NodeAffinity != nil {
		required = template.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	out := live.DeepCopy()
	if out == nil {
		out = &corev1.Affinity{}
	}
	if out.NodeAffinity == nil {
		out.NodeAffinity = &corev1.NodeAffinity{}
	}
	out.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required.DeepCopy()
	return out
}

// joining leaves out a daemon's requirements on labels that every node of ours gets when it joins:
// "so that DaemonSets selecting those labels are counted".
func joining(s requirement.Set) requirement.Set {
	for _, label := range []string{karpenterv1.LabelRegistered, karpenterv1.LabelInitialized} {
		if s.Has(label) && s.Get(label).Has("true") {
			s = s.Without(label)
		}
	}
	return s
}
