package aws_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	v1 "k8s.io/api/core/v1"
)

// managed is an emulator with a client of EKS.
type managed struct {
	*scaler
	eks *eks.Client
}

func newManaged(t *testing.T) *managed {
	t.Helper()
	s := newScaler(t)
	return &managed{s, eks.NewFromConfig(s.config(account, region))}
}

// nodeGroup makes a node group called "workers", with the given changes.
func (m *managed) nodeGroup(change ...func(*eks.CreateNodegroupInput)) *ekstypes.Nodegroup {
	m.t.Helper()
	in := &eks.CreateNodegroupInput{
		ClusterName: sdk.String("lab"), NodegroupName: sdk.String("workers"), NodeRole: sdk.String("arn:aws:iam::" + account + ":role/KarpenterNodeRole-lab"),
		Subnets: strings.Split(*m.zones("ab"), ","), InstanceTypes: []string{"m5.large"},
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: sdk.Int32(0), MaxSize: sdk.Int32(5), DesiredSize: sdk.Int32(2)},
		Labels:        map[string]string{"team": "a"},
		Taints:        []ekstypes.Taint{{Key: sdk.String("dedicated"), Value: sdk.String("a"), Effect: "NO_SCHEDULE"}},
	}
	for _, f := range change {
		f(in)
	}
	return got(m.eks.CreateNodegroup(m.t.Context(), in))(m.t).Nodegroup
}

func (m *managed) describeNodeGroup() *ekstypes.Nodegroup {
	m.t.Helper()
	return got(m.eks.DescribeNodegroup(m.t.Context(), &eks.DescribeNodegroupInput{ClusterName: sdk.String("lab"), NodegroupName: sdk.String("workers")}))(m.t).Nodegroup
}

// A node group makes an Auto Scaling group with the tags that EKS sets,
// "k8s.io/cluster-autoscaler/enabled" among them, but without its labels and taints. Nodes join with
// those.
func TestNodeGroupsMakeGroupsAndNodes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		capacity ekstypes.CapacityTypes
		ami      ekstypes.AMITypes
		label    string
		market   string
	}{
		"on demand":    {"", "", "ON_DEMAND", ""},
		"spot":         {"SPOT", "", "SPOT", "spot"},
		"Bottlerocket": {"ON_DEMAND", "BOTTLEROCKET_x86_64", "ON_DEMAND", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newManaged(t)
			made := m.nodeGroup(func(in *eks.CreateNodegroupInput) { in.CapacityType, in.AmiType = tc.capacity, tc.ami })
			m.check("status", string(made.Status), "CREATING")
			m.settle()
			g := m.describeNodeGroup()
			m.check("later", string(g.Status), "ACTIVE")
			groups := got(m.DescribeAutoScalingGroups(t.Context(), &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{*g.Resources.AutoScalingGroups[0].Name}}))(t).AutoScalingGroups
			var tags []string
			for _, tag := range groups[0].Tags {
				tags = append(tags, *tag.Key+"="+*tag.Value)
			}
			m.check("tags", strings.Join(tags, " "), "eks:cluster-name=lab eks:nodegroup-name=workers k8s.io/cluster-autoscaler/enabled=true k8s.io/cluster-autoscaler/lab=owned kubernetes.io/cluster/lab=owned")
			i := m.instance(*groups[0].Instances[0].InstanceId)
			m.check("market", string(i.InstanceLifecycle), tc.market)
			joined := m.machines.all()
			if len(joined) != 2 {
				t.Fatal(m.console(*i.InstanceId))
			}
			labels := map[string]string{"team": "a", "eks.amazonaws.com/nodegroup": "workers", "eks.amazonaws.com/capacityType": tc.label, "eks.amazonaws.com/nodegroup-image": *i.ImageId}
			maps.DeleteFunc(labels, func(key, value string) bool { return joined[0].Labels[key] == value })
			if len(labels) > 0 || !slices.Contains(joined[0].Taints, v1.Taint{Key: "dedicated", Value: "a", Effect: "NoSchedule"}) {
				t.Errorf("missing labels %v; taints %v", labels, joined[0].Taints)
			}
		})
	}
}

// UpdateNodegroupConfig changes labels, taints and sizes; new nodes have them. EKS describes a size that
// was set at the Auto Scaling group.
func TestNodeGroupsChange(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	g := m.nodeGroup(func(in *eks.CreateNodegroupInput) { in.ScalingConfig.DesiredSize = sdk.Int32(0) })
	update := got(m.eks.UpdateNodegroupConfig(t.Context(), &eks.UpdateNodegroupConfigInput{
		ClusterName: sdk.String("lab"), NodegroupName: sdk.String("workers"),
		Labels:        &ekstypes.UpdateLabelsPayload{AddOrUpdateLabels: map[string]string{"tier": "web"}, RemoveLabels: []string{"team"}},
		Taints:        &ekstypes.UpdateTaintsPayload{RemoveTaints: []ekstypes.Taint{{Key: sdk.String("dedicated"), Value: sdk.String("a"), Effect: "NO_SCHEDULE"}}},
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MaxSize: sdk.Int32(7)},
	}))(t).Update
	done := got(m.eks.DescribeUpdate(t.Context(), &eks.DescribeUpdateInput{Name: sdk.String("lab"), NodegroupName: sdk.String("workers"), UpdateId: update.Id}))(t).Update
	m.check("update", string(done.Status), "Successful")
	asg := g.Resources.AutoScalingGroups[0].Name
	got(m.SetDesiredCapacity(t.Context(), &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: asg, DesiredCapacity: sdk.Int32(1)}))(t)
	m.settle()
	g = m.describeNodeGroup()
	if *g.ScalingConfig.MaxSize != 7 || *g.ScalingConfig.DesiredSize != 1 || g.Labels["tier"] != "web" || g.Labels["team"] != "" || len(g.Taints) != 0 {
		t.Errorf("node group = %+v, sizes %+v", g, g.ScalingConfig)
	}
	joined := m.machines.all()
	if len(joined) != 1 || joined[0].Labels["tier"] != "web" || joined[0].Labels["team"] != "" || len(joined[0].Taints) != 0 {
		t.Errorf("machines = %+v", joined)
	}
}

// A user's launch template with an image is used unchanged; EKS still labels the nodes.
func TestNodeGroupsWithALaunchTemplate(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	m.template(m.world, "own", func(d *types.RequestLaunchTemplateData) { d.IamInstanceProfile, d.InstanceType = nil, "m5.xlarge" })
	g := m.nodeGroup(func(in *eks.CreateNodegroupInput) {
		in.InstanceTypes, in.LaunchTemplate = nil, &ekstypes.LaunchTemplateSpecification{Name: sdk.String("own"), Version: sdk.String("1")}
	})
	m.check("type of AMI", string(g.AmiType), "CUSTOM")
	m.settle()
	joined := m.machines.all()
	if len(joined) != 2 || joined[0].Labels["eks.amazonaws.com/nodegroup"] != "workers" || joined[0].InstanceType != "m5.xlarge" || *joined[0].Kubelet.MaxPods != 42 {
		t.Errorf("machines = %+v", joined)
	}
}

// "Health issues": launches that fail, and nodes that do not join.
func TestNodeGroupsAreIll(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fault string
		want  string
		wait  time.Duration
	}{
		"shortage":     {`{"kind": "no-capacity"}`, "CREATING AsgInstanceLaunchFailures", time.Minute},
		"for long":     {`{"kind": "no-capacity"}`, "CREATE_FAILED AsgInstanceLaunchFailures", 30 * time.Minute},
		"never joined": {`{"kind": "boot-never-finishes"}`, "DEGRADED NodeCreationFailure", 30 * time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newManaged(t)
			m.cause(tc.fault)
			m.nodeGroup()
			for range 20 {
				m.pass(tc.wait / 20)
			}
			g := m.describeNodeGroup()
			text := string(g.Status)
			for _, issue := range g.Health.Issues {
				text += " " + string(issue.Code)
			}
			m.check("health", text, tc.want)
		})
	}
}

// EKS refuses some requests, and a deleted node group leaves nothing behind.
func TestNodeGroupsComeAndGo(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	g := m.nodeGroup()
	_, err := m.eks.CreateNodegroup(t.Context(), &eks.CreateNodegroupInput{ClusterName: sdk.String("lab"), NodegroupName: sdk.String("workers"), NodeRole: g.NodeRole, Subnets: g.Subnets})
	m.check("twice", code(err), "ResourceInUseException")
	_, err = m.eks.CreateNodegroup(t.Context(), &eks.CreateNodegroupInput{ClusterName: sdk.String("lab"), NodegroupName: sdk.String("others"), NodeRole: sdk.String("arn:aws:iam::1:role/none"), Subnets: g.Subnets})
	m.check("without a role", code(err), "InvalidParameterException")
	m.settle()
	list := got(m.eks.ListNodegroups(t.Context(), &eks.ListNodegroupsInput{ClusterName: sdk.String("lab"), MaxResults: sdk.Int32(10)}))(t).Nodegroups
	m.check("list", strings.Join(list, " "), "workers")
	got(m.eks.DeleteNodegroup(t.Context(), &eks.DeleteNodegroupInput{ClusterName: sdk.String("lab"), NodegroupName: sdk.String("workers")}))(t)
	m.check("status", string(m.describeNodeGroup().Status), "DELETING")
	m.settle()
	_, err = m.eks.DescribeNodegroup(t.Context(), &eks.DescribeNodegroupInput{ClusterName: sdk.String("lab"), NodegroupName: sdk.String("workers")})
	m.check("gone", code(err), "ResourceNotFoundException")
	templates := got(m.ec2().DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{}))(t).LaunchTemplates
	profiles := got(iam.NewFromConfig(m.config(account, region)).ListInstanceProfiles(t.Context(), &iam.ListInstanceProfilesInput{}))(t).InstanceProfiles
	if len(templates) != 1 || slices.ContainsFunc(profiles, func(p iamtypes.InstanceProfile) bool { return strings.HasPrefix(*p.InstanceProfileName, "eks-") }) {
		t.Errorf("left are %+v and %+v", templates, profiles)
	}
}
