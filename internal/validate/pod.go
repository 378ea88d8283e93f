package validate

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/decide"
	"tenon/core/order"
	"tenon/core/requirement"
	"tenon/internal/ingest"
	"tenon/internal/podpolicy"
	"tenon/internal/source"
)

// workload is what pods are made from.
type workload struct {
	name     string // "Deployment web"
	document source.Document
	// path leads from the object to the pod's own fields.
	path     string
	pod      *corev1.Pod
	replicas int
}

// workloads are what makes pods, and pods that nothing made.
func (c *checker) workloads() []workload {
	var found []workload
	add := func(kind string, object metav1.Object, template *corev1.PodTemplateSpec, replicas *int32) {
		pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: template.Spec}
		pod.Namespace, pod.Name = object.GetNamespace(), object.GetName()
		n := 1
		if replicas != nil {
			n = int(*replicas)
		}
		found = append(found, workload{kind + " " + object.GetName(), c.documentOf(kind, object), "spec.template.", pod, n})
	}
	for _, other := range c.objects.Others {
		switch o := other.(type) {
		case *appsv1.Deployment:
			add("Deployment", o, &o.Spec.Template, o.Spec.Replicas)
		case *appsv1.StatefulSet:
			add("StatefulSet", o, &o.Spec.Template, o.Spec.Replicas)
		case *appsv1.ReplicaSet:
			if metav1.GetControllerOf(o) == nil {
				add("ReplicaSet", o, &o.Spec.Template, o.Spec.Replicas)
			}
		case *batchv1.Job:
			add("Job", o, &o.Spec.Template, o.Spec.Parallelism)
		}
	}
	for _, o := range c.objects.DaemonSets {
		add("DaemonSet", o, &o.Spec.Template, nil)
	}
	for _, pod := range c.objects.Pods {
		if metav1.GetControllerOf(pod) == nil {
			found = append(found, workload{"Pod " + pod.Name, c.documentOf("Pod", pod), "", pod, 1})
		}
	}
	return found
}

// checkPods looks at what pods ask for by name.
func (c *checker) checkPods() {
	known := c.labels()
	for _, w := range c.workloads() {
		if p := podpolicy.ProtectionOf(w.pod); p.Wrong != "" {
			c.add(w.document, ruleDoNotDisrupt, Warning, w.path+"metadata.annotations["+karpenterv1.AnnotationDoNotDisrupt+"]", p.Wrong+": the annotation protects nothing", `write "true", or a duration such as "30m"`)
		}
		for _, asked := range asks(w) {
			c.checkAsked(w, asked, known)
		}
	}
}

// asked is one label that a pod asks nodes for.
type asked struct {
	field string
	key   string
	// requirement is what its value must be, nil if any will do.
	requirement *karpenterv1.Requirement
}

// asks lists what a pod must have. Preferences are left out: it can do without.
func asks(w workload) []asked {
	var out []asked
	spec := w.pod.Spec
	for _, key := range order.Keys(spec.NodeSelector) {
		out = append(out, asked{w.path + "spec.nodeSelector[" + key + "]", key, &karpenterv1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{spec.NodeSelector[key]}}})
	}
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil && spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for i, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for j, e := range term.MatchExpressions {
				field := fmt.Sprintf("%sspec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[%d].matchExpressions[%d]", w.path, i, j)
				if e.Operator == corev1.NodeSelectorOpNotIn || e.Operator == corev1.NodeSelectorOpDoesNotExist {
					continue // a node without the label will do
				}
				out = append(out, asked{field, e.Key, &karpenterv1.Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values}})
			}
		}
	}
	for i, s := range spec.TopologySpreadConstraints {
		if s.WhenUnsatisfiable == corev1.DoNotSchedule {
			out = append(out, asked{field: fmt.Sprintf("%sspec.topologySpreadConstraints[%d].topologyKey", w.path, i), key: s.TopologyKey})
		}
	}
	return out
}

// checkAsked compares what a pod asks for with the labels that nodes can have. Without a pool among the
// files they are not known.
func (c *checker) checkAsked(w workload, a asked, known []string) {
	key := c.options.Ingest.Vocabulary.Key(a.key)
	if len(c.objects.NodePools) > 0 && !slices.Contains(known, key) && key != corev1.LabelHostname {
		fix := "label the nodes of a pool with it, under spec.template.metadata.labels"
		if near, found := nearest(key, known); found {
			fix = "did you mean " + near + "?"
		}
		c.add(w.document, ruleLabel, Warning, a.field, fmt.Sprintf("no pool, node or instance type has the label %s", a.key), fix)
		return
	}
	if a.requirement == nil {
		return
	}
	rules := ingest.Rules(c.options.Ingest.Vocabulary)
	expected, closed := rules.KnownValues(key)
	if !closed {
		return
	}
	for _, value := range a.requirement.Values {
		if value = c.options.Ingest.Vocabulary.Value(key, value); !slices.Contains(expected, value) {
			fix := "use one of " + strings.Join(expected, ", ")
			if near, found := nearest(value, expected); found {
				fix = "did you mean " + near + "?"
			}
			c.add(w.document, ruleLabelValue, Warning, a.field, fmt.Sprintf("%s never is %q", key, value), fix)
		}
	}
}

// nearest is the word that was probably meant.
func nearest(word string, words []string) (string, bool) {
	best, fewest := "", max(2, len(word)/5)+1
	for _, w := range words {
		if edits := requirement.EditDistance(word, w); edits < fewest {
			best, fewest = w, edits
		}
	}
	return best, best != ""
}

// labels are all that nodes can have, sorted.
func (c *checker) labels() []string {
	keys := map[string]bool{}
	for _, key := range c.options.Ingest.Vocabulary.WellKnown().Sorted() {
		keys[key] = true
	}
	for _, p := range c.objects.NodePools {
		for key := range c.translator.Pool(p).Labels {
			keys[key] = true
		}
		for _, r := range p.Spec.Template.Spec.Requirements {
			keys[c.options.Ingest.Vocabulary.Key(r.Key)] = true
		}
	}
	for _, n := range c.objects.Nodes {
		for key := range n.Labels {
			keys[key] = true
		}
	}
	return order.Keys(keys)
}

// checkPlaces plans for the pods, and finds those that have no place. It leaves out pods whose problem
// another finding names already.
func (c *checker) checkPlaces() {
	if len(c.objects.NodePools) == 0 {
		return
	}
	s := ingest.Build(c.objects, c.options.Ingest)
	told := map[string]bool{}
	for _, u := range decide.Decide(s, decide.Budget{Unproven: true}).Plan.Unplaced {
		pod := s.Pods[u.Pod]
		kind, name := "Pod", pod.Name
		if owner, of, owned := strings.Cut(s.Templates[pod.Template].Owner, "/"); owned {
			kind, name = owner, of
		}
		if told[kind+name+pod.Namespace] {
			continue
		}
		told[kind+name+pod.Namespace] = true
		d := c.documentOf(kind, &metav1.ObjectMeta{Namespace: pod.Namespace, Name: name})
		if d.File == "" || c.asksInVain(d) {
			continue
		}
		c.add(d, rulePodFitsNowhere, Error, "spec", "a pod has no place: "+u.Verdict.Text(), strings.TrimPrefix(u.Verdict.RemedyText(), "smallest change: "))
	}
}

// asksInVain reports whether there is already a finding that a document's pods ask for labels which no node
// has.
func (c *checker) asksInVain(d source.Document) bool {
	return slices.ContainsFunc(c.findings, func(f Finding) bool {
		return f.File == d.File && f.Object == d.Object() && (f.Rule == ruleLabel || f.Rule == ruleLabelValue)
	})
}
