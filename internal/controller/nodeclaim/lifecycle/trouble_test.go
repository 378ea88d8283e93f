package lifecycle

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/internal/reconcile"
	"tenon/internal/registration"
	"tenon/internal/testing/harness"
)

// soldOut is a cloud without a single general-4.
func soldOut() memory.Options {
	stock := map[cloud.Offer]int{}
	for _, zone := range memory.Zones() {
		for _, way := range []string{catalog.OnDemand, catalog.Spot} {
			stock[cloud.Offer{InstanceType: "general-4", Zone: zone, CapacityType: way}] = 0
		}
	}
	stock[cloud.Offer{InstanceType: "general-4", Zone: memory.Zones()[0], CapacityType: catalog.Reserved, Reservation: memory.ReservationID}] = 0
	return memory.Options{Stock: stock}
}

// TestNoCapacity: the claim goes at once, with an event and a count, and without a wait
// for what may have been bought: nothing was.
func TestNoCapacity(t *testing.T) {
	t.Parallel()
	options := soldOut()
	options.Lag = time.Hour
	s := newStory(t, options)
	s.Named("web-1", "web")
	s.run()
	if !s.gone() || s.Far.Bought() != 0 {
		t.Errorf("gone %t, %d bought", s.gone(), s.Far.Bought())
	}
	events := s.Events()
	if len(events) != 1 || !strings.HasPrefix(events[0], "Warning InsufficientCapacityError web-1: NodeClaim web-1 event: insufficient capacity, ") {
		t.Errorf("events %q", events)
	}
	counted := s.Kit.Metrics.NodeclaimsDisruptedTotal.WithLabelValues("insufficient_capacity", "web", "", "when_empty_or_underutilized", "graceful")
	if n := s.Count(counted); n != 1 || s.tracker.Health("uid-web") != registration.Unknown {
		t.Errorf("counted %v, the pool is %s", n, s.tracker.Health("uid-web"))
	}
}

// TestNoCapacityEveryWriteFails: the claim still goes, once counted, and nothing is bought.
func TestNoCapacityEveryWriteFails(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 4; nth++ {
		for _, fault := range []func(harness.Call) error{harness.Conflict, func(harness.Call) error { return harness.ErrBroken }} {
			s := newStory(t, soldOut())
			s.Named("web-1", "web")
			writes := 0
			s.Fail(func(c harness.Call) error {
				if !c.IsWrite() {
					return nil
				}
				if writes++; writes == nth {
					return fault(c)
				}
				return nil
			})
			s.end()
			if n := s.Count(s.Kit.Metrics.NodeclaimsDisruptedTotal); n != 1 || s.Far.Bought() != 0 {
				t.Errorf("write %d: counted %v, %d bought", nth, n, s.Far.Bought())
			}
		}
	}
}

// TestClassNotReady: the claim goes, and an event says why.
func TestClassNotReady(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{Classes: map[string]memory.Class{"default": {NotReady: "no image"}}})
	s.Named("web-1", "web")
	s.run()
	counted := s.Kit.Metrics.NodeclaimsDisruptedTotal.WithLabelValues("nodeclass_not_ready", "web", "", "when_empty_or_underutilized", "graceful")
	events := s.Events()
	if !s.gone() || s.Count(counted) != 1 || len(events) != 1 || !strings.Contains(events[0], "no image") {
		t.Errorf("gone %t, counted %v, events %v", s.gone(), s.Count(counted), events)
	}
}

// TestClassNotJudgedYet: a claim that was applied together with its class waits, says so, and is launched
// once the class is ready; that is no error.
func TestClassNotJudgedYet(t *testing.T) {
	t.Parallel()
	undecided := true
	s := newStory(t, memory.Options{Trouble: func(c memory.Call) memory.Fault {
		if c.Method == memory.Create && undecided {
			return memory.Fault{Before: &cloud.ClassNotReady{Undecided: true, Err: errors.New("NodeClass is in Ready=Unknown")}}
		}
		return memory.Fault{}
	}})
	s.Named("web-1", "web")
	if again := s.run().After; again != 2*time.Second {
		t.Errorf("again in %s", again)
	}
	if c := s.condition(karpenterv1.ConditionLaunched); c.Status != "Unknown" || c.Reason != "NodeClassReadinessUnknown" {
		t.Errorf("the condition is %v", c)
	}
	if events := s.Events(); len(events) != 1 || !strings.Contains(events[0], "Failed resolving NodeClass") {
		t.Errorf("events %v", events)
	}
	undecided = false
	s.run()
	if c := s.condition(karpenterv1.ConditionLaunched); c.Status != "True" {
		t.Errorf("the condition is %v", c)
	}
}

// failing makes every purchase fail before it is made.
func failing(err error) memory.Options {
	return memory.Options{Trouble: func(c memory.Call) memory.Fault {
		if c.Method == memory.Create {
			return memory.Fault{Before: err}
		}
		return memory.Fault{}
	}}
}

// TestThrottled: the cloud says when to come again, and gets its way.
func TestThrottled(t *testing.T) {
	t.Parallel()
	s := newStory(t, failing(&cloud.Throttled{RetryAfter: 7 * time.Second}))
	s.Named("web-1", "web")
	if again := s.run().After; again != 7*time.Second {
		t.Errorf("again in %s", again)
	}
	if c := s.condition(karpenterv1.ConditionLaunched); c.Reason != "LaunchFailed" {
		t.Errorf("launched: %v", c)
	}
}

// TestRejectedUntilTooLate: people see why, the claim is tried until its time is over, and
// two such claims make the pool unhealthy for the reason of the launch.
func TestRejectedUntilTooLate(t *testing.T) {
	t.Parallel()
	s := newStory(t, failing(&cloud.Rejected{Reason: "Unauthorized", Message: "Not allowed to buy."}))
	for range 2 {
		s.Named("web-1", "web")
		if again := s.run().After; again != probeEvery {
			t.Fatalf("tried again after %s", again)
		}
		s.expect(karpenterv1.ConditionLaunched, "Unknown", "Unauthorized", "Not allowed to buy.")
		s.Clock.Step(cloud.DefaultLaunchTimeout)
		s.run()
		s.end()
	}
	counted := s.Kit.Metrics.NodeclaimsDisruptedTotal.WithLabelValues("launch_timeout", "web", "", "when_empty_or_underutilized", "graceful")
	if n := s.Count(counted); n != 2 {
		t.Errorf("counted %v", n)
	}
	var pool karpenterv1.NodePool
	s.Get("web", &pool)
	c, _ := pool.Conditions(s.Clock.Now()).Get(karpenterv1.ConditionNodeRegistrationHealthy)
	if c.Status != "False" || c.Reason != "Unauthorized" || c.Message != "Not allowed to buy." {
		t.Errorf("pool: %v", c)
	}
}

// TestRejectionsAreMended: of a pool's rejected claims the oldest is tried again every five seconds and the
// others with less and less haste; once it is launched, all of them are tried at once.
func TestRejectionsAreMended(t *testing.T) {
	t.Parallel()
	mended := false
	s := newStory(t, memory.Options{Trouble: func(c memory.Call) memory.Fault {
		if c.Method == memory.Create && !mended {
			return memory.Fault{Before: &cloud.Rejected{Reason: "Unauthorized", Message: "Not allowed to buy."}}
		}
		return memory.Fault{}
	}})
	for _, name := range []string{"web-1", "web-2", "web-3"} {
		s.Named(name, "web")
		s.Clock.Step(time.Second)
	}
	if again := s.run().After; again != probeEvery {
		t.Errorf("the oldest is tried again after %s, want %s", again, probeEvery)
	}
	for _, name := range []string{"web-2", "web-3"} {
		if _, err := s.controller.Reconcile(context.Background(), reconcile.Key{Name: name}); err == nil {
			t.Errorf("%s: no error, so no retry with less and less haste", name)
		}
	}
	mended = true
	before := s.Claim("web-1")
	s.run()
	var woken []string
	for _, w := range s.controller.Watches {
		if _, ofClaims := w.Kind.(*karpenterv1.NodeClaim); ofClaims && w.Wakes(before, s.Claim("web-1")) {
			for _, key := range w.KeysOf(context.Background(), s.Claim("web-1")) {
				woken = append(woken, key.Name)
			}
		}
	}
	slices.Sort(woken)
	if want := []string{"web-1", "web-2", "web-3"}; !slices.Equal(woken, want) {
		t.Errorf("%v are looked at, want %v", woken, want)
	}
}

// TestNeverJoins: fifteen minutes after its creation the claim and its instance go; two of
// them make the pool unhealthy, and so does one when the pool was so before a restart.
func TestNeverJoins(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	another := func(uid types.UID) {
		s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) { c.UID = uid }) // another token, or nothing is sold
	}
	for _, uid := range []types.UID{"uid-1", "uid-2"} {
		another(uid)
		s.run()
		s.Clock.Step(registrationTimeout)
		s.run()
		s.end()
	}
	health := func() metav1.Condition {
		var pool karpenterv1.NodePool
		s.Get("web", &pool)
		c, _ := pool.Conditions(s.Clock.Now()).Get(karpenterv1.ConditionNodeRegistrationHealthy)
		return c
	}
	if c := health(); c.Status != "False" || c.Reason != "RegistrationFailed" || c.Message != "Failed to register node" {
		t.Errorf("pool: %v", c)
	}
	s.tracker = registration.New()
	s.restart()
	another("uid-3")
	s.run()
	s.join()
	s.run()
	s.expect("Ready", "True", "Ready", "")
	if c := health(); c.Status != "False" || s.tracker.Health("uid-web") != registration.Unhealthy {
		t.Errorf("one success after a restart: %v", c)
	}
}

// TestForeignPoolIsNotBlamed: a claim that another pool of the same name made.
func TestForeignPoolIsNotBlamed(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) { c.OwnerReferences[0].UID = "uid-of-old" })
	s.run()
	s.Clock.Step(registrationTimeout)
	s.run()
	if s.tracker.Health("uid-web") != registration.Unknown || s.tracker.Health("uid-of-old") != registration.Unknown {
		t.Error("a pool was blamed")
	}
}

// TestUnreadableRequirements: they are shown, and not bought as something else.
func TestUnreadableRequirements(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
		c.Spec.Requirements = []karpenterv1.Requirement{{Key: "cores", Operator: corev1.NodeSelectorOpGt, Values: []string{"many"}}}
	})
	if err := s.try(); err == nil || s.Far.Bought() != 0 {
		t.Errorf("error %v, %d bought", err, s.Far.Bought())
	}
	if c := s.condition(karpenterv1.ConditionLaunched); c.Reason != "LaunchFailed" || !strings.Contains(c.Message, "cores") {
		t.Errorf("launched: %v", c)
	}
}

// TestSearchWaits: a claim that knows of no instance is not released while a list may be
// behind, and ends with the instance that then comes to light. What was bought in the second of
// the deletion counts as bought after it: the time of a deletion has no fractions.
func TestSearchWaits(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{Lag: time.Minute, Trouble: func(c memory.Call) memory.Fault {
		if c.Method == memory.Create {
			return memory.Fault{After: memory.ErrLost}
		}
		return memory.Fault{}
	}})
	s.Named("web-1", "web")
	if err := s.try(); !errors.Is(err, memory.ErrLost) {
		t.Fatal(err)
	}
	s.delete()
	want := s.Claim("web-1").DeletionTimestamp.Add(time.Second + time.Minute).Sub(s.Clock.Now())
	if wait := s.run().After; wait != want || s.gone() {
		t.Errorf("waits %s, and not %s, gone %t", wait, want, s.gone())
	}
	s.Clock.Step(2 * time.Minute)
	s.end()
}

// TestListFails: what cannot be listed is not known to be nothing.
func TestListFails(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{Trouble: func(c memory.Call) memory.Fault {
		return memory.Fault{Before: memory.ErrUnreachable}
	}})
	s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) { c.Finalizers = []string{karpenterv1.FinalizerTermination} })
	s.delete()
	if err := s.try(); !errors.Is(err, memory.ErrUnreachable) || s.gone() {
		t.Errorf("error %v, gone %t", err, s.gone())
	}
}

// TestBoughtAndGone: an instance that died before its claim heard of it leaves a claim
// without future.
func TestBoughtAndGone(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{Trouble: func(c memory.Call) memory.Fault {
		if c.Method == memory.Create && c.Attempt == 1 {
			return memory.Fault{After: memory.ErrLost}
		}
		return memory.Fault{}
	}})
	s.Named("web-1", "web")
	if err := s.try(); err == nil {
		t.Fatal("the answer was not lost")
	}
	s.Far.Kill(s.Far.Instances()[0].ProviderID)
	s.run()
	s.end()
	counted := s.Kit.Metrics.NodeclaimsDisruptedTotal.WithLabelValues("garbage_collected", "web", "", "when_empty_or_underutilized", "graceful")
	if s.Count(counted) != 1 || s.Far.Bought() != 1 {
		t.Errorf("counted %v, %d bought", s.Count(counted), s.Far.Bought())
	}
}

// TestGracePeriod: the end of all pods is written on the claim, once, counted from the deletion.
func TestGracePeriod(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
		c.Spec.TerminationGracePeriod = &scalar.Duration{Duration: time.Hour}
	})
	s.run()
	s.join()
	s.run()
	s.delete()
	s.run()
	s.run()
	claim := s.Claim("web-1")
	want := claim.DeletionTimestamp.Add(time.Hour).Format(time.RFC3339)
	if got := claim.Annotations[karpenterv1.AnnotationTerminationTimestamp]; got != want {
		t.Errorf("annotated %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{"Warning TerminationGracePeriodExpiring web-1: All pods will be deleted by " + want}, s.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	s.end()
}

// A claim that never had a machine has no pods: nothing is said of their end.
func TestGracePeriodWithoutAMachine(t *testing.T) {
	t.Parallel()
	s := newStory(t, failing(&cloud.Rejected{Reason: "Unauthorized", Message: "Not allowed to buy."}))
	s.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
		c.Spec.TerminationGracePeriod = &scalar.Duration{Duration: time.Hour}
	})
	s.run()
	s.delete()
	s.run()
	for _, event := range s.Events() {
		if strings.Contains(event, "TerminationGracePeriodExpiring") {
			t.Error(event)
		}
	}
}

// TestTwoNodes: the claim says so, and goes on when the stale one is gone.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web")
	s.run()
	s.join()
	stale := s.Join(s.Far.Instances()[0], func(n *corev1.Node) { n.Name, n.UID = "stale", "uid-stale" })
	s.run()
	s.expect(karpenterv1.ConditionRegistered, "False", "MultipleNodesFound", "Invariant violated, matched multiple nodes")
	s.Must(s.API.Delete(context.Background(), stale))
	s.run()
	s.expect("Ready", "True", "Ready", "")
}

// TestWaitingFor: nodes wake claims that wait for them, and no others.
func TestWaitingFor(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web")
	s.run()
	s.join()
	wakes := func() int {
		var node corev1.Node
		s.Get("node-web-1", &node)
		return len(s.controller.Watches[1].KeysOf(context.Background(), &node))
	}
	if wakes() != 1 {
		t.Error("a node that joins wakes no claim")
	}
	s.run()
	if wakes() != 0 {
		t.Error("a node wakes an initialized claim")
	}
	s.delete()
	if wakes() != 1 {
		t.Error("a node wakes no claim that waits for its end")
	}
}

// fakeCatalog is a market with the given offers.
type fakeCatalog struct {
	offers *catalog.Catalog
	err    error
}

func (s *fakeCatalog) Catalog(context.Context, *karpenterv1.NodePool) (*catalog.Catalog, error) {
	return s.offers, s.err
}

// TestMarket: a claim is bought at the prices of its pool's market, waits while that has
// none, and asks the provider itself about a class that is not ready.
func TestMarket(t *testing.T) {
	t.Parallel()
	dearer := memory.Sample()
	for i := range dearer.Types {
		for j := range dearer.Types[i].Offerings {
			if o := &dearer.Types[i].Offerings[j]; o.CapacityType != catalog.OnDemand {
				o.Price *= 1000
			}
		}
	}
	for name, tc := range map[string]struct {
		shop fakeCatalog
		want string // the capacity type that is bought
	}{
		"the pool's prices":       {fakeCatalog{offers: dearer}, catalog.OnDemand},
		"not judged yet":          {fakeCatalog{err: errors.New("awaiting evaluation")}, ""},
		"the class was not ready": {fakeCatalog{err: &cloud.ClassNotReady{}}, catalog.Spot},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := soldOut()
			for offer := range options.Stock { // but for the reservation
				if offer.Reservation == "" {
					delete(options.Stock, offer)
				}
			}
			s := newStory(t, options)
			s.controller = At(s.Kit, s.tracker, &tc.shop, nil, false)
			s.Named("web-1", "web")
			if err := s.try(); (err == nil) != (tc.want != "") {
				t.Errorf("error %v", err)
			}
			if got := s.Claim("web-1").Labels[karpenterv1.LabelCapacityType]; got != tc.want {
				t.Errorf("bought %q, want %q", got, tc.want)
			}
		})
	}
}

// TestNewGeneration: what is True is said again for the generation that the object has now.
func TestNewGeneration(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web")
	s.run()
	s.join()
	s.run()
	claim := s.Claim("web-1")
	claim.Generation = 2
	s.Put(claim)
	s.run()
	claim = s.Claim("web-1")
	if claim.Generation != 2 || !claim.Conditions(s.Clock.Now()).IsReady() {
		t.Errorf("generation %d: %v", claim.Generation, claim.Status.Conditions)
	}
}

// TestThrottledEnd: an instance that cannot be removed at the moment is removed later, and
// the claim waits for it.
func TestThrottledEnd(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{Trouble: func(c memory.Call) memory.Fault {
		switch {
		case c.Method == memory.Delete && c.Attempt == 1:
			return memory.Fault{Before: &cloud.Throttled{RetryAfter: 9 * time.Second}}
		case c.Method == memory.Delete && c.Attempt == 2:
			return memory.Fault{Before: memory.ErrUnreachable}
		}
		return memory.Fault{}
	}})
	s.Named("web-1", "web")
	s.run()
	s.delete()
	if again := s.run().After; again != 9*time.Second {
		t.Errorf("again in %s", again)
	}
	if err := s.try(); !errors.Is(err, memory.ErrUnreachable) || s.gone() {
		t.Errorf("error %v, gone %t", err, s.gone())
	}
	s.end()
}

// TestGhostNode: a node that joined and was never registered goes with its instance.
func TestGhostNode(t *testing.T) {
	t.Parallel()
	s := newStory(t, memory.Options{})
	s.Named("web-1", "web")
	s.run()
	s.delete()
	s.join()
	s.end()
}
