package ingest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/ingest"
)

// A claim belongs to the node that registered; another Node with its provider ID has none, as long as that node exists.
func TestPairs(t *testing.T) {
	t.Parallel()
	const machine, other = "aws:///us-west-2a/i-1", "aws:///us-west-2a/i-2"
	named := func(name, provider string) *corev1.Node {
		n := &corev1.Node{}
		n.Name, n.Spec.ProviderID = name, provider
		return n
	}
	owned := func(name, provider string, claim types.UID) *corev1.Node {
		n := named(name, provider)
		n.OwnerReferences = []metav1.OwnerReference{{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Name: "claim", UID: claim}}
		return n
	}
	claimed := func(provider, node string) *karpenterv1.NodeClaim {
		c := &karpenterv1.NodeClaim{}
		c.Name, c.UID = "claim", "uid"
		c.Status.ProviderID, c.Status.NodeName = provider, node
		return c
	}
	cases := map[string]struct {
		claim *karpenterv1.NodeClaim
		nodes []*corev1.Node // the test asks about the first one
		want  bool
	}{
		"before it registers":                         {claimed(machine, ""), []*corev1.Node{named("a", machine)}, true},
		"registered":                                  {claimed(machine, "a"), []*corev1.Node{named("a", machine)}, true},
		"another node is registered":                  {claimed(machine, "b"), []*corev1.Node{named("a", machine), named("b", machine)}, false},
		"the registered node is gone":                 {claimed(machine, "b"), []*corev1.Node{named("a", machine)}, true},
		"the registered name is of another machine":   {claimed(machine, "b"), []*corev1.Node{named("a", machine), named("b", other)}, true},
		"by name, without a provider ID on the node":  {claimed(machine, "a"), []*corev1.Node{named("a", "")}, true},
		"by name, without a provider ID on the claim": {claimed("", "a"), []*corev1.Node{named("a", machine)}, true},
		"by owner, before the claim has a status":     {claimed("", ""), []*corev1.Node{owned("a", machine, "uid")}, true},
		"by owner, but of another claim":              {claimed("", ""), []*corev1.Node{owned("a", machine, "another")}, false},
		"by owner, but of another machine":            {claimed(other, ""), []*corev1.Node{owned("a", machine, "uid")}, false},
		"two machines":                                {claimed(other, "a"), []*corev1.Node{named("a", machine)}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pairs := ingest.Pair([]*karpenterv1.NodeClaim{tc.claim}, func(name string) *corev1.Node {
				for _, n := range tc.nodes {
					if n.Name == name {
						return n
					}
				}
				return nil
			})
			if got := pairs.Of(tc.nodes[0]) == tc.claim; got != tc.want {
				t.Errorf("the claim is its: %t, want %t", got, tc.want)
			}
		})
	}
}
