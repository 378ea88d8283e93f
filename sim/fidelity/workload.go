package fidelity

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
)

// placed returns a pod on a node without a kubelet.
func (t *Session) placed(name string, labels map[string]string) *corev1.Pod {
	p := t.pod(name)
	p.Labels = labels
	p.Spec.NodeName = t.Prefix + "nowhere"
	t.make(p)
	return p
}

// running sets the status of a placed pod to Running.
func (t *Session) running(p *corev1.Pod, ready corev1.ConditionStatus) {
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
	if err := t.Client.Status().Update(t.ctx, p); err != nil {
		t.say("say that "+p.Name+" runs", err)
	}
}

// fate describes the state of a pod.
func (t *Session) fate(p *corev1.Pod) {
	now := fresh(t, p)
	if now.UID == "" {
		t.line("%s is gone", p.Name)
		return
	}
	t.line("%s: going %t, grace %d, generation %d", now.Name, now.DeletionTimestamp != nil, ptr.Deref(now.DeletionGracePeriodSeconds, -1), now.Generation)
}

// home makes the node of placed pods, so that they are not deleted as pods of a missing node.
func (t *Session) home() {
	n := t.node("nowhere")
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}}
	t.make(n)
}

func grace(t *Session) {
	t.home()
	free := t.pod("free")
	t.make(free)
	t.say("delete a pod without a node", t.Client.Delete(t.ctx, free))
	t.fate(free)
	a := t.placed("a", nil)
	t.say("delete a pod", t.Client.Delete(t.ctx, a))
	t.fate(a)
	t.say("with more time", t.Client.Delete(t.ctx, a, client.GracePeriodSeconds(100)))
	t.fate(a)
	t.say("again", t.Client.Delete(t.ctx, a))
	t.fate(a)
	t.say("with less time", t.Client.Delete(t.ctx, a, client.GracePeriodSeconds(20)))
	t.fate(a)
	t.say("at once", t.Client.Delete(t.ctx, a, client.GracePeriodSeconds(0)))
	t.fate(a)
	b := t.pod("b")
	b.Spec.NodeName, b.Finalizers = t.Prefix+"nowhere", []string{"example.com/held"}
	t.make(b)
	t.say("delete a pod that is held, at once", t.Client.Delete(t.ctx, b, client.GracePeriodSeconds(0)))
	t.fate(b)
	c := t.placed("c", nil)
	c.Status.Phase = corev1.PodFailed
	t.say("let a pod fail", t.Client.Status().Update(t.ctx, c))
	t.say("delete it", t.Client.Delete(t.ctx, c))
	t.fate(c)
}

func podChanges(t *Session) {
	t.home()
	p := t.placed("p", nil)
	change := func(what string, edit func(*corev1.Pod)) {
		next := fresh(t, p)
		edit(next)
		t.sayCode(what, t.Client.Update(t.ctx, next))
		t.fate(p)
	}
	change("another image", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "example.com/image:2" })
	change("a toleration more", func(p *corev1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists})
	})
	change("another node", func(p *corev1.Pod) { p.Spec.NodeName = "elsewhere" })
	change("a node selector", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"a": "b"} })
	change("a label", func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} })
	n := t.node("n")
	n.Spec.ProviderID = "x://1"
	t.make(n)
	moved := fresh(t, n)
	moved.ResourceVersion = "" // another process may look after the node already
	moved.Spec.ProviderID = "x://2"
	t.sayCode("another provider ID", t.Client.Update(t.ctx, moved))
}

func binding(t *Session) {
	t.home()
	bind := func(p *corev1.Pod, to string) error {
		return t.Client.SubResource("binding").Create(t.ctx, p, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: p.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: to},
		})
	}
	a := t.pod("a")
	t.make(a)
	t.say("bind", bind(a.DeepCopy(), t.Prefix+"nowhere"))
	now := fresh(t, a)
	t.line("node %q, generation %d", now.Spec.NodeName, now.Generation)
	for _, c := range now.Status.Conditions {
		t.line("condition %s %s %q", c.Type, c.Status, c.Reason)
	}
	t.say("bind again", bind(a.DeepCopy(), t.Prefix+"nowhere"))
	gated := t.pod("gated")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	t.make(gated)
	t.line("condition %s %s %q", gated.Status.Conditions[0].Type, gated.Status.Conditions[0].Status, gated.Status.Conditions[0].Reason)
	t.say("bind one that waits", bind(gated.DeepCopy(), t.Prefix+"nowhere"))
	t.say("bind one that is not there", bind(t.pod("none"), t.Prefix+"nowhere"))
	other := t.pod("other")
	t.make(other)
	other.UID = "another"
	t.sayCode("bind one that is another", bind(other.DeepCopy(), t.Prefix+"nowhere"))
}

func (t *Session) evict(p *corev1.Pod, options ...client.DeleteOption) error {
	e := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}}
	if len(options) > 0 {
		e.DeleteOptions = (&client.DeleteOptions{}).ApplyOptions(options).AsDeleteOptions()
	}
	return t.Client.SubResource("eviction").Create(t.ctx, p.DeepCopy(), e)
}

func freeEvictions(t *Session) {
	t.home()
	a := t.placed("a", nil)
	t.running(a, corev1.ConditionTrue)
	t.sayCode("evict with another UID", t.evict(a, client.Preconditions{UID: ptr.To(types.UID("another"))}))
	t.sayCode("evict with another version", t.evict(a, client.Preconditions{ResourceVersion: ptr.To("1")}))
	t.say("evict", t.evict(a, client.Preconditions{UID: ptr.To(a.UID), ResourceVersion: ptr.To(fresh(t, a).ResourceVersion)}))
	t.fate(a)
	now := fresh(t, a)
	for _, c := range now.Status.Conditions {
		t.line("condition %s %s %q %q", c.Type, c.Status, c.Reason, c.Message)
	}
	t.say("evict again", t.evict(a))
	t.fate(a)
	t.say("evict with less time", t.evict(a, client.GracePeriodSeconds(5)))
	t.fate(a)
	t.say("evict what is not there", t.evict(t.pod("none")))
	waiting := t.pod("waiting")
	t.make(waiting)
	t.say("evict a pod without a node", t.evict(waiting))
	t.fate(waiting)
}

func budgetedEvictions(t *Session) {
	t.home()
	labels := map[string]string{"app": "web"}
	var pods []*corev1.Pod
	for _, name := range []string{"a", "b", "c", "sick"} {
		p := t.placed(name, labels)
		if name != "sick" {
			t.running(p, corev1.ConditionTrue)
		} else {
			t.running(p, corev1.ConditionFalse)
		}
		pods = append(pods, p)
	}
	budget := t.budget("web", 2, labels)
	t.make(budget)
	t.await("the budget allows one", func() bool {
		now := fresh(t, budget)
		return now.Status.ObservedGeneration == now.Generation && now.Status.DisruptionsAllowed == 1
	})
	t.say("try to evict a", t.tryEvict(pods[0]))
	t.fate(pods[0])
	t.say("evict the sick one", t.evict(pods[3]))
	t.fate(pods[3])
	t.say("evict a", t.evict(pods[0]))
	t.fate(pods[0])
	t.sayCode("evict b", t.evict(pods[1]))
	t.fate(pods[1])
	t.await("the budget allows none", func() bool {
		now := fresh(t, budget)
		return now.Status.DisruptionsAllowed == 0 && now.Status.CurrentHealthy == 2
	})
	t.say("evict b", t.evict(pods[1]))
	now := fresh(t, budget)
	t.line("allowed %d, healthy %d of %d wanted, expected %d", now.Status.DisruptionsAllowed, now.Status.CurrentHealthy, now.Status.DesiredHealthy, now.Status.ExpectedPods)
	waiting := t.pod("waiting")
	waiting.Labels = labels
	t.make(waiting)
	t.say("evict a pod that waits", t.evict(waiting))
	t.make(t.budget("too", 1, labels))
	t.sayCode("evict b under two budgets", t.evict(pods[1]))
}

func (t *Session) tryEvict(p *corev1.Pod) error {
	e := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}}
	return t.Client.SubResource("eviction").Create(t.ctx, p.DeepCopy(), e, client.DryRunAll)
}

func lists(t *Session) {
	for _, name := range []string{"b", "a", "c"} {
		c := t.config(name)
		c.Labels = map[string]string{"name": name, "list": "yes"}
		t.make(c)
	}
	in := client.InNamespace(t.Namespace)
	t.line("all: %s", t.names(&corev1.ConfigMapList{}, in, client.MatchingLabels{"list": "yes"}))
	t.line("one: %s", t.names(&corev1.ConfigMapList{}, in, client.MatchingLabels{"name": "b"}))
	t.line("with the label: %s", t.names(&corev1.ConfigMapList{}, in, client.HasLabels{"name"}))
	t.line("none: %s", t.names(&corev1.ConfigMapList{}, in, client.MatchingLabels{"name": "d"}))
	var page corev1.ConfigMapList
	t.say("a page of two", t.Client.List(t.ctx, &page, in, client.MatchingLabels{"list": "yes"}, client.Limit(2)))
	t.line("%d, and more %t", len(page.Items), page.Continue != "")
	rest := client.ListOptions{Continue: page.Continue, Limit: 2}
	var second corev1.ConfigMapList
	t.say("the next", t.Client.List(t.ctx, &second, in, client.MatchingLabels{"list": "yes"}, &rest))
	t.line("%d, and more %t", len(second.Items), second.Continue != "")
}

func fieldLists(t *Session) {
	t.home()
	t.placed("a", nil)
	b := t.pod("b")
	t.make(b)
	in := client.InNamespace(t.Namespace)
	t.line("by node: %s", t.names(&corev1.PodList{}, in, client.MatchingFields{"spec.nodeName": t.Prefix + "nowhere"}))
	t.line("by no node: %s", t.names(&corev1.PodList{}, in, client.MatchingFields{"spec.nodeName": ""}))
	t.line("by name: %s", t.names(&corev1.PodList{}, in, client.MatchingFields{"metadata.name": "b"}))
	t.line("by phase: %s", t.names(&corev1.PodList{}, in, client.MatchingFields{"status.phase": "Pending"}))
	t.line("nodes by provider ID: %s", t.names(&corev1.NodeList{}, client.MatchingFields{"spec.providerID": "x://1"}))
	t.line("claims by provider ID: %s", t.names(&karpenterv1.NodeClaimList{}, client.MatchingFields{"status.providerID": "x://1"}))
	c := t.claim("c")
	t.make(c)
	t.line("claims by class: %s", t.names(&karpenterv1.NodeClaimList{}, client.MatchingFields{"spec.nodeClassRef.name": "default", "metadata.name": c.Name}))
}

func claimRules(t *Session) {
	bad := t.claim("bad")
	bad.Spec.Requirements[0].Values = nil
	t.say("create a claim against a rule", t.create(bad))
	c := t.claim("c")
	t.make(c)
	c.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
	t.say("change its spec", t.Client.Update(t.ctx, c))
	missing := t.claim("missing")
	missing.Spec.NodeClassRef = nil
	t.say("create one without a class", t.create(missing))
}

func poolDefaults(t *Session) {
	pool := t.pool("p")
	t.say("create a pool", t.create(pool))
	spec, err := json.Marshal(pool.Spec.Disruption)
	t.line("disruption %s %s", spec, fmt.Sprint(err))
	t.line("expires %v", pool.Spec.Template.Spec.ExpireAfter)
	c := t.claim("c")
	t.say("create a claim", t.create(c))
	t.line("expires %v", c.Spec.ExpireAfter)
}

// owned returns an object with an owner.
func (t *Session) owned(name string, by client.Object, blocks bool) *corev1.ConfigMap {
	c := t.config(name)
	c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: by.GetName(), UID: by.GetUID(), BlockOwnerDeletion: &blocks}}
	t.make(c)
	return c
}

func (t *Session) there(object *corev1.ConfigMap) bool { return fresh(t, object).UID != "" }

func owners(t *Session) {
	a, b := t.config("a"), t.config("b")
	t.make(a)
	t.make(b)
	child := t.owned("child", a, false)
	both := t.owned("both", a, false)
	both.OwnerReferences = append(both.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "b", UID: b.UID})
	t.say("give one a second owner", t.Client.Update(t.ctx, both))
	t.say("delete the owner", t.Client.Delete(t.ctx, a))
	t.await("the child is gone", func() bool { return !t.there(child) })
	t.await("the other has one owner left", func() bool { return len(fresh(t, both).OwnerReferences) == 1 })
}

func foreground(t *Session) {
	a := t.config("a")
	t.make(a)
	child := t.config("child")
	child.Finalizers = []string{"example.com/held"}
	child.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: a.UID, BlockOwnerDeletion: ptr.To(true)}}
	t.make(child)
	t.say("delete the owner after the child", t.Client.Delete(t.ctx, a, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	t.line("owner: finalizers %v", fresh(t, a).Finalizers)
	t.await("the child goes", func() bool { return fresh(t, child).DeletionTimestamp != nil })
	t.line("the owner waits %t", t.there(a))
	t.say("let the child go", t.Client.Patch(t.ctx, child, merge(`{"metadata":{"finalizers":null}}`)))
	t.await("the owner is gone", func() bool { return !t.there(a) })
}

func orphans(t *Session) {
	a := t.config("a")
	t.make(a)
	child := t.owned("child", a, false)
	t.say("delete the owner alone", t.Client.Delete(t.ctx, a, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
	t.await("the owner is gone", func() bool { return !t.there(a) })
	t.line("the child has %d owners", len(fresh(t, child).OwnerReferences))
}
