package command_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/core/plan"
	"tenon/internal/command"
)

// pod of a ReplicaSet that was bound at a time.
func pod(bound time.Time, change ...func(*corev1.Pod)) *corev1.Pod {
	yes := true
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", Labels: map[string]string{"app": "web"},
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

func budget(name string, allowed int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed},
	}
}

// A cache that was behind does not show every pod that was there: who is not known is a
// stranger, however long it has been there.
func TestStrangers(t *testing.T) {
	t.Parallel()
	r := command.Record{Reason: plan.Empty, Begun: noon}
	known := pod(noon.Add(-time.Hour))
	known.UID = "known"
	s := command.Sight{Leaver: leaver("a"), Pods: []*corev1.Pod{known}, Expected: map[types.UID]bool{"known": true}}
	if got := r.Objection(s, noon); got != "" {
		t.Errorf("a pod that was known: %s", got)
	}
	s.Expected = map[types.UID]bool{}
	if got := r.Objection(s, noon); got == "" {
		t.Error("a pod that nobody knew of does not matter")
	}
}

// The second look finds what has come up since the decision, and nothing else.
func TestObjections(t *testing.T) {
	t.Parallel()
	long, now := noon.Add(-time.Hour), noon.Add(time.Second)
	protected := func(p *corev1.Pod) { p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"} }
	daemon := func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "DaemonSet" }
	ending := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }
	guarded := leaver("a")
	guarded.Node.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"}
	bounded := leaver("a")
	bounded.Claim.Spec.TerminationGracePeriod = &scalar.Duration{Duration: time.Hour}
	for name, tc := range map[string]struct {
		leaver  command.Leaver
		reason  plan.Reason
		pods    []*corev1.Pod
		budgets []*policyv1.PodDisruptionBudget
		want    string
	}{
		"nothing has changed":                 {leaver("a"), plan.Underutilized, []*corev1.Pod{pod(long)}, nil, ""},
		"a pod came":                          {leaver("a"), plan.Underutilized, []*corev1.Pod{pod(now)}, nil, "Pod came after the decision (Pod=default/p)"},
		"a pod came in the same second":       {leaver("a"), plan.Empty, []*corev1.Pod{pod(noon)}, nil, "Pod came after"},
		"a daemon came":                       {leaver("a"), plan.Empty, []*corev1.Pod{pod(now, daemon)}, nil, ""},
		"a pod is protected":                  {leaver("a"), plan.Underutilized, []*corev1.Pod{pod(long, protected)}, nil, `"karpenter.sh/do-not-disrupt" annotation (Pod=default/p)`},
		"a pod is protected, and ends":        {leaver("a"), plan.Underutilized, []*corev1.Pod{pod(long, protected, ending)}, nil, ""},
		"a pod is protected, drift may force": {bounded, plan.Drifted, []*corev1.Pod{pod(long, protected)}, nil, ""},
		"a pod is protected, money may not":   {bounded, plan.Underutilized, []*corev1.Pod{pod(long, protected)}, nil, "annotation"},
		"the node is protected":               {guarded, plan.Empty, nil, nil, "Disruption is blocked"},
		"a budget lets nobody go":             {leaver("a"), plan.Underutilized, []*corev1.Pod{pod(long)}, []*policyv1.PodDisruptionBudget{budget("b", 0)}, "Pdb prevents pod evictions (PodDisruptionBudget=[default/b])"},
		"a budget lets one go":                {leaver("a"), plan.Underutilized, []*corev1.Pod{pod(long)}, []*policyv1.PodDisruptionBudget{budget("b", 1)}, ""},
		"two budgets":                         {leaver("a"), plan.Underutilized, []*corev1.Pod{pod(long)}, []*policyv1.PodDisruptionBudget{budget("b", 1), budget("c", 1)}, "multiple PDBs (PodDisruptionBudget(s)=[default/b default/c])"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := command.Record{Reason: tc.reason, Begun: noon.Add(500 * time.Millisecond)}
			s := command.Sight{Leaver: tc.leaver, Pods: tc.pods, Budgets: map[string][]*policyv1.PodDisruptionBudget{"default": tc.budgets}}
			got := r.Objection(s, now)
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
