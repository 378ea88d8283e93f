package eviction_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/controller/eviction"
	"tenon/internal/departure"
	"tenon/internal/surge"
	"tenon/internal/testing/harness"
)

// single makes a Deployment of one replica whose pod, on the node that drains, asks for
// another one in its place.
func (w *fixture) single(name string, change ...func(*appsv1.Deployment)) {
	w.t.Helper()
	d := &appsv1.Deployment{ObjectMeta: meta(name)}
	d.Spec.Template.Labels, d.Spec.Template.Annotations = map[string]string{"app": name}, map[string]string{surge.Annotation: "true"}
	for _, c := range change {
		c(d)
	}
	set := &appsv1.ReplicaSet{ObjectMeta: meta(name + "-1")}
	set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	d.Spec.Template.DeepCopyInto(&set.Spec.Template)
	set.Spec.Template.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = "1"
	w.Must(w.API.Create(context.Background(), d))
	w.Must(w.API.Create(context.Background(), set))
	w.Bound(name, w.node.Name, func(p *corev1.Pod) {
		p.Annotations = set.Spec.Template.Annotations
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
	})
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-of-" + name)}
}

func (w *fixture) deployment(name string) *appsv1.Deployment {
	w.t.Helper()
	d := &appsv1.Deployment{}
	w.Must(w.API.Get(context.Background(), key(name), d))
	return d
}

// rolledFor is the pod for which a Deployment was last asked to roll.
func (w *fixture) rolledFor(name string) string {
	return w.deployment(name).Spec.Template.Annotations[surge.AnnotationFor]
}

func (w *fixture) said(part string) int {
	n := 0
	for _, e := range w.Events() {
		if strings.Contains(e, part) {
			n++
		}
	}
	return n
}

// A pod that asks for it is not evicted: its Deployment is asked, once, to make another one.
func TestSurges(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.single("web")
	if again := w.expect("web", ""); again.After != 10*time.Second {
		t.Errorf("looks again after %s", again.After)
	}
	if got := w.rolledFor("web"); got != "uid-web" {
		t.Fatalf("rolled for %q", got)
	}
	version := w.deployment("web").ResourceVersion
	w.c = eviction.New(w.Kit, eviction.Options{Rolled: w.rolled}) // what began again would know nothing
	w.expect("web", "")
	if got := w.deployment("web").ResourceVersion; got != version {
		t.Errorf("asked again: version %s, was %s", got, version)
	}
	for _, want := range []string{
		"Normal Surging web: Rolled out, so that another pod is Ready before web goes with node node-c",
		"Normal Surging web: Node node-c goes. The pod stays until the one that Deployment web makes in its place is Ready",
		"Normal Surging node-c: Pod default/web stays until the one that Deployment web makes in its place is Ready",
	} {
		if !slices.Contains(w.Events(), want) {
			t.Errorf("not said: %s\nevents %q", want, w.Events())
		}
	}
	if want := []string{"web for uid-web"}; !slices.Equal(w.told, want) {
		t.Errorf("told of %q, want %q", w.told, want)
	}
	if w.Count(w.Kit.Metrics.PodsDrainedTotal) != 1 || w.Count(w.Kit.Metrics.PodsEvictionRequestsTotal) != 0 {
		t.Error("counted wrongly")
	}
}

// Where no other pod can be made first, the pod is evicted as others are, and people learn why.
func TestEvictsWhatCannotSurge(t *testing.T) {
	t.Parallel()
	stuck := appsv1.DeploymentCondition{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"}
	cases := map[string]struct {
		change func(*fixture)
		why    string
	}{
		"more replicas": {func(w *fixture) {
			w.single("web", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(3)) })
		}, "Deployment default/web has 3 replicas"},
		"Recreate": {func(w *fixture) {
			w.single("web", func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType })
		}, "strategy Recreate"},
		"a StatefulSet": {func(w *fixture) {
			w.Bound("web", w.node.Name, func(p *corev1.Pod) {
				p.Annotations = map[string]string{surge.Annotation: "true"}
				p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&appsv1.StatefulSet{ObjectMeta: meta("db")}, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
			})
		}, "StatefulSet db made it"},
		"a bare pod": {func(w *fixture) {
			w.Bound("web", w.node.Name, func(p *corev1.Pod) { p.Annotations = map[string]string{surge.Annotation: "true"} })
		}, "nothing makes it again"},
		"a volume for one node": {func(w *fixture) {
			w.single("web")
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: meta("data")}
			claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
			w.Must(w.API.Create(context.Background(), claim))
			w.Must(w.API.Patch(context.Background(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}, client.RawPatch(types.MergePatchType,
				[]byte(`{"spec":{"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data"}},{"name":"lost","persistentVolumeClaim":{"claimName":"lost"}}]}}`))))
		}, "its volume claim data can be used on one node only"},
		"a roll-out that is stuck": {func(w *fixture) {
			w.single("web")
			w.expect("web", "")
			d := w.deployment("web")
			d.Status.Conditions = append(d.Status.Conditions, stuck)
			w.Put(d)
		}, "the roll-out of Deployment default/web is stuck (ProgressDeadlineExceeded)"},
		"no right to read": {func(w *fixture) {
			w.single("web")
			w.Fail(forbid("get Deployment"))
		}, "Tenon may not read what made it"},
		"no right to read sets": {func(w *fixture) {
			w.single("web")
			w.Fail(func(c harness.Call) error {
				if !c.Uncached {
					return nil
				}
				return forbid("get ReplicaSet")(c)
			})
		}, "Tenon may not read what made it"},
		"no right to ask": {func(w *fixture) {
			w.single("web")
			w.refusal = forbidden("deployments", "web")
		}, "its Deployment may not be rolled"},
		"a Deployment that is gone": {func(w *fixture) {
			w.single("web")
			w.Delete(w.deployment("web"))
		}, "its ReplicaSet web-1 has no Deployment"},
		"another ReplicaSet of that name": {func(w *fixture) {
			w.single("web")
			set := &appsv1.ReplicaSet{ObjectMeta: meta("web-1")}
			w.Delete(set)
			set.UID = "uid-of-another"
			w.Must(w.API.Create(context.Background(), set))
		}, "its ReplicaSet web-1 is gone"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			tc.change(w)
			w.expect("web", "evict web (uid-web)")
			if w.said("Warning SurgeNotPossible web: Evicting without another pod in its place: ") != 1 ||
				w.said("Warning SurgeNotPossible node-c: Evicting pod default/web without another one in its place: ") != 1 || w.said(tc.why) != 2 {
				t.Errorf("not told why (%s): %q", tc.why, w.Events())
			}
		})
	}
}

func forbid(call string) func(harness.Call) error {
	return func(c harness.Call) error {
		if c.String() != call {
			return nil
		}
		return forbidden(c.Kind, c.Name)
	}
}

func forbidden(resource, name string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: resource}, name, errors.New("no such right"))
}

// A Deployment that changes at the same moment is looked at again; one that cannot be
// reached too.
func TestSurgeTriesAgain(t *testing.T) {
	t.Parallel()
	broken := func(c harness.Call) error {
		if c.String() == "get Deployment" {
			return harness.ErrBroken
		}
		return nil
	}
	cases := map[string]struct{ trouble, over func(*fixture) }{
		"read out of reach":  {func(w *fixture) { w.Fail(broken) }, func(w *fixture) { w.Fail(nil) }},
		"write out of reach": {func(w *fixture) { w.refusal = harness.ErrBroken }, func(w *fixture) { w.refusal = nil }},
		"changed meanwhile":  {func(w *fixture) { w.refusal = harness.Conflict(harness.Call{Kind: "Deployment"}) }, func(w *fixture) { w.refusal = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			w.single("web")
			tc.trouble(w)
			if did, _, err := w.look("web"); did != "" || err == nil {
				t.Errorf("did %q, error %v", did, err)
			}
			tc.over(w)
			w.expect("web", "")
			if got := w.rolledFor("web"); got != "uid-web" {
				t.Errorf("rolled for %q", got)
			}
		})
	}
}

// The node's deadline ends the wait for another pod.
func TestDeadlineEndsASurge(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.single("web")
	w.deadline(35 * time.Second)
	if again := w.expect("web", ""); again.After > 5*time.Second+time.Millisecond {
		t.Errorf("looks again after %s, when the pod has to be told in 5s", again.After)
	}
	w.Clock.Step(5*time.Second + time.Millisecond)
	w.expect("web", "delete web (uid-web) in 29s")
	if w.said("Deleting the pod to accommodate the terminationTime") != 1 {
		t.Errorf("events %q", w.Events())
	}
}

// A machine that the cloud takes away ends the wait early enough for the pod to end well.
func TestEndOfTheMachineEndsASurge(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.single("web")
	claim := w.Claim("c")
	claim.Annotations = map[string]string{departure.AnnotationEnds: w.Clock.Now().Add(40 * time.Second).UTC().Format(time.RFC3339)}
	w.Put(claim)
	if again := w.expect("web", ""); again.After != 5*time.Second {
		t.Errorf("looks again after %s, when the pod has to be told in 5s", again.After)
	}
	if got := w.rolledFor("web"); got != "uid-web" {
		t.Errorf("rolled for %q", got)
	}
	w.Clock.Step(5 * time.Second)
	w.expect("web", "evict web (uid-web)")
	if w.said("SurgeNotPossible web: Evicting without another pod in its place: the machine ends at ") != 1 {
		t.Errorf("events %q", w.Events())
	}
}

// However long a grace period the pod asks for, the end of the machine ends the wait.
func TestNoGraceOutlivesTheMachine(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.single("web")
	pod := &corev1.Pod{}
	w.Must(w.API.Get(context.Background(), key("web"), pod))
	pod.Spec.TerminationGracePeriodSeconds = ptr.To(int64(9_223_372_037))
	w.Put(pod)
	claim := w.Claim("c")
	claim.Annotations = map[string]string{departure.AnnotationEnds: w.Clock.Now().Add(time.Hour).UTC().Format(time.RFC3339)}
	w.Put(claim)
	w.expect("web", "evict web (uid-web)")
}

// Protection comes before everything: a pod that must not be disturbed is not replaced.
func TestProtectedPodsDoNotSurge(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.single("web", func(d *appsv1.Deployment) { d.Spec.Template.Annotations["karpenter.sh/do-not-disrupt"] = "true" })
	w.expect("web", "")
	if got := w.rolledFor("web"); got != "" {
		t.Errorf("rolled for %q", got)
	}
}

// Daemons wait for the replacement as they wait for every usual pod.
func TestDaemonsServeUntilTheReplacementIsReady(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.single("web")
	w.Bound("daemon", w.node.Name, func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d"}}
	})
	w.expect("web", "")
	w.expect("daemon", "")
	var pod corev1.Pod
	w.Must(w.API.Get(context.Background(), key("web"), &pod))
	w.Delete(&pod) // as the Deployment's controller does
	w.expect("daemon", "evict daemon (uid-daemon)")
}

// Taking the annotation off is noticed at once.
func TestSurgeWakes(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "a")
	var a corev1.Pod
	w.Must(w.API.Get(context.Background(), key("a"), &a))
	asks := with(&a, func(p *corev1.Pod) { p.Annotations = map[string]string{surge.Annotation: "true"} })
	w.wake("no more wish for a replacement", "a", asks, &a)
}
