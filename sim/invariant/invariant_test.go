package invariant_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/internal/savings"
	"tenon/sim/invariant"
	"tenon/sim/store"
)

// fixture is a cluster that a test fills, with the reported violations.
type fixture struct {
	t     *testing.T
	clock *clocktesting.FakeClock
	store *store.Store
	cloud *memory.Cloud
	watch *invariant.Watch
	rules []string
	crowd bool
	price model.Money // the price of the next machine
	saves model.Money // the savings of the next disruption
}

var classes = []cloud.ClassKind{{Group: "karpenter.k8s.aws", Version: "v1", Kind: "EC2NodeClass"}}

// rest lets ten minutes pass without an event.
func (s *fixture) rest() {
	s.clock.Step(10 * time.Minute)
	s.watch.AtRest()
}

// late makes an event happen when nothing has changed for an hour.
func (s *fixture) late(do func()) {
	s.pass(time.Hour)
	before := s.watch.Late()
	do()
	s.watch.Settled(before)
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{t: t, clock: clocktesting.NewFakeClock(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))}
	var err error
	if s.store, err = store.New(s.clock, 1, nil); err != nil {
		t.Fatal(err)
	}
	s.cloud = memory.New(memory.Options{Clock: s.clock, Boot: 30 * time.Second, Kinds: classes, Launcher: s})
	s.watch = &invariant.Watch{
		Store: s.store, Cloud: s.cloud, Now: s.clock.Now, Several: func() bool { return s.crowd },
		Report: func(v invariant.Violation) { s.rules = append(s.rules, v.Rule) },
		Price:  func(cloud.Offer) model.Money { return s.price },
	}
	s.watch.Begin()
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pool.Spec.Template.Spec.NodeClassRef = class()
	pool.Spec.Template.Spec.Requirements = amd64()
	s.make(pool)
	return s
}

func class() *karpenterv1.NodeClassReference {
	return &karpenterv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
}

func amd64() []karpenterv1.Requirement {
	return []karpenterv1.Requirement{{Key: corev1.LabelArchStable, Operator: "In", Values: []string{"amd64"}}}
}

// Launch implements memory.Launcher.
func (s *fixture) Launch(m memory.Machine) { s.watch.Launched(m) }

// Terminate implements memory.Launcher.
func (s *fixture) Terminate(string) {}

func (s *fixture) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *fixture) make(objects ...client.Object) {
	s.t.Helper()
	for _, o := range objects {
		s.must(s.store.Create(context.Background(), o))
	}
}

// pass lets time pass, with regular checks.
func (s *fixture) pass(d time.Duration) {
	for end := s.clock.Now().Add(d); s.clock.Now().Before(end); {
		s.clock.Step(min(time.Minute, end.Sub(s.clock.Now())))
		s.watch.Step()
	}
}

// lose has a claim whose machine has just gone.
func (s *fixture) lose(name string) {
	s.t.Helper()
	_, n := s.serve(name)
	s.cloud.Kill(n.Spec.ProviderID)
	s.watch.Step()
}

// claim makes a claim with a finalizer.
func (s *fixture) claim(name string, change ...func(*karpenterv1.NodeClaim)) *karpenterv1.NodeClaim {
	s.t.Helper()
	c := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{karpenterv1.LabelNodePool: "default"}, Finalizers: []string{karpenterv1.FinalizerTermination}}}
	c.Spec.NodeClassRef, c.Spec.Requirements = class(), amd64()
	for _, f := range change {
		f(c)
	}
	s.make(c)
	return c
}

// buy buys a machine for a claim of that name, whether or not the claim exists.
func (s *fixture) buy(name, token string) cloud.Instance {
	s.t.Helper()
	i, err := s.cloud.Connect().Create(context.Background(), cloud.Claim{
		UID: token, Name: name, Pool: "default", Class: cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
		Requirements: requirement.NewSet(requirement.New(corev1.LabelArchStable, requirement.In, "amd64")),
	})
	s.must(err)
	return i
}

// serve makes a claim with a machine and a ready node.
func (s *fixture) serve(name string) (*karpenterv1.NodeClaim, *corev1.Node) {
	s.t.Helper()
	c := s.claim(name)
	i := s.buy(name, string(c.UID))
	c.Status.ProviderID, c.Status.NodeName = i.ProviderID, "node-"+name
	for _, kind := range []string{karpenterv1.ConditionLaunched, karpenterv1.ConditionRegistered, karpenterv1.ConditionInitialized} {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: metav1.NewTime(s.clock.Now())})
	}
	s.must(s.store.Status().Update(context.Background(), c))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + name, Finalizers: []string{karpenterv1.FinalizerTermination}}}
	node.Spec.ProviderID = i.ProviderID
	s.make(node)
	return c, node
}

// pod makes a pod that runs on a node; without a node, it is pending.
func (s *fixture) pod(name, node string, change ...func(*corev1.Pod)) *corev1.Pod {
	s.t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Image: "image"}}
	p.Spec.NodeName = node
	for _, c := range change {
		c(p)
	}
	s.make(p)
	if node != "" {
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		s.must(s.store.Status().Update(context.Background(), p))
	}
	return p
}

// untagged makes a claim whose machine lacks a tag for a while, and then gets it back.
func (s *fixture) untagged(name string, tag memory.Tag, d time.Duration) {
	s.t.Helper()
	c, _ := s.serve(name)
	s.untag(tag)
	s.pass(d)
	s.must(s.cloud.Connect().Label(context.Background(), c.Status.ProviderID, tag))
}

// untag removes a tag from every machine.
func (s *fixture) untag(tag memory.Tag) {
	for _, i := range s.cloud.Instances() {
		s.cloud.Untag(i.ProviderID, tag)
	}
}

// claimTakenAway makes an event happen to a node whose claim a user has deleted, and then buys
// another one, where the limit is one of them.
func (s *fixture) claimTakenAway(then func(client.Object)) {
	s.t.Helper()
	s.limit("4")
	c, n := s.serve("a")
	s.release(c)
	s.delete(c)
	s.pass(6 * time.Minute)
	then(n)
	s.serve("b")
}

// unregistered is a node that still has the taint of unregistered nodes.
func (s *fixture) unregistered() {
	_, n := s.serve("a")
	n.Spec.Taints = []corev1.Taint{karpenterv1.TaintUnregistered()}
	s.must(s.store.Update(context.Background(), n))
}

// marked makes a node that moved pods should not come to.
func (s *fixture) marked() {
	_, n := s.serve("a")
	n.Spec.Taints = []corev1.Taint{{Key: model.KeyNotReceiving, Effect: corev1.TaintEffectPreferNoSchedule}}
	s.must(s.store.Update(context.Background(), n))
}

// taint says on a node that it goes.
func (s *fixture) taint(n *corev1.Node) {
	s.t.Helper()
	n.Spec.Taints = []corev1.Taint{karpenterv1.TaintDisrupted()}
	s.must(s.store.Update(context.Background(), n))
}

// closed makes an event happen to a claim whose node takes no pods any more.
func (s *fixture) closed(then func(client.Object)) {
	s.t.Helper()
	c, n := s.serve("a")
	s.taint(n)
	then(c)
}

func protected(p *corev1.Pod) {
	p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}
}

func (s *fixture) delete(o client.Object) {
	s.t.Helper()
	s.must(s.store.Delete(context.Background(), o))
}

// release removes the finalizers from an object.
func (s *fixture) release(o client.Object) {
	s.t.Helper()
	s.must(s.store.Get(context.Background(), client.ObjectKeyFromObject(o), o))
	o.SetFinalizers(nil)
	s.must(s.store.Update(context.Background(), o))
}

// finish makes a pod end.
func (s *fixture) finish(p *corev1.Pod) {
	s.t.Helper()
	p.Status.Phase = corev1.PodSucceeded
	s.must(s.store.Status().Update(context.Background(), p))
}

func (s *fixture) limit(cpu string) {
	s.t.Helper()
	var pool karpenterv1.NodePool
	s.must(s.store.Get(context.Background(), client.ObjectKey{Name: "default"}, &pool))
	pool.Spec.Limits = karpenterv1.Limits{corev1.ResourceCPU: resource.MustParse(cpu)}
	s.must(s.store.Update(context.Background(), &pool))
}

// disappointed records that moves of the pool fell short of their expected savings, by thousandths.
func (s *fixture) disappointed(short int) {
	s.t.Helper()
	var pool karpenterv1.NodePool
	s.must(s.store.Get(context.Background(), client.ObjectKey{Name: "default"}, &pool))
	pool.Annotations = map[string]string{savings.Annotation: savings.Account{Short: short, At: s.clock.Now()}.String()}
	s.must(s.store.Update(context.Background(), &pool))
}

// deadline gives a claim a time by which its pods must be gone.
func (s *fixture) deadline(c *karpenterv1.NodeClaim, in time.Duration) {
	s.t.Helper()
	s.must(s.store.Get(context.Background(), client.ObjectKeyFromObject(c), c))
	c.Annotations = map[string]string{karpenterv1.AnnotationTerminationTimestamp: s.clock.Now().Add(in).Format(time.RFC3339)}
	s.must(s.store.Update(context.Background(), c))
}

// budget allows no disruption while one of its pods runs.
func (s *fixture) budget() {
	s.t.Helper()
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	one := intstr.FromInt32(1)
	b.Spec.MinAvailable, b.Spec.Selector = &one, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	s.make(b)
	b.Status.DesiredHealthy, b.Status.ExpectedPods = 1, 1
	s.must(s.store.Status().Update(context.Background(), b))
}

// example is a state made by hand that breaks a rule, and a nearly equal one that keeps it.
type example struct {
	rule          string
	breaks, keeps func(*fixture)
}

// examples are about purchases, removals, and the final state.
func examples() map[string]example {
	return map[string]example{
		"two machines for one claim": {invariant.BoughtOnce,
			func(s *fixture) { s.buy(s.claim("a").Name, "1"); s.buy("a", "2") },
			func(s *fixture) { s.buy(s.claim("a").Name, "1"); s.buy("a", "1"); s.buy(s.claim("b").Name, "2") }},
		"another machine for the same claim, not for one of the same name": {invariant.BoughtOnce,
			func(s *fixture) { s.buy(s.claim("a").Name, "1"); s.buy("a", "2") },
			func(s *fixture) {
				first := s.claim("a")
				s.buy("a", "1")
				s.release(first)
				s.delete(first)
				s.buy(s.claim("a").Name, "2")
			}},
		"a machine without its pool's tag": {invariant.TagsPutBack,
			func(s *fixture) { s.untagged("a", memory.TagPool, 50*time.Minute) },
			func(s *fixture) {
				s.untagged("a", memory.TagPool, 40*time.Minute)
				s.untagged("b", memory.TagToken, 50*time.Minute)
			}},
		"a machine from which the same tag is removed again": {invariant.TagsPutBack,
			func(s *fixture) { s.untagged("a", memory.TagPool, 50*time.Minute) },
			func(s *fixture) {
				s.untagged("a", memory.TagPool, 40*time.Minute)
				s.untag(memory.TagPool)
				s.watch.Untagged(s.now("a").Status.ProviderID)
				s.pass(40 * time.Minute)
			}},
		"a machine without a claim, and without a tag": {invariant.NoStrayInstance,
			func(s *fixture) { s.buy("a", "1"); s.untag(memory.TagCluster); s.pass(50 * time.Minute) },
			func(s *fixture) { s.buy("a", "1"); s.untag(memory.TagCluster); s.pass(40 * time.Minute) }},
		"a machine for no claim": {invariant.IntentFirst,
			func(s *fixture) { s.buy("a", "1") },
			func(s *fixture) { s.buy(s.claim("a").Name, "1") }},
		"more than the limit": {invariant.Limits,
			func(s *fixture) { s.limit("1"); s.pass(time.Hour); s.serve("a"); s.serve("b") },
			func(s *fixture) { s.limit("100"); s.pass(time.Hour); s.serve("a"); s.serve("b") }},
		"more than a limit that was just set": {invariant.Limits,
			func(s *fixture) { s.limit("1"); s.pass(6 * time.Minute); s.serve("a"); s.serve("b") },
			func(s *fixture) { s.limit("1"); s.pass(4 * time.Minute); s.serve("a"); s.serve("b") }},
		"more than the limit, beside a node that goes without its claim": {invariant.Limits,
			func(s *fixture) { s.claimTakenAway(func(client.Object) {}) },
			func(s *fixture) { s.claimTakenAway(s.delete) }},
		"more than the limit, beside a machine whose claim and node are gone": {invariant.Limits,
			func(s *fixture) { s.claimTakenAway(func(client.Object) {}) },
			func(s *fixture) { s.claimTakenAway(func(n client.Object) { s.delete(n); s.release(n) }) }},
		"two machines for one pod": {invariant.BoughtForPods,
			func(s *fixture) {
				s.pod("p", "")
				s.buy(s.claim("a").Name, "1")
				s.buy(s.claim("b").Name, "2")
				s.pass(2 * time.Minute)
			},
			func(s *fixture) {
				s.pod("p", "")
				s.pod("q", "")
				s.buy(s.claim("a").Name, "1")
				s.buy(s.claim("b").Name, "2")
				s.pass(2 * time.Minute)
			}},
		"a machine for a pod whose node is gone": {invariant.BoughtForPods,
			func(s *fixture) { s.buy(s.claim("a").Name, "1"); s.pass(2 * time.Minute) },
			func(s *fixture) { s.pod("p", "gone"); s.buy(s.claim("a").Name, "1"); s.pass(2 * time.Minute) }},
		"two places for one pod": {invariant.PromisedOnce,
			func(s *fixture) {
				s.buy(s.claim("a").Name, "1")
				s.watch.Promised("one", "p", "a")
				s.watch.Promised("one", "p", "b")
			},
			func(s *fixture) {
				s.buy(s.claim("a").Name, "1")
				s.watch.Promised("one", "p", "a")
				s.watch.Promised("one", "p", "a")
				s.watch.Promised("another", "p", "b")
			}},
		"two places for one pod, whose first machine has joined": {invariant.PromisedOnce,
			func(s *fixture) {
				s.buy(s.claim("a").Name, "1")
				s.watch.Promised("one", "p", "a")
				s.watch.Promised("one", "p", "b")
			},
			func(s *fixture) {
				s.serve("a")
				s.watch.Promised("one", "p", "a")
				s.watch.Promised("one", "p", "b")
			}},
		"two machines for one pod, by two processes": {invariant.BoughtForPods,
			func(s *fixture) {
				s.buy(s.claim("a").Name, "1")
				s.pass(2 * time.Minute)
			},
			func(s *fixture) {
				s.crowd = true
				s.buy(s.claim("a").Name, "1")
				s.pass(2 * time.Minute)
			}},
		"a machine for pods that a quota forbids": {invariant.BoughtInVain,
			func(s *fixture) {
				s.pod("p", "")
				s.buy(s.claim("a", plannedFor("12")).Name, "1")
				s.pass(2 * time.Minute)
			},
			func(s *fixture) {
				s.pod("p", "")
				s.buy(s.claim("a", plannedFor("11")).Name, "1")
				s.pass(2 * time.Minute)
			}},
		"a machine for pods that are not moved": {invariant.BoughtForPods,
			func(s *fixture) { s.replacement(nil) },
			func(s *fixture) { s.replacement([]string{"a"}) }},
		"a machine for pods of a group's node that stays": {invariant.BoughtForPods,
			func(s *fixture) { s.replacesMember("another") },
			func(s *fixture) { s.replacesMember("member") }},
		"a pod that asks to stay": {invariant.PodGrace,
			func(s *fixture) {
				_, n := s.serve("a")
				s.delete(n)
				s.watch.Removing(s.pod("p", n.Name, protected), true)
			},
			func(s *fixture) { _, n := s.serve("a"); s.delete(n); s.watch.Removing(s.pod("p", n.Name), true) }},
		"a pod that asks to stay, until the node's time is over": {invariant.PodGrace,
			func(s *fixture) {
				c, n := s.serve("a")
				s.delete(n)
				s.deadline(c, time.Minute)
				s.watch.Removing(s.pod("p", n.Name, protected), false)
			},
			func(s *fixture) {
				c, n := s.serve("a")
				s.delete(n)
				s.deadline(c, 10*time.Second)
				s.watch.Removing(s.pod("p", n.Name, protected), false)
			}},
		"a pod that its budget holds": {invariant.PodBudgets,
			func(s *fixture) { _, n := s.serve("a"); s.budget(); s.watch.Removing(s.pod("p", n.Name), false) },
			func(s *fixture) {
				_, n := s.serve("a")
				s.budget()
				s.pod("q", n.Name)
				s.watch.Removing(s.pod("p", n.Name), false)
			}},
		"a pod of a node that stays": {invariant.PodNamed,
			func(s *fixture) { _, n := s.serve("a"); s.watch.Removing(s.pod("p", n.Name), true) },
			func(s *fixture) { _, n := s.serve("a"); s.delete(n); s.watch.Removing(s.pod("p", n.Name), true) }},
		"the end of a machine with a pod": {invariant.PodsFirst,
			func(s *fixture) {
				c, n := s.serve("a")
				s.pod("p", n.Name)
				s.delete(c)
				s.watch.Ending(n.Spec.ProviderID)
			},
			func(s *fixture) { c, n := s.serve("a"); s.delete(c); s.watch.Ending(n.Spec.ProviderID) }},
		"the end of a machine with a pod that stays until the end": {invariant.PodsFirst,
			func(s *fixture) {
				c, n := s.serve("a")
				s.pod("p", n.Name)
				s.delete(c)
				s.watch.Ending(n.Spec.ProviderID)
			},
			func(s *fixture) {
				c, n := s.serve("a")
				s.pod("p", n.Name, func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} })
				s.delete(c)
				s.watch.Ending(n.Spec.ProviderID)
			}},
		"the end of a machine that is wanted": {invariant.ClaimInUse,
			func(s *fixture) { _, n := s.serve("a"); s.watch.Ending(n.Spec.ProviderID) },
			func(s *fixture) { c, n := s.serve("a"); s.delete(c); s.watch.Ending(n.Spec.ProviderID) }},
		"the end of a node with a pod": {invariant.NodeStays,
			func(s *fixture) { _, n := s.serve("a"); s.pod("p", n.Name); s.delete(n); s.release(n) },
			func(s *fixture) {
				_, n := s.serve("a")
				s.pod("p", n.Name)
				s.cloud.Kill(n.Spec.ProviderID)
				s.delete(n)
				s.release(n)
			}},
		"the end of a node with a pod, which was never taken in": {invariant.NodeStays,
			func(s *fixture) { _, n := s.serve("a"); s.pod("p", n.Name); s.delete(n); s.release(n) },
			func(s *fixture) { _, n := s.serve("a"); s.pod("p", n.Name); s.release(n); s.delete(n) }},
		"the end of a claim before its machine's": {invariant.ClaimRemembers,
			func(s *fixture) { c, _ := s.serve("a"); s.delete(c); s.release(c) },
			func(s *fixture) {
				c, n := s.serve("a")
				s.delete(c)
				s.must(s.cloud.Connect().Delete(context.Background(), n.Spec.ProviderID))
				s.release(c)
			}},
		"the end of a claim that cannot find its machine": {invariant.ClaimRemembers,
			func(s *fixture) { c := s.claim("a"); s.buy("a", string(c.UID)); s.delete(c); s.release(c) },
			func(s *fixture) {
				c := s.claim("a")
				s.buy("a", string(c.UID))
				s.untag(memory.TagCluster)
				s.delete(c)
				s.release(c)
			}},
		"a machine without a claim": {invariant.NoStrayInstance,
			func(s *fixture) { s.buy("a", "1"); s.pass(20 * time.Minute) },
			func(s *fixture) { s.buy("a", "1"); s.pass(10 * time.Minute) }},
		"a claim without its machine": {invariant.NoStrayClaim,
			func(s *fixture) { _, n := s.serve("a"); s.cloud.Kill(n.Spec.ProviderID); s.pass(20 * time.Minute) },
			func(s *fixture) { _, n := s.serve("a"); s.cloud.Kill(n.Spec.ProviderID); s.pass(10 * time.Minute) }},
		"a claim without its machine, while nothing ran for a part of the time": {invariant.NoStrayClaim,
			func(s *fixture) { s.lose("a"); s.watch.Jumped(4 * time.Minute); s.pass(20 * time.Minute) },
			func(s *fixture) { s.lose("a"); s.watch.Jumped(8 * time.Minute); s.pass(20 * time.Minute) }},
		"at rest, a pod that waits": {invariant.RestRuns,
			func(s *fixture) { s.pod("p", ""); s.rest() },
			func(s *fixture) {
				s.pod("p", "", func(p *corev1.Pod) { p.Annotations = map[string]string{invariant.Infeasible: "true"} })
				s.rest()
			}},
		"at rest, a pod that waits since a while ago": {invariant.RestRuns,
			func(s *fixture) { s.pod("p", ""); s.pass(6 * time.Minute); s.watch.Stir(); s.watch.AtRest() },
			func(s *fixture) { s.pod("p", ""); s.pass(4 * time.Minute); s.watch.Stir(); s.watch.AtRest() }},
		"at rest, a pod that has been moved for nothing": {invariant.RestRuns,
			func(s *fixture) { s.findsNoPlace(func() {}) },
			func(s *fixture) { s.findsNoPlace(s.watch.Stir) }},
		"at rest, a purchase": {invariant.RestSettled,
			func(s *fixture) { s.late(func() { s.serve("a") }) },
			func(s *fixture) { s.late(func() { s.watch.Stir(); s.serve("a") }) }},
		"at rest, a purchase when an unneeded node of a group has gone": {invariant.RestSettled,
			func(s *fixture) { s.group(time.Minute); s.late(func() { s.serve("a") }) },
			func(s *fixture) { s.group(time.Hour); s.late(func() { s.serve("a") }) }},
		"at rest, a purchase when an instance of a group has been given up": {invariant.RestSettled,
			func(s *fixture) { s.second(); s.late(func() { s.watch.EndingMember("aws:///a/2"); s.serve("a") }) },
			func(s *fixture) { s.late(func() { s.watch.EndingMember("aws:///a/2"); s.serve("a") }) }},
		"at rest, a node that goes": {invariant.RestGone,
			func(s *fixture) { _, n := s.serve("a"); s.delete(n); s.rest() },
			func(s *fixture) { _, n := s.serve("a"); s.pod("p", n.Name, protected); s.delete(n); s.rest() }},
		"at rest, a node that has begun to go": {invariant.RestGone,
			func(s *fixture) { _, n := s.serve("a"); s.delete(n); s.rest() },
			func(s *fixture) { _, n := s.serve("a"); s.delete(n); s.watch.AtRest() }},
		"at rest, a node whose pod has let it go": {invariant.RestGone,
			func(s *fixture) {
				_, n := s.serve("a")
				p := s.pod("p", n.Name, protected)
				s.delete(n)
				s.finish(p)
				s.rest()
			},
			func(s *fixture) {
				_, n := s.serve("a")
				p := s.pod("p", n.Name, protected)
				s.delete(n)
				s.clock.Step(10 * time.Minute)
				s.finish(p)
				s.watch.AtRest()
			}},
		"at rest, a claim that goes": {invariant.RestGone,
			func(s *fixture) { s.delete(s.claim("a")); s.rest() },
			func(s *fixture) { s.serve("a"); s.watch.AtRest() }},
		"at rest, the taint of a node whose claim goes": {invariant.RestTaints,
			func(s *fixture) { s.closed(s.delete); s.rest() },
			func(s *fixture) { s.closed(s.delete); s.watch.AtRest() }},
		"at rest, a node that does not register": {invariant.RestTaints,
			func(s *fixture) { s.unregistered(); s.clock.Step(10 * time.Minute); s.watch.AtRest() },
			func(s *fixture) { s.unregistered(); s.watch.AtRest() }},
		"at rest, the mark of a node that takes no moved pods": {invariant.RestTaints,
			func(s *fixture) { s.marked(); s.rest() },
			func(s *fixture) { s.marked(); s.clock.Step(10 * time.Minute); s.delete(s.claim("b")); s.watch.AtRest() }},
		"at rest, the taint of a node of a group that goes": {invariant.RestTaints,
			func(s *fixture) { s.taint(s.grouped()); s.rest() },
			func(s *fixture) { s.taint(s.grouped()); s.watch.AtRest() }},
		"at rest, a taint": {invariant.RestTaints,
			func(s *fixture) {
				_, n := s.serve("a")
				s.taint(n)
				s.watch.AtRest()
			},
			func(s *fixture) {
				_, n := s.serve("a")
				n.Spec.Taints = []corev1.Taint{{Key: "mine", Effect: corev1.TaintEffectNoSchedule}}
				s.must(s.store.Update(context.Background(), n))
				s.watch.AtRest()
			}},
		"at rest, a node without a claim": {invariant.RestOrphans,
			func(s *fixture) { c, _ := s.serve("a"); s.delete(c); s.release(c); s.watch.AtRest() },
			func(s *fixture) { s.serve("a"); s.watch.AtRest() }},
		"at rest, a claim without a node": {invariant.RestJoined,
			func(s *fixture) { s.claim("a"); s.rest() },
			func(s *fixture) { s.serve("a"); s.watch.AtRest() }},
	}
}

// plannedFor makes a claim be for a number of pods, including the daemon's.
func plannedFor(pods string) func(*karpenterv1.NodeClaim) {
	return func(c *karpenterv1.NodeClaim) {
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}
	}
}
