package release

import (
	"context"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/labtest"
)

// Tenon can be removed while its nodes stay. The nodes run without the controller, an autoscaler with the
// same API takes the claims over, and for other autoscalers the page's steps turn them into plain nodes.
func TestLeaveTheNodes(t *testing.T) {
	t.Parallel()
	s := newSite(t, labtest.Options{})
	s.install(s.root)
	stop := s.run("tenon")
	s.use(3)
	machines := s.machines()
	stop()
	s.helm(s.root, "helm uninstall tenon --namespace kube-system")
	claims := s.claims()
	if len(claims) != len(machines) {
		t.Errorf("%d claims, want %d", len(claims), len(machines))
	}

	// Another release takes them over.
	s.install(s.root)
	stop = s.run("tenon")
	s.use(4)
	s.same(machines)
	stop()
	s.helm(s.root, "helm uninstall tenon --namespace kube-system")

	// Alternatively they become plain nodes.
	const alone, plain = `{"metadata":{"finalizers":null}}`, `{"metadata":{"finalizers":null,"ownerReferences":null}}`
	s.patchAll("nodes --selector karpenter.sh/nodepool", plain, &v1.NodeList{}, client.HasLabels{"karpenter.sh/nodepool"})
	s.patchAll("nodeclaims", alone, &karpenterv1.NodeClaimList{})
	s.patchAll("ec2nodeclasses", alone, &awsv1.EC2NodeClassList{})
	s.patchAll("nodepools", alone, &karpenterv1.NodePoolList{})
	s.helm(s.root, "helm uninstall tenon-crd --namespace kube-system")
	// The API server deletes the objects of a definition first. Beside two other labs on two cores, that once took more than ninety seconds.
	s.lab.EventuallyWithin(t, 2*labtest.Within, "the definitions are gone", func(context.Context) (bool, string) {
		left := s.definitionsLeft()
		return len(left) == 0, strings.Join(left, "; ")
	})
	s.same(machines)
	s.lab.AwaitPods(t, "default", "app=inflate", 4, labtest.PodReady)
}

// patchAll does the same as the page's command for a kind.
func (s *site) patchAll(kind, patch string, list client.ObjectList, only ...client.ListOption) {
	s.Helper()
	s.documented("kubectl get " + kind + " -o name | xargs -I% kubectl patch % --type=merge --patch '" + patch + "'")
	if err := s.lab.Client.List(s.Context(), list, only...); err != nil {
		s.Fatal(err)
	}
	err := meta.EachListItem(list, func(o runtime.Object) error {
		return s.lab.Client.Patch(s.Context(), o.(client.Object), client.RawPatch(types.MergePatchType, []byte(patch)))
	})
	if err != nil {
		s.Fatal(err)
	}
}

// same checks that the machines still run.
func (s *site) same(machines map[string]bool) {
	s.Helper()
	now := s.machines()
	for id := range machines {
		if !now[id] {
			s.Errorf("the instance %s is gone", id)
		}
	}
}
