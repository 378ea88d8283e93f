package lookup_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/lookup"
)

// cache has the nodes of one machine, and its claim.
type cache struct {
	client.Reader
	nodes []string
	claim karpenterv1.NodeClaim
}

func (c cache) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *corev1.NodeList:
		for _, name := range c.nodes {
			list.Items = append(list.Items, named(name))
		}
	case *karpenterv1.NodeClaimList:
		list.Items = []karpenterv1.NodeClaim{c.claim}
	}
	return nil
}

func named(name string) (node corev1.Node) {
	node.Name, node.Spec.ProviderID = name, "machine"
	return node
}

// Of the nodes with one provider ID, the one that registered has the claim, also while the cache does not have that node.
func TestClaimOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		node, registered string
		cached           []string
		want             bool
	}{
		"before it registers":                 {"a", "", []string{"a"}, true},
		"registered":                          {"a", "a", []string{"a"}, true},
		"registered, beside another":          {"a", "a", []string{"a", "b"}, true},
		"registered, only another is cached":  {"a", "a", []string{"b"}, true},
		"not registered, only another cached": {"a", "", []string{"b"}, true},
		"another is registered":               {"b", "a", []string{"a", "b"}, false},
		"the registered one is gone":          {"b", "a", []string{"b"}, true},
	} {
		c := cache{nodes: tc.cached}
		c.claim.Status.ProviderID, c.claim.Status.NodeName = "machine", tc.registered
		node := named(tc.node)
		if claim, err := lookup.ClaimOf(t.Context(), c, &node); err != nil || (claim != nil) != tc.want {
			t.Errorf("%s: claim %v, error %v", name, claim, err)
		}
	}
}
