package termination_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/controller/node/termination"
	"tenon/internal/reconcile"
	"tenon/internal/surge"
	"tenon/internal/testing/harness"
)

// fixture is one node of ours in a rig, with its claim, and the controller.
type fixture struct {
	*harness.Harness
	t     *testing.T
	claim *karpenterv1.NodeClaim
	node  *corev1.Node
	c     reconcile.Controller
}

func newFixture(t *testing.T, options memory.Options, change ...func(*karpenterv1.NodeClaim)) *fixture {
	w := &fixture{Harness: harness.New(t, options), t: t}
	w.claim, w.node = w.Settled("c", "general", change...)
	w.c = termination.New(w.Kit, termination.Options{})
	return w
}

// run looks at the node, lets time pass as the controller asks, and so on, as often as said.
func (w *fixture) run(times int) (last reconcile.Result) {
	w.t.Helper()
	for range times {
		if last = w.Run(w.c, w.node.Name); last == reconcile.Never {
			return last
		}
		w.Clock.Step(last.After)
	}
	return last
}

// state is the node's and claim's, in one line.
func (w *fixture) state() string {
	w.t.Helper()
	var node corev1.Node
	if !w.Get(w.node.Name, &node) {
		return "gone"
	}
	var parts []string
	for _, taint := range node.Spec.Taints {
		parts = append(parts, taint.ToString())
	}
	var claim karpenterv1.NodeClaim
	if !w.Get("c", &claim) {
		return strings.Join(append(parts, "no claim"), " ")
	}
	conditions := claim.Conditions(w.Clock.Now())
	for _, name := range []string{karpenterv1.ConditionDrained, karpenterv1.ConditionVolumesDetached, karpenterv1.ConditionInstanceTerminating} {
		if c, is := conditions.Get(name); is {
			parts = append(parts, fmt.Sprintf("%s=%s(%s)", name, c.Status, c.Reason))
		}
	}
	return strings.Join(parts, " ")
}

func (w *fixture) expect(want string) {
	w.t.Helper()
	if got := w.state(); got != want {
		w.t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

func (w *fixture) said(part string) bool {
	return slices.ContainsFunc(w.Events(), func(e string) bool { return strings.Contains(e, part) })
}

const tainted = "karpenter.sh/disrupted:NoSchedule"

// A kubelet writes another machine's provider ID, and the finalizer, on its own new Node. When that Node is
// deleted, it goes, and the other node keeps its claim and its machine.
func TestANodeWithAnothersProviderIDTakesNothingAlong(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{})
	forged := w.node.DeepCopy()
	forged.Name, forged.UID, forged.ResourceVersion = "forged", "", ""
	w.Must(w.API.Create(t.Context(), forged))
	w.Delete(forged)
	for range 20 {
		last := w.Run(w.c, forged.Name)
		if last == reconcile.Never {
			break
		}
		w.Clock.Step(last.After)
	}
	if w.Get(forged.Name, &corev1.Node{}) {
		t.Error("the forged node stays")
	}
	if w.Claim("c").DeletionTimestamp != nil {
		t.Error("the claim of the other node goes")
	}
	if n := len(w.Far.Instances()); n != 1 {
		t.Errorf("%d machines are left, want one", n)
	}
	// The claim's own node takes its claim along as before.
	w.Delete(w.node)
	if w.run(1); w.Claim("c").DeletionTimestamp == nil {
		t.Error("the claim stays although its node goes")
	}
}

// A node without pods goes through all steps, and its claim is deleted with it.
func TestKubectlDeleteNode(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{Stop: 12 * time.Second})
	w.run(1)
	w.expect("")
	w.Delete(w.node)
	w.run(1)
	w.expect(tainted + " Drained=Unknown(Draining)")
	if w.Claim("c").DeletionTimestamp == nil {
		t.Error("the claim stays")
	}
	var node corev1.Node
	w.Get(w.node.Name, &node)
	if node.Labels[corev1.LabelNodeExcludeBalancers] != "karpenter" {
		t.Error("load balancers still send traffic")
	}
	w.run(4)
	w.expect(tainted + " Drained=Unknown(Draining)")
	w.run(1)
	w.expect(tainted + " Drained=True(Drained) VolumesDetached=True(VolumesDetached) InstanceTerminating=True(InstanceTerminating)")
	if last := w.run(1); last.After != time.Second {
		t.Errorf("looks again after %s", last.After)
	}
	if last := w.run(4); last != reconcile.Never {
		t.Errorf("goes on: %v", last)
	}
	w.expect("gone")
	if w.Count(w.Kit.Metrics.NodesDrainedTotal) != 1 || w.Count(w.Kit.Metrics.NodesTerminatedTotal) != 1 || w.Count(w.Kit.Metrics.NodesLifetimeDurationSeconds) != 1 {
		t.Error("the node is not counted once")
	}
}

// Deleting the claim is the other way to begin; the lifecycle deletes the node then.
func TestClaimDeletedFirst(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{})
	w.Delete(w.claim)
	w.run(1)
	w.expect("") // nothing to do while the node stays
	w.Delete(w.node)
	if last := w.run(20); last != reconcile.Never {
		t.Errorf("goes on: %v", last)
	}
	w.expect("gone")
}

// Nodes that are not ours, or that another controller finalizes, are left alone.
func TestOthersNodes(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*corev1.Node){
		"not managed":    func(n *corev1.Node) { delete(n.Labels, karpenterv1.NodeClassLabel(memory.Group, "MemoryNodeClass")) },
		"not held by us": func(n *corev1.Node) { n.Finalizers = []string{"example.com/other"} },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, memory.Options{})
			change(w.node)
			w.Put(w.node)
			w.Delete(w.node)
			w.run(3)
			w.expect("")
		})
	}
}

// A node without a claim is drained, and let go: its instance is for garbage collection.
func TestNodeWithoutClaim(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{})
	w.claim.Finalizers = nil
	w.Put(w.claim)
	w.Delete(w.claim)
	pod := w.Bound("web", w.node.Name)
	w.Delete(w.node)
	w.run(20)
	w.expect(tainted + " no claim")
	w.Delete(pod)
	w.run(2)
	w.expect("gone")
	if len(w.Far.Instances()) != 1 {
		t.Error("the instance of an unknown claim was deleted")
	}
}

// A machine that is gone has nothing to drain, but a look at the cloud may be behind.
func TestInstanceGone(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		ready bool
		age   time.Duration
		want  string
	}{
		"gone and not ready":        {false, time.Hour, "gone"},
		"gone, and not noticed yet": {true, time.Hour, tainted + " Drained=Unknown(Draining)"},
		"too young to be sure":      {false, 10 * time.Second, tainted + " Drained=Unknown(Draining)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, memory.Options{Lag: time.Minute})
			w.Bound("web", w.node.Name)
			if !tc.ready {
				w.node.Status.Conditions[0].Status = corev1.ConditionUnknown
				w.Put(w.node)
			}
			w.Delete(w.node)
			w.Far.Kill(w.node.Spec.ProviderID)
			if tc.age > time.Minute {
				w.Clock.Step(tc.age)
			} else {
				w.Clock.Step(tc.age)
				w.Kit.Cloud = blind{w.Kit.Cloud}
				w.c = termination.New(w.Kit, termination.Options{})
			}
			w.Run(w.c, w.node.Name)
			w.expect(tc.want)
		})
	}
}

// blind does not see any instance yet.
type blind struct{ cloud.Provider }

func (blind) Get(context.Context, string) (cloud.Instance, error) {
	return cloud.Instance{}, &cloud.NotFound{}
}

// A pod that the cache does not show yet is found before the drain counts as done.
func TestPodThatTheCacheMisses(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{})
	w.Delete(w.node)
	w.run(5)
	late := w.Bound("late", w.node.Name)
	w.Lag("PodList")
	w.run(3)
	w.expect(tainted + " Drained=Unknown(Draining)")
	w.Delete(late)
	w.run(3)
	w.expect("gone")
}

// A process that restarts in the middle goes on, and counts nothing twice.
func TestRestartAtEveryStep(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{Stop: 12 * time.Second})
	pod := w.Bound("web", w.node.Name)
	w.Delete(w.node)
	passes := 0
	for w.state() != "gone" {
		if passes++; passes > 40 {
			t.Fatalf("stuck at %s", w.state())
		}
		if passes == 4 {
			w.Delete(pod)
		}
		w.c = termination.New(w.Restart(), termination.Options{})
		w.run(1)
	}
	if passes > 14 {
		t.Errorf("took %d passes: a restart begins again what was done", passes)
	}
	if w.Count(w.Kit.Metrics.NodesDrainedTotal) != 1 || w.Count(w.Kit.Metrics.NodesTerminatedTotal) != 1 {
		t.Error("the node is not counted once")
	}
}

// A cache that still shows the claim as it was makes a conflict, not a wrong write.
func TestStaleClaim(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{})
	w.Delete(w.node)
	w.run(1)
	fail := true
	w.Fail(func(c harness.Call) error {
		if fail && c.String() == "patch status NodeClaim" {
			return harness.Conflict(c)
		}
		return nil
	})
	w.Clock.Step(10 * time.Second)
	if _, err := w.c.Reconcile(context.Background(), reconcile.Key{Name: w.node.Name}); err == nil {
		t.Error("a lost write is taken for done")
	}
	if w.Count(w.Kit.Metrics.NodesDrainedTotal) != 0 {
		t.Error("counted what was not written")
	}
	fail = false
	if last := w.run(20); last != reconcile.Never || w.Count(w.Kit.Metrics.NodesDrainedTotal) != 1 {
		t.Errorf("did not recover: %s", w.state())
	}
}

// A blocked drain says on claim, node and budget what blocks it.
func TestBlockedDrainIsExplained(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{})
	none := intstr.FromInt32(0)
	w.Must(w.API.Create(context.Background(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &none, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}))
	w.Bound("web", w.node.Name)
	w.Delete(w.node)
	w.run(3)
	if message(w) != "Draining" || !w.said("FailedDraining node-c: Failed to drain node, 1 pods are waiting to be evicted") {
		t.Errorf("too early: %s, events %q", message(w), w.Events())
	}
	w.run(12)
	for _, part := range []string{"PodDisruptionBudget default/web", "maxUnavailable is 0", "default/web", "waits for as long as they hold it"} {
		if !strings.Contains(message(w), part) {
			t.Errorf("the claim does not say %q: %s", part, message(w))
		}
	}
	if !w.said("Warning DrainBlocked node-c: Draining since ") || !w.said("Warning NeverAllowsDisruption web: Can never allow a disruption: maxUnavailable is 0.") {
		t.Errorf("events %q", w.Events())
	}
	w.Calls()
	w.run(5)
	if slices.ContainsFunc(w.Calls(), harness.Call.IsWrite) {
		t.Error("a drain that does not move writes in every pass")
	}
}

// An event reports a pod that stays until its replacement is Ready, and no budget is blamed for it;
// when its roll-out is stuck, both are reported.
func TestSurgeIsExplained(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{})
	none := intstr.FromInt32(0)
	w.Must(w.API.Create(context.Background(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &none, Selector: &metav1.LabelSelector{}},
	}))
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "d"}}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-1", UID: "s"}}
	set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
	pod := w.Bound("web", w.node.Name, func(p *corev1.Pod) {
		p.Annotations = map[string]string{surge.Annotation: "true"}
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
	})
	d = surge.Ask(d, pod)
	w.Must(w.API.Create(context.Background(), d))
	w.Must(w.API.Create(context.Background(), set))
	w.Delete(w.node)
	if last := w.run(5); last.After != 5*time.Second {
		t.Errorf("looks again after %s", last.After)
	}
	if got := message(w); !strings.Contains(got, "tenon.sh/surge holds, until the pod that is made in its place is Ready, default/web. The node waits") || strings.Contains(got, "Budget") {
		t.Errorf("the claim says %q", got)
	}
	if w.said("NeverAllowsDisruption") {
		t.Error("a budget is blamed")
	}
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"}}
	w.Put(d)
	w.run(1)
	if got := message(w); !strings.Contains(got, "tenon.sh/surge does not help (the roll-out of Deployment default/web is stuck (ProgressDeadlineExceeded)), and PodDisruptionBudget default/web, which can never") {
		t.Errorf("the claim says %q", got)
	}
	if !w.said("NeverAllowsDisruption") {
		t.Error("the budget's owners do not learn of it")
	}
}

func message(w *fixture) string {
	conditions := w.Claim("c").Conditions(w.Clock.Now())
	c, _ := conditions.Get(karpenterv1.ConditionDrained)
	return c.Message
}

// Volumes are waited for: those of pods that stay are not, and a deadline ends the wait.
func TestVolumes(t *testing.T) {
	t.Parallel()
	attach := func(w *fixture, volume string) *storagev1.VolumeAttachment {
		a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "at-" + volume}}
		a.Spec.NodeName, a.Spec.Source.PersistentVolumeName = w.node.Name, &volume
		w.Must(w.API.Create(context.Background(), a))
		return a
	}
	agent := func(w *fixture) {
		w.Must(w.API.Create(context.Background(), &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cache"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-cache"}}))
		w.Bound("agent", w.node.Name, func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
			v := corev1.Volume{Name: "cache"}
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "cache"}
			p.Spec.Volumes = []corev1.Volume{v}
		})
		attach(w, "pv-cache")
	}
	t.Run("detached in time", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, memory.Options{})
		agent(w)
		data := attach(w, "pv-data")
		w.Delete(w.node)
		w.run(30)
		w.expect(tainted + " Drained=True(Drained) VolumesDetached=Unknown(AwaitingVolumeDetachment)")
		if !w.said("Normal AwaitingVolumeDetachment node-c: Awaiting deletion of bound volumeattachments (at-pv-data)") {
			t.Errorf("events %q", w.Events())
		}
		w.Delete(data)
		w.run(3)
		w.expect("gone")
	})
	t.Run("out of time", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, memory.Options{Stop: time.Minute})
		w.claim.Annotations = map[string]string{karpenterv1.AnnotationTerminationTimestamp: w.Clock.Now().Add(20 * time.Second).Format(time.RFC3339)}
		w.Put(w.claim)
		attach(w, "pv-data")
		w.Delete(w.node)
		w.run(19)
		w.expect(tainted + " Drained=True(Drained) VolumesDetached=Unknown(AwaitingVolumeDetachment)")
		w.run(3)
		w.expect(tainted + " Drained=True(Drained) VolumesDetached=False(TerminationGracePeriodElapsed) InstanceTerminating=True(InstanceTerminating)")
		if !w.said("Warning TerminationGracePeriodExpiring node-c: All pods will be deleted by ") {
			t.Errorf("events %q", w.Events())
		}
	})
}

// What cannot be read stops the node where it is.
func TestErrors(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{})
	w.claim.Annotations = map[string]string{karpenterv1.AnnotationTerminationTimestamp: "soon"}
	w.Put(w.claim)
	w.Delete(w.node)
	if _, err := w.c.Reconcile(context.Background(), reconcile.Key{Name: w.node.Name}); err == nil || !strings.Contains(err.Error(), "claim c") {
		t.Errorf("error %v", err)
	}
	w.expect("")
}

// A taint of that key with another effect is replaced; others stay.
func TestTaints(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{})
	w.node.Spec.Taints = []corev1.Taint{
		{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectPreferNoSchedule}, {Key: "team", Value: "a", Effect: corev1.TaintEffectNoSchedule}}
	w.Put(w.node)
	w.Delete(w.node)
	w.run(1)
	w.expect("team=a:NoSchedule " + tainted + " Drained=Unknown(Draining)")
}

// The API server, not the time of day, ends the wait for a cloud that wants fewer calls.
func TestThrottledCloud(t *testing.T) {
	t.Parallel()
	w := newFixture(t, memory.Options{Trouble: func(c memory.Call) memory.Fault {
		if c.Method == memory.Delete && c.Attempt == 1 {
			return memory.Fault{Before: &cloud.Throttled{RetryAfter: 9 * time.Second}}
		}
		return memory.Fault{}
	}})
	w.Delete(w.node)
	if last := w.run(6); last.After != 9*time.Second {
		t.Errorf("looks again after %s", last.After)
	}
	w.run(3)
	w.expect("gone")
}
