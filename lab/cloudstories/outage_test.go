package cloudstories

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/condition"
	"tenon/lab/labtest"
)

// While AWS does not answer, a new class says why it is not ready, and a claim for an old class is not
// lost. When AWS answers again, both continue on their own.
func TestAWSCannotBeAsked(t *testing.T) {
	cases := map[string]struct{ fault, says string }{
		"credentials have expired":     {`{"kind":"expired-credentials"}`, "xpired"},
		"the endpoint does not answer": {`{"kind":"unreachable"}`, "LookupFailed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := tell(t)
			old := s.class("old", "al2023@latest")
			s.pool("old", small)
			s.AwaitCondition(old, condition.Ready, metav1.ConditionTrue)
			s.aws.Cause(s, tc.fault)
			s.deploy("old", 1)
			fresh := s.class("fresh", "al2023@latest")
			s.pool("fresh", small)
			s.deploy("fresh", 1)
			s.AwaitCondition(fresh, awsv1.ConditionSubnetsReady, metav1.ConditionUnknown, tc.says)
			if len(s.alive()) > 0 {
				t.Errorf("bought: %+v", s.alive())
			}
			s.aws.Mend(s)
			s.AwaitCondition(fresh, condition.Ready, metav1.ConditionTrue)
			s.Running("old", 1)
			s.Running("fresh", 1)
			if machines := s.alive(); len(machines) != 2 {
				t.Errorf("bought for two pods: %+v", machines)
			}
		})
	}
}

// In a network that can reach neither prices nor IAM, nodes still come, by the prices that Tenon brings
// along, and no call tries to reach those services.
func TestNetworkWithoutAWayOut(t *testing.T) {
	lab := labtest.Own(t, labtest.Options{
		Controller: "tenon", BootDelay: boot, Heartbeat: heartbeat, Settings: []string{"ISOLATED_VPC=true"},
		Faults: `[{"kind":"unreachable","service":"pricing"},{"kind":"unreachable","service":"iam"}]`,
	})
	s := begin(t, lab)
	s.class("web", "al2023@latest", func(spec *awsv1.EC2NodeClassSpec) {
		profile := "karpenterNodeInstanceProfile-demo"
		spec.Role, spec.InstanceProfile = "", &profile
	})
	s.pool("web", small)
	s.deploy("web", 2)
	s.Running("web", 2)
	for _, call := range s.aws.Calls(t) {
		if slices.Contains([]string{"pricing", "iam"}, call.Service) && !strings.HasPrefix(call.Operation, "Get") {
			t.Errorf("%s was asked for %s", call.Service, call.Operation)
		}
		if call.Service == "pricing" {
			t.Errorf("prices were asked for")
		}
	}
}
