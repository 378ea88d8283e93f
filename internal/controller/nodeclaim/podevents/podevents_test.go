package podevents_test

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/nodeclaim/podevents"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// fixture is a node with its claim, an hour old, and pods on it.
type fixture struct {
	*harness.Harness
	c     reconcile.Controller
	start time.Time
}

func set(t *testing.T, last time.Duration, pods ...func(at func(time.Duration) metav1.Time) *corev1.Pod) fixture {
	t.Helper()
	r := harness.New(t, memory.Options{})
	s := fixture{r, podevents.New(r.Kit), r.Clock.Now()}
	r.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
		c.Status.ProviderID = "memory:///web-1"
		if last != 0 {
			c.Status.LastPodEventTime = s.at(last)
		}
	})
	r.Must(r.API.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Spec: corev1.NodeSpec{ProviderID: "memory:///web-1"}}))
	for _, pod := range pods {
		made := pod(s.at)
		r.Must(r.API.Create(t.Context(), made))
		if len(made.Finalizers) > 0 {
			r.Must(r.API.Delete(t.Context(), made, client.GracePeriodSeconds(30)))
		}
	}
	return s
}

// at is a time before the present.
func (s fixture) at(ago time.Duration) metav1.Time { return metav1.NewTime(s.start.Add(-ago)) }

func (s fixture) expect(t *testing.T, when string, ago time.Duration) {
	t.Helper()
	got := s.Claim("web-1").Status.LastPodEventTime
	if want := s.at(ago); !got.Time.Equal(want.Time) {
		t.Errorf("%s: %s ago, want %s", when, s.start.Sub(got.Time), ago)
	}
}

func pod(name string, bound time.Duration, change ...func(*corev1.Pod, func(time.Duration) metav1.Time)) func(func(time.Duration) metav1.Time) *corev1.Pod {
	return func(at func(time.Duration) metav1.Time) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, CreationTimestamp: at(5 * time.Hour)}, Spec: corev1.PodSpec{NodeName: "node-1"}}
		if bound != 0 {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at(bound)}}
		}
		for _, f := range change {
			f(p, at)
		}
		return p
	}
}

func daemon(p *corev1.Pod, _ func(time.Duration) metav1.Time) {
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent"}}
}

func ended(ago time.Duration) func(*corev1.Pod, func(time.Duration) metav1.Time) {
	return func(p *corev1.Pod, at func(time.Duration) metav1.Time) {
		p.Status.Phase = corev1.PodSucceeded
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at(ago)})
	}
}

func refused(p *corev1.Pod, _ func(time.Duration) metav1.Time) { p.Status.Phase = corev1.PodFailed }

// TestTimeOfTheEvent: not of when it was noticed, as after a restart.
func TestTimeOfTheEvent(t *testing.T) {
	t.Parallel()
	const never = time.Duration(-1)
	for name, tc := range map[string]struct {
		last time.Duration // what the claim says
		pods []func(func(time.Duration) metav1.Time) *corev1.Pod
		want time.Duration
	}{
		"a pod bound long ago":                 {0, list(pod("a", time.Hour)), time.Hour},
		"the latest of several":                {0, list(pod("a", time.Hour), pod("b", time.Minute), pod("c", 2*time.Hour)), time.Minute},
		"pods of DaemonSets do not count":      {0, list(pod("a", time.Minute, daemon)), never},
		"a pod that was made with a node":      {0, list(pod("a", 0)), 5 * time.Hour},
		"a pod that has ended":                 {0, list(pod("a", 2*time.Hour, ended(3*time.Minute))), 3 * time.Minute},
		"a pod that the kubelet refused":       {0, list(pod("a", 2*time.Hour, refused)), 2 * time.Hour},
		"a clock that is ahead":                {0, list(pod("a", -time.Hour)), 0},
		"what is known already is later":       {time.Minute, list(pod("a", time.Hour)), time.Minute},
		"hardly later than what is known":      {time.Minute, list(pod("a", 51*time.Second)), time.Minute},
		"ten seconds later than what is known": {time.Minute, list(pod("a", 50*time.Second)), 50 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t, tc.last, tc.pods...)
			s.Run(s.c, "node-1")
			if tc.want == never {
				if got := s.Claim("web-1").Status.LastPodEventTime; !got.IsZero() {
					t.Errorf("an event at %s", got)
				}
				return
			}
			s.expect(t, "then", tc.want)
			s.Calls()
			s.Run(s.c, "node-1")
			for _, call := range s.Calls() {
				if call.IsWrite() {
					t.Errorf("nothing happened, and yet: %s", call)
				}
			}
		})
	}
}

func list[T any](items ...T) []T { return items }

// TestAskedToLeave: the deletion began, by the object, its grace period before its end.
func TestAskedToLeave(t *testing.T) {
	t.Parallel()
	held := func(p *corev1.Pod, _ func(time.Duration) metav1.Time) { p.Finalizers = []string{"x/y"} }
	s := set(t, 0, pod("a", time.Hour, held))
	s.Clock.Step(time.Minute) // the fake API server deletes by the real time
	s.Run(s.c, "node-1")
	if got := s.Claim("web-1").Status.LastPodEventTime; s.start.Sub(got.Time) > time.Minute {
		t.Errorf("%s ago", s.start.Sub(got.Time))
	}
}

// TestApart: where a window counts from it, a time is written ten seconds after another.
func TestApart(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"30s", "1h"} {
		t.Run(after, func(t *testing.T) {
			t.Parallel()
			s := set(t, time.Hour, pod("a", time.Hour-9*time.Second))
			s.consolidatesAfter(t, after)
			s.Run(s.c, "node-1")
			s.expect(t, "too soon", time.Hour)
			s.Must(s.API.Create(t.Context(), pod("b", time.Hour-10*time.Second)(s.at)))
			s.Run(s.c, "node-1")
			s.expect(t, "then", time.Hour-10*time.Second)
		})
	}
}

// TestHeldBack: where no window counts from it, the last time of a minute is written when the minute is over, unless those of few
// claims have been written.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"0s", "Never"} {
		t.Run(after, func(t *testing.T) {
			t.Parallel()
			s := set(t, time.Hour, pod("a", 5*time.Second))
			s.consolidatesAfter(t, after)
			for i := range 10 {
				s.crowds(t, strconv.Itoa(i))
			}
			gone := s.c.Watches[1].KeysOf(t.Context(), pod("b", time.Hour)(s.at))[0]
			for _, tc := range []struct {
				at   time.Duration
				key  reconcile.Key
				want time.Duration // ago, from the start
				wait time.Duration
			}{
				{0, reconcile.Key{Name: "node-1"}, time.Hour, time.Minute},
				{50 * time.Second, gone, time.Hour, 10 * time.Second},
				{60 * time.Second, gone, -50 * time.Second, 0},
				{70 * time.Second, gone, -70 * time.Second, 0}, // few have been written meanwhile
			} {
				s.Clock.SetTime(s.start.Add(tc.at))
				result, err := s.c.Reconcile(t.Context(), tc.key)
				if err != nil || result.After != tc.wait {
					t.Errorf("after %s: again in %s, %v, want %s", tc.at, result.After, err, tc.wait)
				}
				s.expect(t, "after "+tc.at.String(), tc.want)
			}
		})
	}
}

// crowds makes a node of the same pool with a pod, whose time is written at once.
func (s fixture) crowds(t *testing.T, name string) {
	t.Helper()
	s.Named("crowd-"+name, "web", func(c *karpenterv1.NodeClaim) { c.Status.ProviderID = "memory:///" + name })
	s.Must(s.API.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "other-" + name}, Spec: corev1.NodeSpec{ProviderID: "memory:///" + name}}))
	p := pod(name, time.Minute)(s.at)
	p.Spec.NodeName = "other-" + name
	s.Must(s.API.Create(t.Context(), p))
	s.Run(s.c, "other-"+name)
	if s.Claim("crowd-" + name).Status.LastPodEventTime.IsZero() {
		t.Errorf("the time of claim %s is held back", name)
	}
}

// consolidatesAfter makes the pool of the claim.
func (s fixture) consolidatesAfter(t *testing.T, after string) {
	t.Helper()
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	s.Must(pool.Spec.Disruption.ConsolidateAfter.UnmarshalJSON([]byte(`"` + after + `"`)))
	s.Must(s.API.Create(t.Context(), pool))
}

// TestGone: a pod that is gone is an event of now, once in ten seconds.
func TestGone(t *testing.T) {
	t.Parallel()
	s := set(t, 0, pod("b", time.Hour))
	gone := pod("a", time.Hour)(s.at)
	watch := s.c.Watches[1]
	failed := gone.DeepCopy()
	failed.Status.Phase = corev1.PodFailed
	if !watch.Wakes(gone, nil) || watch.Wakes(nil, gone) || watch.Wakes(gone, gone) || !watch.Wakes(gone, failed) || watch.Wakes(nil, failed) || watch.Wakes(failed, failed) {
		t.Error("woken at the wrong time")
	}
	run := func() {
		t.Helper()
		if _, err := s.c.Reconcile(t.Context(), watch.KeysOf(t.Context(), gone)[0]); err != nil {
			t.Fatal(err)
		}
	}
	run()
	s.expect(t, "the first", 0)
	s.Clock.Step(9 * time.Second)
	run()
	s.expect(t, "the second", 0)
	s.Clock.Step(time.Second)
	run()
	s.expect(t, "the third", -10*time.Second)
}

// TestWakes: by what may be an event, and by all pods at the start.
func TestWakes(t *testing.T) {
	t.Parallel()
	s := set(t, 0)
	watch := s.c.Watches[0]
	here := pod("a", time.Hour)(s.at)
	nowhere, daemonic, labelled := here.DeepCopy(), here.DeepCopy(), here.DeepCopy()
	nowhere.Spec.NodeName = ""
	daemon(daemonic, nil)
	labelled.Labels = map[string]string{"a": "b"}
	leaving := here.DeepCopy()
	leaving.DeletionTimestamp = &metav1.Time{Time: s.start}
	for name, tc := range map[string]struct {
		old, changed client.Object
		want         bool
	}{
		"seen for the first time":            {nil, here, true},
		"seen for the first time, not bound": {nil, nowhere, false},
		"bound":                              {nowhere, here, true},
		"asked to leave":                     {here, leaving, true},
		"given a label":                      {here, labelled, false},
		"of a DaemonSet":                     {nil, daemonic, false},
		"gone":                               {here, nil, false},
	} {
		if got := watch.Wakes(tc.old, tc.changed); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if keys := watch.KeysOf(t.Context(), here); len(keys) != 1 || keys[0] != (reconcile.Key{Name: "node-1"}) {
		t.Errorf("keys %v", keys)
	}
}

// TestNotOurs: nodes without a claim, and claims that are going, are left alone.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	s := set(t, 0, pod("a", time.Hour))
	s.Must(s.API.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: corev1.NodeSpec{ProviderID: "other:///1"}}))
	claim := s.Claim("web-1")
	claim.Finalizers = []string{"x/y"}
	s.Put(claim)
	s.Must(s.API.Delete(t.Context(), s.Claim("web-1")))
	for _, name := range []string{"other", "absent", "node-1"} {
		s.Run(s.c, name)
	}
	for _, call := range s.Calls() {
		if call.IsWrite() {
			t.Errorf("writes: %s", call)
		}
	}
}
