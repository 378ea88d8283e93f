package cloudstories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
)

// Twenty of a hundred nodes are interrupted: before AWS takes them, their pods run elsewhere.
func TestSpotInterruption(t *testing.T) {
	s := tell(t)
	const nodes = 100
	s.class("web", "al2023@latest")
	s.pool("web", and(small, karpenterv1.LabelCapacityType, "spot"))
	s.deploy("web", nodes)
	s.Running("web", nodes)
	struck := map[string]bool{}
	for _, id := range s.aws.Cause(s, `{"kind":"spot-interruption","share":0.2}`) {
		struck[id] = true
	}
	if len(struck) != nodes/5 {
		t.Fatalf("%d of %d are interrupted", len(struck), nodes)
	}
	s.Lab.EventuallyWithin(s, long, "all pods run where nothing is interrupted", func(ctx context.Context) (bool, string) {
		on := nodesOf(s.Running("web", nodes))
		left := 0
		for _, i := range s.aws.Instances(t) {
			if struck[i.ID] && on.Has(i.Node) {
				left++
			}
		}
		return left == 0 && ctx.Err() == nil, fmt.Sprintf("%d nodes that will be taken have pods", left)
	})
	taken := 0
	for _, i := range s.aws.Instances(t) {
		if struck[i.ID] && strings.Contains(i.Why, "Spot") {
			taken++
		}
	}
	if taken > 0 {
		t.Errorf("AWS took %d machines before their pods ran elsewhere", taken)
	}
}

// The profile of a role is made with the class and removed with it.
func TestInstanceProfileComesAndGoes(t *testing.T) {
	s := tell(t)
	class := s.class("web", "al2023@latest")
	s.AwaitCondition(class, condition.Ready, metav1.ConditionTrue)
	if !strings.HasPrefix(class.Status.InstanceProfile, "demo_") {
		t.Errorf("the profile is %q", class.Status.InstanceProfile)
	}
	if made, _ := s.calls("iam", "CreateInstanceProfile"); made != 1 {
		t.Errorf("%d profiles were made, want 1", made)
	}
	if err := s.Lab.Client.Delete(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	s.Lab.AwaitGone(t, class)
	if removed, failed := s.calls("iam", "DeleteInstanceProfile"); removed != 1 || failed != 0 {
		t.Errorf("%d profiles were removed, %d could not be; want 1", removed, failed)
	}
}

// Tenon learns how much memory a type really has from the first node, knows it for the next claim, and
// still knows it after it was killed.
func TestCapacityIsLearned(t *testing.T) {
	s := tell(t)
	s.class("web", "al2023@latest")
	s.pool("web", and(small, v1.LabelInstanceTypeStable, "m6a.large", v1.LabelTopologyZone, "us-west-2b"))
	s.deploy("web", 1)
	s.Running("web", 1)
	first := s.claims(t.Context())[0]
	node := &v1.Node{}
	if err := s.Lab.Client.Get(t.Context(), client.ObjectKey{Name: first.Status.NodeName}, node); err != nil {
		t.Fatal(err)
	}
	truth := node.Status.Capacity.Memory()
	s.Lab.EventuallyWithin(s, long, "what was learned is written down", func(ctx context.Context) (bool, string) {
		maps, err := s.Lab.Clients.CoreV1().ConfigMaps(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		var names []string
		for _, m := range maps.Items {
			names = append(names, m.Name)
			for key, text := range m.Data {
				if strings.Contains(key+text, "m6a.large") {
					return true, ""
				}
			}
		}
		return false, fmt.Sprintf("none of %v", names)
	})
	s.Scale("web", 2)
	s.Running("web", 2)
	s.knows("the next claim", 2, truth.Value())
	s.killTenon()
	s.Scale("web", 3)
	s.Running("web", 3)
	s.knows("a claim after the crash", 3, truth.Value())
}

// knows checks how many claims there are, and that all but the first say how much memory there is.
func (s *story) knows(who string, count int, truth int64) {
	s.Helper()
	right, said := 0, []string{}
	for _, claim := range s.claims(s.Context()) {
		if claim.Status.Capacity.Memory().Value() == truth {
			right++
		}
		said = append(said, claim.Status.Capacity.Memory().String())
	}
	if len(said) != count || right < count-1 {
		s.Errorf("%s: memory is said to be %v, and is %d", who, said, truth)
	}
}

func (s *story) killTenon() {
	s.Helper()
	record, _, err := s.Lab.Directory.Load()
	tenon, found := record.Find("tenon")
	if err != nil || !found {
		s.Fatalf("no tenon: %v", err)
	}
	if err := syscall.Kill(tenon.Pid, syscall.SIGKILL); err != nil {
		s.Fatal(err)
	}
	s.Lab.Eventually(s, "tenon runs again", func(context.Context) (bool, string) {
		record, _, err := s.Lab.Directory.Load()
		now, _ := record.Find("tenon")
		return err == nil && now.Pid != tenon.Pid && now.State == "ready", fmt.Sprintf("%+v", now)
	})
}

// A new release of the image makes nodes drifted, and says why. (Images by name are looked up every
// minute. What an alias stands for is remembered for a day, so there it takes longer.)
func TestNewImagesAreDrift(t *testing.T) {
	s := tell(t)
	class := s.class("web", "", func(spec *awsv1.EC2NodeClassSpec) {
		family := awsv1.FamilyAL2023
		spec.AMIFamily = &family
		spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Name: "amazon-eks-node-al2023-x86_64-standard-1.36-*", Owner: "amazon"}}
	})
	s.AwaitCondition(class, condition.Ready, metav1.ConditionTrue)
	s.pool("web", small)
	s.deploy("web", 2)
	s.Running("web", 2)
	before := class.Status.AMIs
	s.aws.Cause(s, `{"kind":"image-release","families":["AL2023"]}`)
	s.Lab.EventuallyWithin(s, long, "both claims are drifted", func(ctx context.Context) (bool, string) {
		claims := s.claims(ctx)
		drifted, said := 0, []string{}
		for _, claim := range claims {
			c := meta.FindStatusCondition(claim.Status.Conditions, karpenterv1.ConditionDrifted)
			if c != nil && c.Status == metav1.ConditionTrue && c.Reason == "AMIDrift" {
				drifted++
			}
			said = append(said, fmt.Sprintf("%+v", c))
		}
		return drifted == 2 && len(claims) == 2, fmt.Sprint(said)
	})
	s.AwaitCondition(class, condition.Ready, metav1.ConditionTrue)
	if before[0].ID == class.Status.AMIs[0].ID {
		t.Error("the class has the old image")
	}
}

// Nodes with other security groups than their class now has, or in a subnet that it no longer has, are
// drifted as soon as the class changes. (The groups come first, because Tenon reports one reason.)
func TestOtherNetworksAreDrift(t *testing.T) {
	s := tell(t)
	class := s.class("web", "al2023@latest")
	s.AwaitCondition(class, condition.Ready, metav1.ConditionTrue)
	s.pool("web", and(small, v1.LabelTopologyZone, "us-west-2a"))
	s.deploy("web", 1)
	s.Running("web", 1)
	groups, subnets := class.Status.SecurityGroups, class.Status.Subnets
	if len(groups) < 2 {
		t.Fatalf("the class has found groups %v, want two at least", groups)
	}
	s.Patch(class, fmt.Sprintf(`{"spec":{"securityGroupSelectorTerms":[{"id":%q}]}}`, groups[0].ID))
	s.drifted("SecurityGroupDrift")
	s.Patch(class, `{"spec":{"securityGroupSelectorTerms":[{"tags":{"karpenter.sh/discovery":"demo"}}]}}`)
	s.drifted("")
	at := slices.IndexFunc(subnets, func(s awsv1.Subnet) bool { return s.Zone != "us-west-2a" })
	s.Patch(class, fmt.Sprintf(`{"spec":{"subnetSelectorTerms":[{"id":%q}]}}`, subnets[at].ID))
	s.drifted("SubnetDrift")
}

// drifted waits until all claims are drifted for a reason; empty means that none is drifted.
func (s *story) drifted(reason string) {
	s.Helper()
	s.Lab.Eventually(s, fmt.Sprintf("claims are drifted because of %q", reason), func(ctx context.Context) (bool, string) {
		for _, claim := range s.claims(ctx) {
			said := ""
			if c := meta.FindStatusCondition(claim.Status.Conditions, karpenterv1.ConditionDrifted); c != nil && c.Status == metav1.ConditionTrue {
				said = c.Reason
			}
			if said != reason {
				return false, fmt.Sprintf("%s is because of %q", claim.Name, said)
			}
		}
		return true, ""
	})
}
