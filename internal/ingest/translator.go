package ingest

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/api/label"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Translator translates one object at a time with the help of an Index. It keeps the Templates that
// it has made, so that the pods of a workload share one.
//
// It belongs to one goroutine. When objects of the Index change, templates made before may be out
// of date: after Forget, later calls look again, and the owner translates the affected pods once
// more.
type Translator struct {
	index   *Index
	options Options
	rules   label.Rules

	templates []snapshot.Template
	known     map[string]snapshot.TemplateIndex // by the template's content
	seen      map[string]translated             // by the fingerprint of a pod
	print     fingerprint                       // scratch
	shown     map[string]struct{}               // identity labels that some selector looks at
	stale     bool
	given     []*corev1.Pod // all pods, where files give them
}

// translated is the result for all pods with one fingerprint.
type translated struct {
	template snapshot.TemplateIndex
	refused  reason.Obstacles
}

// NewTranslator makes a translator that reads from index.
func NewTranslator(index *Index, options Options) *Translator {
	return &Translator{
		index: index, options: options, rules: labelRules(options.Vocabulary),
		known: map[string]snapshot.TemplateIndex{}, seen: map[string]translated{}, shown: map[string]struct{}{},
	}
}

// Templates are all templates so far. The slice may be kept: later templates are appended.
func (t *Translator) Templates() []snapshot.Template {
	return t.templates[:len(t.templates):len(t.templates)]
}

// At sets the time for later translations.
func (t *Translator) At(now time.Time) { t.options.Now = now }

// Forget makes the translator look at the Index again for every pod. Templates keep
// their indexes.
func (t *Translator) Forget() { clear(t.seen) }

// Stale reports that a selector has been seen that looks at a label which earlier templates leave
// out (see identityLabels). The owner must call Restart and translate all pods again.
func (t *Translator) Stale() bool { return t.stale }

// Restart forgets all templates. An owner also calls it when most of them are no longer used.
// Slices returned before stay valid.
func (t *Translator) Restart() {
	t.templates, t.stale = nil, false
	clear(t.known)
	clear(t.seen)
}

// identityLabels distinguish the pods of one workload, or one run or revision of it from the next. Nearly
// no selector looks at them, and as part of a template they would give every replica a template of its
// own. They are left out until a selector mentions them. The last two say where a pod runs: since
// Kubernetes 1.35 the API server copies them from the node when a pod is bound, and a pod that moves does
// not keep them.
var identityLabels = map[string]bool{
	"apps.kubernetes.io/pod-index":             true,
	"statefulset.kubernetes.io/pod-name":       true,
	"batch.kubernetes.io/job-completion-index": true,
	"batch.kubernetes.io/controller-uid":       true,
	"batch.kubernetes.io/job-name":             true,
	"controller-uid":                           true,
	"job-name":                                 true,
	"controller-revision-hash":                 true,
	"pod-template-generation":                  true,
	"pod-template-hash":                        true,
	corev1.LabelTopologyZone:                   true,
	corev1.LabelTopologyRegion:                 true,
}

func (t *Translator) hidden(name string) bool {
	if !identityLabels[name] {
		return false
	}
	_, shown := t.shown[name]
	return !shown
}

// mention notes which labels a selector looks at.
func (t *Translator) mention(s model.Selector) {
	for _, e := range s.Expressions {
		if t.hidden(e.Key) {
			t.shown[e.Key] = struct{}{}
			t.stale = true
		}
	}
}

// template finds or makes the template of a pod, and says why the pod cannot be considered, if it
// cannot.
func (t *Translator) template(pod *corev1.Pod) translated {
	if usesClaims(&pod.Spec) || resized(pod) {
		return t.translate(pod, nil)
	}
	print := t.print.of(pod, t.hidden)
	if found, ok := t.seen[string(print)]; ok {
		return found
	}
	made := t.translate(pod, nil)
	t.seen[string(t.print.of(pod, t.hidden))] = made // translating may have shown labels
	return made
}

// Alike reports whether two pods certainly have the same template.
func (t *Translator) Alike(a, b *corev1.Pod) bool {
	if usesClaims(&a.Spec) || usesClaims(&b.Spec) || resized(a) || resized(b) {
		return false
	}
	print := string(t.print.of(a, t.hidden))
	return print == string(t.print.of(b, t.hidden))
}

func (t *Translator) translate(pod *corev1.Pod, promised promises) translated {
	template, refused := t.describe(pod, promised)
	return translated{t.intern(template), refused}
}

// intern gives equal templates one index.
func (t *Translator) intern(template snapshot.Template) snapshot.TemplateIndex {
	content, err := json.Marshal(template)
	if err != nil {
		panic(fmt.Sprintf("ingest: a template that cannot be written: %v", err)) // it has only plain values
	}
	if i, ok := t.known[string(content)]; ok {
		return i
	}
	i := snapshot.TemplateIndex(len(t.templates))
	t.templates = append(t.templates, template)
	t.known[string(content)] = i
	return i
}
