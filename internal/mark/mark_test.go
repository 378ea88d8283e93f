package mark_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/plan"
	"tenon/internal/mark"
)

func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// What counts as a node that is too small.
func TestConsistent(t *testing.T) {
	t.Parallel()
	claim := &karpenterv1.NodeClaim{}
	claim.Spec.Resources.Requests = quantities("cpu", "1", "memory", "1Gi", "gpu", "0", "storage", "1Gi")
	claim.Status.Capacity = quantities("cpu", "4", "memory", "16Gi", "gpu", "1")
	for name, tc := range map[string]struct {
		found corev1.ResourceList
		want  []string
	}{
		"as promised":            {found: quantities("cpu", "4", "memory", "16Gi")},
		"nine tenths are enough": {found: quantities("cpu", "3600m", "memory", "16Gi")},
		"less is not":            {found: quantities("cpu", "3500m", "memory", "16Gi"), want: []string{"expected 4 of resource cpu, but found 3500m (87.5% of expected)"}},
		"nothing at all, of two": {found: nil, want: []string{"expected 4 of resource cpu, but found 0 (0.0% of expected)", "expected 16Gi of resource memory, but found 0 (0.0% of expected)"}},
	} {
		node := &corev1.Node{Status: corev1.NodeStatus{Capacity: tc.found}}
		if diff := cmp.Diff(tc.want, mark.Shortages(claim, node)); diff != "" {
			t.Errorf("%s: shortages (-want +got):\n%s", name, diff)
		}
		s := claim.Conditions(time.Unix(0, 0))
		mark.Consistent(&s, claim, node)
		if got, want := s.HasStatus(karpenterv1.ConditionConsistentStateFound, metav1.ConditionTrue), len(tc.want) == 0; got != want {
			t.Errorf("%s: consistent is %t, want %t", name, got, want)
		}
	}
}

// A node is quiet once the pool's window has passed since it was initialized, or since a pod came or went.
func TestQuiet(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		after       string
		initialized bool
		last        time.Duration // of a pod, after the start
		at          time.Duration
		quiet       bool
		wait        time.Duration
	}{
		"it starts":                        {after: "0s"},
		"at once without a window":         {after: "0s", initialized: true, quiet: true},
		"within the window":                {after: "30s", initialized: true, at: 20 * time.Second, wait: 10 * time.Second},
		"after the window":                 {after: "30s", initialized: true, at: 30 * time.Second, quiet: true},
		"a pod came":                       {after: "30s", initialized: true, last: 20 * time.Second, at: 30 * time.Second, wait: 20 * time.Second},
		"a pod came long ago":              {after: "30s", initialized: true, last: 20 * time.Second, at: time.Minute, quiet: true},
		"a pool that is not consolidated":  {after: "Never", initialized: true, at: time.Hour},
		"it lasts, since nothing happened": {after: "30s", initialized: true, at: time.Hour, quiet: true},
	} {
		pool := &karpenterv1.NodePool{}
		if err := pool.Spec.Disruption.ConsolidateAfter.UnmarshalJSON([]byte(`"` + tc.after + `"`)); err != nil {
			t.Fatal(err)
		}
		claim := &karpenterv1.NodeClaim{}
		s := claim.Conditions(start)
		s.SetTrue(karpenterv1.ConditionConsolidatable) // what was said before does not matter
		if tc.initialized {
			s.SetTrue(karpenterv1.ConditionInitialized)
		}
		if tc.last != 0 {
			claim.Status.LastPodEventTime = metav1.NewTime(start.Add(tc.last))
		}
		wait := mark.Quiet(&s, pool, claim, start.Add(tc.at))
		if got := s.HasStatus(karpenterv1.ConditionConsolidatable, metav1.ConditionTrue); got != tc.quiet || wait != tc.wait {
			t.Errorf("%s: quiet %t, looked at after %s, want %t after %s", name, got, wait, tc.quiet, tc.wait)
		}
	}
}

// A node that a command takes says so in both conditions, keeps what others say of it later, and says neither when the command is taken back.
func TestLeaving(t *testing.T) {
	t.Parallel()
	s := (&karpenterv1.NodeClaim{}).Conditions(time.Unix(0, 0))
	s.SetFalse(karpenterv1.ConditionDisruptable, "Kept", "It is in use")
	if !mark.Leaving(&s, plan.Empty, "Will be deleted") {
		t.Error("nothing new")
	}
	expect := func(name, message string) {
		t.Helper()
		if c, _ := s.Get(name); c.Status != metav1.ConditionTrue || c.Reason != string(plan.Empty) || c.Message != message {
			t.Errorf("%s: %+v", name, c)
		}
	}
	expect(karpenterv1.ConditionDisruptionReason, string(plan.Empty))
	expect(karpenterv1.ConditionDisruptable, "Will be deleted")
	s.SetTrueBecause(karpenterv1.ConditionDisruptable, string(plan.Empty), "Will be deleted soon")
	if mark.Leaving(&s, plan.Empty, "Will be deleted") {
		t.Error("new the second time")
	}
	expect(karpenterv1.ConditionDisruptable, "Will be deleted soon")

	if !mark.Staying(&s) || mark.Staying(&s) {
		t.Error("taken back twice, or not at all")
	}
	for _, name := range []string{karpenterv1.ConditionDisruptionReason, karpenterv1.ConditionDisruptable} {
		if c, said := s.Get(name); said {
			t.Errorf("a node that stays says %+v", c)
		}
	}
}
