package store

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// A status counts as accepted only if no rule could tell it from one that was accepted.
func TestStatusesThatNoRuleTellsApart(t *testing.T) {
	t.Parallel()
	claim := func(edit func(*karpenterv1.NodeClaimStatus)) *karpenterv1.NodeClaim {
		c := &karpenterv1.NodeClaim{}
		c.Status = karpenterv1.NodeClaimStatus{ProviderID: "aws:///a/i-1", NodeName: "a", Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}}
		c.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Ready", Message: `all "well"`}}
		edit(&c.Status)
		return c
	}
	k := &Kind{passed: &Passed{}}
	k.note(claim(func(*karpenterv1.NodeClaimStatus) {}))
	cases := map[string]struct {
		edit func(*karpenterv1.NodeClaimStatus)
		seen bool
	}{
		"the same":             {func(*karpenterv1.NodeClaimStatus) {}, true},
		"another machine":      {func(s *karpenterv1.NodeClaimStatus) { s.ProviderID, s.NodeName = "aws:///b/i-2", "b" }, true},
		"another message":      {func(s *karpenterv1.NodeClaimStatus) { s.Conditions[0].Message = `a \ "b"` }, true},
		"a long message":       {func(s *karpenterv1.NodeClaimStatus) { s.Conditions[0].Message = strings.Repeat("x", 1<<15+1) }, false},
		"another reason":       {func(s *karpenterv1.NodeClaimStatus) { s.Conditions[0].Reason = "not one" }, false},
		"another status":       {func(s *karpenterv1.NodeClaimStatus) { s.Conditions[0].Status = "Maybe" }, false},
		"another capacity":     {func(s *karpenterv1.NodeClaimStatus) { s.Capacity[corev1.ResourceCPU] = resource.MustParse("8") }, true},
		"another resource":     {func(s *karpenterv1.NodeClaimStatus) { s.Capacity["gpus"] = resource.MustParse("8") }, false},
		"less in it":           {func(s *karpenterv1.NodeClaimStatus) { delete(s.Capacity, corev1.ResourceCPU) }, false},
		"a number as a reason": {func(s *karpenterv1.NodeClaimStatus) { s.Conditions[0].Reason = "8" }, false},
		"no machine":           {func(s *karpenterv1.NodeClaimStatus) { s.ProviderID = "" }, false},
	}
	for name, tc := range cases {
		if k.seen(claim(tc.edit)) != tc.seen {
			t.Errorf("%s: seen is %v", name, !tc.seen)
		}
	}
}
