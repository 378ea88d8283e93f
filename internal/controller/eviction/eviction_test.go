package eviction_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud/memory"
	"tenon/internal/controller/eviction"
	"tenon/internal/reconcile"
	"tenon/internal/surge"
	"tenon/internal/testing/harness"
)

// fixture is a node that drains in a rig, and the controller.
type fixture struct {
	*harness.Harness
	t     *testing.T
	claim *karpenterv1.NodeClaim
	node  *corev1.Node
	c     reconcile.Controller
	// answer is what the API server says to evictions; nil is yes.
	answer error
	// refusal is what it says to patches; nil is yes.
	refusal error
	// meanwhile is done before an eviction comes to it.
	meanwhile func()
	// did is what was asked of it.
	did []string
	// told are the Deployments that the controller said it has rolled, and for which pods.
	told []string
}

// newFixture has a node that drains since a minute, and the pods of an app each.
func newFixture(t *testing.T, pods ...string) *fixture {
	t.Helper()
	w := &fixture{Harness: harness.New(t, memory.Options{}), t: t}
	w.claim, w.node = w.Settled("c", "general")
	conditions := w.claim.Conditions(w.Clock.Now())
	conditions.SetUnknown(karpenterv1.ConditionDrained, "Draining", "")
	w.claim.Status.Conditions = conditions.List()
	w.node.Spec.Taints = []corev1.Taint{karpenterv1.TaintDisrupted()}
	w.Put(w.claim)
	w.Put(w.node)
	w.Delete(w.node)
	for _, p := range pods {
		w.Bound(p, w.node.Name)
	}
	w.Clock.Step(time.Minute)
	w.Kit.Client = interceptor.NewClient(w.API, interceptor.Funcs{Delete: w.remove, SubResourceCreate: w.evict, Patch: w.patch})
	w.c = eviction.New(w.Kit, eviction.Options{Rolled: w.rolled})
	return w
}

func (w *fixture) rolled(d *appsv1.Deployment) {
	w.told = append(w.told, d.Name+" for "+d.Spec.Template.Annotations[surge.AnnotationFor])
}

func (w *fixture) remove(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
	said := (&client.DeleteOptions{}).ApplyOptions(options)
	w.did = append(w.did, fmt.Sprintf("delete %s (%s) in %ds", o.GetName(), *said.Preconditions.UID, *said.GracePeriodSeconds))
	if w.answer != nil {
		return w.answer
	}
	return c.Delete(ctx, o)
}

func (w *fixture) evict(ctx context.Context, c client.Client, sub string, o, body client.Object, _ ...client.SubResourceCreateOption) error {
	e := body.(*policyv1.Eviction)
	w.did = append(w.did, fmt.Sprintf("evict %s (%s)", e.Name, *e.DeleteOptions.Preconditions.UID))
	if w.answer != nil {
		return w.answer
	}
	if w.meanwhile != nil {
		w.meanwhile()
	}
	return c.Delete(ctx, o, client.Preconditions(*e.DeleteOptions.Preconditions))
}

func (w *fixture) patch(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
	if w.refusal != nil {
		return w.refusal
	}
	return c.Patch(ctx, o, p, options...)
}

// look reconciles a pod and says what was asked of the API server.
func (w *fixture) look(pod string) (string, reconcile.Result, error) {
	w.did = nil
	result, err := w.c.Reconcile(context.Background(), key(pod))
	return strings.Join(w.did, ", "), result, err
}

func (w *fixture) expect(pod, want string) reconcile.Result {
	w.t.Helper()
	got, result, err := w.look(pod)
	if err != nil || got != want {
		w.t.Errorf("%s: did %q (error %v), want %q", pod, got, err, want)
	}
	return result
}

func (w *fixture) pod(name string) *corev1.Pod {
	pod := &corev1.Pod{}
	w.Must(w.API.Get(context.Background(), key(name), pod))
	return pod
}

func (w *fixture) deadline(in time.Duration) {
	claim := w.Claim("c")
	claim.Annotations = map[string]string{karpenterv1.AnnotationTerminationTimestamp: w.Clock.Now().Add(in).Format(time.RFC3339)}
	w.Put(claim)
}

func key(pod string) reconcile.Key { return reconcile.Key{Namespace: "default", Name: pod} }

// Pods of a node that drains are evicted, each as the pod that was seen, and it is counted.
func TestEvicts(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "web")
	w.expect("web", "evict web (uid-web)")
	w.expect("web", "")
	if got := w.Events(); !slices.Equal(got, []string{"Normal Evicted web: Evicted pod: Forceful Termination"}) {
		t.Errorf("events %q", got)
	}
	if w.Count(w.Kit.Metrics.PodsEvictionRequestsTotal.WithLabelValues("200")) != 1 || w.Count(w.Kit.Metrics.PodsDrainedTotal.WithLabelValues("Forceful Termination")) != 1 {
		t.Error("not counted")
	}
}

// A pod that was protected since it was looked at stays.
func TestProtectedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "web")
	w.meanwhile = func() {
		pod := w.pod("web")
		pod.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}
		w.Put(pod)
	}
	if again := w.expect("web", "evict web (uid-web)"); again.After != time.Second {
		t.Errorf("looks again in %v", again.After)
	}
	if w.pod("web").DeletionTimestamp != nil || len(w.Events()) > 0 {
		t.Errorf("evicted, events %q", w.Events())
	}
	w.meanwhile = nil
	w.expect("web", "")
}

// The reason is that of the disruption, if there was one.
func TestReason(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "web")
	claim := w.Claim("c")
	conditions := claim.Conditions(w.Clock.Now())
	conditions.SetTrueBecause(karpenterv1.ConditionDisruptionReason, "Underutilized", "")
	claim.Status.Conditions = conditions.List()
	w.Put(claim)
	w.expect("web", "evict web (uid-web)")
	if w.Count(w.Kit.Metrics.PodsDrainedTotal.WithLabelValues("Underutilized")) != 1 {
		t.Error("not counted under its reason")
	}
}

// Nothing is evicted from nodes that do not drain, or not yet.
func TestLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*fixture){
		"not tainted yet": func(w *fixture) {
			w.Get(w.node.Name, w.node)
			w.node.Spec.Taints = nil
			w.Put(w.node)
		},
		"not managed": func(w *fixture) {
			w.Get(w.node.Name, w.node)
			delete(w.node.Labels, karpenterv1.NodeClassLabel(memory.Group, "MemoryNodeClass"))
			w.Put(w.node)
		},
		"gone": func(w *fixture) {
			w.Get(w.node.Name, w.node)
			w.node.Finalizers = nil
			w.Put(w.node)
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, "web")
			change(w)
			if w.expect("web", "") != reconcile.Never {
				t.Error("looks again at a pod that need not leave")
			}
		})
	}
}

// Each answer of the API server, what follows, and how it is counted.
func TestAnswers(t *testing.T) {
	t.Parallel()
	pods := schema.GroupResource{Resource: "pods"}
	budget := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	budget.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause}}
	several := apierrors.NewInternalError(errors.New("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."))
	ending := apierrors.NewForbidden(pods, "web", errors.New("unable to create new content in namespace default because it is being terminated"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	cases := map[string]struct {
		answer error
		code   string
		event  string
		after  time.Duration // at least; zero is an error, for the queue to retry
		most   time.Duration
	}{
		"a budget":           {budget, "429", "evicting pod violates a PDB (Pod=default/web)", 8 * time.Second, 10 * time.Second},
		"two budgets":        {several, "500", "eviction does not support multiple PDBs (Pod=default/web)", 8 * time.Second, 10 * time.Second},
		"too many calls":     {apierrors.NewTooManyRequests("slow down", 30), "429", "", 30 * time.Second, 30 * time.Second},
		"its namespace ends": {ending, "403", "", 8 * time.Second, 10 * time.Second},
		"no such pod":        {apierrors.NewNotFound(pods, "web"), "404", "", 10 * time.Second, 10 * time.Second},
		"changed":            {apierrors.NewConflict(pods, "web", errors.New("precondition failed: ResourceVersion")), "409", "", time.Second, time.Second},
		"a failure":          {apierrors.NewInternalError(errors.New("boom")), "500", "", 0, 0},
		"no answer":          {errors.New("connection refused"), "", "", 0, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, "web")
			w.answer = tc.answer
			did, result, err := w.look("web")
			if did != "evict web (uid-web)" || (err != nil) != (tc.after == 0) || result.After < tc.after || result.After > tc.most {
				t.Errorf("did %q, then %v, error %v", did, result.After, err)
			}
			if tc.code != "" && w.Count(w.Kit.Metrics.PodsEvictionRequestsTotal.WithLabelValues(tc.code)) != 1 {
				t.Error("not counted by its code")
			}
			if got := w.Events(); (tc.event == "") != (len(got) == 0) || tc.event != "" && !strings.HasSuffix(got[0], tc.event) {
				t.Errorf("events %q", got)
			}
			if w.Count(w.Kit.Metrics.PodsDrainedTotal) != 0 {
				t.Error("counted as drained")
			}
		})
	}
}

// Waits grow with the time that the drain has taken, and differ between pods.
func TestBackOff(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "web", "db")
	w.answer = apierrors.NewTooManyRequests("", 0)
	began := w.Clock.Now().Add(-time.Minute)
	for _, tc := range []struct{ age, most time.Duration }{{0, 100 * time.Millisecond}, {time.Second, time.Second}, {4 * time.Second, 4 * time.Second}, {time.Hour, 10 * time.Second}} {
		w.Clock.SetTime(began.Add(tc.age))
		web, db := w.expect("web", "evict web (uid-web)").After, w.expect("db", "evict db (uid-db)").After
		if web > tc.most || web < tc.most*4/5 || web == db {
			t.Errorf("after %s waits %s and %s", tc.age, web, db)
		}
	}
}

// The order of groups, and pods that must not be evicted.
func TestKeepsToTheDrain(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "web")
	w.Bound("daemon", w.node.Name, func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d"}}
	})
	w.Bound("dns", w.node.Name, func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-cluster-critical" })
	w.Bound("static", w.node.Name, func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "n"}}
	})
	job := w.Bound("job", w.node.Name, func(p *corev1.Pod) { p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "15m"} })
	if w.expect("static", "") != reconcile.Never {
		t.Error("looks again at a pod that stays")
	}
	w.expect("dns", "")
	w.expect("daemon", "")
	if again := w.expect("job", ""); again.After != 10*time.Second {
		t.Errorf("looks again after %s", again.After)
	}
	w.expect("web", "evict web (uid-web)")
	w.expect("daemon", "")
	w.Clock.SetTime(job.Status.StartTime.Add(15*time.Minute - 3*time.Second))
	if again := w.expect("job", ""); again.After != 3*time.Second {
		t.Errorf("looks again after %s, when the protection ends in 3s", again.After)
	}
	w.Clock.Step(3 * time.Second)
	w.expect("job", "evict job (uid-job)")
	w.expect("dns", "")
	w.expect("daemon", "evict daemon (uid-daemon)")
	w.expect("dns", "evict dns (uid-dns)")
}

// When the node's time is over, pods are deleted past budgets and annotations.
func TestForce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.Bound("job", w.node.Name, func(p *corev1.Pod) { p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"} })
	w.deadline(40 * time.Second)
	if again := w.expect("job", ""); again.After != 10*time.Second {
		t.Errorf("looks again after %s", again.After)
	}
	w.Clock.Step(15 * time.Second)
	w.answer = apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "job", errors.New("UID"))
	w.expect("job", "delete job (uid-job) in 25s")
	if len(w.Events()) != 0 {
		t.Error("says that it deleted another pod")
	}
	w.answer = nil
	w.expect("job", "delete job (uid-job) in 25s")
	if got := w.Events(); len(got) != 1 || !strings.Contains(got[0], "Normal Disrupted job: Deleting the pod to accommodate the terminationTime") ||
		!strings.Contains(got[0], "granted 25 seconds of grace-period of its 30 terminationGracePeriodSeconds") {
		t.Errorf("events %q", got)
	}
	if w.Count(w.Kit.Metrics.PodsDrainedTotal) != 1 || w.Count(w.Kit.Metrics.PodsEvictionRequestsTotal) != 0 {
		t.Error("counted wrongly")
	}
}

// A pod of the same name on another node is not the one that has to leave.
func TestSameNameElsewhere(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "web-0")
	_, other := w.Settled("other", "general")
	w.Delete(w.Bound("gone", w.node.Name))
	w.Delete(w.pod("web-0"))
	w.Bound("web-0", other.Name, func(p *corev1.Pod) { p.UID = types.UID("uid-next") })
	w.expect("web-0", "")
}

// A pod is evicted when its turn has come, and looked at again when it is to come.
func TestPodsLeaveInOrder(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "web")
	wait := 250 * time.Millisecond
	w.c = eviction.New(w.Kit, eviction.Options{Turn: func(types.UID) time.Duration { return wait }})
	if again := w.expect("web", ""); again != reconcile.In(wait) {
		t.Errorf("looks again %+v", again)
	}
	wait = 0
	w.expect("web", "evict web (uid-web)")
}

// TestScaledDown: an evicted pod of a node that is removed by the rules of Cluster Autoscaler is told so, and counted.
func TestScaledDown(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{"by these rules": 1, "otherwise": 0} {
		w := newFixture(t, "web")
		if want > 0 {
			w.node.Spec.Taints = append(w.node.Spec.Taints, corev1.Taint{Key: tenonv1alpha1.TaintToBeDeleted, Effect: corev1.TaintEffectNoSchedule})
			var now corev1.Node
			w.Get(w.node.Name, &now)
			now.Spec.Taints = w.node.Spec.Taints
			w.Put(&now)
		}
		if _, _, err := w.look("web"); err != nil {
			t.Fatal(err)
		}
		told := strings.Contains(strings.Join(w.Events(), "\n"), "Normal ScaleDown web: The pod is evicted")
		if got := w.Count(w.Kit.Metrics.ClusterAutoscalerEvictedPodsTotal.WithLabelValues("succeeded")); got != want || told != (want > 0) {
			t.Errorf("%s: counted %v and told %t, want %v", name, got, told, want)
		}
	}
}
