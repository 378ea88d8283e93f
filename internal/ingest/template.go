package ingest

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/internal/podpolicy"
)

// describe translates everything in a pod that a rule can see. refused, when not empty, says why
// the pod cannot be considered; the template is still correct, since such a pod may be running.
func (t *Translator) describe(pod *corev1.Pod, promised promises) (template snapshot.Template, refused reason.Obstacles) {
	daemon := isDaemon(pod)
	spec, lengthProblem := shortened(&pod.Spec)
	if lengthProblem != nil {
		short := *pod
		short.Spec = *spec
		pod = &short
	}
	if daemon {
		spec = unpinned(spec)
	}
	nodes, nodeProblem := t.nodeRules(spec)
	pods, podProblem := t.podRules(pod)
	spreads, spreadProblem := t.spreads(pod)
	volumes, volumeProblem := t.volumes(pod, promised)
	template = snapshot.Template{
		Namespace:   namespaceOf(pod),
		Labels:      t.visibleLabels(pod.Labels),
		Owner:       t.index.ownerText(pod),
		Daemon:      daemon,
		Requests:    requests(pod),
		Priority:    t.index.priority(spec),
		Selector:    nodes.selector,
		Terms:       nodes.terms,
		Preferred:   nodes.preferred,
		Tolerations: tolerations(spec.Tolerations),
		Spreads:     spreads,

		Affinity:              pods.affinity,
		AntiAffinity:          pods.antiAffinity,
		PreferredAffinity:     pods.preferredAffinity,
		PreferredAntiAffinity: pods.preferredAntiAffinity,

		HostPorts: hostPorts(spec),
		Volumes:   volumes,
	}
	problem := errors.Join(lengthProblem, nodeProblem, podProblem, spreadProblem, volumeProblem, t.checkClaims(spec), avoidsPools(&template))
	return template, obstacles(problem)
}

// obstacle is one reason why a pod cannot be considered, as an error.
type obstacle reason.Reason

func (o obstacle) Error() string { return reason.Reason(o).Text() }

// obstacles lists the errors that errors.Join has combined. An error that is no obstacle becomes a
// malformed field.
func obstacles(problem error) reason.Obstacles {
	switch e := problem.(type) {
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		var out reason.Obstacles
		for _, each := range e.Unwrap() {
			out = append(out, obstacles(each)...)
		}
		return out
	case obstacle:
		return reason.Obstacles{reason.Reason(e)}
	}
	return reason.Obstacles{{Code: reason.FieldInvalid, Detail: strings.ReplaceAll(problem.Error(), "\n", "; ")}}
}

func (t *Translator) visibleLabels(labels map[string]string) map[string]string {
	out := make(map[string]string, len(labels))
	for name, value := range labels {
		if !t.hidden(name) {
			out[name] = value
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func (t *Translator) checkClaims(spec *corev1.PodSpec) error {
	if usesDynamicResources(spec) {
		return obstacle{Code: reason.DynamicResourcesUnsupported}
	}
	return nil
}

func usesDynamicResources(spec *corev1.PodSpec) bool {
	if len(spec.ResourceClaims) > 0 {
		return true
	}
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			if len(list[i].Resources.Claims) > 0 {
				return true
			}
		}
	}
	return false
}

// avoidsPools reports whether a pod may run only on nodes of no pool. A mere preference for such
// nodes does not count: when there are none, a pool may serve the pod.
func avoidsPools(template *snapshot.Template) error {
	avoids := func(s requirement.Set) bool {
		r := s.Get(requirement.KeyNodePool)
		return s.Has(requirement.KeyNodePool) && r.Operator() == requirement.DoesNotExist && !r.Impossible()
	}
	if avoids(template.Selector) {
		return obstacle{Code: reason.PoolsAvoided}
	}
	for _, term := range template.Terms {
		if !avoids(term) {
			return nil
		}
	}
	if len(template.Terms) > 0 {
		return obstacle{Code: reason.PoolsAvoided}
	}
	return nil
}

func isDaemon(pod *corev1.Pod) bool { return podpolicy.Daemon(pod) }

func isMirror(pod *corev1.Pod) bool { return podpolicy.Mirror(pod) }

// unpinned is the spec of a daemon pod without the node name that the DaemonSet controller has
// added to its affinity: it says where this pod is, not what the next one asks for.
func unpinned(spec *corev1.PodSpec) *corev1.PodSpec {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil ||
		spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return spec
	}
	out := *spec
	out.Affinity = spec.Affinity.DeepCopy()
	required := out.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	for i := range required.NodeSelectorTerms {
		term := &required.NodeSelectorTerms[i]
		term.MatchFields = nil
		if len(term.MatchExpressions) == 0 { // only the pin: the next pod may go anywhere
			out.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
			break
		}
	}
	return &out
}
