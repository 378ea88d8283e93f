package turnover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/lab/labtest"
)

// storyLabel is on all nodes of a story, and a taint of the same name keeps other stories' pods out.
const storyLabel = "turnover.tenon.dev/story"

// story is one test with its namespace, its class, its pool and its nodes. Class and pool have the name of
// the namespace.
type story struct {
	labtest.Story
	aws labtest.AWS
}

// long is the limit for things that take minutes on a busy machine.
const long = 4 * time.Minute

// tell begins a story that runs in parallel with others.
func tell(t *testing.T) *story {
	t.Helper()
	t.Parallel()
	return begin(t, labtest.Share(t))
}

func begin(t *testing.T, lab *labtest.Lab) *story {
	t.Helper()
	s := &story{Story: lab.Story(t, long), aws: lab.AWS(t)}
	t.Cleanup(s.end)
	return s
}

// mine returns the label of the story's pools, classes, claims and nodes.
func (s *story) mine() client.MatchingLabels { return client.MatchingLabels{storyLabel: s.Namespace} }

// end removes what the story made, and waits until its nodes are gone, which every story checks.
func (s *story) end() {
	ctx := context.Background()
	if s.Failed() {
		s.describe(ctx)
	}
	here := client.InNamespace(s.Namespace)
	s.clear(ctx, &appsv1.Deployment{}, here)
	s.clear(ctx, &policyv1.PodDisruptionBudget{}, here)
	s.clear(ctx, &v1.Pod{}, here, client.GracePeriodSeconds(0))
	s.clear(ctx, &karpenterv1.NodePool{}, s.mine())
	s.clear(ctx, &karpenterv1.NodeClaim{}, s.mine())
	s.Eventually("clean up: the story's nodes go", func(ctx context.Context) (bool, string) {
		claims, nodes := &karpenterv1.NodeClaimList{}, &v1.NodeList{}
		err := errors.Join(s.Lab.Client.List(ctx, claims, s.mine()), s.Lab.Client.List(ctx, nodes, s.mine()))
		return err == nil && len(claims.Items)+len(nodes.Items) == 0, fmt.Sprintf("%d NodeClaims, %d Nodes, %v", len(claims.Items), len(nodes.Items), err)
	})
	s.clear(ctx, &awsv1.EC2NodeClass{}, s.mine())
}

func (s *story) clear(ctx context.Context, kind client.Object, which ...client.DeleteAllOfOption) {
	if err := s.Lab.Client.DeleteAllOf(ctx, kind, which...); err != nil {
		s.Errorf("clean up: %v", err)
	}
}

// describe prints the state of the cluster when the story failed.
func (s *story) describe(ctx context.Context) {
	claims := &karpenterv1.NodeClaimList{}
	if err := s.Lab.Client.List(ctx, claims, s.mine()); err != nil {
		s.Log(err)
	}
	for _, c := range claims.Items {
		s.Logf("claim %s, node %s, deleted %v, %v", c.Name, c.Status.NodeName, c.DeletionTimestamp, c.Annotations)
		for _, is := range c.Status.Conditions {
			s.Logf("   %s=%s %s: %s", is.Type, is.Status, is.Reason, is.Message)
		}
	}
}

// claims returns the story's claims, in the order of their names.
func (s *story) claims() []karpenterv1.NodeClaim {
	s.Helper()
	return s.Claims(s.mine())
}

// nodes returns the story's nodes, in the order of their names.
func (s *story) nodes() []v1.Node {
	s.Helper()
	list := &v1.NodeList{}
	if err := s.Lab.Client.List(s.Context(), list, s.mine()); err != nil {
		s.Fatal(err)
	}
	return list.Items
}

// awaitClaims waits until the story's claims are as wanted, and returns them.
func (s *story) awaitClaims(what string, wanted func([]karpenterv1.NodeClaim) bool) []karpenterv1.NodeClaim {
	s.Helper()
	var claims []karpenterv1.NodeClaim
	s.Eventually(what, func(context.Context) (bool, string) {
		claims = s.claims()
		return wanted(claims), fmt.Sprintf("there are %v", words(claims))
	})
	return claims
}

// words returns claims in the form of messages.
func words(claims []karpenterv1.NodeClaim) []string {
	var out []string
	for _, c := range claims {
		text := c.Name + " " + c.Labels[v1.LabelInstanceTypeStable]
		if c.DeletionTimestamp != nil {
			text += " going"
		}
		if why := meta.FindStatusCondition(c.Status.Conditions, karpenterv1.ConditionDisruptionReason); why != nil {
			text += " " + why.Reason
		}
		if verdict := meta.FindStatusCondition(c.Status.Conditions, karpenterv1.ConditionDisruptable); verdict != nil {
			text += " (" + verdict.Message + ")"
		}
		out = append(out, text)
	}
	return out
}

// names returns the names of claims.
func names(claims []karpenterv1.NodeClaim) []string {
	var out []string
	for _, c := range claims {
		out = append(out, c.Name)
	}
	return out
}

// settled reports whether claims are in service, and no disruption concerns them.
func settled(claims []karpenterv1.NodeClaim) bool {
	return !slices.ContainsFunc(claims, func(c karpenterv1.NodeClaim) bool {
		return c.DeletionTimestamp != nil || !meta.IsStatusConditionTrue(c.Status.Conditions, karpenterv1.ConditionInitialized) ||
			meta.IsStatusConditionTrue(c.Status.Conditions, karpenterv1.ConditionDisruptionReason) || c.Annotations[record] != ""
	})
}

// record is the annotation in which a disruption is written while it is under way.
const record = karpenterv1.AnnotationDisruption

// replaced waits until there are as many claims as wanted, all new and in service.
func (s *story) replaced(before []karpenterv1.NodeClaim, wanted int) []karpenterv1.NodeClaim {
	s.Helper()
	return s.awaitClaims(fmt.Sprintf("%d other claims", wanted), func(claims []karpenterv1.NodeClaim) bool {
		return len(claims) == wanted && settled(claims) && !slices.ContainsFunc(names(claims), func(name string) bool {
			return slices.Contains(names(before), name)
		})
	})
}

// kept waits until a claim says what keeps its node, and checks that no node has gone.
func (s *story) kept(before []karpenterv1.NodeClaim, says ...string) {
	s.Helper()
	s.awaitClaims(fmt.Sprintf("a claim says %q", says), func(claims []karpenterv1.NodeClaim) bool {
		return slices.ContainsFunc(claims, func(c karpenterv1.NodeClaim) bool {
			verdict := meta.FindStatusCondition(c.Status.Conditions, karpenterv1.ConditionDisruptable)
			return verdict != nil && verdict.Status != metav1.ConditionTrue && labtest.Says(verdict.Message, says...)
		})
	})
	if now := s.claims(); !slices.Equal(names(now), names(before)) || !settled(now) {
		s.Errorf("claims are %v, and were %v", words(now), words(before))
	}
}

// clean waits until claims and nodes have no trace of a disruption.
func (s *story) clean() {
	s.Helper()
	s.Eventually("nothing is left of disruptions", func(context.Context) (bool, string) {
		claims := s.claims()
		for _, n := range s.nodes() {
			if leaving(&n) {
				return false, n.Name + " is closed"
			}
		}
		return settled(claims), fmt.Sprint(words(claims))
	})
}

// leaving reports whether a node is closed or being deleted.
func leaving(n *v1.Node) bool {
	taint := karpenterv1.TaintDisrupted()
	return n.DeletionTimestamp != nil || slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.MatchTaint(&taint) })
}

// awaitCandidates waits until only a budget keeps the nodes of the story. A node that may not go
// yet, because a pod has come to it a moment ago, would take pods of the others instead.
func (s *story) awaitCandidates() {
	s.Helper()
	s.awaitClaims("only the budget keeps the nodes", func(claims []karpenterv1.NodeClaim) bool {
		return !slices.ContainsFunc(claims, func(c karpenterv1.NodeClaim) bool {
			verdict := meta.FindStatusCondition(c.Status.Conditions, karpenterv1.ConditionDisruptable)
			return verdict == nil || !labtest.Says(verdict.Message, "due to blocking budget")
		})
	})
}
