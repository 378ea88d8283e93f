package disruption

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/cloud/memory"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/lookup"
	"tenon/internal/testing/harness"
	"tenon/internal/world"
)

// decided is the time of commands; looked is a second later.
var decided = time.Date(2026, time.March, 2, 12, 0, 0, 500_000_000, time.UTC)

// onNode is a pod of a ReplicaSet that was bound at a time.
func onNode(bound time.Time, change ...func(*corev1.Pod)) *corev1.Pod {
	yes := true
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "p", Labels: map[string]string{"app": "web"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}},
		Spec: corev1.PodSpec{NodeName: "node-a"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(bound)}}},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

func budgetOf(name string, allowed int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

// secondLook is a second look at a node with a pod, or without.
type secondLook struct {
	reason    plan.Reason
	pod       *corev1.Pod
	budgets   []*policyv1.PodDisruptionBudget
	known     map[types.UID]bool
	bounded   bool // the removal of the node, in time
	protected bool // the node
}

func (g secondLook) objection(t *testing.T) string {
	t.Helper()
	r := harness.New(t, memory.Options{})
	l := command.Leaver{Claim: &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}}
	if g.bounded {
		l.Claim.Spec.TerminationGracePeriod = &scalar.Duration{Duration: time.Hour}
	}
	if g.protected {
		l.Node.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}
	}
	if g.pod != nil {
		r.Must(r.API.Create(context.Background(), g.pod))
		if g.pod.Finalizers != nil {
			r.Must(r.API.Delete(context.Background(), g.pod.DeepCopy()))
		}
	}
	for _, b := range g.budgets {
		r.Must(r.API.Create(context.Background(), b))
	}
	d := &disruption{kit: r.Kit, underway: &world.Disruptions{}}
	look := d.secondLook(&command.State{Record: command.Record{Reason: g.reason, Begun: decided}, Now: decided.Add(500 * time.Millisecond)})
	look.pods = g.known
	pods, err := lookup.PodsOn(context.Background(), r.Kit.Client, "node-a")
	r.Must(err)
	cause, err := look.objection(context.Background(), l, pods)
	r.Must(err)
	return cause.Text()
}

// The second look finds changes since the decision, and nothing else.
func TestSecondLook(t *testing.T) {
	t.Parallel()
	long, now := decided.Add(-time.Hour), decided.Add(500*time.Millisecond)
	protected := func(p *corev1.Pod) { p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"} }
	daemon := func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" }
	ending := func(p *corev1.Pod) { p.Finalizers = []string{"example.com/keep"} }
	unready := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse})
	}
	lenient := budgetOf("b", 0)
	lenient.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
	list := func(b ...*policyv1.PodDisruptionBudget) []*policyv1.PodDisruptionBudget { return b }
	for name, tc := range map[string]struct {
		secondLook
		want string
	}{
		"nothing has changed":                 {secondLook{reason: plan.Underutilized, pod: onNode(long)}, ""},
		"a pod came":                          {secondLook{reason: plan.Underutilized, pod: onNode(now)}, "Pod came after the decision (Pod=default/p)"},
		"a pod came in the same second":       {secondLook{reason: plan.Empty, pod: onNode(decided.Truncate(time.Second))}, "Pod came after"},
		"a pod that the decision knew":        {secondLook{reason: plan.Empty, pod: onNode(now), known: map[types.UID]bool{"p": true}}, ""},
		"a pod that the decision did not see": {secondLook{reason: plan.Empty, pod: onNode(long), known: map[types.UID]bool{}}, "Pod came after"},
		"a daemon came":                       {secondLook{reason: plan.Empty, pod: onNode(now, daemon)}, ""},
		"a pod is protected":                  {secondLook{reason: plan.Underutilized, pod: onNode(long, protected)}, `"karpenter.sh/do-not-disrupt" annotation (Pod=default/p)`},
		"a pod is protected, and ends":        {secondLook{reason: plan.Underutilized, pod: onNode(long, protected, ending)}, ""},
		"a pod is protected, drift may force": {secondLook{reason: plan.Drifted, pod: onNode(long, protected), bounded: true}, ""},
		"a pod is protected, money may not":   {secondLook{reason: plan.Underutilized, pod: onNode(long, protected), bounded: true}, "annotation"},
		"the node is protected":               {secondLook{reason: plan.Empty, protected: true}, "Disruption is blocked"},
		"a budget allows nothing":             {secondLook{reason: plan.Underutilized, pod: onNode(long), budgets: list(budgetOf("b", 0))}, "Pdb prevents pod evictions (PodDisruptionBudget=[default/b])"},
		"a budget allows one":                 {secondLook{reason: plan.Underutilized, pod: onNode(long), budgets: list(budgetOf("b", 1))}, ""},
		"two budgets":                         {secondLook{reason: plan.Underutilized, pod: onNode(long), budgets: list(budgetOf("b", 1), budgetOf("c", 1))}, "multiple PDBs (PodDisruptionBudget(s)=[default/b default/c])"},
		"a budget that ignores the pod":       {secondLook{reason: plan.Underutilized, pod: onNode(long, unready), budgets: list(lenient.DeepCopy())}, ""},
		"two budgets, one ignores the pod":    {secondLook{reason: plan.Underutilized, pod: onNode(long, unready), budgets: list(lenient.DeepCopy(), budgetOf("c", 1))}, "multiple PDBs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.objection(t); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
