package nodepool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/controller/metrics/nodepool"
	"tenon/internal/savings"
	"tenon/internal/testing/harness"
)

// machine makes a claim with a node that is initialized and ready.
func machine(t *testing.T, r *harness.Harness, name, pool, instanceType, capacityType string, change ...func(*karpenterv1.NodeClaim, *corev1.Node)) {
	t.Helper()
	claim := r.Named(name, pool, func(c *karpenterv1.NodeClaim) {
		c.Finalizers = []string{karpenterv1.FinalizerTermination}
		c.Labels[corev1.LabelInstanceTypeStable] = instanceType
		c.Labels[karpenterv1.LabelCapacityType] = capacityType
		c.Labels[corev1.LabelTopologyZone] = "z"
	})
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-" + name, Labels: map[string]string{karpenterv1.LabelInitialized: "true"}},
		Spec:       corev1.NodeSpec{ProviderID: "memory://" + name},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	claim.Status.ProviderID = node.Spec.ProviderID
	for _, c := range change {
		c(claim, node)
	}
	r.Must(r.API.Status().Update(t.Context(), claim))
	r.Must(r.API.Create(t.Context(), node))
}

// A pool's limits and what it has of them; nothing of a pool that is gone.
func TestPoolsAreTold(t *testing.T) {
	t.Parallel()
	pool := harness.Pool("p")
	pool.Spec.Limits = karpenterv1.Limits{"cpu": resource.MustParse("10"), "ephemeral-storage": resource.MustParse("1k")}
	pool.Status.Resources = corev1.ResourceList{"cpu": resource.MustParse("2500m")}
	others := harness.Pool("others")
	others.Spec.Template.Spec.NodeClassRef.Group = "other.example"
	r := harness.New(t, memory.Options{}, pool, others)
	machine(t, r, "a", "p", "big", "spot")
	machine(t, r, "b", "p", "big", "spot")
	machine(t, r, "c", "p", "big", "on-demand")
	r.Named("unbought", "p")
	c := nodepool.New(r.Kit)[0]
	if got := r.Run(c, ""); got.After != 10*time.Second {
		t.Errorf("looks again after %s, want 10s", got.After)
	}
	m := r.Kit.Metrics
	want := []string{
		"limit{nodepool=p resource_type=cpu} 10",
		"limit{nodepool=p resource_type=ephemeral_storage} 1000",
		"usage{nodepool=p resource_type=cpu} 2.5",
	}
	if diff := cmp.Diff(want, r.Series("karpenter_nodepools_", m.NodepoolsLimit, m.NodepoolsUsage)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	r.Must(r.API.Delete(t.Context(), pool))
	r.Run(c, "")
	if got := r.Series("karpenter_nodepools_", m.NodepoolsLimit, m.NodepoolsUsage, m.NodepoolsAllowedDisruptions, m.NodepoolsNodesConsumingBudgets); len(got) != 0 {
		t.Errorf("of a pool that is gone: %q", got)
	}
}

// The metrics have the expected savings of moves beside the realised ones, and are removed with the
// pool.
func TestSavings(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("p"))
	record := command.Record{ID: "a", Reason: plan.Underutilized, Savings: 2 * model.Unit, Claims: []command.Member{{Claim: "c", Pool: "p"}}}
	r.Must(savings.New(r.Kit).Over(t.Context(), record, -2*model.Unit, false))
	c, m := nodepool.New(r.Kit)[0], r.Kit.Metrics
	for _, want := range [][]string{
		{"savings_caution{nodepool=p} 1", "savings_predicted{nodepool=p} 0", "savings_realised{nodepool=p} 0"},
		{"savings_caution{nodepool=p} 2", "savings_predicted{nodepool=p} 2", "savings_realised{nodepool=p} -2"},
	} {
		r.Run(c, "")
		if diff := cmp.Diff(want, r.Series("karpenter_nodepools_", m.NodepoolsSavingsPredicted, m.NodepoolsSavingsRealised, m.NodepoolsSavingsCaution)); diff != "" {
			t.Errorf("series (-want +got):\n%s", diff)
		}
		r.Clock.Step(15 * time.Minute)
	}
	r.Must(r.API.Delete(t.Context(), harness.Pool("p")))
	r.Run(c, "")
	if got := r.Series("karpenter_nodepools_", m.NodepoolsSavingsPredicted, m.NodepoolsSavingsRealised, m.NodepoolsSavingsCaution); len(got) != 0 {
		t.Errorf("of a pool that is gone: %q", got)
	}
}

// Budgets see initialized nodes; those that go or are not ready use them up, for every reason.
func TestBudgets(t *testing.T) {
	t.Parallel()
	pool := harness.Pool("p")
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{
		{Nodes: "50%"},
		{Nodes: "1", Reasons: []karpenterv1.DisruptionReason{karpenterv1.DisruptionDrifted}},
	}
	r := harness.New(t, memory.Options{}, pool)
	machine(t, r, "fine-1", "p", "big", "spot")
	machine(t, r, "fine-2", "p", "big", "spot")
	machine(t, r, "unready", "p", "big", "spot", func(_ *karpenterv1.NodeClaim, n *corev1.Node) {
		n.Status.Conditions[0].Status = corev1.ConditionUnknown
	})
	machine(t, r, "going", "p", "big", "spot")
	r.Must(r.API.Delete(t.Context(), r.Claim("going")))
	machine(t, r, "starting", "p", "big", "spot", func(_ *karpenterv1.NodeClaim, n *corev1.Node) { n.Labels = nil })
	machine(t, r, "gone", "p", "big", "spot", func(c *karpenterv1.NodeClaim, _ *corev1.Node) {
		c.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionInstanceTerminating, Status: metav1.ConditionTrue}}
	})
	r.Run(nodepool.New(r.Kit)[0], "")
	want := []string{
		"allowed_disruptions{nodepool=p reason=Drifted} 1",
		"allowed_disruptions{nodepool=p reason=Empty} 2",
		"allowed_disruptions{nodepool=p reason=Underutilized} 2",
		"nodes_consuming_budgets{nodepool=p reason=Drifted} 2",
		"nodes_consuming_budgets{nodepool=p reason=Empty} 2",
		"nodes_consuming_budgets{nodepool=p reason=Underutilized} 2",
	}
	if diff := cmp.Diff(want, r.Series("karpenter_nodepools_", r.Kit.Metrics.NodepoolsAllowedDisruptions, r.Kit.Metrics.NodepoolsNodesConsumingBudgets)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// A budget that cannot be read allows nothing.
func TestABudgetThatIsBroken(t *testing.T) {
	t.Parallel()
	never := "not a schedule"
	pool := harness.Pool("p")
	pool.Spec.Disruption.Budgets = []karpenterv1.Budget{{Nodes: "5", Schedule: &never, Duration: &scalar.Duration{Duration: time.Hour}}}
	r := harness.New(t, memory.Options{}, pool)
	r.Run(nodepool.New(r.Kit)[0], "")
	for _, line := range r.Series("karpenter_nodepools_", r.Kit.Metrics.NodepoolsAllowedDisruptions) {
		if !strings.HasSuffix(line, " 0") {
			t.Error(line)
		}
	}
}

// Metrics that are switched off cost no work.
func TestObservabilityCanBeOff(t *testing.T) {
	t.Parallel()
	kit := harness.New(t, memory.Options{}).Kit
	kit.Settings.DisableClusterStateObservability = true
	if got := nodepool.New(kit); len(got) != 0 {
		t.Errorf("%d controllers", len(got))
	}
}
