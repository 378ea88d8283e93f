package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/sim/store"
)

var (
	ctx   = context.Background()
	birth = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
)

func newStore(t *testing.T) (*store.Store, *clocktesting.FakeClock) {
	t.Helper()
	clock := clocktesting.NewFakeClock(birth)
	s, err := store.New(clock, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, clock
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func node(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "main", Image: "image"}}},
	}
}

// runs creates a pod that runs and is ready.
func runs(t *testing.T, s *store.Store, name string) *corev1.Pod {
	t.Helper()
	p := pod(name)
	must(t, s.Create(ctx, p))
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	must(t, s.Status().Update(ctx, p))
	return p
}

// A resource version changes only with the object, and a generation only with the spec.
func TestVersions(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	n := node("a")
	must(t, s.Create(ctx, n))
	first := n.ResourceVersion
	must(t, s.Update(ctx, n))
	if n.ResourceVersion != first {
		t.Error("an update that changes nothing has a version of its own")
	}
	n.Labels = map[string]string{"k": "v"}
	must(t, s.Update(ctx, n))
	if n.ResourceVersion == first {
		t.Error("a change has no version of its own")
	}
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	pool.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "g", Kind: "K", Name: "c"}
	pool.Spec.Template.Spec.Requirements = []karpenterv1.Requirement{{Key: corev1.LabelArchStable, Operator: "In", Values: []string{"amd64"}}}
	must(t, s.Create(ctx, pool))
	if pool.Generation != 1 {
		t.Errorf("a new object has generation %d", pool.Generation)
	}
	pool.Labels = map[string]string{"k": "v"}
	must(t, s.Update(ctx, pool))
	if pool.Generation != 1 {
		t.Error("a label is a generation")
	}
	pool.Spec.Weight = ptr.To(int32(7))
	must(t, s.Update(ctx, pool))
	if pool.Generation != 2 {
		t.Error("a change of the spec is no generation")
	}
}

// A write that names an older version is refused. One that names no version is accepted.
func TestConflicts(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	n := node("a")
	must(t, s.Create(ctx, n))
	old := n.DeepCopy()
	n.Labels = map[string]string{"k": "v"}
	must(t, s.Update(ctx, n))
	old.Labels = map[string]string{"k": "w"}
	if err := s.Update(ctx, old.DeepCopy()); !apierrors.IsConflict(err) {
		t.Errorf("an old version is answered with %v", err)
	}
	base := old.DeepCopy()
	base.Labels = nil
	if err := s.Patch(ctx, old.DeepCopy(), client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); !apierrors.IsConflict(err) {
		t.Errorf("a patch of an old version is answered with %v", err)
	}
	must(t, s.Patch(ctx, old.DeepCopy(), client.MergeFrom(base)))
	if err := s.Delete(ctx, old, client.Preconditions{ResourceVersion: &old.ResourceVersion}); !apierrors.IsConflict(err) {
		t.Errorf("a deletion of an old version is answered with %v", err)
	}
	if err := s.Create(ctx, node("a")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second of the same name is answered with %v", err)
	}
}

// A deleted object stays until its last finalizer is removed, and accepts no new finalizer meanwhile.
func TestFinalizers(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	n := node("a")
	n.Finalizers = []string{"x.y/one", "x.y/two"}
	must(t, s.Create(ctx, n))
	must(t, s.Delete(ctx, n.DeepCopy()))
	must(t, s.Get(ctx, client.ObjectKeyFromObject(n), n))
	if n.DeletionTimestamp == nil || !n.DeletionTimestamp.Time.Equal(birth) {
		t.Fatalf("the deletion timestamp is %v", n.DeletionTimestamp)
	}
	n.Finalizers = append(n.Finalizers, "x.y/three")
	if err := s.Update(ctx, n.DeepCopy()); err == nil {
		t.Error("an object that goes takes another finalizer")
	}
	n.Finalizers = []string{"x.y/two"}
	must(t, s.Update(ctx, n))
	must(t, s.Get(ctx, client.ObjectKeyFromObject(n), n))
	n.Finalizers = nil
	must(t, s.Update(ctx, n))
	if err := s.Get(ctx, client.ObjectKeyFromObject(n), n); !apierrors.IsNotFound(err) {
		t.Errorf("the node without finalizers still exists: %v", err)
	}
}

// A running pod gets its grace period. A pod without a node is removed at once.
func TestGrace(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	bound := runs(t, s, "bound")
	must(t, s.Delete(ctx, bound.DeepCopy()))
	must(t, s.Get(ctx, client.ObjectKeyFromObject(bound), bound))
	if want := birth.Add(30 * time.Second); !bound.DeletionTimestamp.Time.Equal(want) {
		t.Errorf("the grace period ends at %s, want %s", bound.DeletionTimestamp, want)
	}
	must(t, s.Delete(ctx, bound.DeepCopy(), client.GracePeriodSeconds(0)))
	free := pod("free")
	free.Spec.NodeName = ""
	must(t, s.Create(ctx, free))
	must(t, s.Delete(ctx, free.DeepCopy()))
	for _, p := range []*corev1.Pod{bound, free} {
		if err := s.Get(ctx, client.ObjectKeyFromObject(p), p); !apierrors.IsNotFound(err) {
			t.Errorf("%s still exists: %v", p.Name, err)
		}
	}
}

// A listener hears of each change once, in order, with the earlier state, and hears nothing after
// it has stopped.
func TestListenersReceiveEachChangeOnce(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	var told []string
	var last uint64
	stop := s.Listen(func(c store.Change) {
		what := "changed"
		switch {
		case c.Old == nil:
			what = "new"
		case c.New == nil:
			what = "gone"
		}
		told = append(told, what)
		if c.Version <= last {
			t.Errorf("version %d comes after %d", c.Version, last)
		}
		last = c.Version
	})
	n := node("a")
	must(t, s.Create(ctx, n))
	n.Labels = map[string]string{"k": "v"}
	must(t, s.Update(ctx, n))
	must(t, s.Update(ctx, n)) // changes nothing
	must(t, s.Delete(ctx, n))
	stop()
	must(t, s.Create(ctx, node("b")))
	if want := []string{"new", "changed", "gone"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// Answers belong to the caller: changing them does not change what is stored.
func TestAnswersAreCopies(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	n := node("a")
	n.Labels = map[string]string{"k": "v"}
	must(t, s.Create(ctx, n))
	n.Labels["k"] = "mine"
	var again corev1.Node
	must(t, s.Get(ctx, client.ObjectKey{Name: "a"}, &again))
	again.Labels["k"] = "mine"
	must(t, s.Get(ctx, client.ObjectKey{Name: "a"}, &again))
	if again.Labels["k"] != "v" {
		t.Error("what was read was changed in the store")
	}
}

func budget(allowed int32) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	b.Spec.MinAvailable = ptr.To(intstr.FromInt32(1))
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	b.Status = policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed, CurrentHealthy: 1 + allowed, DesiredHealthy: 1, ExpectedPods: 1 + allowed, ObservedGeneration: 1}
	return b
}

// count creates a budget and sets its status as its controller would.
func count(t *testing.T, s *store.Store, allowed int32) {
	t.Helper()
	b := budget(allowed)
	must(t, s.Create(ctx, b))
	b.Status = budget(allowed).Status
	b.Status.ObservedGeneration = b.Generation
	must(t, s.Status().Update(ctx, b))
}

// Each eviction takes one disruption from the budget, and is refused once none is left.
func TestEvictionsUnderABudget(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	a, b := runs(t, s, "a"), runs(t, s, "b")
	count(t, s, 1)
	evict := func(p *corev1.Pod) error {
		return s.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name}})
	}
	must(t, evict(a))
	must(t, s.Get(ctx, client.ObjectKeyFromObject(a), a))
	if a.DeletionTimestamp == nil {
		t.Error("the budget allows the eviction, but the pod is not being deleted")
	}
	if err := evict(b); !apierrors.IsTooManyRequests(err) || !apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) {
		t.Errorf("with nothing left the answer is %v", err)
	}
	var counted policyv1.PodDisruptionBudget
	must(t, s.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web"}, &counted))
	if _, noted := counted.Status.DisruptedPods["a"]; counted.Status.DisruptionsAllowed != 0 || !noted {
		t.Errorf("the budget says %+v", counted.Status)
	}
	must(t, evict(a)) // it is being deleted already, so the budget does not count it again
}

// The same seed gives the same names and UIDs; another seed gives others.
func TestNamesComeFromTheSeed(t *testing.T) {
	t.Parallel()
	made := func(seed uint64) string {
		s, err := store.New(clocktesting.NewFakeClock(birth), seed, nil)
		must(t, err)
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "n-"}}
		must(t, s.Create(ctx, n))
		return n.Name + " " + string(n.UID)
	}
	once, again, other := made(1), made(1), made(2)
	if once != again || once == other {
		t.Errorf("seeds 1, 1 and 2 give %s, %s and %s", once, again, other)
	}
}
