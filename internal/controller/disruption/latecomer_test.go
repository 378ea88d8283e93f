package disruption_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/internal/assembly"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// nodeControllers are the controllers that remove nodes after their claims are deleted.
type nodeControllers struct{ claims, nodes, pods reconcile.Controller }

func (h *fixture) nodeControllers() nodeControllers {
	h.t.Helper()
	parts := assembly.New(h.Kit)
	parts.Synced, parts.Suffix, parts.Parallel = func() bool { return true }, func() string { return "unused" }, 1
	list := assembly.Controllers(parts)
	find := func(name string) reconcile.Controller {
		at := slices.IndexFunc(list, func(c reconcile.Controller) bool { return c.Name == name })
		if at < 0 {
			h.t.Fatalf("there is no controller %s", name)
		}
		return list[at]
	}
	return nodeControllers{claims: find("nodeclaim.lifecycle"), nodes: find("node.termination"), pods: find("eviction-queue")}
}

// work lets time pass as pass does, with nodes that drain and disappear, and replacements that
// become ready some seconds after their creation. Errors are expected.
func (h *fixture) work(controllers nodeControllers, d time.Duration, now func() error) {
	h.t.Helper()
	for i := range int(d / time.Second) {
		h.Clock.Step(time.Second)
		if i%4 == 3 {
			h.initialize()
		}
		h.watch()
		h.try(h.evaluate, client.ObjectKey{})
		h.watch()
		h.try(h.conduct, client.ObjectKey{})
		h.takeDown(controllers)
		if now != nil {
			h.Must(now())
		}
	}
}

// takeDown runs the controllers of deleted objects: claims first, because their deletion begins the
// rest.
func (h *fixture) takeDown(controllers nodeControllers) {
	ctx := context.Background()
	for _, each := range []struct {
		list client.ObjectList
		runs reconcile.Controller
	}{{&karpenterv1.NodeClaimList{}, controllers.claims}, {&corev1.NodeList{}, controllers.nodes}, {&corev1.PodList{}, controllers.pods}} {
		h.Must(h.API.List(ctx, each.list))
		for _, o := range objects(h.t, each.list) {
			if _, isPod := o.(*corev1.Pod); isPod || o.GetDeletionTimestamp() != nil {
				h.try(each.runs, client.ObjectKeyFromObject(o))
			}
		}
	}
}

func objects(t *testing.T, list client.ObjectList) (out []client.Object) {
	t.Helper()
	switch l := list.(type) {
	case *karpenterv1.NodeClaimList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	case *corev1.NodeList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	case *corev1.PodList:
		for i := range l.Items {
			out = append(out, &l.Items[i])
		}
	}
	return out
}

// try reconciles and ignores errors: it is called again.
func (h *fixture) try(c reconcile.Controller, key client.ObjectKey) {
	_, _ = c.Reconcile(context.Background(), key)
}

// moments are just before and just after every write among some calls, as the number of the next
// call.
func moments(calls []harness.Call) []int {
	var out []int
	for i, c := range calls {
		if c.IsWrite() {
			out = append(out, i, i+1)
		}
	}
	return slices.Compact(out)
}

// A pod that must not be disrupted is bound just before or just after any of the writes of a removal:
// it is never lost. Its node stays as it was, or drains and waits for the pod.
func TestAProtectedPodIsNeverLost(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*fixture){
		"an empty node": func(h *fixture) {
			h.machine(machine{name: "a", kind: "general-4", capacity: catalog.OnDemand})
		},
		"one of two that become one": func(h *fixture) {
			for _, name := range []string{"a", "b"} {
				h.machine(machine{name: name, kind: "general-8", capacity: catalog.OnDemand, pods: 1})
			}
		},
	}
	for name, set := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls, _ := bindLate(t, set, never)
			ends := map[string]int{}
			tried := moments(calls)
			for i := 0; i < len(tried); i += every(6) {
				_, end := bindLate(t, set, tried[i])
				ends[end]++
			}
			if !testing.Short() && (ends[stays] == 0 || ends[waits] == 0) {
				t.Errorf("both ends should have been seen: %v", ends)
			}
		})
	}
}

const never = -1

// The possible ends for a node to which a protected pod was bound.
const stays, waits = "it stays", "it drains and waits"

// bindLate binds a protected pod to node a before one of the calls, and returns all calls and the
// end. Kubelets of nodes that are being deleted take no pods: then there is no end.
func bindLate(t *testing.T, set func(*fixture), at int) (calls []harness.Call, end string) {
	t.Helper()
	h := newFixture(t, web())
	set(h)
	h.watch()
	controllers := h.nodeControllers()
	h.Calls()
	n, bound := 0, false
	h.Fail(func(c harness.Call) error {
		var node corev1.Node
		if n++; n == at+1 && h.Get("node-a", &node) && node.DeletionTimestamp == nil {
			bound = true
			h.pod("precious", "node-a", func(p *corev1.Pod) {
				p.CreationTimestamp = metav1.NewTime(h.Clock.Now())
				p.Status.Conditions[0].LastTransitionTime.Time = h.Clock.Now()
				p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}
			})
		}
		return nil
	})
	h.work(controllers, 15*time.Second, func() error {
		var pod corev1.Pod
		if err := h.API.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "precious"}, &pod); bound && (err != nil || pod.DeletionTimestamp != nil) {
			return fmt.Errorf("bound before call %d: the pod is lost, %v", at, err)
		}
		if !h.Get("node-a", &corev1.Node{}) && bound {
			return fmt.Errorf("bound before call %d: its node is lost", at)
		}
		return nil
	})
	calls = h.Calls()
	switch {
	case !bound:
		return calls, ""
	case h.goes("a"):
		return calls, waits
	case !slices.Contains(h.picture(), "a: "):
		t.Errorf("bound before call %d, %v: a stays, and yet there are %v", at, calls[at], h.picture())
	}
	return calls, stays
}

// goes reports whether a claim is being deleted.
func (h *fixture) goes(name string) bool {
	var claim karpenterv1.NodeClaim
	return !h.Get(name, &claim) || claim.DeletionTimestamp != nil
}
