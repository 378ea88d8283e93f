package e2e

import (
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"tenon/lab/labtest"
)

// TestTenonHasItsRightsAndNoMore asks the API server, as Tenon, what Tenon may do.
func TestTenonHasItsRightsAndNoMore(t *testing.T) {
	t.Parallel()
	lab := labtest.Share(t)
	config, err := clientcmd.BuildConfigFromFlags("", lab.Directory.UserConfig("tenon"))
	if err != nil {
		t.Fatal(err)
	}
	tenon, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		may  bool
		what string // verb resource[/subresource].group, and a namespace after a blank
	}{
		{true, "list nodepools.karpenter.sh"},
		{true, "create nodeclaims.karpenter.sh"},
		{true, "patch nodeclaims/status.karpenter.sh"},
		{true, "patch ec2nodeclasses/status.karpenter.k8s.aws"},
		{true, "delete nodes"},
		{true, "create pods/eviction default"},
		{true, "delete pods default"},
		{true, "create events default"},
		{true, "patch pods/status default"},
		{true, "update leases.coordination.k8s.io kube-system"},
		{false, "delete leases.coordination.k8s.io kube-node-lease"},
		{false, "update nodes"},
		{false, "get pods default"},
		{false, "list customresourcedefinitions.apiextensions.k8s.io"},
		{false, "create nodes"},
		{false, "create nodepools.karpenter.sh"},
		{false, "delete nodepools.karpenter.sh"},
		{false, "create ec2nodeclasses.karpenter.k8s.aws"},
		{false, "create pods default"},
		{false, "patch pods default"},
		{false, "watch resourceslices.resource.k8s.io"},
		{false, "get secrets kube-system"},
		{false, "update leases.coordination.k8s.io default"},
		{false, "create clusterrolebindings.rbac.authorization.k8s.io"},
		{false, "create customresourcedefinitions.apiextensions.k8s.io"},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes(tc.what)}}
		answer, err := tenon.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status.Allowed != tc.may {
			t.Errorf("%s: allowed is %v, want %v", tc.what, answer.Status.Allowed, tc.may)
		}
	}
}

func attributes(what string) *authorizationv1.ResourceAttributes {
	words := strings.Fields(what)
	resource, group, _ := strings.Cut(words[1], ".")
	name, subresource, _ := strings.Cut(resource, "/")
	a := &authorizationv1.ResourceAttributes{Verb: words[0], Group: group, Resource: name, Subresource: subresource, Version: "*"}
	if len(words) > 2 {
		a.Namespace = words[2]
	}
	if name == "leases" && words[0] == "update" {
		a.Name = "karpenter-leader-election"
	}
	return a
}
