package invariant_test

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/ingest"
	"tenon/internal/telemetry"
	"tenon/sim/invariant"
)

// disrupts writes a command on the claims to remove, and on their replacements.
func (s *fixture) disrupts(reason plan.Reason, id string, leave, come []string, receivers ...string) {
	s.t.Helper()
	r := command.Record{ID: id, Reason: reason, Begun: s.clock.Now(), Receivers: receivers, Savings: s.saves}
	for _, name := range leave {
		r.Claims = append(r.Claims, command.Member{Claim: name, Pool: "default"})
	}
	for _, name := range come {
		r.Replacements = append(r.Replacements, command.Member{Claim: name, Pool: "default"})
	}
	for _, name := range append(append([]string(nil), leave...), come...) {
		var claim karpenterv1.NodeClaim
		s.must(s.store.Get(context.Background(), client.ObjectKey{Name: name}, &claim))
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[karpenterv1.AnnotationDisruption] = r.String()
		s.must(s.store.Update(context.Background(), &claim))
	}
}

// costing makes a claim with a node of a core and a machine at a price.
func (s *fixture) costing(name string, price model.Money) *karpenterv1.NodeClaim {
	s.t.Helper()
	s.price = price
	claim, node := s.serve(name)
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("2Gi")}
	s.must(s.store.Status().Update(context.Background(), node))
	return claim
}

// replaces replaces one machine by another, both of which run for some time.
func (s *fixture) replaces(before, after model.Money, d time.Duration) {
	s.t.Helper()
	s.costing("a", before)
	s.costing("b", after)
	s.pass(time.Minute) // so that both have booted
	s.disrupts(plan.Underutilized, "swap", []string{"a"}, []string{"b"})
	s.pass(d)
}

// pace makes the pool's budget one node at a time.
func (s *fixture) pace() {
	s.t.Helper()
	var pool karpenterv1.NodePool
	s.must(s.store.Get(context.Background(), client.ObjectKey{Name: "default"}, &pool))
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "1"}}
	s.must(s.store.Update(context.Background(), &pool))
	s.pass(time.Hour)
}

// holds sets the pool's consolidateAfter.
func (s *fixture) holds(after time.Duration) {
	s.t.Helper()
	var pool karpenterv1.NodePool
	s.must(s.store.Get(context.Background(), client.ObjectKey{Name: "default"}, &pool))
	pool.Spec.Disruption.ConsolidateAfter = karpenterv1.DurationOf(after)
	s.must(s.store.Update(context.Background(), &pool))
}

// group makes a group whose nodes may go when they have been unneeded for some time.
func (s *fixture) group(after time.Duration) {
	s.t.Helper()
	group := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	group.Spec.GroupName, group.Spec.Disruption = "web", &karpenterv1.Disruption{ConsolidateAfter: karpenterv1.DurationOf(after)}
	s.make(group)
}

// oneAfterAnother removes a node of a pool whose budget is one, and then another.
func (s *fixture) oneAfterAnother(gone bool) {
	s.t.Helper()
	s.pace()
	first := s.costing("a", 1)
	s.costing("b", 1)
	s.disrupts(plan.Empty, "first", []string{"a"}, nil)
	s.delete(first)
	if gone {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}
		s.release(node)
		s.delete(node)
	}
	s.disrupts(plan.Empty, "second", []string{"b"}, nil)
}

// owned gives a pod an owner that creates it again, and 0.6 cores.
func owned(p *corev1.Pod) {
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("600m")}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: ptr.To(true)}}
}

// move removes a node by a disruption that planned its pod on another node; the pod is created
// again on some node, or else is pending.
func (s *fixture) move(pod, from, heir, to, somewhere string) {
	s.t.Helper()
	s.disrupts(plan.Underutilized, "of-"+from, []string{from}, nil, to)
	s.carryOut(pod, from, heir, somewhere)
}

// carryOut removes a node that a disruption takes, and creates its pod again.
func (s *fixture) carryOut(pod, from, heir, somewhere string) {
	s.t.Helper()
	claim := s.now(from)
	s.delete(claim)
	claim = s.now(from)
	delete(claim.Annotations, karpenterv1.AnnotationDisruption) // the command is over
	s.must(s.store.Update(context.Background(), claim))
	gone := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod}}
	s.must(s.store.Delete(context.Background(), gone, client.GracePeriodSeconds(0)))
	node := ""
	if somewhere != "" {
		node = "node-" + somewhere
	}
	s.pod(heir, node, owned)
}

// replacement buys a machine by a disruption that has so far only named the nodes that it removes.
func (s *fixture) replacement(leave []string) {
	s.t.Helper()
	s.costing("a", 1)
	s.pod("p", "node-a", owned)
	s.pass(time.Hour)
	s.claim("b")
	s.disrupts(plan.Underutilized, "swap", leave, []string{"b"})
	s.buy("b", "1")
	s.pass(2 * time.Minute)
}

// replacesMember buys a machine for the pod of a node of a group, that carries a command which takes such a node.
func (s *fixture) replacesMember(takes string) {
	s.t.Helper()
	record := command.Record{ID: "swap", Reason: plan.Underutilized, Begun: s.clock.Now(), Claims: []command.Member{{Claim: command.MemberOf("", takes)}}}
	s.make(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "member", Annotations: map[string]string{
		tenonv1alpha1.AnnotationGroup: "web", karpenterv1.AnnotationDisruption: record.String(),
	}}})
	s.pod("p", "member", owned)
	s.pass(time.Hour)
	s.buy(s.claim("b").Name, "1")
	s.pass(2 * time.Minute)
}

// findsNoPlace makes a moved pod find no place, when nothing else has changed for an hour but the
// given event.
func (s *fixture) findsNoPlace(before func()) {
	s.t.Helper()
	s.costing("a", 1)
	s.costing("b", 1)
	s.pod("p", "node-a", owned)
	s.pass(time.Hour)
	before()
	s.move("p", "a", "q", "b", "")
	s.watch.AtRest()
}

// waits serves a node of a pool that consolidates after some time.
func (s *fixture) waits(after time.Duration) {
	s.t.Helper()
	s.costing("a", 1)
	var pool karpenterv1.NodePool
	s.must(s.store.Get(context.Background(), client.ObjectKey{Name: "default"}, &pool))
	pool.Spec.Disruption.ConsolidateAfter = karpenterv1.DurationOf(after)
	s.must(s.store.Update(context.Background(), &pool))
}

// wantedPod is an object that a user changes.
func (s *fixture) wish() {
	s.t.Helper()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "more"}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "more"}}
	d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "image"}}
	s.make(d)
}

// twice moves a pod by a disruption, and then its successor.
func (s *fixture) twice(receiver string, between func()) {
	s.t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		s.costing(name, model.Unit/100)
	}
	s.pod("p", "node-a", owned)
	s.pass(10 * time.Minute)
	s.move("p", "a", "q", receiver, "b")
	between()
	s.pass(time.Minute)
	s.move("q", "b", "r", "c", "c")
}

// twiceSlowly moves a pod by a disruption that is decided some time after its nodes have joined and carried out a
// minute later, and then moves its successor.
func (s *fixture) twiceSlowly(decided time.Duration) {
	s.t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		s.costing(name, model.Unit/100)
	}
	s.pod("p", "node-a", owned)
	s.pass(decided)
	s.disrupts(plan.Underutilized, "of-a", []string{"a"}, nil, "b")
	s.pass(time.Minute)
	s.carryOut("p", "a", "q", "b")
	s.pass(time.Minute)
	s.move("q", "b", "r", "c", "c")
}

// receives records on a claim that the command that begins now brings pods to its node.
func (s *fixture) receives(name string) {
	s.t.Helper()
	s.edit(name, func(c *karpenterv1.NodeClaim) { ingest.Rearrange(c, s.clock.Now()) })
}

// lacks records on a claim that the pods planned by that command did not come to its node.
func (s *fixture) lacks(name string) {
	s.t.Helper()
	s.edit(name, func(c *karpenterv1.NodeClaim) { ingest.NotRearranged(c, s.clock.Now()) })
}

func (s *fixture) edit(name string, change func(*karpenterv1.NodeClaim)) {
	s.t.Helper()
	var claim karpenterv1.NodeClaim
	s.must(s.store.Get(context.Background(), client.ObjectKey{Name: name}, &claim))
	change(&claim)
	s.must(s.store.Update(context.Background(), &claim))
}

// twoMoved moves two pods to one node, where one of them goes on. The other one came to another node, or to
// none yet.
func (s *fixture) twoMoved(somewhere string) {
	s.t.Helper()
	for _, name := range []string{"a", "b", "c"} {
		s.costing(name, model.Unit/100)
	}
	s.pod("p", "node-a", owned)
	other := s.pod("other", "node-a", owned)
	s.pass(10 * time.Minute)
	s.move("p", "a", "q", "b", "b")
	s.delete(other)
	s.pod("another", somewhere, owned)
	s.pass(time.Minute)
	s.move("q", "b", "r", "c", "c")
}

// large makes a node have room for four cores, of which its pods request few.
func (s *fixture) large(name string) {
	s.t.Helper()
	var node corev1.Node
	s.must(s.store.Get(context.Background(), client.ObjectKey{Name: "node-" + name}, &node))
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	s.must(s.store.Status().Update(context.Background(), &node))
}

// undone replaces a machine, and removes the replacement for a reason, some time after their nodes
// have joined.
func (s *fixture) undone(reason plan.Reason) { s.undoneAfter(time.Hour, reason) }

func (s *fixture) undoneAfter(d time.Duration, reason plan.Reason) {
	s.t.Helper()
	s.costing("a", 2)
	s.costing("b", 1)
	s.pass(d)
	s.disrupts(plan.Underutilized, "swap", []string{"a"}, []string{"b"})
	s.pass(time.Minute)
	s.disrupts(reason, "undo", []string{"b"}, nil)
}

// says adds a recent event about a pod.
func (s *fixture) says(message string, pod *corev1.Pod) {
	s.watch.Recent = func() []telemetry.Event {
		return []telemetry.Event{telemetry.Warning(pod, "FailedScheduling", message)}
	}
}

// decisions are examples of decisions, and whether they last.
func decisions() map[string]example {
	return map[string]example{
		"a node that goes for no reason": {invariant.NodeNamed,
			func(s *fixture) { s.watch.Deleting(s.running("a")) },
			func(s *fixture) {
				s.running("a")
				s.disrupts(plan.Empty, "why", []string{"a"}, nil)
				s.watch.Deleting(s.now("a"))
			}},
		"a node that goes before its replacement is ready": {invariant.ReplacedFirst,
			func(s *fixture) {
				s.running("a")
				s.claim("b")
				s.disrupts(plan.Drifted, "swap", []string{"a"}, []string{"b"})
				s.watch.Deleting(s.now("a"))
			},
			func(s *fixture) {
				s.running("a")
				s.running("b")
				s.disrupts(plan.Drifted, "swap", []string{"a"}, []string{"b"})
				s.watch.Deleting(s.now("a"))
			}},
		"two nodes of a pool that lets one go": {invariant.NodeBudgets,
			func(s *fixture) {
				s.pace()
				s.costing("a", 1)
				s.costing("b", 1)
				s.disrupts(plan.Empty, "both", []string{"a", "b"}, nil)
			},
			func(s *fixture) {
				s.pace()
				s.costing("a", 1)
				s.costing("b", 1)
				s.disrupts(plan.Empty, "one", []string{"a"}, nil)
			}},
		"two nodes of such a pool, the first of which is not gone yet": {invariant.NodeBudgets,
			func(s *fixture) { s.oneAfterAnother(false) },
			func(s *fixture) { s.oneAfterAnother(true) }},
		"two machines for an hour where one would do": {invariant.PaidOnce,
			func(s *fixture) { s.replaces(2, 1, 50*time.Minute) },
			func(s *fixture) { s.replaces(2, 1, 40*time.Minute) }},
		"a machine for a cheaper one": {invariant.Cheaper,
			func(s *fixture) { s.replaces(1, 2, 2*time.Minute) },
			func(s *fixture) { s.replaces(2, 1, 2*time.Minute) }},
		"a machine that is bought and given up": {invariant.NotUndone,
			func(s *fixture) { s.undone(plan.Underutilized) },
			func(s *fixture) {
				s.costing("a", 2)
				s.costing("b", 1)
				s.pass(time.Hour)
				s.disrupts(plan.Underutilized, "swap", []string{"a"}, []string{"b"})
				s.pass(time.Minute)
				s.wish()
				s.disrupts(plan.Underutilized, "undo", []string{"b"}, nil)
			}},
		"a pod that moves on": {invariant.MovedOnce,
			func(s *fixture) { s.twice("b", func() {}) },
			func(s *fixture) { s.twice("b", s.wish) }},
		"a pod that moves on after prices have changed": {invariant.MovedOnce,
			func(s *fixture) { s.twice("b", func() {}) },
			func(s *fixture) { s.twice("b", s.watch.Stir) }},
		"a pod that moves on from where it was to be": {invariant.MovedOnce,
			func(s *fixture) { s.twice("b", func() {}) },
			func(s *fixture) { s.twice("c", func() {}) }},
		"a pod that moves on from a node that lacks what was planned for it": {invariant.MovedOnce,
			func(s *fixture) { s.twice("b", func() { s.receives("b") }) },
			func(s *fixture) { s.twice("b", func() { s.receives("b"); s.lacks("b") }) }},
		"a pod that moves on to a node that had just joined when its first move was decided": {invariant.MovedOnce,
			func(s *fixture) { s.twiceSlowly(2 * time.Minute) },
			func(s *fixture) { s.twiceSlowly(30 * time.Second) }},
		"a pod that moves on after consolidateAfter has held other nodes": {invariant.MovedOnce,
			func(s *fixture) { s.holds(5 * time.Minute); s.twice("b", func() {}) },
			func(s *fixture) { s.holds(15 * time.Minute); s.twice("b", func() {}) }},
		"a pod that moves on for more than it costs": {invariant.MovedOnce,
			func(s *fixture) { s.twice("b", func() { s.saves = model.Unit / 400 }) },
			func(s *fixture) { s.twice("b", func() { s.saves = model.Unit / 300 }) }},
		"a pod that moves on while another one has no place": {invariant.MovedOnce,
			func(s *fixture) { s.twoMoved("node-b") },
			func(s *fixture) { s.twoMoved("") }},
		"a pod that moves on from a node that is hardly used": {invariant.MovedOnce,
			func(s *fixture) { s.twice("b", func() {}) },
			func(s *fixture) { s.twice("b", func() { s.large("b") }) }},
		"a machine that is bought, and given up for a node that has just joined": {invariant.NotUndone,
			func(s *fixture) { s.undoneAfter(2*time.Minute, plan.Underutilized) },
			func(s *fixture) { s.undoneAfter(30*time.Second, plan.Underutilized) }},
		"a machine that is bought, and given up because it lacks what was planned for it": {invariant.NotUndone,
			func(s *fixture) { s.undone(plan.Underutilized) },
			func(s *fixture) {
				s.costing("a", 2)
				s.costing("b", 1)
				s.pass(time.Hour)
				s.receives("b")
				s.disrupts(plan.Underutilized, "swap", []string{"a"}, []string{"b"})
				s.lacks("b")
				s.pass(time.Minute)
				s.disrupts(plan.Underutilized, "undo", []string{"b"}, nil)
			}},
		"a machine that is bought, and given up after consolidateAfter has held other nodes": {invariant.NotUndone,
			func(s *fixture) { s.holds(5 * time.Minute); s.undoneAfter(10*time.Minute, plan.Underutilized) },
			func(s *fixture) { s.holds(15 * time.Minute); s.undoneAfter(10*time.Minute, plan.Underutilized) }},
		"an empty machine that was bought, and is given up": {invariant.NotUndone,
			func(s *fixture) { s.undone(plan.Underutilized) },
			func(s *fixture) { s.undone(plan.Empty) }},
		"a machine that is bought, and given up although buffers have its room only": {invariant.NotUndone,
			func(s *fixture) { s.buffer("1", "", ""); s.pod("p", "node-b"); s.undone(plan.Underutilized) },
			func(s *fixture) { s.buffer("1", "", ""); s.undone(plan.Underutilized) }},
		"at rest, a disruption that has begun long ago": {invariant.RestCommands,
			func(s *fixture) {
				s.costing("a", 1)
				s.disrupts(plan.Empty, "old", []string{"a"}, nil)
				s.rest()
			},
			func(s *fixture) {
				s.costing("a", 1)
				s.disrupts(plan.Empty, "new", []string{"a"}, nil)
				s.watch.AtRest()
			}},
		"at rest, a claim that says it goes": {invariant.RestCommands,
			func(s *fixture) {
				c := s.costing("a", 1)
				c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: karpenterv1.ConditionDisruptionReason,
					Status: metav1.ConditionTrue, Reason: "Empty", LastTransitionTime: metav1.NewTime(s.clock.Now())})
				s.must(s.store.Status().Update(context.Background(), c))
				s.rest()
			},
			func(s *fixture) { s.costing("a", 1); s.rest() }},
		"at rest, a disruption that begins": {invariant.RestDecided,
			func(s *fixture) {
				s.costing("a", 1)
				s.late(func() { s.disrupts(plan.Empty, "late", []string{"a"}, nil) })
			},
			func(s *fixture) {
				s.costing("a", 1)
				s.late(func() { s.watch.Stir(); s.disrupts(plan.Empty, "due", []string{"a"}, nil) })
			}},
		"at rest, a disruption that begins when places that another has brought may be used": {invariant.RestDecided,
			func(s *fixture) {
				s.waits(20 * time.Minute)
				s.late(func() { s.disrupts(plan.Underutilized, "late", []string{"a"}, nil) })
			},
			func(s *fixture) {
				s.waits(30 * time.Minute)
				s.late(func() { s.disrupts(plan.Underutilized, "due", []string{"a"}, nil) })
			}},
		"at rest, a disruption that is worth it once its pool's caution has fallen": {invariant.RestDecided,
			func(s *fixture) {
				s.costing("a", 1)
				s.late(func() { s.disrupts(plan.Underutilized, "late", []string{"a"}, nil) })
			},
			func(s *fixture) {
				s.costing("a", 1)
				s.disappointed(356)
				s.late(func() { s.disrupts(plan.Underutilized, "due", []string{"a"}, nil) })
			}},
		"at rest, a pod of which nothing is said": {invariant.RestReason,
			func(s *fixture) { s.pod("p", ""); s.rest() },
			func(s *fixture) {
				s.says("Failed to schedule pod, no instance type has room", s.pod("p", ""))
				s.rest()
			}},
		"at rest, a pod with an empty reason": {invariant.RestReason,
			func(s *fixture) { s.says("Failed to schedule pod, ", s.pod("p", "")); s.rest() },
			func(s *fixture) { s.pod("p", ""); s.watch.AtRest() }},
	}
}

func (s *fixture) running(name string) *karpenterv1.NodeClaim {
	s.t.Helper()
	s.costing(name, 1)
	s.pass(time.Minute)
	return s.now(name)
}

// now is a claim as it is stored.
func (s *fixture) now(name string) *karpenterv1.NodeClaim {
	s.t.Helper()
	var claim karpenterv1.NodeClaim
	s.must(s.store.Get(context.Background(), client.ObjectKey{Name: name}, &claim))
	return &claim
}
