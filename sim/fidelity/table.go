package fidelity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
)

// Cases returns all cases.
func Cases() []Case {
	return []Case{
		{"creation", creation}, {"generated names", generatedNames}, {"updates", updates}, {"updates without a version", unversioned},
		{"status", statusAlone}, {"patches", patches}, {"operations", operations}, {"strategic patches", strategic},
		{"deletion", deletion}, {"finalizers", finalizers}, {"preconditions", preconditions},
		{"grace", grace}, {"pods change little", podChanges}, {"binding", binding},
		{"evictions without a budget", freeEvictions}, {"evictions under a budget", budgetedEvictions},
		{"lists", lists}, {"fields", fieldLists}, {"rules of claims", claimRules}, {"defaults of pools", poolDefaults},
		{"owners", owners}, {"owners that wait", foreground}, {"orphans", orphans},
		{"priorities", priorities}, {"volumes", volumes}, {"differences", differences},
	}
}

// The objects that the cases are about.

func (t *Session) config(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: name}}
}

func (t *Session) node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: t.Prefix + name}}
}

func (t *Session) pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: name},
		Spec: corev1.PodSpec{
			SchedulerName: "nobody",
			Containers:    []corev1.Container{{Name: "main", Image: "example.com/image:1"}},
		},
	}
}

func (t *Session) claim(name string) *karpenterv1.NodeClaim {
	return &karpenterv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: t.Prefix + name},
		Spec: karpenterv1.NodeClaimSpec{
			NodeClassRef: &karpenterv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
			Requirements: []karpenterv1.Requirement{{Key: "kubernetes.io/arch", Operator: "In", Values: []string{"amd64"}}},
		},
	}
}

func (t *Session) pool(name string) *karpenterv1.NodePool {
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: t.Prefix + name}}
	pool.Spec.Template.Spec.NodeClassRef = t.claim("").Spec.NodeClassRef
	pool.Spec.Template.Spec.Requirements = t.claim("").Spec.Requirements
	return pool
}

func (t *Session) budget(name string, least int, labels map[string]string) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: name},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: ptr.To(intstr.FromInt(least)), Selector: &metav1.LabelSelector{MatchLabels: labels},
		},
	}
}

// merge is a merge patch from text.
func merge(text string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(text)) }

func creation(t *Session) {
	a := t.claim("a")
	a.UID, a.Generation = "mine", 7
	a.CreationTimestamp = metav1.Unix(1, 0)
	a.Status.ProviderID = "x://1"
	t.say("create a claim with what the server gives", t.create(a))
	t.line("its UID %t, its generation %d, its time %t, its status %q", a.UID != "mine" && a.UID != "", a.Generation, a.CreationTimestamp.Year() > 2000, a.Status.ProviderID)
	t.say("create it again", t.create(t.claim("a")))
	versioned := t.claim("b")
	versioned.ResourceVersion = "1"
	t.say("create with a version", t.create(versioned))
	t.say("create with a bad name", t.create(t.claim("B_")))
	t.say("create without a name", t.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace}}))
	lost := t.config("a")
	lost.Namespace = "no-such-namespace"
	t.say("create in a namespace that is not there", t.create(lost))
	labelled := t.config("labelled")
	labelled.Labels = map[string]string{"a": "not a value!"}
	t.sayCode("create with a bad label", t.create(labelled))
	n := t.node("n")
	n.Status.Phase = corev1.NodeRunning
	t.say("create a node with a status", t.create(n))
	t.line("its phase %q, its generation %d, its first taint %v", n.Status.Phase, n.Generation, n.Spec.Taints[0].Key)
	p := t.pod("p")
	p.Status.Phase = corev1.PodRunning
	t.say("create a pod with a status", t.create(p))
	t.line("its phase %s, its generation %d, its grace %d, its priority %d, its quality %s", p.Status.Phase, p.Generation,
		*p.Spec.TerminationGracePeriodSeconds, *p.Spec.Priority, p.Status.QOSClass)
	t.line("tolerations: %s", tolerations(p))
	tried := t.config("tried")
	t.say("try to create", t.Client.Create(t.ctx, tried, client.DryRunAll))
	t.say("read what was only tried", t.Client.Get(t.ctx, client.ObjectKeyFromObject(tried), tried))
}

func tolerations(p *corev1.Pod) string {
	var all []string
	for _, x := range p.Spec.Tolerations {
		all = append(all, fmt.Sprintf("%s %s %ds", x.Key, x.Effect, ptr.Deref(x.TolerationSeconds, 0)))
	}
	return strings.Join(all, ", ")
}

func generatedNames(t *Session) {
	for range 2 {
		c := t.config("")
		c.GenerateName = "given-"
		t.say("create with the beginning of a name", t.create(c))
		t.line("%d letters more", len(c.Name)-len("given-"))
	}
}

func updates(t *Session) {
	pool := t.pool("a")
	t.make(pool)
	first := pool.DeepCopy()
	again := pool.DeepCopy()
	t.say("update without a change", t.Client.Update(t.ctx, again))
	t.line("a new version %t", again.ResourceVersion != pool.ResourceVersion)
	pool.Labels = map[string]string{"team": "red"}
	t.say("change a label", t.Client.Update(t.ctx, pool))
	t.line("a new version %t, generation %d", pool.ResourceVersion != first.ResourceVersion, pool.Generation)
	pool.Spec.Weight = ptr.To[int32](3)
	pool.Generation = 40
	t.say("change the weight and the generation", t.Client.Update(t.ctx, pool))
	t.line("generation %d", pool.Generation)
	first.Spec.Weight = ptr.To[int32](9)
	t.say("change an old version", t.Client.Update(t.ctx, first))
	other := fresh(t, pool)
	other.UID = "another"
	t.sayCode("change with another UID", t.Client.Update(t.ctx, other))
	t.say("change what is not there", t.Client.Update(t.ctx, versioned(t.pool("none"))))
	born := fresh(t, pool)
	born.CreationTimestamp = metav1.Unix(1, 0)
	born.DeletionTimestamp = ptr.To(metav1.Unix(1, 0))
	t.sayCode("change the times", t.Client.Update(t.ctx, born))
}

func versioned(pool *karpenterv1.NodePool) *karpenterv1.NodePool {
	pool.ResourceVersion = "1"
	return pool
}

func unversioned(t *Session) {
	for _, object := range []client.Object{t.node("n"), t.config("c"), t.claim("c"), t.budget("b", 1, nil), t.pod("p")} {
		t.make(object)
		blind := object.DeepCopyObject().(client.Object)
		blind.SetResourceVersion("")
		blind.SetLabels(map[string]string{"a": "b"})
		t.say(fmt.Sprintf("update a %T without a version", object), t.Client.Update(t.ctx, blind))
	}
}

func statusAlone(t *Session) {
	c := t.claim("c")
	t.make(c)
	c.Status.ProviderID = "x://1"
	c.Labels = map[string]string{"a": "b"}
	t.say("update all of a claim", t.Client.Update(t.ctx, c))
	t.line("provider ID %q, labels %v", c.Status.ProviderID, c.Labels)
	c.Status.ProviderID = "x://1"
	c.Labels = map[string]string{"a": "c"}
	c.Finalizers = []string{"example.com/held"}
	t.say("update the status of a claim", t.Client.Status().Update(t.ctx, c))
	t.line("provider ID %q, labels %v, finalizers %v, generation %d", c.Status.ProviderID, c.Labels, c.Finalizers, c.Generation)
	n := t.node("n")
	t.make(n)
	n.ResourceVersion = "" // another process may look after the node already
	n.Labels = map[string]string{"a": "c"}
	n.Spec.Unschedulable = true
	n.Status.Phase = corev1.NodeRunning
	t.say("update the status of a node", t.Client.Status().Update(t.ctx, n))
	t.line("phase %q, label %v, unschedulable %t", n.Status.Phase, n.Labels["a"], n.Spec.Unschedulable)
	t.say("patch the status of a claim beside other things", t.Client.Status().Patch(t.ctx, c, merge(`{"metadata":{"labels":{"a":"z"}},"status":{"nodeName":"n"}}`)))
	t.line("node %q, labels %v", c.Status.NodeName, c.Labels)
	t.sayCode("update the status of what has none", t.Client.Status().Update(t.ctx, t.config("none")))
}

func patches(t *Session) {
	pool := t.pool("a")
	t.make(pool)
	stale := pool.DeepCopy()
	t.say("patch a label", t.Client.Patch(t.ctx, pool, merge(`{"metadata":{"labels":{"a":"b"}}}`)))
	version := pool.ResourceVersion
	t.say("patch the same again", t.Client.Patch(t.ctx, pool, merge(`{"metadata":{"labels":{"a":"b"}}}`)))
	t.line("a new version %t", pool.ResourceVersion != version)
	next := stale.DeepCopy()
	next.Spec.Weight = ptr.To[int32](3)
	t.say("patch an old version", t.Client.Patch(t.ctx, next.DeepCopy(), client.MergeFrom(stale)))
	t.say("patch an old version under a lock", t.Client.Patch(t.ctx, next.DeepCopy(),
		client.MergeFromWithOptions(stale, client.MergeFromWithOptimisticLock{})))
	t.say("patch an unknown field", t.Client.Patch(t.ctx, pool, merge(`{"spec":{"unknown":1}}`)))
	t.line("generation %d", pool.Generation)
	t.say("patch with another UID", t.Client.Patch(t.ctx, pool, merge(`{"metadata":{"uid":"another"}}`)))
	t.say("patch what is not there", t.Client.Patch(t.ctx, t.pool("none"), merge(`{}`)))
	t.sayCode("patch against a rule", t.Client.Patch(t.ctx, pool, merge(`{"spec":{"weight":1000}}`)))
	t.sayCode("patch the name", t.Client.Patch(t.ctx, pool, merge(`{"metadata":{"name":"other"}}`)))
}

func operations(t *Session) {
	c := t.config("c")
	c.Data = map[string]string{"a": "1"}
	t.make(c)
	by := func(text string) client.Patch { return client.RawPatch(types.JSONPatchType, []byte(text)) }
	t.say("replace after a test that holds", t.Client.Patch(t.ctx, c, by(`[{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"2"}]`)))
	t.line("data %v", c.Data)
	t.sayCode("replace after a test that does not", t.Client.Patch(t.ctx, c, by(`[{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"3"}]`)))
	t.sayCode("remove what is not there", t.Client.Patch(t.ctx, c, by(`[{"op":"remove","path":"/data/z"}]`)))
}

func strategic(t *Session) {
	n := t.node("n")
	t.make(n)
	by := func(text string) client.Patch { return client.RawPatch(types.StrategicMergePatchType, []byte(text)) }
	t.say("patch a condition of a node", t.Client.Status().Patch(t.ctx, n, by(`{"status":{"conditions":[{"type":"A","status":"True"}]}}`)))
	t.say("patch another", t.Client.Status().Patch(t.ctx, n, by(`{"status":{"conditions":[{"type":"B","status":"True"}]}}`)))
	var seen []string
	for _, c := range n.Status.Conditions {
		if c.Type == "A" || c.Type == "B" {
			seen = append(seen, string(c.Type))
		}
	}
	slices.Sort(seen)
	t.line("conditions %v", seen)
	t.say("the same for a claim", func() error { c := t.claim("c"); t.make(c); return t.Client.Patch(t.ctx, c, by(`{}`)) }())
}

func deletion(t *Session) {
	c := t.claim("c")
	t.make(c)
	t.say("delete", t.Client.Delete(t.ctx, c))
	t.say("read", t.Client.Get(t.ctx, client.ObjectKeyFromObject(c), c))
	t.say("delete again", t.Client.Delete(t.ctx, c))
	for _, name := range []string{"a", "b"} {
		one := t.config(name)
		one.Labels = map[string]string{"all": "of"}
		t.make(one)
	}
	t.say("delete all of a kind", t.Client.DeleteAllOf(t.ctx, &corev1.ConfigMap{}, client.InNamespace(t.Namespace), client.MatchingLabels{"all": "of"}))
	t.line("left: %s", t.names(&corev1.ConfigMapList{}, client.InNamespace(t.Namespace), client.MatchingLabels{"all": "of"}))
}

func finalizers(t *Session) {
	c := t.claim("c")
	c.Finalizers = []string{"example.com/held"}
	t.make(c)
	t.say("delete", t.Client.Delete(t.ctx, c))
	c = fresh(t, c)
	t.line("going %t, grace %d, generation %d", c.DeletionTimestamp != nil, ptr.Deref(c.DeletionGracePeriodSeconds, -1), c.Generation)
	version := c.ResourceVersion
	t.say("delete again", t.Client.Delete(t.ctx, c))
	c = fresh(t, c)
	t.line("a new version %t", c.ResourceVersion != version)
	more := c.DeepCopy()
	more.Finalizers = append(more.Finalizers, "example.com/more")
	t.say("add a finalizer", t.Client.Update(t.ctx, more))
	back := c.DeepCopy()
	back.DeletionTimestamp = nil
	back.Labels = map[string]string{"a": "b"}
	t.say("take the deletion back", t.Client.Update(t.ctx, back))
	t.line("going %t, label %q", back.DeletionTimestamp != nil, back.Labels["a"])
	back.Finalizers = nil
	t.say("remove the finalizer", t.Client.Update(t.ctx, back))
	t.say("read", t.Client.Get(t.ctx, client.ObjectKeyFromObject(c), c))
	d := t.claim("d")
	d.Finalizers = []string{"example.com/held"}
	t.make(d)
	t.say("delete another", t.Client.Delete(t.ctx, d))
	t.say("patch its finalizers away", t.Client.Patch(t.ctx, d, merge(`{"metadata":{"finalizers":null}}`)))
	t.say("read it", t.Client.Get(t.ctx, client.ObjectKeyFromObject(d), d))
}

func preconditions(t *Session) {
	for _, object := range []client.Object{t.claim("c"), t.pod("p"), t.node("n")} {
		t.make(object)
		t.say("delete with another UID", t.Client.Delete(t.ctx, object, client.Preconditions{UID: ptr.To(types.UID("another"))}))
		t.say("delete with another version", t.Client.Delete(t.ctx, object, client.Preconditions{ResourceVersion: ptr.To("1")}))
		t.say("delete with its UID", t.Client.Delete(t.ctx, object, client.Preconditions{UID: ptr.To(object.GetUID())}))
	}
}

// names lists the found objects, in the order of the answer.
func (t *Session) names(list client.ObjectList, options ...client.ListOption) string {
	if err := t.Client.List(t.ctx, list, options...); err != nil {
		return t.verdict(err, true)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err.Error()
	}
	var found struct {
		Items []struct {
			Metadata struct{ Name string }
		}
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return err.Error()
	}
	names := make([]string, len(found.Items))
	for i, item := range found.Items {
		names[i] = item.Metadata.Name
	}
	return strings.Join(names, " ")
}
