package cloudstories

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/examples"
)

// A user applies all examples at once, the last object first. Every class and pool becomes ready, every pod
// but the one that says that it has no place runs, no ERROR is logged for anything else, and AWS is called no
// more often than the machines are worth.
func TestAllExamplesAtOnce(t *testing.T) {
	s := tell(t)
	begin, logged := time.Now(), s.logSize()
	objects := s.examples()
	slices.Reverse(objects)
	for _, o := range objects {
		s.Create(o)
	}
	for _, class := range []string{"default", "enable-ipvs"} {
		s.AwaitCondition(&awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: class}}, condition.Ready, metav1.ConditionTrue)
	}
	for _, pool := range []string{"default", "flexible", "team-network"} {
		s.AwaitCondition(&karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: pool}}, condition.Ready, metav1.ConditionTrue)
	}
	s.Running("web", 12)
	s.Running("cache", 3)
	s.Running("network-app", 3)
	s.end()
	s.checkErrors(logged)
	machines := len(s.aws.Instances(t)) - s.before
	s.checkCalls(machines, time.Since(begin))
}

// examples reads the objects of all examples, in the order of their files.
func (s *story) examples() (list []client.Object) {
	s.Helper()
	files, err := examples.Files.ReadDir(".")
	if err != nil {
		s.Fatal(err)
	}
	for _, file := range files {
		text, err := examples.Files.ReadFile(file.Name())
		if err != nil {
			s.Fatal(err)
		}
		for _, document := range strings.Split("\n"+string(text), "\n---") {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
				s.Fatalf("%s: %v", file.Name(), err)
			}
			if namespaced, err := s.Lab.Client.IsObjectNamespaced(o); err != nil {
				s.Fatalf("%s: %v", file.Name(), err)
			} else if namespaced {
				o.SetNamespace(s.Namespace)
			}
			list = append(list, o)
		}
	}
	return list
}

func (s *story) logSize() int64 {
	s.Helper()
	info, err := os.Stat(s.Lab.Directory.Log("tenon"))
	if err != nil {
		s.Fatal(err)
	}
	return info.Size()
}

// checkErrors looks through what Tenon has logged since its log had some size. A pod without a place is the
// one thing that the examples give reason for.
func (s *story) checkErrors(since int64) {
	s.Helper()
	text, err := os.ReadFile(s.Lab.Directory.Log("tenon"))
	if err != nil {
		s.Fatal(err)
	}
	for line := range bytes.Lines(text[min(since, int64(len(text))):]) {
		if bytes.Contains(line, []byte(`"level":"ERROR"`)) && !bytes.Contains(line, []byte(`"message":"could not schedule pod"`)) {
			s.Errorf("logged: %s", line)
		}
	}
}

// fewCalls is how often an operation may be called: so often anyway, and for each machine and minute.
type fewCalls struct{ anyway, machine, minute float64 }

// bounds of all operations that a fleet which comes and goes takes, about one and a half times what was
// counted for 7 machines in half a minute. An operation that is not here is a surprise.
var bounds = map[string]fewCalls{
	// What a machine needs. A dry run for each class comes beside the launches.
	"ec2:CreateFleet": {4, 1, 0}, "ec2:CreateTags": {2, 1, 0}, "ec2:TerminateInstances": {2, 0.5, 0}, "ec2:RunInstances": {4, 0, 0},
	// Templates are one for each image and number of pods.
	"ec2:CreateLaunchTemplate": {32, 0, 0}, "ec2:DescribeLaunchTemplates": {36, 0, 0}, "ec2:DeleteLaunchTemplate": {32, 0, 0},
	// One look covers all machines.
	"ec2:DescribeInstances": {10, 1, 8}, "ec2:DescribeInstanceStatus": {2, 0, 4},
	"sqs:ReceiveMessage": {6, 2, 20}, "sqs:DeleteMessage": {4, 6, 0}, "sqs:GetQueueUrl": {2, 0, 0},
	// What classes select is remembered.
	"ec2:DescribeImages": {4, 0, 4}, "ec2:DescribeSubnets": {4, 0, 4}, "ec2:DescribeSecurityGroups": {4, 0, 4}, "ssm:GetParameter": {10, 0, 0},
	"ec2:DescribeCapacityReservations": {2, 0, 2}, "ec2:DescribePlacementGroups": {2, 0, 2},
	// What is sold is asked at the start and rarely after.
	"ec2:DescribeInstanceTypes": {20, 0, 0}, "ec2:DescribeInstanceTypeOfferings": {9, 0, 0}, "ec2:DescribeSpotPriceHistory": {9, 0, 0}, "pricing:GetProducts": {22, 0, 0},
	"eks:DescribeCluster": {2, 0, 0},
	// One role's profile comes and goes.
	"iam:GetInstanceProfile": {4, 0, 0}, "iam:ListInstanceProfiles": {5, 0, 0}, "iam:CreateInstanceProfile": {2, 0, 0}, "iam:TagInstanceProfile": {2, 0, 0},
	"iam:AddRoleToInstanceProfile": {2, 0, 0}, "iam:RemoveRoleFromInstanceProfile": {2, 0, 0}, "iam:DeleteInstanceProfile": {2, 0, 0},
}

// checkCalls holds every operation to its bound.
func (s *story) checkCalls(machines int, took time.Duration) {
	s.Helper()
	made := map[string]int{}
	for _, call := range s.aws.Calls(s) {
		made[call.Service+":"+call.Operation]++
	}
	for operation, n := range made {
		b, known := bounds[operation]
		if most := b.anyway + b.machine*float64(machines) + b.minute*took.Minutes(); !known || float64(n) > most {
			s.Errorf("%s was called %d times for %d machines in %s, at most %.0f are worth it", operation, n, machines, took.Round(time.Second), most)
		}
	}
	s.Logf("%d machines in %s: %v", machines, took.Round(time.Second), made)
}
