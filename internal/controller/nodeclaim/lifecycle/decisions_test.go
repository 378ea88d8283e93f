package lifecycle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/cloud"
	"tenon/internal/removal"
)

var birth = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// claimWith is a claim with conditions that are True.
func claimWith(trues ...string) *karpenterv1.NodeClaim {
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1", UID: "uid-1", CreationTimestamp: metav1.NewTime(birth)}}
	conditions := claim.Conditions(birth)
	for _, name := range trues {
		conditions.SetTrue(name)
	}
	claim.Status.Conditions = conditions.List()
	return claim
}

// TestOverdue follows "Launched not True for 5m", "Registered not True for 15m, since creation". A node that
// has never been initialized must be ready within fifteen minutes.
func TestOverdue(t *testing.T) {
	t.Parallel()
	launched := []string{karpenterv1.ConditionLaunched}
	registered := append(launched, karpenterv1.ConditionRegistered)
	initialized := append(slices.Clone(registered), karpenterv1.ConditionInitialized)
	node := func(ready corev1.ConditionStatus, since time.Duration) *corev1.Node {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(birth.Add(time.Minute))}}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.NewTime(birth.Add(since))}}
		return node
	}
	silent := &corev1.Node{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(birth.Add(time.Minute))}}
	for name, tc := range map[string]struct {
		trues []string
		node  *corev1.Node
		age   time.Duration
		why   removal.Reason
		left  time.Duration
	}{
		"a new claim has five minutes to launch":                  {nil, nil, 0, "", 5 * time.Minute},
		"a second is left":                                        {nil, nil, 5*time.Minute - time.Second, "", time.Second},
		"too late to launch":                                      {nil, nil, 5 * time.Minute, removal.LaunchTimeout, 0},
		"launched, it has fifteen since its creation to register": {launched, nil, 5 * time.Minute, "", 10 * time.Minute},
		"too late to register":                                    {launched, nil, 15 * time.Minute, removal.RegistrationTimeout, 0},
		"registered, its node is not known yet":                   {registered, nil, 300 * time.Hour, "", 0},
		"its node is ready, and its taints may take their time":   {registered, node(corev1.ConditionTrue, 0), 300 * time.Hour, "", 0},
		"its node joined a minute after and was never ready":      {registered, silent, 15 * time.Minute, "", time.Minute},
		"that takes too long":                                     {registered, silent, 16 * time.Minute, removal.Unhealthy, 0},
		"its node was ready for some time":                        {registered, node(corev1.ConditionFalse, 10*time.Minute), 24 * time.Minute, "", time.Minute},
		"its node has not been ready for too long":                {registered, node(corev1.ConditionUnknown, 10*time.Minute), 25 * time.Minute, removal.Unhealthy, 0},
		"a time before the node joined does not count":            {registered, node(corev1.ConditionFalse, -time.Hour), 15 * time.Minute, "", time.Minute},
		"initialized, it is left to node repair":                  {initialized, node(corev1.ConditionFalse, 10*time.Minute), 300 * time.Hour, "", 0},
	} {
		why, left := overdue(claimWith(tc.trues...), tc.node, birth.Add(tc.age), 5*time.Minute)
		if why != tc.why || left != tc.left {
			t.Errorf("%s: %q and %s left, want %q and %s", name, why, left, tc.why, tc.left)
		}
	}
}

// TestJudge: what each error of the contract means for the claim.
func TestJudge(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 301)
	for name, tc := range map[string]struct {
		err  error
		want launchFailure
	}{
		"no capacity":     {&cloud.NoCapacity{}, launchFailure{remove: removal.InsufficientCapacity, nothing: true, event: "InsufficientCapacityError"}},
		"class not ready": {&cloud.ClassNotReady{}, launchFailure{remove: removal.NodeClassNotReady, nothing: true, event: "NodeClassNotReady"}},
		"class not judged yet": {&cloud.ClassNotReady{Undecided: true, Err: errors.New("NodeClass is in Ready=Unknown")}, launchFailure{
			reason: "NodeClassReadinessUnknown", message: "NodeClassRef not ready, NodeClass is in Ready=Unknown", after: 2 * time.Second}},
		"bought and gone": {&cloud.NotFound{ProviderID: "p"}, launchFailure{remove: removal.GarbageCollected}},
		"rejected":        {&cloud.Rejected{Reason: "Unauthorized", Message: "Ask the owner."}, launchFailure{reason: "Unauthorized", message: "Ask the owner."}},
		"rejected for a reason that no condition can have": {&cloud.Rejected{Reason: "not valid!", Message: "Ask."},
			launchFailure{reason: "LaunchFailed", message: "Ask."}},
		"throttled because of something to be mended": {&cloud.Throttled{Err: &cloud.Rejected{Reason: "Quota", Message: "Raise it."}},
			launchFailure{reason: "Quota", message: "Raise it."}},
		"anything else":            {errors.New("broken"), launchFailure{reason: "LaunchFailed", message: "broken"}},
		"anything else, at length": {errors.New(long), launchFailure{reason: "LaunchFailed", message: long[:600] + "..."}},
	} {
		for _, err := range []error{tc.err, fmt.Errorf("%w", tc.err)} {
			got := judge(err)
			got.err = nil
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(launchFailure{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// TestFindObstacle: all that must hold before a node counts as initialized, in order.
func TestFindObstacle(t *testing.T) {
	t.Parallel()
	agent := corev1.Taint{Key: "agent", Value: "starting", Effect: corev1.TaintEffectNoExecute}
	fresh := func(change ...func(*corev1.Node)) *corev1.Node {
		node := &corev1.Node{Status: corev1.NodeStatus{
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			Allocatable: corev1.ResourceList{"cpu": resource.MustParse("1"), "gpu": resource.MustParse("1")},
		}}
		for _, c := range change {
			c(node)
		}
		return node
	}
	with := func(taint corev1.Taint) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, taint) }
	}
	claim := claimWith()
	claim.Spec.StartupTaints = []corev1.Taint{agent}
	claim.Spec.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1"), "gpu": resource.MustParse("1"), "zero": resource.MustParse("0")}
	for name, tc := range map[string]struct {
		node *corev1.Node
		want uninitialized
	}{
		"nothing": {fresh(), uninitialized{}},
		"not ready": {fresh(func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }, with(agent)),
			uninitialized{"NodeNotReady", "Node status is NotReady"}},
		"has not said whether it is ready": {fresh(func(n *corev1.Node) { n.Status.Conditions = nil }),
			uninitialized{"NodeNotReady", "Node status is NotReady"}},
		"a startup taint": {fresh(with(agent)),
			uninitialized{"StartupTaintsExist", `StartupTaint "agent=starting:NoExecute" still exists`}},
		"a startup taint with another value": {fresh(with(corev1.Taint{Key: "agent", Effect: corev1.TaintEffectNoExecute})),
			uninitialized{"StartupTaintsExist", `StartupTaint "agent=starting:NoExecute" still exists`}},
		"an ephemeral taint": {fresh(with(corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})),
			uninitialized{"KnownEphemeralTaintsExist", `KnownEphemeralTaint "node.kubernetes.io/not-ready:NoSchedule" still exists`}},
		"other taints do not matter": {fresh(with(corev1.Taint{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule})), uninitialized{}},
		"a device plugin that is not up": {fresh(func(n *corev1.Node) { delete(n.Status.Allocatable, "gpu") }),
			uninitialized{"ResourceNotRegistered", `Resource "gpu" was requested but not registered`}},
		"a device plugin that reports none": {fresh(func(n *corev1.Node) { n.Status.Allocatable["gpu"] = resource.MustParse("0") }),
			uninitialized{"ResourceNotRegistered", `Resource "gpu" was requested but not registered`}},
	} {
		if got := findObstacle(tc.node, claim); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// TestNext: the order in which a claim comes to its end.
func TestNext(t *testing.T) {
	t.Parallel()
	make := func(change func(*karpenterv1.NodeClaim), trues ...string) *karpenterv1.NodeClaim {
		claim := claimWith(trues...)
		claim.Finalizers = []string{karpenterv1.FinalizerTermination}
		claim.Status.ProviderID = "p"
		change(claim)
		return claim
	}
	same := func(*karpenterv1.NodeClaim) {}
	joined := []*corev1.Node{{Spec: corev1.NodeSpec{Taints: []corev1.Taint{karpenterv1.TaintUnregistered()}}}}
	opened := []*corev1.Node{{}}
	registered := []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{karpenterv1.LabelRegistered: "true"}}}}
	for name, tc := range map[string]struct {
		claim *karpenterv1.NodeClaim
		nodes []*corev1.Node
		want  ending
	}{
		"released":                   {make(func(c *karpenterv1.NodeClaim) { c.Finalizers = nil }), nil, released},
		"a limit to set comes first": {make(func(c *karpenterv1.NodeClaim) { c.Spec.TerminationGracePeriod = &scalar.Duration{} }, "Registered"), joined, setLimit},
		"a limit that is set": {make(func(c *karpenterv1.NodeClaim) {
			c.Spec.TerminationGracePeriod = &scalar.Duration{}
			c.Annotations = map[string]string{karpenterv1.AnnotationTerminationTimestamp: "then"}
		}, "Registered"), joined, drain},
		"registered, with its node":                            {make(same, "Registered"), joined, drain},
		"registered, without":                                  {make(same, "Registered"), nil, terminate},
		"joined and never registered: nothing to drain":        {make(same), joined, terminate},
		"joined, and its taint was removed: pods may be on it": {make(same), opened, drain},
		"a registered node of a claim that does not know":      {make(same), registered, drain},
		"no provider ID: was something bought after all?":      {make(func(c *karpenterv1.NodeClaim) { c.Status.ProviderID = "" }), nil, search},
	} {
		if got := next(tc.claim, tc.nodes); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

// TestDressed: what a node gets at its registration, and who is right.
func TestDressed(t *testing.T) {
	t.Parallel()
	dedicated := corev1.Taint{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}
	agent := corev1.Taint{Key: "agent", Effect: corev1.TaintEffectNoExecute}
	claim := claimWith()
	claim.Labels = map[string]string{"team": "red"}
	claim.Annotations = map[string]string{"note": "claim"}
	claim.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "test.dev", Kind: "TestClass", Name: "default"}
	claim.Spec.Taints, claim.Spec.StartupTaints = []corev1.Taint{dedicated}, []corev1.Taint{agent}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{"team": "blue", "own": "yes"}, Annotations: map[string]string{"note": "node"}}}
	node.Spec.Taints = []corev1.Taint{karpenterv1.TaintUnregistered(), {Key: "dedicated", Value: "other", Effect: corev1.TaintEffectNoSchedule}}

	got := admittedNode(withClaim(node, claim), claim)
	if diff := cmp.Diff(map[string]string{"team": "red", "own": "yes", "test.dev/testclass": "default", karpenterv1.LabelRegistered: "true"}, got.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got.Annotations["note"] != "claim" {
		t.Errorf("annotations %v", got.Annotations)
	}
	want := []corev1.Taint{{Key: "dedicated", Value: "other", Effect: corev1.TaintEffectNoSchedule}, agent} // told by key and effect
	if diff := cmp.Diff(want, got.Spec.Taints); diff != "" {
		t.Errorf("taints (-want +got):\n%s", diff)
	}
	if len(got.OwnerReferences) != 1 || got.OwnerReferences[0].UID != claim.UID || !*got.OwnerReferences[0].BlockOwnerDeletion {
		t.Errorf("owners %v", got.OwnerReferences)
	}
	if diff := cmp.Diff([]string{karpenterv1.FinalizerTermination}, got.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	if again := admittedNode(withClaim(got, claim), claim); !cmp.Equal(got, again) {
		t.Errorf("registered twice, the node differs:\n%s", cmp.Diff(got, again))
	}
	if node.Labels["team"] != "blue" || len(node.Spec.Taints) != 2 {
		t.Error("the node that was given has changed")
	}

	node.Labels[karpenterv1.LabelDoNotSyncTaints] = "true"
	if got := admittedNode(withClaim(node, claim), claim); len(got.Spec.Taints) != 1 {
		t.Errorf("taints of a node that does not want them: %v", got.Spec.Taints)
	}
}
