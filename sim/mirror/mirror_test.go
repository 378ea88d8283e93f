package mirror_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/lookup"
	"tenon/sim/mirror"
	"tenon/sim/store"
)

// errand is a function that is due.
type errand struct {
	at  time.Time
	tie uint64
	do  func()
}

// fixture is a store and a mirror of it, with errands in an order that dice choose.
type fixture struct {
	store  *store.Store
	client *mirror.Client
	clock  *clocktesting.FakeClock
	due    []errand
	events []string
}

func newFixture(t *testing.T, lag mirror.Lag) *fixture {
	t.Helper()
	s := &fixture{clock: clocktesting.NewFakeClock(time.Unix(1_000_000, 0))}
	var err error
	if s.store, err = store.New(s.clock, 1, nil); err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(1, 1))
	m, err := mirror.New(mirror.Options{
		Store: s.store, Lag: lag, Dice: dice, Now: s.clock.Now,
		Later:   func(at time.Time, do func()) { s.due = append(s.due, errand{at, dice.Uint64(), do}) },
		Arrived: func(e mirror.Event) { s.note(e) },
	})
	if err != nil {
		t.Fatal(err)
	}
	m.Open()
	s.events, s.client = nil, m.Client()
	return s
}

func (s *fixture) note(e mirror.Event) {
	s.events = append(s.events, fmt.Sprintf("%s %s %t %t", e.Kind.Kind, e.Object().GetName(), e.Old != nil, e.New != nil))
}

// catchUp lets all events arrive.
func (s *fixture) catchUp() {
	for len(s.due) > 0 {
		slices.SortFunc(s.due, func(a, b errand) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.tie, b.tie)) })
		next := s.due[0]
		s.due = s.due[1:]
		next.do()
	}
}

func node(name, providerID string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{ProviderID: providerID}}
}

// Reads do not see a write before its event has arrived, and always see it afterwards.
func TestReadsAreBehindWrites(t *testing.T) {
	t.Parallel()
	s := newFixture(t, mirror.Lag{Most: time.Second})
	if err := s.client.Create(t.Context(), node("a", "x://1")); err != nil {
		t.Fatal(err)
	}
	var seen corev1.Node
	if err := s.client.Get(t.Context(), client.ObjectKey{Name: "a"}, &seen); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("it is seen already: %v", err)
	}
	s.catchUp()
	found, err := lookup.NodesOf(t.Context(), s.client, "x://1")
	if err != nil || len(found) != 1 {
		t.Errorf("found %d by provider ID, %v", len(found), err)
	}
}

// However late events are, the last one of an object shows its last state: many changes at the same
// moment arrive in their order, in whichever order the agenda runs due errands.
func TestAKindKeepsItsOrder(t *testing.T) {
	t.Parallel()
	s := newFixture(t, mirror.Lag{Most: time.Second, Repeated: 300, Stalled: 300, Stall: time.Minute})
	n := node("a", "")
	if err := s.client.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		n.Labels = map[string]string{"n": fmt.Sprint(i)}
		if err := s.client.Update(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	s.catchUp()
	var seen corev1.Node
	if err := s.client.Get(t.Context(), client.ObjectKey{Name: "a"}, &seen); err != nil || seen.Labels["n"] != "199" {
		t.Errorf("the last state is %v, %v", seen.Labels, err)
	}
	if len(s.events) <= 201 {
		t.Errorf("%d events: none was repeated", len(s.events))
	}
}

// Without lag reads are up to date at once, also by index after a change and a deletion.
func TestIndexesFollow(t *testing.T) {
	t.Parallel()
	s := newFixture(t, mirror.Lag{})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: corev1.PodSpec{NodeName: "a"}}
	if err := s.client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	count := func(want int) {
		t.Helper()
		if found, err := lookup.PodsOn(t.Context(), s.client, "a"); err != nil || len(found) != want {
			t.Errorf("%d pods, want %d, %v", len(found), want, err)
		}
	}
	count(1)
	if err := s.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	count(0)
	var list corev1.PodList
	if err := s.client.List(t.Context(), &list, client.MatchingFields{"status.phase": "Running"}); err == nil {
		t.Error("a field without an index can be selected by")
	}
}
