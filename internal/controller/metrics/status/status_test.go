package status_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/metrics/status"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// fixture is a rig with its registry, and the controllers by name.
type fixture struct {
	*harness.Harness
	controllers map[string]reconcile.Controller
}

func on(t *testing.T, change func(*reconcile.Kit)) fixture {
	t.Helper()
	b := fixture{Harness: harness.New(t, memory.Options{}), controllers: map[string]reconcile.Controller{}}
	if change != nil {
		change(&b.Kit)
	}
	for _, c := range status.New(b.Kit) {
		b.controllers[c.Name] = c
	}
	return b
}

// see has the controller of claims look at one.
func (b fixture) see(name string) { b.Run(b.controllers["operatorpkg.nodeclaim.status"], name) }

// refresh has the gauges of claims told.
func (b fixture) refresh() reconcile.Result {
	return b.Run(b.controllers["operatorpkg.nodeclaim.status"], "")
}

// is sets a condition of a claim, since now.
func (b fixture) is(t *testing.T, name, condition string, status metav1.ConditionStatus, reason, message string) {
	t.Helper()
	claim := b.Claim(name)
	claim.Status.Conditions = slices.DeleteFunc(claim.Status.Conditions, func(c metav1.Condition) bool { return c.Type == condition })
	claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{
		Type: condition, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(b.Clock.Now()),
	})
	if err := b.API.Status().Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
}

// A condition that gets another status is counted, timed and told; a first look is not.
func TestTransitions(t *testing.T) {
	t.Parallel()
	b := on(t, nil)
	b.Named("c", "pool")
	b.is(t, "c", "Launched", metav1.ConditionUnknown, "Awaiting", "")
	b.see("c")
	b.Clock.Step(7 * time.Second)
	b.is(t, "c", "Launched", metav1.ConditionTrue, "Launched", "")
	b.is(t, "c", "Registered", metav1.ConditionUnknown, "Awaiting", "")
	b.see("c")
	b.see("c") // nothing happened
	b.Clock.Step(time.Second)
	b.is(t, "c", "Launched", metav1.ConditionTrue, "OtherReason", "another reason is no transition")
	b.see("c")
	b.is(t, "c", "Launched", metav1.ConditionFalse, "Failed", "it broke")
	b.see("c")

	wantEvents := []string{
		"Normal Launched c: Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched",
		"Normal Launched c: Status condition transitioned, Type: Launched, Status: True -> False, Reason: Failed, Message: it broke",
	}
	if diff := cmp.Diff(wantEvents, b.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	m := b.Kit.Metrics.Nodeclaim
	want := []string{
		"nodeclaim_status_condition_transition_seconds{karpenter_sh_nodepool=pool status=False type=Launched} 1 times, 0s",
		"nodeclaim_status_condition_transition_seconds{karpenter_sh_nodepool=pool status=True type=Launched} 1 times, 7s",
		"nodeclaim_status_condition_transitions_total{karpenter_sh_nodepool=pool reason=Awaiting status=Unknown type=Registered} 1",
		"nodeclaim_status_condition_transitions_total{karpenter_sh_nodepool=pool reason=Failed status=False type=Launched} 1",
		"nodeclaim_status_condition_transitions_total{karpenter_sh_nodepool=pool reason=Launched status=True type=Launched} 1",
	}
	if diff := cmp.Diff(want, b.Series("operator_", m.StatusConditionTransitionsTotal, m.StatusConditionTransitionSeconds)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// What disruption thinks of a node has events of its own.
func TestConditionsWithEventsOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := on(t, nil)
	b.Named("c", "pool")
	b.is(t, "c", karpenterv1.ConditionDisruptable, metav1.ConditionFalse, "Kept", "")
	b.see("c")
	b.is(t, "c", karpenterv1.ConditionDisruptable, metav1.ConditionTrue, "Empty", "")
	b.see("c")
	if got := b.Events(); len(got) > 0 {
		t.Errorf("events %q", got)
	}
}

// A process that starts anew counts nothing that it did not see happen.
func TestAFirstLookIsNoTransition(t *testing.T) {
	t.Parallel()
	b := on(t, nil)
	b.Named("c", "pool")
	b.is(t, "c", "Launched", metav1.ConditionTrue, "Launched", "")
	b.see("c")
	m := b.Kit.Metrics.Nodeclaim
	if got := b.Series("operator_", m.StatusConditionTransitionsTotal); len(got)+len(b.Events()) != 0 {
		t.Errorf("series %q, events %q", got, b.Events())
	}
}

// The end of an object is timed, and the removal of each finalizer is reported.
func TestTheEndOfAnObject(t *testing.T) {
	t.Parallel()
	b := on(t, nil)
	claim := b.Named("c", "pool", func(c *karpenterv1.NodeClaim) { c.Finalizers = []string{"a/one", "b/two"} })
	b.see("c")
	b.Must(b.API.Delete(t.Context(), claim))
	b.see("c")
	b.Clock.SetTime(b.Claim("c").DeletionTimestamp.Add(5 * time.Second))
	b.refresh()
	current := b.Series("operator_", b.Kit.Metrics.Nodeclaim.TerminationCurrentTimeSeconds)
	if diff := cmp.Diff([]string{"nodeclaim_termination_current_time_seconds{karpenter_sh_nodepool=pool name=c} 5"}, current); diff != "" {
		t.Errorf("while it ends (-want +got):\n%s", diff)
	}
	for _, left := range [][]string{{"b/two"}, nil} {
		claim = b.Claim("c")
		claim.Finalizers = left
		b.Must(b.API.Update(t.Context(), claim))
		b.see("c")
	}
	b.see("c")
	if diff := cmp.Diff([]string{"Normal Finalized c: Finalized a/one", "Normal Finalized c: Finalized b/two"}, b.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"nodeclaim_termination_duration_seconds{karpenter_sh_nodepool=pool} 1 times, 5s"}, b.Series("operator_", b.Kit.Metrics.Nodeclaim.TerminationDurationSeconds)); diff != "" {
		t.Errorf("when it is gone (-want +got):\n%s", diff)
	}
	b.Clock.Step(10 * time.Second)
	b.refresh()
	if got := b.Series("operator_", b.Kit.Metrics.Nodeclaim.TerminationCurrentTimeSeconds); len(got) != 0 {
		t.Errorf("afterwards %q", got)
	}
}

// A finalizer that goes while the object stays is not the object's end.
func TestAFinalizerThatIsTakenBack(t *testing.T) {
	t.Parallel()
	b := on(t, nil)
	claim := b.Named("c", "pool", func(c *karpenterv1.NodeClaim) { c.Finalizers = []string{"a/one"} })
	b.see("c")
	claim.Finalizers = nil
	b.Must(b.API.Update(t.Context(), claim))
	b.see("c")
	if got := b.Events(); len(got) != 0 {
		t.Errorf("events %q", got)
	}
}

// Gauges tell each condition by name, every ten seconds at most, and forget objects that are gone.
func TestGauges(t *testing.T) {
	t.Parallel()
	b := on(t, nil)
	b.Named("c", "pool")
	b.is(t, "c", "Launched", metav1.ConditionTrue, "Launched", "")
	b.Clock.Step(3 * time.Second)
	if got := b.refresh(); got.After != 10*time.Second {
		t.Errorf("looks again after %s, want 10s", got.After)
	}
	m := b.Kit.Metrics.Nodeclaim
	want := []string{
		"nodeclaim_status_condition_count{karpenter_sh_nodepool=pool name=c reason=Launched status=True type=Launched} 1",
		"nodeclaim_status_condition_current_status_seconds{karpenter_sh_nodepool=pool name=c reason=Launched status=True type=Launched} 3",
	}
	if diff := cmp.Diff(want, b.Series("operator_", m.StatusConditionCount, m.StatusConditionCurrentStatusSeconds)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	b.Must(b.API.Delete(t.Context(), b.Claim("c")))
	b.Clock.Step(4 * time.Second)
	if got := b.refresh(); got.After != 6*time.Second {
		t.Errorf("too early, looks again after %s, want 6s", got.After)
	}
	if got := b.Series("operator_", m.StatusConditionCount); len(got) != 1 {
		t.Errorf("before ten seconds are over: %q", got)
	}
	b.Clock.Step(6 * time.Second)
	b.refresh()
	if got := b.Series("operator_", m.StatusConditionCount, m.StatusConditionCurrentStatusSeconds); len(got) != 0 {
		t.Errorf("of an object that is gone: %q", got)
	}
}

// With many objects conditions are counted, and no more series than a tenth of the bound come of it.
func TestManyObjectsAreCounted(t *testing.T) {
	t.Parallel()
	b := on(t, func(k *reconcile.Kit) { k.Settings.MetricsSeries = 200 })
	for i := range 30 {
		name := fmt.Sprintf("c%02d", i)
		b.Named(name, "pool")
		b.is(t, name, "Launched", []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse}[i%3/2], "R", "")
	}
	b.refresh()
	want := []string{
		"nodeclaim_status_condition_count{karpenter_sh_nodepool=pool reason=R status=False type=Launched} 10",
		"nodeclaim_status_condition_count{karpenter_sh_nodepool=pool reason=R status=True type=Launched} 20",
	}
	if diff := cmp.Diff(want, b.Series("operator_", b.Kit.Metrics.Nodeclaim.StatusConditionCount)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// The older names are there only when nothing bounds the series.
func TestOlderNames(t *testing.T) {
	t.Parallel()
	for bound, want := range map[int][]string{
		0:   {"status_condition_count{group=karpenter.sh kind=NodeClaim name=c reason=R status=True type=Launched} 1"},
		500: nil,
	} {
		b := on(t, func(k *reconcile.Kit) { k.Settings.MetricsSeries = bound })
		b.Named("c", "pool")
		b.is(t, "c", "Launched", metav1.ConditionTrue, "R", "")
		b.refresh()
		if diff := cmp.Diff(want, b.Series("operator_", b.Kit.Metrics.Operator.StatusConditionCount)); diff != "" {
			t.Errorf("with %d series (-want +got):\n%s", bound, diff)
		}
	}
}

// Objects of another cloud's controller are not told of.
func TestOthersObjectsAreLeftAlone(t *testing.T) {
	t.Parallel()
	b := on(t, nil)
	b.Named("c", "pool", func(c *karpenterv1.NodeClaim) { c.Spec.NodeClassRef.Group = "other.example" })
	b.is(t, "c", "Launched", metav1.ConditionUnknown, "R", "")
	b.see("c")
	b.is(t, "c", "Launched", metav1.ConditionTrue, "R", "")
	b.see("c")
	b.refresh()
	if got := b.Series("operator_", b.Kit.Metrics.Nodeclaim.StatusConditionCount); len(got)+len(b.Events()) != 0 {
		t.Errorf("series %q, events %q", got, b.Events())
	}
}

// Each kind has its controller under the documented name, each object wakes it for itself and
// for the gauges, and metrics that are switched off cost no work.
func TestKinds(t *testing.T) {
	t.Parallel()
	b := on(t, func(k *reconcile.Kit) {
		k.Settings.FeatureGates.CapacityBuffer, k.Settings.ProvisioningRequests.Enabled = true, true
	})
	for _, name := range []string{"nodeclaim", "nodepool", "node", "capacitybuffer", "provisioningrequest"} {
		c, found := b.controllers["operatorpkg."+name+".status"]
		if !found {
			t.Errorf("there is no controller of %s", name)
			continue
		}
		object := c.Watches[0].Kind.DeepCopyObject().(client.Object)
		object.SetName("x")
		if diff := cmp.Diff([]reconcile.Key{{Name: "x"}, {}}, c.Watches[0].KeysOf(t.Context(), object)); diff != "" {
			t.Errorf("%s wakes (-want +got):\n%s", name, diff)
		}
	}
	if len(on(t, nil).controllers) != 3 {
		t.Error("buffers or requests are watched without their settings")
	}
	if got := on(t, func(k *reconcile.Kit) { k.Settings.DisableClusterStateObservability = true }).controllers; len(got) != 0 {
		t.Errorf("%d controllers although observability is off", len(got))
	}
}

// A node that repeats its conditions, and a pool that counts its nodes, wake no controller; a change that is reported
// does.
func TestWhatWakes(t *testing.T) {
	t.Parallel()
	b := on(t, nil)
	at := func(second int64) metav1.Time { return metav1.NewTime(time.Unix(second, 0)) }
	node := func(change ...func(*corev1.Node)) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u", Labels: map[string]string{"zone": "a"}, Finalizers: []string{"f"}}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: at(1), LastTransitionTime: at(1)}}
		for _, c := range change {
			c(n)
		}
		return n
	}
	wakes := b.controllers["operatorpkg.node.status"].Watches[0].Wakes
	for name, tc := range map[string]struct {
		changed client.Object
		want    bool
	}{
		"a heartbeat": {node(func(n *corev1.Node) { n.Status.Conditions[0].LastHeartbeatTime = at(2) }), false},
		"images":      {node(func(n *corev1.Node) { n.Status.Images = make([]corev1.ContainerImage, 1) }), false},
		"a new state": {node(func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }), true},
		"another condition": {node(func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "x"})
		}), true},
		"a label":       {node(func(n *corev1.Node) { n.Labels["zone"] = "b" }), true},
		"its end":       {node(func(n *corev1.Node) { now := at(3); n.DeletionTimestamp = &now }), true},
		"a finalizer":   {node(func(n *corev1.Node) { n.Finalizers = nil }), true},
		"another node":  {node(func(n *corev1.Node) { n.UID = "v" }), true},
		"none any more": {nil, true},
	} {
		if got := wakes(node(), tc.changed); got != tc.want {
			t.Errorf("%s wakes: %t, want %t", name, got, tc.want)
		}
	}
	if !wakes(nil, node()) {
		t.Error("a new node does not wake")
	}
}
