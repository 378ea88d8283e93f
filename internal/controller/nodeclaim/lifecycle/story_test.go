package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/reconcile"
	"tenon/internal/registration"
	"tenon/internal/testing/harness"
)

// story is a claim's life, played step by step: its machine boots, its node becomes ready,
// a user deletes the claim, the node is drained.
type story struct {
	*harness.Harness
	t          *testing.T
	tracker    *registration.Tracker
	controller reconcile.Controller
}

func newStory(t *testing.T, options memory.Options) *story {
	t.Helper()
	s := &story{Harness: harness.New(t, options, harness.Pool("web")), t: t, tracker: registration.New()}
	s.controller = New(s.Kit, s.tracker)
	return s
}

// restart begins anew after a crash.
func (s *story) restart() { s.controller = New(s.Harness.Restart(), s.tracker) }

func (s *story) run() reconcile.Result {
	s.t.Helper()
	return s.Run(s.controller, "web-1")
}

// try runs and forgives errors.
func (s *story) try() error {
	_, err := s.controller.Reconcile(context.Background(), reconcile.Key{Name: "web-1"})
	return err
}

// join lets the one instance that exists join as a ready node, if it has not.
func (s *story) join(change ...func(*corev1.Node)) {
	s.t.Helper()
	for _, i := range s.Far.Instances() {
		if !s.Get("node-"+i.ClaimName, &corev1.Node{}) {
			s.Join(i, append([]func(*corev1.Node){harness.Ready}, change...)...)
		}
	}
}

// drained plays the node's finalizer.
func (s *story) drained() {
	s.t.Helper()
	var node corev1.Node
	if s.Get("node-web-1", &node) && node.DeletionTimestamp != nil {
		node.Finalizers = nil
		s.Must(s.API.Update(context.Background(), &node))
	}
}

func (s *story) delete() {
	s.t.Helper()
	s.Must(s.API.Delete(context.Background(), s.Claim("web-1")))
}

func (s *story) gone() bool { return !s.Get("web-1", &karpenterv1.NodeClaim{}) }

// end runs until the claim is gone, and checks that nothing is left.
func (s *story) end() {
	s.t.Helper()
	for range 30 {
		_ = s.try() // what was broken is mended by then, or gone() tells
		s.drained()
		s.Clock.Step(5 * time.Second)
		if s.gone() {
			break
		}
	}
	if !s.gone() {
		s.t.Fatalf("the claim does not end: %+v", s.Claim("web-1"))
	}
	for _, i := range s.Far.Instances() {
		if i.State != cloud.Terminating {
			s.t.Errorf("instance %s is left", i.ProviderID)
		}
	}
	if s.Get("node-web-1", &corev1.Node{}) {
		s.t.Error("the node is left")
	}
}

func (s *story) condition(name string) metav1.Condition {
	s.t.Helper()
	c, _ := s.Claim("web-1").Conditions(s.Clock.Now()).Get(name)
	return c
}

// expect checks a condition's status, reason and message.
func (s *story) expect(name string, status metav1.ConditionStatus, reason, message string) {
	s.t.Helper()
	c := s.condition(name)
	if c.Status != status || c.Reason != reason || c.Message != message {
		s.t.Errorf("%s is %s %s %q, want %s %s %q", name, c.Status, c.Reason, c.Message, status, reason, message)
	}
}

// TestInService: the write that says Initialized says all that is known of the node by then.
func TestInService(t *testing.T) {
	t.Parallel()
	for after, consolidatable := range map[string]metav1.ConditionStatus{"0s": metav1.ConditionTrue, "30s": ""} {
		s := newStory(t, memory.Options{})
		var pool karpenterv1.NodePool
		s.Get("web", &pool)
		s.Must(pool.Spec.Disruption.ConsolidateAfter.UnmarshalJSON([]byte(`"` + after + `"`)))
		s.Put(&pool)
		s.Named("web-1", "web")
		s.run()
		s.join()
		s.Calls()
		s.run()
		statuses := 0
		for _, call := range s.Calls() {
			if call.String() == "patch status NodeClaim" {
				statuses++
			}
		}
		if statuses != 1 {
			t.Errorf("%s: the status was written %d times", after, statuses)
		}
		s.expect(karpenterv1.ConditionConsistentStateFound, "True", karpenterv1.ConditionConsistentStateFound, "")
		if got := s.condition(karpenterv1.ConditionConsolidatable).Status; got != consolidatable {
			t.Errorf("%s: Consolidatable is %q, want %q", after, got, consolidatable)
		}
	}
}

// TestLife: a claim of a pool from its creation to its end, with all that is written and counted.
func TestLife(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{Stop: 12 * time.Second})
	s.Named("web-1", "web")
	if left := s.run().After; left != registrationTimeout {
		t.Errorf("looks again in %s, want when it is too late to register", left)
	}
	claim := s.Claim("web-1")
	if claim.Status.ProviderID != s.Far.Instances()[0].ProviderID || claim.Labels[corev1.LabelInstanceTypeStable] != "general-4" ||
		claim.Labels[karpenterv1.LabelCapacityType] == "" || claim.Status.Allocatable.Cpu().IsZero() {
		t.Errorf("launched claim: %+v", claim)
	}
	s.expect(karpenterv1.ConditionLaunched, "True", "Launched", "")
	s.expect(karpenterv1.ConditionRegistered, "Unknown", "NodeNotFound", "Node not registered with cluster")

	s.join(func(n *corev1.Node) { n.Status.Conditions = nil })
	s.run()
	s.expect(karpenterv1.ConditionRegistered, "True", "Registered", "")
	s.expect(karpenterv1.ConditionInitialized, "Unknown", "NodeNotReady", "Node status is NotReady")
	var node corev1.Node
	s.Get("node-web-1", &node)
	if node.Labels[karpenterv1.LabelRegistered] != "true" || len(node.Spec.Taints) != 0 || node.Labels["memory.tenon.dev/memorynodeclass"] != "default" {
		t.Errorf("registered node: %v %v", node.Labels, node.Spec.Taints)
	}
	harness.Ready(&node)
	s.Put(&node)
	if again := s.run(); again != reconcile.Never {
		t.Errorf("looks again in %s after the initialization", again.After)
	}
	s.expect("Ready", "True", "Ready", "")
	s.Calls()
	s.run()
	if writes := slices.DeleteFunc(s.Calls(), func(c harness.Call) bool { return !c.IsWrite() }); len(writes) > 0 {
		t.Errorf("a claim that is done is written: %v", writes)
	}
	var pool karpenterv1.NodePool
	s.Get("web", &pool)
	if c, _ := pool.Conditions(s.Clock.Now()).Get(karpenterv1.ConditionNodeRegistrationHealthy); c.Status != "True" || s.tracker.Health(pool.UID) != registration.Healthy {
		t.Errorf("the pool is %s and %v", s.tracker.Health(pool.UID), c)
	}

	s.delete()
	s.run()
	if s.Far.Instances()[0].State == cloud.Terminating {
		t.Error("the instance is removed under its node")
	}
	s.drained()
	if wait := s.run().After; wait != time.Second {
		t.Errorf("looks again in %s", wait)
	}
	s.expect(karpenterv1.ConditionInstanceTerminating, "True", "InstanceTerminating", "")
	s.end()
	for name, got := range map[string]float64{
		"nodes_created":                 s.Count(s.Kit.Metrics.NodesCreatedTotal),
		"nodeclaims_terminated":         s.Count(s.Kit.Metrics.NodeclaimsTerminatedTotal),
		"termination_duration":          s.Count(s.Kit.Metrics.NodeclaimsTerminationDurationSeconds),
		"instance_termination_duration": s.Count(s.Kit.Metrics.NodeclaimsInstanceTerminationDurationSeconds),
		"disrupted, which is not us":    1 + s.Count(s.Kit.Metrics.NodeclaimsDisruptedTotal),
	} {
		if got != 1 {
			t.Errorf("%s: %v, want 1", name, got)
		}
	}
	if events := s.Events(); len(events) > 0 {
		t.Errorf("events %v", events)
	}
}

// TestStandalone: a claim made by hand, of no pool, lives the same life.
func TestStandalone(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "")
	s.run()
	s.join()
	s.run()
	s.expect("Ready", "True", "Ready", "")
	s.delete()
	s.end()
}

// TestEveryWriteFails plays the life once for every write and way to fail, with a crash or
// without: there is one instance, and nothing is left at the end.
func TestEveryWriteFails(t *testing.T) {
	t.Parallel()
	ways := map[string]struct {
		err   func(harness.Call) error
		crash bool
	}{
		"conflict":              {err: harness.Conflict},
		"conflict and crash":    {err: harness.Conflict, crash: true},
		"unreachable":           {err: func(harness.Call) error { return harness.ErrBroken }},
		"unreachable and crash": {err: func(harness.Call) error { return harness.ErrBroken }, crash: true},
	}
	for name, way := range ways {
		for nth := 1; nth < 60; nth++ {
			s := newStory(t, memory.Options{})
			s.Named("web-1", "web")
			writes, hit := 0, false
			s.Fail(func(c harness.Call) error {
				if !c.IsWrite() {
					return nil
				}
				if writes++; writes == nth {
					hit = true
					return way.err(c)
				}
				return nil
			})
			for range 8 {
				_ = s.try() // that it fails is the point
				if hit && way.crash {
					s.restart()
				}
				s.join()
			}
			if c := s.condition("Ready"); c.Status != "True" {
				t.Errorf("%s at write %d: not ready: %+v", name, nth, s.Claim("web-1").Status)
			}
			s.delete()
			s.end()
			if bought := s.Far.Bought(); bought != 1 {
				t.Errorf("%s at write %d: %d instances were bought", name, nth, bought)
			}
			if !hit {
				break // there are no more writes
			}
		}
	}
}

// TestCrashAfterPurchase: the process dies between the purchase and its first write; the
// next one gets the same instance, and a deletion in between finds it.
func TestCrashAfterPurchase(t *testing.T) {
	t.Parallel()
	for _, deleted := range []bool{false, true} {
		s := newStory(t, memory.Options{})
		s.Named("web-1", "web")
		bought := false
		s.Fail(func(c harness.Call) error {
			if bought = bought || s.Far.Bought() > 0; bought {
				return harness.ErrBroken
			}
			return nil
		})
		if err := s.try(); !errors.Is(err, harness.ErrBroken) {
			t.Fatalf("got %v", err)
		}
		if s.Claim("web-1").Status.ProviderID != "" || s.Far.Bought() != 1 {
			t.Fatal("the crash came at the wrong time")
		}
		s.Fail(nil)
		s.restart()
		if !deleted {
			s.run()
			if got := s.Claim("web-1").Status.ProviderID; got != s.Far.Instances()[0].ProviderID {
				t.Errorf("provider ID %q", got)
			}
		}
		s.delete()
		s.end()
		if s.Far.Bought() != 1 {
			t.Errorf("deleted %t: %d instances were bought", deleted, s.Far.Bought())
		}
	}
}

// TestLostAnswer: the cloud has sold, and the answer is lost.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for _, deleted := range []bool{false, true} {
		s := newStory(t, memory.Options{Trouble: func(c memory.Call) memory.Fault {
			if c.Method == memory.Create && c.Attempt == 1 {
				return memory.Fault{After: memory.ErrLost}
			}
			return memory.Fault{}
		}})
		s.Named("web-1", "web")
		if err := s.try(); !errors.Is(err, memory.ErrLost) {
			t.Fatalf("got %v", err)
		}
		if c := s.condition(karpenterv1.ConditionLaunched); c.Status != "Unknown" || c.Reason != "LaunchFailed" {
			t.Errorf("launched: %v", c)
		}
		if !deleted {
			s.run()
			s.expect(karpenterv1.ConditionLaunched, "True", "Launched", "")
		}
		s.delete()
		s.end()
		if s.Far.Bought() != 1 {
			t.Errorf("%d instances were bought", s.Far.Bought())
		}
	}
}

// racingClient calls a function of the test before and after a purchase.
type racingClient struct {
	cloud.Provider
	before, after func()
}

func (m racingClient) Create(ctx context.Context, claim cloud.Claim) (cloud.Instance, error) {
	m.before()
	i, err := m.Provider.Create(ctx, claim)
	m.after()
	return i, err
}

// TestDeletedWhileLaunching: a claim that is deleted while its instance is being bought,
// be it with violence, leaves no instance behind.
func TestDeletedWhileLaunching(t *testing.T) {
	t.Parallel()
	for _, violent := range []bool{false, true} {
		for _, early := range []bool{false, true} {
			t.Run(fmt.Sprintf("violent %t, early %t", violent, early), func(t *testing.T) {
				t.Parallel()
				s := newStory(t, memory.Options{})
				s.Named("web-1", "web")
				meddle := func(now bool) func() {
					return func() {
						if !now {
							return
						}
						s.delete()
						if violent {
							claim := s.Claim("web-1")
							claim.Finalizers = nil
							s.Must(s.API.Update(context.Background(), claim))
						}
					}
				}
				s.Cloud(func(p cloud.Provider) cloud.Provider { return racingClient{p, meddle(early), meddle(!early)} })
				s.controller = New(s.Kit, s.tracker)
				s.run()
				s.end()
				if s.Far.Bought() != 1 {
					t.Errorf("%d instances were bought", s.Far.Bought())
				}
			})
		}
	}
}

// TestStaleCacheBuysNothing: a new leader's cache still shows a claim that is long gone, or
// being deleted.
func TestStaleCacheBuysNothing(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		s := newStory(t, memory.Options{})
		s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
			c.Finalizers = []string{karpenterv1.FinalizerTermination, "test.dev/keep"}
		})
		s.Hold(s.Claim("web-1"))
		s.delete()
		if gone {
			claim := s.Claim("web-1")
			claim.Finalizers = nil
			s.Must(s.API.Update(context.Background(), claim))
		}
		s.run()
		if s.Far.Bought() != 0 {
			t.Errorf("gone %t: bought", gone)
		}
	}
}

// TestWhatWasBoughtIsNotAskedFor: while the cache does not show yet what was bought, the claim is not read past it.
func TestWhatWasBoughtIsNotAskedFor(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) { c.Finalizers = []string{karpenterv1.FinalizerTermination} })
	s.Hold(s.Claim("web-1"))
	for range 3 {
		s.run()
	}
	reads := 0
	for _, call := range s.Calls() {
		if call.Uncached {
			reads++
		}
	}
	if s.Far.Bought() != 1 || reads != 1 {
		t.Errorf("%d instances were bought, after %d reads", s.Far.Bought(), reads)
	}
}
