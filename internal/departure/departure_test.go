package departure_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/departure"
)

// An instance is looked for again after about a second, and less and less often the longer it takes to end. The looks at all instances fall on
// the same moments.
func TestEndPause(t *testing.T) {
	t.Parallel()
	told := time.Unix(1_800_000_000, 0)
	claim := &karpenterv1.NodeClaim{}
	claim.Status.Conditions = []metav1.Condition{{
		Type: karpenterv1.ConditionInstanceTerminating, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(told),
	}}
	for _, look := range []struct{ at, want time.Duration }{
		{0, time.Second}, {time.Second, time.Second}, {2 * time.Second, 2 * time.Second}, {4 * time.Second, 4 * time.Second}, {time.Minute, 4 * time.Second},
		{7 * time.Second, 5 * time.Second}, {9 * time.Second, 3 * time.Second}, {3 * time.Second, 3 * time.Second},
		{200 * time.Millisecond, 800 * time.Millisecond}, {700 * time.Millisecond, 1300 * time.Millisecond}, {2300 * time.Millisecond, 1700 * time.Millisecond},
	} {
		now := told.Add(look.at)
		if got := departure.EndPause(claim.Conditions(now), now); got != look.want {
			t.Errorf("after %s it is looked for again in %s, want %s", look.at, got, look.want)
		}
	}
}
