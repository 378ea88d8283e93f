package cluster_test

import (
	"context"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/cloud"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/internal/reconcile"
	"tenon/sim"
	"tenon/sim/cluster"
	"tenon/sim/store"
)

var ctx = context.Background()

// fixture is a cluster in which the product does nothing.
type fixture struct {
	*sim.Sim
	t *testing.T
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	s, err := sim.New(sim.Options{Seed: 1, Product: func(reconcile.Kit, func() string) sim.Product { return sim.Product{} }})
	if err != nil {
		t.Fatal(err)
	}
	return fixture{s, t}
}

func (w fixture) make(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.Store.Create(ctx, o); err != nil {
			w.t.Fatal(err)
		}
	}
}

// machine buys a machine of four cores and lets it join, open to pods.
func (w fixture) machine(name string) *corev1.Node {
	w.t.Helper()
	i, err := w.Cloud.Connect().Create(ctx, cloud.Claim{
		UID: name, Name: name, Pool: "default", Class: cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
		Requirements: requirement.NewSet(requirement.New(corev1.LabelArchStable, requirement.In, "amd64")), Requests: model.Resources{CPU: 3000},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Run(time.Minute)
	for _, node := range store.All[*corev1.Node](w.Store) {
		if node.Spec.ProviderID == i.ProviderID {
			open := node.DeepCopy()
			open.Spec.Taints = nil
			if err := w.Store.Update(ctx, open); err != nil {
				w.t.Fatal(err)
			}
			return open
		}
	}
	w.t.Fatalf("machine %s has not joined", name)
	return nil
}

func template(app, cpu string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}}},
	}
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }

func selector(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func deployment(app string, replicas int32, cpu string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: meta(app), Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector(app), Template: template(app, cpu)}}
}

// pods are the pods of an app that are not being deleted.
func (w fixture) pods(app string) []*corev1.Pod {
	return slices.DeleteFunc(store.All[*corev1.Pod](w.Store), func(p *corev1.Pod) bool {
		return p.Labels["app"] != app || p.DeletionTimestamp != nil
	})
}

func (w fixture) ready(app string) int {
	n := 0
	for _, p := range w.pods(app) {
		if cluster.Ready(p) {
			n++
		}
	}
	return n
}

// Pods of a deployment find nodes, the emptier one first; a pod that does not fit waits, with a
// reason.
func TestDeploymentsAreScheduled(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a, b := w.machine("a"), w.machine("b")
	w.make(deployment("web", 2, "1"))
	w.Run(time.Minute)
	on := map[string]int{}
	for _, p := range w.pods("web") {
		on[p.Spec.NodeName]++
	}
	if w.ready("web") != 2 || on[a.Name] != 1 || on[b.Name] != 1 {
		t.Errorf("pods are on %v, %d ready", on, w.ready("web"))
	}
	w.make(deployment("large", 1, "64"))
	w.Run(time.Minute)
	large := w.pods("large")[0]
	if large.Spec.NodeName != "" || !slices.ContainsFunc(large.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable
	}) {
		t.Errorf("a pod that fits nowhere is on %q, with %+v", large.Spec.NodeName, large.Status.Conditions)
	}
}

// A set whose pods a quota refuses says so once, although each refusal names another pod: otherwise
// its new condition would wake its controller again at once, without end.
func TestARefusedSetReportsOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.make(
		&corev1.ResourceQuota{ObjectMeta: meta("share"), Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}}},
		deployment("web", 5, "1"),
	)
	w.Run(time.Minute)
	before, version := w.Steps, w.Store.Version()
	failure := func() appsv1.ReplicaSetCondition {
		t.Helper()
		conditions := store.All[*appsv1.ReplicaSet](w.Store)[0].Status.Conditions
		if len(conditions) != 1 || conditions[0].Type != appsv1.ReplicaSetReplicaFailure || conditions[0].Status != corev1.ConditionTrue {
			t.Fatalf("conditions %+v", conditions)
		}
		return conditions[0]
	}
	said := failure()
	w.Run(10 * time.Minute)
	if again := failure(); again != said || len(w.pods("web")) != 2 {
		t.Errorf("the set says %+v, and then %+v, with %d pods", said, again, len(w.pods("web")))
	}
	if steps := w.Steps - before; steps > 200 || w.Store.Version() != version {
		t.Errorf("ten minutes in which nothing happens took %d steps and %d writes", steps, w.Store.Version()-version)
	}
	q := store.All[*corev1.ResourceQuota](w.Store)[0].DeepCopy()
	q.Spec.Hard[corev1.ResourcePods] = resource.MustParse("9")
	if err := w.Store.Update(ctx, q); err != nil {
		t.Fatal(err)
	}
	w.Run(2 * time.Minute)
	if set := store.All[*appsv1.ReplicaSet](w.Store)[0]; len(set.Status.Conditions) > 0 || len(w.pods("web")) != 5 {
		t.Errorf("with room for all, %d pods are there, and the set says %+v", len(w.pods("web")), set.Status.Conditions)
	}
}

// A taint keeps pods away, unless they tolerate it.
func TestTaintsKeepPodsAway(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	node := w.machine("a")
	node.Spec.Taints = []corev1.Taint{{Key: "mine", Effect: corev1.TaintEffectNoSchedule}}
	if err := w.Store.Update(ctx, node); err != nil {
		t.Fatal(err)
	}
	tolerant := deployment("tolerant", 1, "1")
	tolerant.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "mine", Operator: corev1.TolerationOpExists}}
	w.make(deployment("web", 1, "1"), tolerant)
	w.Run(time.Minute)
	if w.ready("web") != 0 || w.ready("tolerant") != 1 {
		t.Errorf("%d of web run, %d of those that tolerate it", w.ready("web"), w.ready("tolerant"))
	}
}

// A roll-out replaces every pod; a scale-down deletes some.
func TestRollOutsAndScales(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.machine("a")
	w.make(deployment("web", 3, "200m"))
	w.Run(time.Minute)
	before := w.pods("web")
	var d appsv1.Deployment
	if err := w.Store.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web"}, &d); err != nil {
		t.Fatal(err)
	}
	d.Spec.Template.Spec.Containers[0].Image = "another"
	if err := w.Store.Update(ctx, &d); err != nil {
		t.Fatal(err)
	}
	w.Run(3 * time.Minute)
	for _, p := range w.pods("web") {
		if slices.ContainsFunc(before, func(b *corev1.Pod) bool { return b.UID == p.UID }) {
			t.Errorf("pod %s is still the old one", p.Name)
		}
	}
	if w.ready("web") != 3 {
		t.Errorf("%d are ready after the roll-out", w.ready("web"))
	}
	if err := w.Store.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web"}, &d); err != nil {
		t.Fatal(err)
	}
	d.Spec.Replicas = ptr.To(int32(1))
	if err := w.Store.Update(ctx, &d); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	if n := len(w.pods("web")); n != 1 {
		t.Errorf("%d are left of one", n)
	}
}

// Each node has one pod of a daemon set; a job runs as often as requested and ends.
func TestDaemonsAndJobs(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.machine("a")
	w.machine("b")
	job := template("job", "100m")
	job.Annotations = map[string]string{cluster.RunsFor: "1m"}
	job.Spec.RestartPolicy = corev1.RestartPolicyNever
	w.make(
		&appsv1.DaemonSet{ObjectMeta: meta("agent"), Spec: appsv1.DaemonSetSpec{Selector: selector("agent"), Template: template("agent", "100m")}},
		&batchv1.Job{ObjectMeta: meta("job"), Spec: batchv1.JobSpec{Parallelism: ptr.To(int32(2)), Completions: ptr.To(int32(2)), Template: job}},
	)
	w.Run(5 * time.Minute)
	nodes := map[string]bool{}
	for _, p := range w.pods("agent") {
		nodes[p.Spec.NodeName] = true
	}
	if len(nodes) != 2 || w.ready("agent") != 2 {
		t.Errorf("the daemon is on %v, %d ready", nodes, w.ready("agent"))
	}
	done := 0
	for _, p := range w.pods("job") {
		if p.Status.Phase == corev1.PodSucceeded {
			done++
		}
	}
	if done != 2 || len(w.pods("job")) != 2 {
		t.Errorf("%d of %d pods of the job are done", done, len(w.pods("job")))
	}
}

// A budget says how many pods may be disrupted; a lost node loses its pods in time, and they are
// created elsewhere.
func TestBudgetsAndLostNodes(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.machine("a")
	w.make(deployment("web", 3, "200m"), &policyv1.PodDisruptionBudget{
		ObjectMeta: meta("web"), Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: ptr.To(intstr.FromInt32(1)), Selector: selector("web")}})
	w.Run(time.Minute)
	allowed := func() int32 {
		return store.All[*policyv1.PodDisruptionBudget](w.Store)[0].Status.DisruptionsAllowed
	}
	if allowed() != 1 {
		t.Errorf("of three healthy pods %d may go, want 1", allowed())
	}
	w.machine("b")
	w.Cloud.Kill(a.Spec.ProviderID)
	w.Run(12 * time.Minute)
	if w.ready("web") != 3 {
		t.Errorf("%d are ready again", w.ready("web"))
	}
	for _, p := range w.pods("web") {
		if p.Spec.NodeName == a.Name {
			t.Errorf("pod %s is still on the lost node", p.Name)
		}
	}
}

// A place from which less important pods were preempted is kept for the preempting pod, and for
// other pods again once that one cannot use it.
func TestAPlaceOfPreemptionIsKeptAndReleased(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.machine("a")
	filler := &corev1.Pod{ObjectMeta: meta("filler"), Spec: template("filler", "3").Spec}
	filler.Annotations = map[string]string{cluster.StopsIn: "60s"}
	filler.Spec.TerminationGracePeriodSeconds = ptr.To[int64](120)
	w.make(filler)
	w.Run(time.Minute)
	urgent := &corev1.Pod{ObjectMeta: meta("urgent"), Spec: template("urgent", "3").Spec}
	urgent.Spec.PriorityClassName = "urgent"
	w.make(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000}, urgent)
	promise := func() string {
		pod := &corev1.Pod{}
		if err := w.Store.Get(ctx, client.ObjectKeyFromObject(urgent), pod); err != nil {
			t.Fatal(err)
		}
		return pod.Status.NominatedNodeName
	}
	for i := 0; i < 20 && promise() == ""; i++ {
		w.Run(time.Second)
	}
	if promise() != a.Name {
		t.Fatalf("the urgent pod is promised %q, want %s", promise(), a.Name)
	}
	if err := w.Store.Get(ctx, client.ObjectKeyFromObject(a), a); err != nil {
		t.Fatal(err)
	}
	taint := corev1.Taint{Key: "team", Value: "others", Effect: corev1.TaintEffectNoSchedule}
	a.Spec.Taints = append(a.Spec.Taints, taint)
	if err := w.Store.Update(ctx, a); err != nil {
		t.Fatal(err)
	}
	late := template("late", "2")
	late.Spec.Tolerations = []corev1.Toleration{{Key: "team", Operator: corev1.TolerationOpExists}}
	w.make(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "late", Labels: late.Labels}, Spec: late.Spec})
	w.Run(15 * time.Minute)
	if promise() != "" || w.ready("late") != 1 {
		t.Errorf("the urgent pod is promised %q, and %d late pods run on its place", promise(), w.ready("late"))
	}
}
