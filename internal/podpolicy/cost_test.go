package podpolicy_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"tenon/internal/podpolicy"
)

// TestEvictionCost: the worked examples of the documentation, in ordinary pods.
func TestEvictionCost(t *testing.T) {
	t.Parallel()
	priority := func(n int32) *int32 { return &n }
	for name, tc := range map[string]struct {
		priority *int32
		deletion string
		want     float64
	}{
		"an ordinary pod":                        {nil, "", 1},
		"node-critical":                          {priority(2000001000), "", 10},
		"a high priority":                        {priority(1000000000), "", 10},
		"a priority of one more ordinary pod":    {priority(1 << 25), "", 2},
		"a low priority":                         {priority(-1000000000), "", -10},
		"a deletion cost that makes it free":     {nil, "-134217728", 0},
		"a deletion cost of half a pod":          {nil, "67108864", 1.5},
		"a deletion cost that cannot be read":    {nil, "much", 1},
		"a deletion cost out of its range":       {nil, "99999999999", 1},
		"a priority that the deletion cost eats": {priority(1 << 25), "-134217728", 1},
	} {
		pod := &corev1.Pod{}
		pod.Spec.Priority = tc.priority
		if tc.deletion != "" {
			pod.Annotations = map[string]string{corev1.PodDeletionCost: tc.deletion}
		}
		if got := float64(podpolicy.EvictionCost(pod)) / float64(podpolicy.Ordinary); got != tc.want {
			t.Errorf("%s: %g, want %g", name, got, tc.want)
		}
	}
}
