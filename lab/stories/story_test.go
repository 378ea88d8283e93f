package stories

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/labtest"
)

// teamLabel is on all nodes of a story, and a taint of the same name keeps other stories' pods out.
const teamLabel = "stories.tenon.dev/team"

// story is one test with its namespace, its pools and its nodes.
type story struct {
	labtest.Story
	leftover []client.Object // objects that are not deleted with the namespace or a pool
}

// tell begins a story that runs in parallel with others.
func tell(t *testing.T) *story {
	t.Helper()
	t.Parallel()
	return begin(t, labtest.Share(t))
}

func begin(t *testing.T, lab *labtest.Lab) *story {
	t.Helper()
	s := &story{Story: lab.Story(t, labtest.Within)}
	t.Cleanup(s.end)
	return s
}

// end removes what the story made, and waits until its nodes are gone, which every story checks.
func (s *story) end() {
	ctx := context.Background()
	for _, kind := range []client.Object{
		&appsv1.Deployment{}, &appsv1.StatefulSet{}, &policyv1.PodDisruptionBudget{}, &autoscalingv1beta1.CapacityBuffer{}, &v1.Pod{},
	} {
		if err := s.Lab.Client.DeleteAllOf(ctx, kind, client.InNamespace(s.Namespace), client.GracePeriodSeconds(0)); err != nil {
			s.Errorf("clean up: %v", err)
		}
	}
	mine := client.MatchingLabels{teamLabel: s.Namespace}
	for _, kind := range []client.Object{&karpenterv1.NodePool{}, &karpenterv1.NodeClaim{}} {
		if err := s.Lab.Client.DeleteAllOf(ctx, kind, mine); err != nil {
			s.Errorf("clean up: %v", err)
		}
	}
	s.Eventually("clean up: the story's nodes go", func(ctx context.Context) (bool, string) {
		claims, nodes := &karpenterv1.NodeClaimList{}, &v1.NodeList{}
		err := errors.Join(s.Lab.Client.List(ctx, claims, mine), s.Lab.Client.List(ctx, nodes, mine))
		return err == nil && len(claims.Items)+len(nodes.Items) == 0, fmt.Sprintf("%d Nodes, NodeClaims %+v, %v", len(nodes.Items), claims.Items, err)
	})
	if onAWS() {
		if denied := s.Lab.AWS(s).Denied(s); len(denied) > 0 {
			s.Errorf("the controller's IAM policies deny what it does: %v", denied)
		}
	}
	for _, object := range s.leftover {
		if err := client.IgnoreNotFound(s.Lab.Client.Delete(ctx, object)); err != nil {
			s.Errorf("clean up: %v", err)
		}
	}
}

// named returns the name in the cluster of an object in testdata.
func (s *story) named(name string) string {
	return name + "-" + strings.TrimPrefix(s.Namespace, "test-")
}

// pool returns a NodePool by its name in testdata, with the fields that patches and deletions need.
func (s *story) pool(name string) *karpenterv1.NodePool {
	return &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: s.named(name)}}
}

// pending waits until this many of an app's pods wait for a node, and returns them.
func (s *story) pending(app string, pods int) []v1.Pod {
	s.Helper()
	var waiting []v1.Pod
	s.Eventually(fmt.Sprintf("%d pods of %s wait for a node", pods, app), func(ctx context.Context) (bool, string) {
		list, err := s.Lab.Clients.CoreV1().Pods(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
		if err != nil {
			return false, err.Error()
		}
		waiting = slices.DeleteFunc(list.Items, func(pod v1.Pod) bool {
			return !labtest.PodPending.Holds(&pod) || pod.DeletionTimestamp != nil
		})
		return len(waiting) == pods, fmt.Sprintf("%d of %d wait", len(waiting), len(list.Items))
	})
	return waiting
}

// claims returns the story's claims, in the order of their names.
func (s *story) claims() []karpenterv1.NodeClaim {
	s.Helper()
	return s.Claims(client.MatchingLabels{teamLabel: s.Namespace})
}

// told names claims with what they were made for, and when.
func told(claims []karpenterv1.NodeClaim) string {
	var parts []string
	for _, c := range claims {
		text := fmt.Sprintf("%s of %s for %s processors: %s in %s", c.Name, c.CreationTimestamp.Format("15:04:05"),
			c.Spec.Resources.Requests.Cpu(), c.Labels[v1.LabelInstanceTypeStable], c.Labels[v1.LabelTopologyZone])
		for _, is := range c.Status.Conditions {
			text += fmt.Sprintf(", %s=%s %s", is.Type, is.Status, is.Message)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// awaitClaims waits until there are as many claims as wanted, and returns them.
func (s *story) awaitClaims(wanted int) []karpenterv1.NodeClaim {
	s.Helper()
	var claims []karpenterv1.NodeClaim
	s.Eventually(fmt.Sprintf("there are %d NodeClaims", wanted), func(context.Context) (bool, string) {
		claims = s.claims()
		return len(claims) == wanted, fmt.Sprintf("there are %d: %s", len(claims), told(claims))
	})
	return claims
}

// nodeOf returns the node of a pod.
func (s *story) nodeOf(pod v1.Pod) *v1.Node {
	s.Helper()
	node := &v1.Node{}
	if err := s.Lab.Client.Get(s.Context(), client.ObjectKey{Name: pod.Spec.NodeName}, node); err != nil {
		s.Fatal(err)
	}
	return node
}

// claimOf returns the claim of the node that a pod runs on.
func (s *story) claimOf(pod v1.Pod) *karpenterv1.NodeClaim {
	s.Helper()
	for _, claim := range s.claims() {
		if claim.Status.NodeName == pod.Spec.NodeName {
			return &claim
		}
	}
	s.Fatalf("no NodeClaim has node %s", pod.Spec.NodeName)
	return nil
}

// spread counts pods by a label of their nodes.
func (s *story) spread(pods []v1.Pod, label string) map[string]int {
	s.Helper()
	counts := map[string]int{}
	for _, pod := range pods {
		counts[s.nodeOf(pod).Labels[label]]++
	}
	return counts
}
