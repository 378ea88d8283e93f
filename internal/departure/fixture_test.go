package departure_test

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/eviction"
	"tenon/internal/controller/node/termination"
	"tenon/internal/podpolicy"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// fixture runs the two controllers that remove a node as the process would: woken only by their
// watches and by the times in their results. Evicted pods end at once; budgets are enforced with
// the numbers in their status.
type fixture struct {
	*harness.Harness
	t     *testing.T
	begun time.Time
	claim *karpenterv1.NodeClaim
	node  *corev1.Node

	controllers []reconcile.Controller
	seen        map[string]client.Object // what the watches have shown so far
	due         map[job]time.Time
	// trouble says which write fails, counted from 1: before it takes effect, or after it, so that
	// only the answer is lost.
	trouble func(write int) (before, after error)
	writes  int
	// story is the list of events of pods, with the seconds since the beginning.
	story []string
}

type job struct {
	controller int
	key        reconcile.Key
}

func newFixture(t *testing.T, change ...func(*karpenterv1.NodeClaim)) *fixture {
	t.Helper()
	s := &fixture{Harness: harness.New(t, memory.Options{Stop: 3 * time.Second}), t: t, seen: map[string]client.Object{}}
	s.begun = s.Clock.Now()
	s.claim, s.node = s.Settled("c", "general", change...)
	s.Kit.Client = interceptor.NewClient(s.API, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			return s.write(func() error { return s.remove(ctx, c, o, options...) })
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, _ string, o, _ client.Object, _ ...client.SubResourceCreateOption) error {
			return s.write(func() error { return s.evict(ctx, c, o) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			return s.write(func() error { return c.Patch(ctx, o, p, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
			return s.write(func() error { return c.SubResource(sub).Patch(ctx, o, p, options...) })
		},
	})
	s.start()
	return s
}

// start starts or restarts the process, which knows nothing.
func (s *fixture) start() {
	kit := s.Restart()
	s.controllers = []reconcile.Controller{termination.New(kit, termination.Options{}), eviction.New(kit, eviction.Options{})}
	s.seen, s.due = map[string]client.Object{}, map[job]time.Time{}
}

func (s *fixture) tell(format string, args ...any) {
	s.story = append(s.story, fmt.Sprintf("%v: %s", s.Clock.Now().Sub(s.begun).Truncate(time.Second), fmt.Sprintf(format, args...)))
}

// write makes a write, or the failure planned for it.
func (s *fixture) write(do func() error) error {
	s.writes++
	var before, after error
	if s.trouble != nil {
		before, after = s.trouble(s.writes)
	}
	if before != nil {
		return before
	}
	return cmp.Or(do(), after)
}

func (s *fixture) remove(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
	if _, is := o.(*corev1.Pod); is {
		said := (&client.DeleteOptions{}).ApplyOptions(options)
		s.tell("%s deleted in %ds", o.GetName(), *said.GracePeriodSeconds)
	}
	return c.Delete(ctx, o)
}

func (s *fixture) evict(ctx context.Context, c client.Client, o client.Object) error {
	var budgets policyv1.PodDisruptionBudgetList
	s.Must(s.API.List(ctx, &budgets))
	for i := range budgets.Items {
		if b := &budgets.Items[i]; podpolicy.Selects(b, o.(*corev1.Pod)) && b.Status.DisruptionsAllowed == 0 {
			err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
			err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause}}
			return err
		}
	}
	s.tell("%s evicted", o.GetName())
	return c.Delete(ctx, o)
}

// run lets time pass, from one due moment to the next.
func (s *fixture) run(d time.Duration) {
	s.t.Helper()
	end := s.Clock.Now().Add(d)
	for {
		s.settle()
		if !s.Clock.Now().Before(end) {
			return
		}
		next := end
		for _, at := range s.due {
			if at.Before(next) {
				next = at
			}
		}
		s.Clock.SetTime(next)
	}
}

// settle works until nothing is due now.
func (s *fixture) settle() {
	s.t.Helper()
	for range 1000 {
		s.watch()
		next, some := s.next()
		if !some {
			return
		}
		delete(s.due, next)
		result, err := s.controllers[next.controller].Reconcile(context.Background(), next.key)
		if err != nil {
			result = reconcile.In(time.Second) // mostly conflicts: try again
		}
		if result != reconcile.Never {
			s.enqueue(next, s.Clock.Now().Add(result.After))
		}
	}
	s.t.Fatal("never settles")
}

func (s *fixture) next() (job, bool) {
	var ready []job
	for j, at := range s.due {
		if !at.After(s.Clock.Now()) {
			ready = append(ready, j)
		}
	}
	slices.SortFunc(ready, func(a, b job) int {
		return cmp.Or(cmp.Compare(a.controller, b.controller), cmp.Compare(a.key.String(), b.key.String()))
	})
	if len(ready) == 0 {
		return job{}, false
	}
	return ready[0], true
}

func (s *fixture) enqueue(j job, at time.Time) {
	if old, waits := s.due[j]; !waits || at.Before(old) {
		s.due[j] = at
	}
}

// watch tells the controllers about changes.
func (s *fixture) watch() {
	now := map[string]client.Object{}
	for _, list := range []client.ObjectList{&corev1.NodeList{}, &karpenterv1.NodeClaimList{}, &corev1.PodList{}, &policyv1.PodDisruptionBudgetList{}} {
		s.Must(s.API.List(context.Background(), list))
		items := reflect.ValueOf(list).Elem().FieldByName("Items")
		for i := range items.Len() {
			o := items.Index(i).Addr().Interface().(client.Object)
			now[fmt.Sprintf("%T %s", o, client.ObjectKeyFromObject(o))] = o
		}
	}
	for name, o := range now {
		if old := s.seen[name]; old == nil || old.GetResourceVersion() != o.GetResourceVersion() {
			s.notify(old, o)
		}
	}
	for name, old := range s.seen {
		if now[name] == nil {
			s.notify(old, nil)
		}
	}
	s.seen = now
}

func (s *fixture) notify(old, changed client.Object) {
	object := changed
	if changed == nil {
		object = old
	}
	for i, c := range s.controllers {
		for _, w := range c.Watches {
			if reflect.TypeOf(w.Kind) != reflect.TypeOf(object) || !w.Wakes(old, changed) {
				continue
			}
			for _, key := range w.KeysOf(context.Background(), object) {
				s.enqueue(job{i, key}, s.Clock.Now())
			}
		}
	}
}

func (s *fixture) nodeGone() bool { return !s.Get(s.node.Name, &corev1.Node{}) }

func (s *fixture) expect(gone bool, want ...string) {
	s.t.Helper()
	if got := s.nodeGone(); got != gone {
		s.t.Errorf("node gone: %t, want %t", got, gone)
	}
	if got := strings.Join(s.story, "\n"); got != strings.Join(want, "\n") {
		s.t.Errorf("story\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// budget is a budget for the pods of an app.
func (s *fixture) budget(app string, allowed int32) *policyv1.PodDisruptionBudget {
	s.t.Helper()
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app}}
	b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	b.Status.DisruptionsAllowed = allowed
	s.Must(s.API.Create(context.Background(), b))
	return b
}
