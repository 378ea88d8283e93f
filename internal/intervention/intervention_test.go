package intervention

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// actor is alice, whose API server has these objects and refuses what refuse refuses.
func actor(t *testing.T, refuse func(client.Object) error, objects ...client.Object) Actor {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, karpenterv1.AddToScheme, tenonv1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	c := fake.NewClientBuilder().WithScheme(known).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if review, is := o.(*authenticationv1.SelfSubjectReview); is {
				review.Status.UserInfo.Username = "alice"
				return nil
			}
			if err := refuse(o); err != nil {
				return err
			}
			return c.Create(ctx, o, opts...)
		},
	}).Build()
	return Actor{Client: c, Now: func() time.Time { return noon }}
}

func allow(client.Object) error { return nil }

// objects are a node with its claim, a pool and a group.
func objects() []client.Object {
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "10%"}}
	return []client.Object{
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}},
		&karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-x7k2p", Finalizers: []string{karpenterv1.FinalizerTermination}}},
		pool, &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "base"}},
	}
}

// TestChanges makes each change, and the one that undoes it. Each is recorded as an event and on the object, and one that
// is made already is refused and not recorded.
func TestChanges(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		do, undo Change
		done     func(a Actor) bool
	}{
		"a node is pinned": {Change{Pin, "node", "node-1", "m"}, Change{Unpin, "node", "node-1", "m"}, func(a Actor) bool {
			return get(a, "node").GetAnnotations()[karpenterv1.AnnotationDoNotDisrupt] == "true"
		}},
		"a claim is pinned": {Change{Pin, "nodeclaim", "web-x7k2p", "m"}, Change{Unpin, "nodeclaim", "web-x7k2p", "m"}, func(a Actor) bool {
			return get(a, "nodeclaim").GetAnnotations()[karpenterv1.AnnotationDoNotDisrupt] == "true"
		}},
		"a node is cordoned": {Change{Cordon, "node", "node-1", "m"}, Change{Uncordon, "node", "node-1", "m"}, func(a Actor) bool { return get(a, "node").(*corev1.Node).Spec.Unschedulable }},
		"a pool is paused": {Change{Pause, "nodepool", "web", "m"}, Change{Resume, "nodepool", "web", "m"}, func(a Actor) bool {
			b := get(a, "nodepool").(*karpenterv1.NodePool).Spec.Disruption.Budgets
			return len(b) == 2 && b[0].Nodes == "10%" && b[1].Nodes == "0"
		}},
		"the handover of a group is paused": {Change{Pause, "nodegroup", "base", "m"}, Change{Resume, "nodegroup", "base", "m"}, func(a Actor) bool { return get(a, "nodegroup").(*tenonv1alpha1.NodeGroup).HandoverPaused() }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := actor(t, allow, objects()...)
			text, err := a.Do(t.Context(), tc.do)
			if err != nil || !tc.done(a) || !strings.Contains(text, tc.do.String()+", as alice") {
				t.Fatalf("error %v, done %v: %s", err, tc.done(a), text)
			}
			if got, want := get(a, tc.do.Kind).GetAnnotations()[karpenterv1.AnnotationChangedByHand], "2026-03-01T12:00:00Z alice: "+string(tc.do.Verb); got != want {
				t.Errorf("the object says %q, want %q", got, want)
			}
			if _, err := a.Do(t.Context(), tc.do); !errors.Is(err, errSo) {
				t.Errorf("once more: %v", err)
			}
			if _, err := a.Do(t.Context(), tc.undo); err != nil || tc.done(a) {
				t.Errorf("undone: error %v", err)
			}
			if events := events(a); len(events) != 2 || events[0].Reason != EventReason || events[0].InvolvedObject.Name != tc.do.Name || !strings.Contains(events[0].Message, " by alice: m") {
				t.Errorf("events: %+v", events)
			}
		})
	}
}

// TestRemove checks that the claim of a node is deleted after its event, and not twice.
func TestRemove(t *testing.T) {
	t.Parallel()
	a := actor(t, allow, objects()...)
	all := Of("node", "node-1", "web-x7k2p")
	remove := all[len(all)-1]
	if remove.String() != "remove nodeclaim/web-x7k2p" || remove.Confirmation() != "web-x7k2p" {
		t.Fatalf("the change is %s, confirmed by %s", remove, remove.Confirmation())
	}
	if _, err := a.Do(t.Context(), remove); err != nil || get(a, "nodeclaim").GetDeletionTimestamp().IsZero() || len(events(a)) != 1 {
		t.Errorf("error %v, events %v", err, events(a))
	}
	if _, err := a.Do(t.Context(), remove); err == nil || !strings.Contains(err.Error(), "being deleted already") {
		t.Errorf("once more: %v", err)
	}
	for _, c := range Of("node", "node-1", "") {
		if c.Verb == Remove {
			t.Error("a node without a claim would be removed, and its machine would stay")
		}
	}
}

// TestNothingIsChangedUnrecorded checks that a user who may not write events changes nothing.
func TestNothingIsChangedUnrecorded(t *testing.T) {
	t.Parallel()
	a := actor(t, func(o client.Object) error {
		return apierrors.NewForbidden(corev1.Resource("events"), o.GetName(), errors.New("alice may not"))
	}, objects()...)
	if _, err := a.Do(t.Context(), Change{Remove, "nodeclaim", "web-x7k2p", "m"}); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("error %v", err)
	}
	if c := get(a, "nodeclaim"); !c.GetDeletionTimestamp().IsZero() || len(c.GetAnnotations()) > 0 {
		t.Errorf("it was changed: %+v", c)
	}
}

// TestNothingIsChangedThatChanged checks that a change is not made of an object that is no longer what was read.
func TestNothingIsChangedThatChanged(t *testing.T) {
	t.Parallel()
	var a Actor
	a = actor(t, func(client.Object) error { // between reading and writing
		node := get(a, "node")
		node.SetLabels(map[string]string{"changed": "meanwhile"})
		return a.Client.Update(t.Context(), node)
	}, objects()...)
	if _, err := a.Do(t.Context(), Change{Cordon, "node", "node-1", "m"}); !apierrors.IsConflict(err) {
		t.Errorf("error %v", err)
	}
	if get(a, "node").(*corev1.Node).Spec.Unschedulable {
		t.Error("it was changed")
	}
}

// get returns the one object of a kind as the API server has it.
func get(a Actor, kind string) client.Object {
	object := map[string]client.Object{
		"node": &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}, "nodeclaim": &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-x7k2p"}},
		"nodepool": &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, "nodegroup": &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "base"}},
	}[kind]
	if err := a.Client.Get(context.Background(), client.ObjectKeyFromObject(object), object); err != nil {
		panic(err)
	}
	return object
}

func events(a Actor) []corev1.Event {
	var list corev1.EventList
	if err := a.Client.List(context.Background(), &list); err != nil {
		panic(err)
	}
	return list.Items
}
