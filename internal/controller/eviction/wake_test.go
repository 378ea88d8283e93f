package eviction_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
)

// wakes says which pods a change wakes, if it is let through. The object as it was is mapped too, as by controller-runtime.
func (w *fixture) wakes(old, changed client.Object) string {
	w.t.Helper()
	object := changed
	if changed == nil {
		object = old
	}
	for _, watch := range w.c.Watches {
		if fmt.Sprintf("%T", watch.Kind) != fmt.Sprintf("%T", object) {
			continue
		}
		if !watch.Wakes(old, changed) {
			return "-"
		}
		var names []string
		for _, o := range []client.Object{old, changed} {
			if o == nil {
				continue
			}
			for _, k := range watch.KeysOf(context.Background(), o) {
				names = append(names, k.Name)
			}
		}
		slices.Sort(names)
		return strings.Join(slices.Compact(names), " ")
	}
	w.t.Fatalf("%T is not watched", object)
	return ""
}

func (w *fixture) wake(what, want string, old, changed client.Object) {
	w.t.Helper()
	if got := w.wakes(old, changed); got != want {
		w.t.Errorf("%s wakes %q, want %q", what, got, want)
	}
}

// A pod wakes itself; the last one of its group wakes the next group.
func TestPodsWake(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "a", "b")
	w.Bound("daemon", w.node.Name, func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d"}}
	})
	_, other := w.Settled("other", "general")
	elsewhere := w.Bound("elsewhere", other.Name)
	a, b := &corev1.Pod{}, &corev1.Pod{}
	w.Must(w.API.Get(context.Background(), key("a"), a))
	w.Must(w.API.Get(context.Background(), key("b"), b))
	w.wake("a new pod", "a", nil, a)
	w.wake("a new pod elsewhere", "", nil, elsewhere)
	w.wake("a heartbeat", "-", a, with(a, func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.1" }))
	w.wake("less protection", "a", with(a, func(p *corev1.Pod) { p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"} }), a)
	w.Delete(a)
	w.wake("the end of one of two", "a", a, nil)
	w.Delete(b)
	w.wake("the end of the last", "b daemon", b, nil)
}

func with(pod *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
	out := pod.DeepCopy()
	change(out)
	return out
}

// A node wakes all its pods when it is closed, and a claim when it gets a deadline.
func TestNodesAndClaimsWake(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "a", "b")
	w.Get(w.node.Name, w.node)
	open := w.node.DeepCopy()
	open.Spec.Taints = nil
	w.wake("a start of ours", "a b", nil, w.node)
	w.wake("the taint", "a b", open, w.node)
	alone := open.DeepCopy()
	alone.DeletionTimestamp, alone.Spec.ProviderID = nil, "of no claim"
	w.wake("the end of a node that was in service without a claim", "a b", alone, w.node)
	w.wake("a heartbeat", "-", w.node, w.node)
	w.wake("a node that is open", "-", nil, open)
	w.wake("its end", "-", w.node, nil)
	before := w.Claim("c")
	w.deadline(time.Minute)
	claim := w.Claim("c")
	w.wake("a deadline", "a b", before, claim)
	w.wake("a status", "-", claim, claim)
	w.wake("the end of a claim", "-", claim, nil)
}

// A budget that lets go wakes the pods that it held.
func TestBudgetsWake(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "web", "db")
	_, other := w.Settled("other", "general")
	w.Bound("web-1", other.Name, func(p *corev1.Pod) { p.Labels["app"] = "web" })
	budget := func(allowed int32, namespace string) *policyv1.PodDisruptionBudget {
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		b.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		b.Status.DisruptionsAllowed = allowed
		return b
	}
	other1 := budget(0, "default")
	other1.Generation = 2
	w.wake("one more allowed", "web", budget(0, "default"), budget(1, "default"))
	w.wake("one less allowed", "-", budget(1, "default"), budget(0, "default"))
	w.wake("another spec", "web", budget(0, "default"), other1)
	w.wake("a new budget", "-", nil, budget(1, "default"))
	w.wake("its end", "web", budget(0, "default"), nil)
	w.wake("one elsewhere", "", budget(0, "other"), budget(1, "other"))
}
