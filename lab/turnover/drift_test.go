package turnover

import (
	"context"
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
)

// awaitDrift waits until claims are drifted for a reason.
func (s *story) awaitDrift(which []karpenterv1.NodeClaim, reason string) {
	s.Helper()
	s.awaitClaims("they have drifted: "+reason, func(claims []karpenterv1.NodeClaim) bool {
		for _, c := range claims {
			is := meta.FindStatusCondition(c.Status.Conditions, karpenterv1.ConditionDrifted)
			if slices.Contains(names(which), c.Name) && (is == nil || is.Status != metav1.ConditionTrue || is.Reason != reason) {
				return false
			}
		}
		return true
	})
}

// Nodes that no longer match their pool and their class are replaced, after every kind of change. The first
// new node is in service before the first old one goes.
func TestDrift(t *testing.T) {
	t.Parallel()
	images := func(spec *awsv1.EC2NodeClassSpec) {
		// Tenon looks up images by name every minute, and caches what an alias stands for for a day.
		family := awsv1.FamilyBottlerocket
		spec.AMIFamily = &family
		spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Name: "bottlerocket-aws-k8s-1.36-x86_64-*", Owner: "amazon"}}
	}
	cases := map[string]struct {
		class  func(*awsv1.EC2NodeClassSpec)
		change func(*story, *karpenterv1.NodePool, *awsv1.EC2NodeClass)
		reason string
		check  func(*story, v1.Node) string
	}{
		"the pool has another label": {
			change: func(s *story, p *karpenterv1.NodePool, _ *awsv1.EC2NodeClass) {
				s.Patch(p, `{"spec":{"template":{"metadata":{"labels":{"colour":"blue"}}}}}`)
			},
			reason: "NodePoolDrifted",
			check:  func(_ *story, n v1.Node) string { return wrong(n.Labels["colour"], "blue") },
		},
		"there is a new image": {
			class: images,
			change: func(s *story, _ *karpenterv1.NodePool, _ *awsv1.EC2NodeClass) {
				s.aws.Cause(s, `{"kind":"image-release","families":["Bottlerocket"]}`)
			},
			reason: "AMIDrift",
		},
		"the class has other security groups": {
			change: func(s *story, _ *karpenterv1.NodePool, c *awsv1.EC2NodeClass) {
				s.Patch(c, `{"spec":{"securityGroupSelectorTerms":[{"tags":{"Name":"eksctl-demo-cluster/ClusterSharedNodeSecurityGroup"}}]}}`)
			},
			reason: "SecurityGroupDrift",
		},
		"the class has other subnets": {
			class: func(spec *awsv1.EC2NodeClassSpec) {
				spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"Name": "eksctl-demo-cluster/SubnetPrivateUSWEST2A"}}}
			},
			change: func(s *story, _ *karpenterv1.NodePool, c *awsv1.EC2NodeClass) {
				s.Patch(c, `{"spec":{"subnetSelectorTerms":[{"tags":{"Name":"eksctl-demo-cluster/SubnetPrivateUSWEST2B"}}]}}`)
			},
			reason: "SubnetDrift",
			check: func(_ *story, n v1.Node) string {
				return wrong(n.Labels[v1.LabelTopologyZone], "us-west-2b")
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			class := s.class(func(spec *awsv1.EC2NodeClassSpec) {
				if tc.class != nil {
					tc.class(spec)
				}
			})
			s.awaitReady(class)
			pool := s.pool(onDemand("m6a.large"))
			s.deploy("web", 2, "1500m")
			s.Running("web", 2)
			before := s.claims()
			tc.change(s, pool, class)
			s.awaitDrift(before, tc.reason)
			history := s.observe()
			s.open(pool)
			s.replaced(before, 2)
			s.Running("web", 2)
			for _, n := range s.nodes() {
				if tc.check != nil && tc.check(s, n) != "" {
					t.Errorf("node %s: %s", n.Name, tc.check(s, n))
				}
			}
			if n := history.readyFirst(); n < 1 {
				t.Errorf("%d nodes were ready when the first was deleted", n)
			}
			s.clean()
		})
	}
}

func wrong(got, want string) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("%q, want %q", got, want)
}

func (s *story) awaitReady(class *awsv1.EC2NodeClass) {
	s.Helper()
	s.Eventually("class "+class.Name+" is ready", func(ctx context.Context) (bool, string) {
		if err := s.Lab.Client.Get(ctx, key(class), class); err != nil {
			return false, err.Error()
		}
		return meta.IsStatusConditionTrue(class.Status.Conditions, condition.Ready), fmt.Sprint(class.Status.Conditions)
	})
}

// Images with which no machine joins cost one replacement: the roll-out pauses, says why, and leaves every
// node and pod in place. It continues at once when the class is corrected.
func TestBrokenImagePausesTheRollout(t *testing.T) {
	s := tell(t)
	class := s.class()
	s.awaitReady(class)
	pool := s.pool(onDemand("m6a.large"))
	s.deploy("web", 4, "1500m")
	s.Running("web", 4)
	before := s.claims()
	history := s.observe()
	// Bottlerocket does not read user data for Amazon Linux. The class names one release: a new image,
	// which another story makes, would begin the roll-out again.
	s.Patch(class, fmt.Sprintf(`{"spec":{"amiFamily":"AL2023","amiSelectorTerms":[{"name":%q,"owner":"amazon"}]}}`, "bottlerocket-aws-k8s-1.36-x86_64-v1.51.0-*"))
	s.awaitDrift(before, "AMIDrift")
	s.open(pool, `{"nodes":"2"}`)
	var hopeless []karpenterv1.NodeClaim
	s.awaitClaims("a replacement is launched", func(claims []karpenterv1.NodeClaim) bool {
		hopeless = slices.DeleteFunc(slices.Clone(claims), func(c karpenterv1.NodeClaim) bool {
			return slices.Contains(names(before), c.Name) || !meta.IsStatusConditionTrue(c.Status.Conditions, karpenterv1.ConditionLaunched)
		})
		return len(hopeless) > 0
	})
	// Tenon waits a quarter of an hour for it. A user who has seen enough deletes it.
	s.Delete(&hopeless[0])
	s.AwaitCondition(pool, karpenterv1.ConditionRolloutPaused, metav1.ConditionTrue, hopeless[0].Name)
	// The pause ends after a minute, and then Tenon tries one replacement again. This budget prevents that,
	// however long the machine takes to end.
	s.open(pool, `{"nodes":"0"}`)
	if len(hopeless) > 1 || history.mostLeaving() > 1 {
		t.Errorf("%d replacements were tried, and %d nodes closed", len(hopeless), history.mostLeaving())
	}
	s.awaitClaims("the nodes are as before", func(claims []karpenterv1.NodeClaim) bool {
		return slices.Equal(names(claims), names(before)) && settled(claims)
	})
	s.clean()
	s.Running("web", 4)
	s.Patch(class, `{"spec":{"amiFamily":"AL2023","amiSelectorTerms":[{"name":"amazon-eks-node-al2023-x86_64-standard-1.36-*","owner":"amazon"}],"tags":{"try":"2"}}}`)
	s.open(pool, `{"nodes":"2"}`)
	s.replaced(before, 4)
	s.Running("web", 4)
	if most := history.mostLeaving(); most > 2 {
		t.Errorf("%d of 4 nodes were leaving at once; the budget is 2", most)
	}
}
