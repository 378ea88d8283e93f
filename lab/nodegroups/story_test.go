package nodegroups

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/lab/labtest"
	"tenon/lab/state"
)

const (
	cluster = "demo"
	// within is how long a wait may take: groups are described once a minute, and AWS takes its time.
	within = 4 * time.Minute
)

// story is one test. All have the lab together, so the names of a story's node groups end in its namespace, and its pods
// name the groups on which they may be.
type story struct {
	labtest.Story
	aws     labtest.AWS
	scaling *autoscaling.Client
	eks     *eks.Client
	subnets map[string]string             // by the letter of the zone
	groups  map[string]string             // Auto Scaling groups, by the name that the story gives their node group
	modes   map[string]tenonv1alpha1.Mode // of those that Tenon may change
}

// groupLabel is on all nodes of a node group of EKS.
const groupLabel = "eks.amazonaws.com/nodegroup"

func tell(t *testing.T) *story {
	t.Helper()
	t.Parallel()
	lab := labtest.Share(t)
	config := sdk.Config{
		Region: "us-west-2", BaseEndpoint: sdk.String(endpoint(t, lab)),
		Credentials: sdk.CredentialsProviderFunc(func(context.Context) (sdk.Credentials, error) {
			return sdk.Credentials{AccessKeyID: "000000000001", SecretAccessKey: "lab"}, nil
		}),
	}
	s := &story{
		Story: lab.Story(t, within), aws: lab.AWS(t), scaling: autoscaling.NewFromConfig(config), eks: eks.NewFromConfig(config),
		subnets: map[string]string{}, groups: map[string]string{}, modes: map[string]tenonv1alpha1.Mode{},
	}
	found := got(ec2.NewFromConfig(config).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []types.Filter{{Name: sdk.String("tag:karpenter.sh/discovery"), Values: []string{cluster}}}}))(t)
	for _, subnet := range found.Subnets {
		zone := *subnet.AvailabilityZone
		s.subnets[zone[len(zone)-1:]] = *subnet.SubnetId
	}
	t.Cleanup(s.end)
	return s
}

// endpoint is where the emulated AWS listens.
func endpoint(t *testing.T, lab *labtest.Lab) string {
	t.Helper()
	text := string(got(os.ReadFile(lab.Directory.Environment()))(t))
	for line := range strings.Lines(text) {
		if url, found := strings.CutPrefix(strings.TrimSpace(line), "AWS_ENDPOINT_URL="); found {
			return url
		}
	}
	t.Fatalf("no AWS in %s", text)
	return ""
}

func got[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// end deletes the groups, whose instances go with them. Nothing waits for that: no other story has their names.
func (s *story) end() {
	for name := range s.groups {
		if _, err := s.eks.DeleteNodegroup(context.Background(), &eks.DeleteNodegroupInput{ClusterName: sdk.String(cluster), NodegroupName: sdk.String(s.named(name))}); err != nil {
			s.Errorf("delete node group %s: %v", name, err)
		}
	}
}

// named is the name of a node group in EKS, and the value of groupLabel on its nodes.
func (s *story) named(name string) string { return name + "-" + s.Namespace }

// size is what bounds a group, and its desired size.
type size struct{ least, desired, most int32 }

// group makes a managed node group in zones, with its Auto Scaling group.
func (s *story) group(name, instanceTypes, zones string, n size) {
	s.Helper()
	s.groupWith(name, instanceTypes, zones, n, func(*eks.CreateNodegroupInput) {})
}

// groupWith is group with a change of what EKS is asked for.
func (s *story) groupWith(name, instanceTypes, zones string, n size, change func(*eks.CreateNodegroupInput)) {
	s.Helper()
	var subnets []string
	for _, zone := range strings.Split(zones, "") {
		subnets = append(subnets, s.subnets[zone])
	}
	in := &eks.CreateNodegroupInput{
		ClusterName: sdk.String(cluster), NodegroupName: sdk.String(s.named(name)), NodeRole: sdk.String("arn:aws:iam::000000000001:role/KarpenterNodeRole-" + cluster),
		Subnets: subnets, InstanceTypes: strings.Split(instanceTypes, ","),
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: &n.least, MaxSize: &n.most, DesiredSize: &n.desired},
	}
	if entries := got(s.eks.ListAccessEntries(s.Context(), &eks.ListAccessEntriesInput{ClusterName: sdk.String(cluster)}))(s); len(entries.AccessEntries) > 0 {
		in.NodeRole = &entries.AccessEntries[0]
	}
	change(in)
	got(s.eks.CreateNodegroup(s.Context(), in))(s)
	made := got(s.eks.DescribeNodegroup(s.Context(), &eks.DescribeNodegroupInput{ClusterName: sdk.String(cluster), NodegroupName: sdk.String(s.named(name))}))(s)
	s.groups[name] = *made.Nodegroup.Resources.AutoScalingGroups[0].Name
}

// object is the NodeGroup of a node group.
func (s *story) object(name string) (*tenonv1alpha1.NodeGroup, bool) {
	s.Helper()
	o := &tenonv1alpha1.NodeGroup{}
	err := s.Lab.Client.Get(s.Context(), client.ObjectKey{Name: tenonv1alpha1.ObjectName(s.groups[name])}, o)
	if client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	return o, err == nil
}

// native makes a group that Tenon may change once it shows it: see shown.
func (s *story) native(name, instanceTypes, zones string, n size) {
	s.Helper()
	s.group(name, instanceTypes, zones, n)
	s.modes[name] = tenonv1alpha1.ModeNative
}

// shown waits until Tenon shows all groups, and then lets it change those that it may. It looks for new ones once a minute.
func (s *story) shown() {
	s.Helper()
	s.Eventually("all NodeGroups are Ready", func(context.Context) (bool, string) {
		for _, name := range slices.Sorted(maps.Keys(s.groups)) {
			o, found := s.object(name)
			if !found || !meta.IsStatusConditionTrue(o.Status.Conditions, "Ready") {
				return false, fmt.Sprintf("%s: %+v", name, o.Status.Conditions)
			}
		}
		return true, ""
	})
	for name, mode := range s.modes {
		s.Patch(&tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: tenonv1alpha1.ObjectName(s.groups[name])}}, fmt.Sprintf(`{"spec":{"mode":%q}}`, mode))
	}
}

// described is the Auto Scaling group of a node group, as AWS describes it.
func (s *story) described(name string) asgtypes.AutoScalingGroup {
	s.Helper()
	out := got(s.scaling.DescribeAutoScalingGroups(s.Context(), &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{s.groups[name]}}))(s)
	if len(out.AutoScalingGroups) != 1 {
		s.Fatalf("groups of %s: %+v", name, out.AutoScalingGroups)
	}
	return out.AutoScalingGroups[0]
}

// desire sets a group's size, as a person or a scaling policy would.
func (s *story) desire(name string, n int32) {
	s.Helper()
	got(s.scaling.SetDesiredCapacity(s.Context(), &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: sdk.String(s.groups[name]), DesiredCapacity: &n, HonorCooldown: sdk.Bool(false)}))(s)
}

// awaitSizes waits until AWS keeps groups at sizes and NodeGroups show them, with as many Ready nodes.
func (s *story) awaitSizes(wanted map[string]int32) {
	s.Helper()
	s.Eventually(fmt.Sprintf("groups have the sizes %v", wanted), func(context.Context) (bool, string) {
		var wrong []string
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			want, kept := wanted[name], *s.described(name).DesiredCapacity
			o, found := s.object(name)
			if !found || o.Status.Size == nil || o.Status.Instances == nil {
				wrong = append(wrong, name+" is not shown")
				continue
			}
			if shown, i := o.Status.Size.Desired, o.Status.Instances; kept != want || shown != int64(want) || i.Ready != int64(want) || i.Total != int64(want) {
				wrong = append(wrong, fmt.Sprintf("%s is kept at %d and shown with %d, instances %+v", name, kept, shown, *i))
			}
		}
		return len(wrong) == 0, strings.Join(wrong, "; ")
	})
}

// changes counts the writes of the size of the story's groups that AWS was asked for.
func (s *story) changes() int {
	return s.calls("SetDesiredCapacity", slices.Collect(maps.Values(s.groups)))
}

// calls counts the calls of an operation on some resources that succeeded.
func (s *story) calls(operation string, on []string) int {
	s.Helper()
	n := 0
	for _, call := range s.aws.Calls(s) {
		if call.Operation == operation && call.Code == "" && slices.Contains(on, call.Resource) {
			n++
		}
	}
	return n
}

// deploy makes pods of which one fits on a machine with two processors, and which have to be in one of some groups.
func (s *story) deploy(app string, replicas int32, groups ...string) {
	s.Helper()
	s.deployWith(app, replicas, func(*v1.PodSpec) {}, groups...)
}

// deployWith is deploy with a change of the pods.
func (s *story) deployWith(app string, replicas int32, change func(*v1.PodSpec), groups ...string) {
	s.Helper()
	s.Create(s.deployment(app, replicas, change, groups...))
}

// deployment is what deployWith makes.
func (s *story) deployment(app string, replicas int32, change func(*v1.PodSpec), groups ...string) *appsv1.Deployment {
	labels := map[string]string{"app": app}
	pod := v1.PodSpec{
		TerminationGracePeriodSeconds: new(int64),
		Containers: []v1.Container{{Name: "main", Image: "example.com/web:1", Resources: v1.ResourceRequirements{
			Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1"), v1.ResourceMemory: resource.MustParse("1Gi")},
		}}},
	}
	in := v1.NodeSelectorRequirement{Key: groupLabel, Operator: v1.NodeSelectorOpIn}
	for _, group := range groups {
		in.Values = append(in.Values, s.named(group))
	}
	pod.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
		NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{in}}},
	}}}
	change(&pod)
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: app}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
	}}
}

// killing is held by the story that kills the controller, until it runs again.
var killing sync.Mutex

// kill ends the controller at once, and waits until the lab has started it again.
func (s *story) kill() {
	s.Helper()
	killing.Lock()
	defer killing.Unlock()
	before := s.controller()
	if err := syscall.Kill(before.Pid, syscall.SIGKILL); err != nil {
		s.Fatalf("kill the controller: %v", err)
	}
	s.Eventually("the controller runs again", func(context.Context) (bool, string) {
		now := s.controller()
		return now.Pid != before.Pid && now.State == "ready", fmt.Sprintf("it is %s", now.State)
	})
}

func (s *story) controller() state.Component {
	s.Helper()
	record, _, err := s.Lab.Directory.Load()
	if err != nil {
		s.Fatal(err)
	}
	component, found := record.Find("tenon")
	if !found {
		s.Fatalf("no controller among %+v", record.Components)
	}
	return component
}
