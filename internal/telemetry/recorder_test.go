package telemetry

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
)

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}}
}

// podOf is a pod of a replica set, or without an owner.
func podOf(owner string, i int) *corev1.Pod {
	name := fmt.Sprintf("%s-%05d", owner, i)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)}}
	if owner != "" {
		yes := true
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: owner, UID: types.UID("uid-" + owner), Controller: &yes}}
	}
	return pod
}

func texts(events []Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, fmt.Sprintf("%s %s %s", e.Object.GetName(), e.Reason, e.Message))
	}
	return out
}

func memory() (*Memory, *testclock.FakePassiveClock) {
	clock := testclock.NewFakePassiveClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	return NewMemory(clock), clock
}

func advance(clock *testclock.FakePassiveClock, d time.Duration) { clock.SetTime(clock.Now().Add(d)) }

// An event with the same reason and key is published again only when its time is over.
func TestTheSameEventIsSaidOnce(t *testing.T) {
	t.Parallel()
	same := Normal(node("a"), "R", "m")
	cases := map[string]struct {
		first, second Event
		after         time.Duration
		want          int
	}{
		"at once":                               {first: same, second: same, want: 1},
		"before two minutes are over":           {first: same, second: same, after: 2*time.Minute - time.Second, want: 1},
		"after two minutes":                     {first: same, second: same, after: 2 * time.Minute, want: 2},
		"another message does not make another": {first: same, second: Normal(node("a"), "R", "other"), want: 1},
		"another reason does":                   {first: same, second: Normal(node("a"), "S", "m"), want: 2},
		"another object does":                   {first: same, second: Normal(node("b"), "R", "m"), want: 2},
		"the key counts, not the object":        {first: Normal(node("a"), "R", "m", "k"), second: Normal(node("b"), "R", "m", "k"), want: 1},
		"another key":                           {first: Normal(node("a"), "R", "m", "k", "l"), second: Normal(node("a"), "R", "m", "kl"), want: 2},
		"a time of its own that is not over":    {first: same.Within(time.Hour), second: same.Within(time.Hour), after: 59 * time.Minute, want: 1},
		"a time of its own that is over":        {first: same.Within(time.Minute), second: same.Within(time.Minute), after: time.Minute, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, clock := memory()
			m.Publish(tc.first)
			advance(clock, tc.after)
			m.Publish(tc.second)
			if got := m.Events(); len(got) != tc.want {
				t.Errorf("published %q, want %d", texts(got), tc.want)
			}
		})
	}
}

// A rate limits the events of a reason; an event that was held back may be published later.
func TestRatesBoundAReason(t *testing.T) {
	t.Parallel()
	m, clock := memory()
	say := func(i int) Event {
		e := Normal(node(fmt.Sprint(i)), "Nominated", "m")
		e.Rate = Rate{PerSecond: 5, Burst: 10}
		return e
	}
	for i := range 100 {
		m.Publish(say(i))
	}
	if got := len(m.Events()); got != 10 {
		t.Fatalf("%d at once, want 10", got)
	}
	m.Publish(Normal(node("other"), "Other", "m"))
	if got := len(m.Events()); got != 11 {
		t.Fatal("an event of another reason waits for the rate of this one")
	}
	advance(clock, time.Second)
	for i := range 100 {
		m.Publish(say(i))
	}
	if got := texts(m.Events())[11:]; len(got) != 5 || !strings.HasPrefix(got[0], "10 ") {
		t.Errorf("a second later %q, want five, from the first that was held back", got)
	}
}

// Ten pods of one owner get their own events; one more event says how many others there are.
func TestEventsOfPodsAreToldPerOwner(t *testing.T) {
	t.Parallel()
	m, clock := memory()
	publish := func(owner string, pods int) {
		for i := range pods {
			m.Publish(Warning(podOf(owner, i), "FailedScheduling", "Failed to schedule pod, no room").Within(5 * time.Minute))
		}
	}
	publish("web", 3000)
	publish("db", 11)
	publish("", 12)
	if got := len(m.Events()); got != 30 {
		t.Fatalf("%d at once, want ten for each owner", got)
	}
	advance(clock, 9*time.Second)
	m.Flush()
	publish("web", 3000) // the same pods again: they are counted already
	if got := len(m.Events()); got != 30 {
		t.Fatalf("%d before the burst is over, want 30", got)
	}
	advance(clock, time.Second)
	m.Flush()
	want := []string{
		"web FailedScheduling 2990 more pods of ReplicaSet web, the last of them web-02999: Failed to schedule pod, no room",
		"db FailedScheduling 1 more pod of ReplicaSet db, db-00010: Failed to schedule pod, no room",
		"-00011 FailedScheduling 2 more pods in namespace default, the last of them -00011: Failed to schedule pod, no room",
	}
	if diff := cmp.Diff(want, texts(m.Events()[30:])); diff != "" {
		t.Errorf("told together (-want +got):\n%s", diff)
	}
	about := m.Events()[30]
	if about.Type != corev1.EventTypeWarning || about.Object.GetUID() != "uid-web" || about.Object.GetNamespace() != "default" {
		t.Errorf("the event of all is %+v", about)
	}
	if gvk := about.Object.GetObjectKind().GroupVersionKind(); gvk.String() != "apps/v1, Kind=ReplicaSet" {
		t.Errorf("its object is a %s", gvk)
	}
}

// An event that every pod should have comes to each within a minute, if it is published every ten
// seconds, and pods without such an event get none.
func TestEachPodGetsItsOwn(t *testing.T) {
	t.Parallel()
	m, clock := memory()
	const pods, scheduled = 150, 30
	for range 6 {
		for i := range pods - scheduled {
			m.Publish(Warning(podOf("web", i), "FailedScheduling", "no room").Within(5 * time.Minute).Each())
		}
		advance(clock, 10*time.Second)
		m.Flush()
	}
	got, together := map[string]int{}, 0
	for _, e := range m.Events() {
		if strings.Contains(e.Message, "more pod") {
			together++
			continue
		}
		got[e.Object.GetName()]++
	}
	for name, n := range got {
		if n != 1 {
			t.Errorf("%s has %d events", name, n)
		}
	}
	if len(got) != pods-scheduled || together != 1 {
		t.Errorf("%d of %d pods have an event of their own, and %d tell of several", len(got), pods-scheduled, together)
	}
}

// When the time of an owner is over its pods get their own events again.
func TestAnOwnersPodsAreCountedAnew(t *testing.T) {
	t.Parallel()
	m, clock := memory()
	for range 3 {
		for i := range 100 {
			m.Publish(Warning(podOf("web", i), "R", "m"))
		}
		advance(clock, 30*time.Second)
		m.Flush()
		advance(clock, 5*time.Minute)
		m.Flush()
	}
	if got := len(m.Events()); got != 3*11 {
		t.Errorf("published %d, want 11 for each of three rounds", got)
	}
}

// A burst over many owners is limited by the rate of the reason, and all events are counted.
func TestABurstOfOwnersDoesNotFlood(t *testing.T) {
	t.Parallel()
	m, clock := memory()
	const owners, pods = 500, 20
	for owner := range owners {
		for i := range pods {
			m.Publish(Warning(podOf(fmt.Sprintf("o%03d", owner), i), "R", "m"))
		}
	}
	if got := len(m.Events()); got != podRate.Burst {
		t.Fatalf("%d at once, want %d", got, podRate.Burst)
	}
	for range 110 {
		advance(clock, time.Second)
		before := len(m.Events())
		m.Flush()
		if grew := len(m.Events()) - before; grew > podRate.Burst {
			t.Fatalf("%d in one second", grew)
		}
	}
	told := 0
	for _, e := range m.Events() {
		others := 1
		if n, err := fmt.Sscanf(e.Message, "%d more pod", &others); n == 0 || err != nil {
			others = 1
		}
		told += others
	}
	if told != owners*pods {
		t.Errorf("events tell of %d pods, want %d", told, owners*pods)
	}
}

// The memory of the filter is limited, and it publishes its counts before it forgets them.
func TestTheMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m, _ := memory()
	for i := range podsEach + 1 {
		m.Publish(Warning(podOf("first", i), "R", "m"))
	}
	for owner := range openGroups + 10 {
		m.Publish(Warning(podOf(fmt.Sprintf("o%05d", owner), 0), "R", "m"))
	}
	if got := len(m.filter.groups); got > openGroups || len(m.filter.opened) != got {
		t.Errorf("%d owners are open in the map, %d in the list, want at most %d", got, len(m.filter.opened), openGroups)
	}
	for i := range remembered + 10 {
		m.Publish(Normal(node(fmt.Sprint(i)), "N", "m"))
	}
	if got := m.filter.seen.Len(); got > remembered {
		t.Errorf("%d are remembered, want at most %d", got, remembered)
	}
	var first []string
	for _, text := range texts(m.Events()) {
		if strings.HasPrefix(text, "first R 1 more pod") {
			first = append(first, text)
		}
	}
	if len(first) != 1 {
		t.Errorf("the forgotten owner's count was told as %q", first)
	}
}

// Messages are cut to the API server's limit, between characters.
func TestMessagesAreCut(t *testing.T) {
	t.Parallel()
	m, _ := memory()
	m.Publish(Normal(node("a"), "R", "x"+strings.Repeat("é", longestMessage)))
	got := m.Events()[0].Message
	if len(got) > longestMessage || !strings.HasSuffix(got, "é…") {
		t.Errorf("%d bytes that end in %q", len(got), got[len(got)-6:])
	}
}

// An event without an object is dropped.
func TestAnEventNeedsAnObject(t *testing.T) {
	t.Parallel()
	m, _ := memory()
	m.Publish(Event{Reason: "R"})
	if got := m.Events(); len(got) != 0 {
		t.Errorf("published %v", got)
	}
}

// While it runs, held back events are published without a new event; and it ends with its context.
func TestStartFlushes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(clock.RealClock{}) // the bubble's
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- m.Start(ctx) }()
		for i := range podsEach + 5 {
			m.Publish(Warning(podOf("web", i), "R", "m"))
		}
		time.Sleep(gather + flushEvery)
		synctest.Wait()
		if got := texts(m.Events()); len(got) != podsEach+1 || !strings.HasPrefix(got[podsEach], "web R 5 more pods") {
			t.Errorf("published %q", got)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// An event that passes the filter goes to client-go with its object, type, reason and message, a warning to the recorder of warnings.
func TestNewRecorderHandsOn(t *testing.T) {
	t.Parallel()
	normal, warnings := record.NewFakeRecorder(10), record.NewFakeRecorder(10)
	NewRecorder(normal, warnings, testclock.NewFakePassiveClock(time.Unix(0, 0))).
		Publish(Warning(node("a"), "R", "hello"), Warning(node("a"), "R", "hello"), Normal(node("a"), "S", "good day"))
	for _, to := range []struct {
		recorder *record.FakeRecorder
		want     []string
	}{{normal, []string{"Normal S good day"}}, {warnings, []string{"Warning R hello"}}} {
		close(to.recorder.Events)
		var got []string
		for text := range to.recorder.Events {
			got = append(got, text)
		}
		if diff := cmp.Diff(to.want, got); diff != "" {
			t.Errorf("handed on (-want +got):\n%s", diff)
		}
	}
}

// The object of an event for all pods of an owner is one that client-go can refer to.
func TestAnOwnerCanBeReferredTo(t *testing.T) {
	t.Parallel()
	c := eventGroup{key: groupKey{namespace: "default"}, held: map[uint64]bool{1: true, 2: true}, last: Warning(podOf("web", 1), "R", "m")}
	c.owner = metav1.GetControllerOf(podOf("web", 1))
	broadcaster := record.NewBroadcasterForTests(0)
	defer broadcaster.Shutdown()
	got := make(chan *corev1.Event, 1)
	defer broadcaster.StartEventWatcher(func(e *corev1.Event) { got <- e }).Stop()
	e := c.together()
	broadcaster.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: Component}).Event(e.Object, e.Type, e.Reason, e.Message)
	ref := (<-got).InvolvedObject
	if ref.Kind != "ReplicaSet" || ref.APIVersion != "apps/v1" || ref.Name != "web" || ref.Namespace != "default" || ref.UID != "uid-web" {
		t.Errorf("refers to %+v", ref)
	}
}
