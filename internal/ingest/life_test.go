package ingest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

func condition(name, reason string, ago time.Duration) metav1.Condition {
	return metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.NewTime(noon.Add(-ago))}
}

// The facts about a node's disruption come from its claim.
func TestLifeOfNodes(t *testing.T) {
	t.Parallel()
	objects := &ingest.Objects{}
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "c", CreationTimestamp: metav1.NewTime(noon.Add(-10 * time.Hour)),
		Labels:      map[string]string{karpenterv1.LabelNodePool: "p"},
		Annotations: map[string]string{ingest.AnnotationRearranged: "2026-03-02T11:00:00Z"},
	}}
	claim.Spec.TerminationGracePeriod = &scalar.Duration{Duration: time.Hour}
	claim.Spec.ExpireAfter = karpenterv1.DurationOf(24 * time.Hour)
	claim.Status.ProviderID = "x:///1"
	claim.Status.Conditions = []metav1.Condition{
		condition(karpenterv1.ConditionInitialized, "Initialized", 9*time.Hour),
		condition(karpenterv1.ConditionDrifted, "NodePoolDrifted", 2*time.Hour),
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{
		karpenterv1.LabelNodePool: "p", karpenterv1.LabelRegistered: "true", karpenterv1.LabelInitialized: "true",
	}, Annotations: map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}}}
	node.Spec.ProviderID = "x:///1"
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
	objects.Add(claim)
	objects.Add(node)
	options := fromFiles(t)
	options.Now = noon
	want := snapshot.Life{
		Quiet: noon.Add(-9 * time.Hour), Drifted: "NodePoolDrifted", Since: noon.Add(-2 * time.Hour), Protected: true, Bounded: true,
		Rearranged: []time.Time{noon.Add(-time.Hour)}, Expires: noon.Add(14 * time.Hour), Unready: true,
	}
	if diff := cmp.Diff(want, ingest.Build(objects, options).Nodes[0].Life); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Cluster Autoscaler's annotation on a node protects it too, if its value is true.
func TestScaleDownIsDisabled(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"true": true, "false": false, "": false} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{"cluster-autoscaler.kubernetes.io/scale-down-disabled": value}}}
		objects := &ingest.Objects{}
		objects.Add(node)
		if got := ingest.Build(objects, fromFiles(t)).Nodes[0].Life.Protected; got != want {
			t.Errorf("%q protects: %t, want %t", value, got, want)
		}
	}
}

// A node that was chosen counts as leaving until its removal begins, whichever of the marks is seen
// first: the taint may appear before the claim states the reason. Found by the simulation.
func TestMarkedNodesCount(t *testing.T) {
	t.Parallel()
	why := []metav1.Condition{condition(karpenterv1.ConditionDisruptionReason, "Empty", time.Minute)}
	gone := metav1.NewTime(noon)
	for name, tc := range map[string]struct {
		taints     []corev1.Taint
		conditions []metav1.Condition
		deleted    *metav1.Time
		want       bool
	}{
		"unwanted":                {want: true},
		"the taint alone":         {taints: []corev1.Taint{karpenterv1.TaintDisrupted()}, want: true},
		"the reason alone":        {conditions: why, want: true},
		"both":                    {taints: []corev1.Taint{karpenterv1.TaintDisrupted()}, conditions: why, want: true},
		"both, and it is deleted": {taints: []corev1.Taint{karpenterv1.TaintDisrupted()}, conditions: why, deleted: &gone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := &ingest.Objects{}
			claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", DeletionTimestamp: tc.deleted, Finalizers: []string{"held"}}}
			claim.Status.ProviderID, claim.Status.Conditions = "x:///1", tc.conditions
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{ProviderID: "x:///1", Taints: tc.taints}}
			objects.Add(claim)
			objects.Add(node)
			if n := ingest.Build(objects, fromFiles(t)).Nodes[0]; n.Counts() != tc.want {
				t.Errorf("counts %t, leaving %t", n.Counts(), n.Leaving)
			}
		})
	}
}

// A running pod names the budgets that decide about its eviction; a budget without a status allows
// what follows from its spec and the given pods.
func TestTiesOfPods(t *testing.T) {
	t.Parallel()
	objects := &ingest.Objects{}
	objects.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	yes := true
	for _, name := range []string{"a", "b", "c"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, Labels: map[string]string{"app": "web"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}},
		}}
		pod.Spec.NodeName = "n"
		start := metav1.NewTime(noon.Add(-time.Hour))
		pod.Status.StartTime = &start
		if name == "a" {
			pod.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "4h", corev1.PodDeletionCost: "134217728"}
		}
		objects.Add(pod)
	}
	least := intstr.FromString("50%")
	objects.Add(&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	})
	options := fromFiles(t)
	options.Now = noon
	s := ingest.Build(objects, options)
	wantTie := snapshot.Tie{Returns: true, Asked: true, Protected: true, Until: noon.Add(3 * time.Hour), Budgets: []string{"web"}, Cost: 2 * snapshot.OrdinaryCost}
	if diff := cmp.Diff(wantTie, s.Pods[0].Tie); diff != "" {
		t.Errorf("tie: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]snapshot.Budget{{Namespace: "default", Name: "web", Allowed: 1}}, s.Budgets); diff != "" {
		t.Errorf("budgets: -want +got\n%s", diff)
	}
}

// Times are kept until they are too old to matter; of very many the first and the last.
func TestRearrange(t *testing.T) {
	t.Parallel()
	claim := &karpenterv1.NodeClaim{}
	for i := range 50 {
		ingest.Rearrange(claim, noon.Add(time.Duration(i)*time.Hour))
	}
	times := ingest.Rearranged(claim)
	if len(times) != 20 || !times[0].Equal(noon) || !times[1].Equal(noon.Add(31*time.Hour)) || !times[19].Equal(noon.Add(49*time.Hour)) {
		t.Errorf("it says %v", times)
	}
	ingest.Rearrange(claim, noon.Add(1000*time.Hour))
	if times := ingest.Rearranged(claim); len(times) != 1 {
		t.Errorf("much later it says %v", times)
	}
}

// A time that turned out to be wrong is removed, and only that one; without any the annotation is
// removed.
func TestNotRearranged(t *testing.T) {
	t.Parallel()
	claim := &karpenterv1.NodeClaim{}
	ingest.Rearrange(claim, noon)
	ingest.Rearrange(claim, noon.Add(time.Minute+time.Millisecond))
	ingest.NotRearranged(claim, noon.Add(time.Minute+time.Millisecond))
	if times := ingest.Rearranged(claim); len(times) != 1 || !times[0].Equal(noon) {
		t.Errorf("it says %v", times)
	}
	ingest.NotRearranged(claim, noon)
	if text, said := claim.Annotations[ingest.AnnotationRearranged]; said {
		t.Errorf("it says %q", text)
	}
}

// Unreadable budgets allow nothing, and each has an error: a code, with the text of the API.
func TestBrokenBudgets(t *testing.T) {
	t.Parallel()
	daily, nonsense, hour := "@daily", "every day", scalar.Duration{Duration: time.Hour}
	pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{
		{Nodes: "many"}, {Nodes: "1", Schedule: &daily}, {Nodes: "5"}, {Nodes: "1", Schedule: &nonsense, Duration: &hour},
	}
	var out snapshot.Consolidation
	ingest.NewTranslator(ingest.NewIndex(), ingest.Options{Now: noon}).Allow(pool, 10, &out)
	if out.Allowed != (snapshot.Allowance{}) || out.Broken == nil {
		t.Fatalf("allowed: %+v, broken: %+v", out.Allowed, out.Broken)
	}
	var codes []reason.Code
	for _, fault := range out.Broken.Faults {
		codes = append(codes, fault.Code)
	}
	if diff := cmp.Diff([]reason.Code{reason.BudgetNodesUnreadable, reason.BudgetHalfScheduled, reason.BudgetScheduleUnreadable}, codes); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	_, err := pool.AllowedDisruptions(karpenterv1.DisruptionEmpty, 10, noon)
	if got := out.Broken.Text(); got != err.Error() {
		t.Errorf("%q, and the API says %q", got, err)
	}
	pool.Spec.Disruption.Budgets = pool.Spec.Disruption.Budgets[2:3]
	var sound snapshot.Consolidation
	ingest.NewTranslator(ingest.NewIndex(), ingest.Options{Now: noon}).Allow(pool, 10, &sound)
	if sound.Broken != nil || sound.Allowed.Empty != 5 {
		t.Errorf("a budget that can be read: %+v", sound)
	}
}
