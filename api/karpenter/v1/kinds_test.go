package v1_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "tenon/api/karpenter/v1"
	"tenon/api/label"
)

func TestIsEphemeral(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		key    string
		effect corev1.TaintEffect
		want   bool
	}{
		{"node.kubernetes.io/not-ready", "NoSchedule", true},
		{"node.kubernetes.io/not-ready", "NoExecute", true},
		{"node.kubernetes.io/not-ready", "PreferNoSchedule", false},
		{"node.kubernetes.io/unreachable", "NoSchedule", true},
		{"node.kubernetes.io/unreachable", "NoExecute", false},
		{"node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule", true},
		{"node.cloudprovider.kubernetes.io/uninitialized", "NoExecute", false},
		{"karpenter.sh/unregistered", "NoExecute", true},
		{"karpenter.sh/unregistered", "NoSchedule", false},
		{"karpenter.sh/disrupted", "NoSchedule", false},
		{"readiness.k8s.io/network", "NoSchedule", true},
		{"readiness.k8s.io", "NoSchedule", false},
		{"team", "NoSchedule", false},
	} {
		if got := v1.IsEphemeral(corev1.Taint{Key: tc.key, Effect: tc.effect}); got != tc.want {
			t.Errorf("%s:%s is %v, want %v", tc.key, tc.effect, got, tc.want)
		}
	}
}

func TestOwnTaints(t *testing.T) {
	t.Parallel()
	for want, taint := range map[string]corev1.Taint{
		"karpenter.sh/disrupted:NoSchedule":   v1.TaintDisrupted(),
		"karpenter.sh/unregistered:NoExecute": v1.TaintUnregistered(),
	} {
		if got := taint.ToString(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestLabels follows the lists of well-known labels and of aliases.
func TestLabels(t *testing.T) {
	t.Parallel()
	rules := label.Join(v1.Labels())
	if got := rules.WellKnown(); len(got) != 8 {
		t.Errorf("got %d well-known labels, want eight: %v", len(got), got)
	}
	for alias, want := range map[string]string{
		"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
		"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
		"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
		"beta.kubernetes.io/os":                    "kubernetes.io/os",
		"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
	} {
		if got := rules.Normalize(alias); got != want || !rules.IsWellKnown(want) {
			t.Errorf("%s means %s, want the well-known %s", alias, got, want)
		}
	}
	if got := v1.NodeClassLabel("karpenter.k8s.aws", "EC2NodeClass"); got != "karpenter.k8s.aws/ec2nodeclass" {
		t.Errorf("the class's label is %s", got)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
	}
	limits := v1.Limits(list("10", "1Gi"))
	cases := map[string]struct {
		usage corev1.ResourceList
		want  string
	}{
		"nothing used":              {nil, ""},
		"as much as the limit":      {list("10", "1024Mi"), ""},
		"more than the limit":       {list("10001m", "1Gi"), "resource usage exceeds limit (limit=10, resource-name=cpu, usage=10001m)"},
		"more of two":               {list("11", "2Gi"), "resource usage exceeds limit (limit=10, resource-name=cpu, usage=11)"},
		"of what is without limits": {corev1.ResourceList{"pods": resource.MustParse("1000")}, ""},
	}
	for name, tc := range cases {
		got := ""
		if err := limits.CheckUsage(tc.usage); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestConditionsOfKinds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 20, 12, 0, 0, 0, time.UTC)
	pool, claim := &v1.NodePool{}, &v1.NodeClaim{}
	pool.Generation, claim.Generation = 2, 3

	conditions := pool.Conditions(now)
	conditions.SetTrue(v1.ConditionValidationSucceeded)
	conditions.SetFalse(v1.ConditionNodeRegistrationHealthy, "RegistrationFailed", "Failed to register node")
	if conditions.IsReady() {
		t.Error("pool is ready without its class")
	}
	conditions.SetTrue(v1.ConditionNodeClassReady)
	if !conditions.IsReady() {
		t.Error("pool is not ready although health only informs")
	}

	conditions = claim.Conditions(now)
	for _, name := range []string{v1.ConditionLaunched, v1.ConditionRegistered} {
		conditions.SetTrue(name)
	}
	if root := conditions.Root(); root.Status != metav1.ConditionUnknown || root.Message != "Initialized=Unknown" {
		t.Errorf("root is %s %q before initialization", root.Status, root.Message)
	}
	conditions.SetTrue(v1.ConditionInitialized)
	if !conditions.IsReady() {
		t.Error("claim is not ready")
	}
}

func TestAddToScheme(t *testing.T) {
	t.Parallel()
	s := runtime.NewScheme()
	if err := v1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"NodePool", "NodePoolList", "NodeClaim", "NodeClaimList"} {
		if !s.Recognizes(v1.GroupVersion.WithKind(kind)) {
			t.Errorf("%s is unknown", kind)
		}
	}
}

// TestBudgetListsSurviveWriting: an explicitly empty list of budgets or reasons means something
// other than an absent list, so it must not be lost when the object is written.
func TestBudgetListsSurviveWriting(t *testing.T) {
	t.Parallel()
	pool := samplePool()
	pool.Spec.Disruption.Budgets = []v1.Budget{}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pool)
	if err != nil {
		t.Fatal(err)
	}
	var back v1.NodePool
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &back); err != nil {
		t.Fatal(err)
	}
	if back.Spec.Disruption.Budgets == nil {
		t.Error("an empty list of budgets was lost")
	}
	back.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1", Reasons: []v1.DisruptionReason{}}}
	back.SetDefaults()
	if copied := back.DeepCopy(); copied.Spec.Disruption.Budgets[0].Reasons == nil {
		t.Error("an empty list of reasons was lost")
	}
	if back.Spec.Template.Spec.ExpireAfter.String() != "720h" {
		t.Errorf("the expiry became %s", back.Spec.Template.Spec.ExpireAfter)
	}
}
