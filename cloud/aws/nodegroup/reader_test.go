package nodegroup_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	testclock "k8s.io/utils/clock/testing"

	"tenon/cloud"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"
	"tenon/cloud/aws/nodegroup"
	"tenon/core/model"
)

// account fakes the services that the reader calls.
type account struct {
	groups    []astypes.AutoScalingGroup
	templates map[string]ec2types.ResponseLaunchTemplateData
	managed   map[string]*ekstypes.Nodegroup
	meeting   []string // types that meet any requirements
	fail      map[string]error
	calls     map[string]int
	// activities are those of every group, the newest first.
	activities []astypes.Activity
	filters    []string
}

func (a *account) called(operation, about string) error {
	a.calls[operation]++
	if err := a.fail[operation+" "+about]; err != nil {
		return err
	}
	return a.fail[operation]
}

func (a *account) DescribeAutoScalingGroups(_ context.Context, in *autoscaling.DescribeAutoScalingGroupsInput, _ ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
	if err := a.called("DescribeAutoScalingGroups", ""); err != nil {
		return nil, err
	}
	for _, f := range in.Filters {
		a.filters = append(a.filters, aws.ToString(f.Name)+"="+strings.Join(f.Values, ","))
	}
	var all []astypes.AutoScalingGroup
	for _, g := range a.groups {
		if len(in.AutoScalingGroupNames) == 0 || slices.Contains(in.AutoScalingGroupNames, *g.AutoScalingGroupName) {
			all = append(all, g)
		}
	}
	from, out := 0, &autoscaling.DescribeAutoScalingGroupsOutput{}
	_, _ = fmt.Sscan(aws.ToString(in.NextToken), &from) // the first page has no token
	to := min(from+int(*in.MaxRecords), len(all))
	if out.AutoScalingGroups = all[from:to]; to < len(all) {
		out.NextToken = aws.String(fmt.Sprint(to))
	}
	return out, nil
}

func (a *account) SetDesiredCapacity(_ context.Context, in *autoscaling.SetDesiredCapacityInput, _ ...func(*autoscaling.Options)) (*autoscaling.SetDesiredCapacityOutput, error) {
	name := aws.ToString(in.AutoScalingGroupName)
	if err := a.called("SetDesiredCapacity", name); err != nil {
		return nil, err
	}
	for i := range a.groups {
		if *a.groups[i].AutoScalingGroupName == name {
			a.groups[i].DesiredCapacity = in.DesiredCapacity
		}
	}
	return &autoscaling.SetDesiredCapacityOutput{}, nil
}

func (a *account) TerminateInstanceInAutoScalingGroup(_ context.Context, in *autoscaling.TerminateInstanceInAutoScalingGroupInput, _ ...func(*autoscaling.Options)) (*autoscaling.TerminateInstanceInAutoScalingGroupOutput, error) {
	if err := a.called("TerminateInstanceInAutoScalingGroup", *in.InstanceId); err != nil {
		return nil, err
	}
	for i := range a.groups {
		g := &a.groups[i]
		for k := range g.Instances {
			if *g.Instances[k].InstanceId != *in.InstanceId {
				continue
			}
			g.Instances[k].LifecycleState = astypes.LifecycleStateTerminating
			if *in.ShouldDecrementDesiredCapacity {
				g.DesiredCapacity = aws.Int32(*g.DesiredCapacity - 1)
			}
		}
	}
	return &autoscaling.TerminateInstanceInAutoScalingGroupOutput{}, nil
}

func (a *account) DescribeScalingActivities(_ context.Context, in *autoscaling.DescribeScalingActivitiesInput, _ ...func(*autoscaling.Options)) (*autoscaling.DescribeScalingActivitiesOutput, error) {
	return &autoscaling.DescribeScalingActivitiesOutput{Activities: a.activities}, a.called("DescribeScalingActivities", *in.AutoScalingGroupName)
}

func (a *account) DescribeLaunchConfigurations(_ context.Context, in *autoscaling.DescribeLaunchConfigurationsInput, _ ...func(*autoscaling.Options)) (*autoscaling.DescribeLaunchConfigurationsOutput, error) {
	name := in.LaunchConfigurationNames[0]
	return &autoscaling.DescribeLaunchConfigurationsOutput{LaunchConfigurations: []astypes.LaunchConfiguration{{
		LaunchConfigurationName: &name, InstanceType: aws.String("m5.xlarge"), SpotPrice: aws.String("0.1"),
	}}}, a.called("DescribeLaunchConfigurations", name)
}

func (a *account) DescribeLaunchTemplateVersions(_ context.Context, in *ec2.DescribeLaunchTemplateVersionsInput, _ ...api.EC2Options) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
	name := aws.ToString(in.LaunchTemplateName) + aws.ToString(in.LaunchTemplateId)
	if err := a.called("DescribeLaunchTemplateVersions", name); err != nil {
		return nil, err
	}
	data, found := a.templates[name+" "+in.Versions[0]]
	if !found {
		return &ec2.DescribeLaunchTemplateVersionsOutput{}, nil
	}
	return &ec2.DescribeLaunchTemplateVersionsOutput{LaunchTemplateVersions: []ec2types.LaunchTemplateVersion{{LaunchTemplateData: &data}}}, nil
}

func (a *account) DescribeImages(_ context.Context, in *ec2.DescribeImagesInput, _ ...api.EC2Options) (*ec2.DescribeImagesOutput, error) {
	return &ec2.DescribeImagesOutput{Images: []ec2types.Image{{Architecture: ec2types.ArchitectureValuesX8664, VirtualizationType: ec2types.VirtualizationTypeHvm}}}, a.called("DescribeImages", in.ImageIds[0])
}

func (a *account) GetInstanceTypesFromInstanceRequirements(_ context.Context, in *ec2.GetInstanceTypesFromInstanceRequirementsInput, _ ...api.EC2Options) (*ec2.GetInstanceTypesFromInstanceRequirementsOutput, error) {
	out := &ec2.GetInstanceTypesFromInstanceRequirementsOutput{}
	for _, name := range a.meeting {
		out.InstanceTypes = append(out.InstanceTypes, ec2types.InstanceTypeInfoFromInstanceRequirements{InstanceType: aws.String(name)})
	}
	return out, a.called("GetInstanceTypesFromInstanceRequirements", fmt.Sprint(*in.InstanceRequirements.VCpuCount.Min))
}

func (a *account) DescribeNodegroup(_ context.Context, in *eks.DescribeNodegroupInput, _ ...func(*eks.Options)) (*eks.DescribeNodegroupOutput, error) {
	return &eks.DescribeNodegroupOutput{Nodegroup: a.managed[*in.NodegroupName]}, a.called("DescribeNodegroup", *in.NodegroupName)
}

// group is a group of m5.large in one zone, modified by change.
func group(name string, change func(*astypes.AutoScalingGroup)) astypes.AutoScalingGroup {
	g := astypes.AutoScalingGroup{
		AutoScalingGroupName: &name, MinSize: aws.Int32(1), MaxSize: aws.Int32(5), DesiredCapacity: aws.Int32(2), AvailabilityZones: []string{"us-west-2a"},
		LaunchTemplate: &astypes.LaunchTemplateSpecification{LaunchTemplateName: aws.String("plain"), Version: aws.String("3")},
	}
	if change != nil {
		change(&g)
	}
	return g
}

func tagged(pairs ...string) func(*astypes.AutoScalingGroup) {
	return func(g *astypes.AutoScalingGroup) {
		for i := 0; i < len(pairs); i += 2 {
			g.Tags = append(g.Tags, astypes.TagDescription{Key: &pairs[i], Value: &pairs[i+1]})
		}
	}
}

func newAccount(groups ...astypes.AutoScalingGroup) *account {
	return &account{
		groups: groups, calls: map[string]int{}, fail: map[string]error{}, managed: map[string]*ekstypes.Nodegroup{},
		templates: map[string]ec2types.ResponseLaunchTemplateData{"plain 3": {InstanceType: "m5.large"}},
	}
}

var all = nodegroup.Discovery{Tags: map[string]string{"k8s.io/cluster-autoscaler/enabled": "", "team": "shop"}}

func reader(a *account, d nodegroup.Discovery) (*nodegroup.Reader, *testclock.FakePassiveClock) {
	clock := testclock.NewFakePassiveClock(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	return nodegroup.New(nodegroup.Options{
		Clients: api.GroupClients{AutoScaling: a, Templates: a, EKS: a}, Clock: clock, Discovery: d, Region: "us-west-2",
		Types: facts.Types, Prices: func() instancetype.Prices { return instancetype.BuiltIn("us-west-2", 70) }, MemoryOverhead: instancetype.DefaultMemoryOverhead,
	}), clock
}

// only reads the account's single group.
func only(t *testing.T, a *account, d nodegroup.Discovery) cloud.Group {
	t.Helper()
	r, _ := reader(a, d)
	groups, err := r.Groups(t.Context())
	if err != nil || len(groups) != 1 {
		t.Fatalf("%d groups, error %v", len(groups), err)
	}
	return groups[0]
}

func reasons(g cloud.Group) []string {
	var out []string
	for _, p := range g.Problems {
		if !cloud.ValidReason(p.Reason) || p.Message == "" || p.Remedy == "" {
			out = append(out, "incomplete")
		}
		out = append(out, string(p.Effect)+" "+p.Reason)
	}
	return out
}

// For a group of one type in one zone, EC2 and the group's tags determine the next node, which holds as many
// pods as the network plug-in has addresses for.
func TestTemplate(t *testing.T) {
	t.Parallel()
	a := newAccount(group("web", func(g *astypes.AutoScalingGroup) {
		tagged("k8s.io/cluster-autoscaler/node-template/label/team", "shop", "k8s.io/cluster-autoscaler/node-template/taint/only", "web:NoSchedule",
			"k8s.io/cluster-autoscaler/node-template/resources/example.com/dongle", "2", "k8s.io/cluster-autoscaler/node-template/autoscaling-options/scaledownunneededtime", "3m")(g)
		g.Instances = []astypes.Instance{{InstanceId: aws.String("i-1"), AvailabilityZone: aws.String("us-west-2a"), InstanceType: aws.String("m5.large"), LifecycleState: "InService"}}
	}))
	g := only(t, a, all)
	if got := reasons(g); got != nil {
		t.Errorf("problems %v", got)
	}
	if diff := cmp.Diff([]string{"tag-key=k8s.io/cluster-autoscaler/enabled", "tag:team=shop"}, a.filters); diff != "" {
		t.Errorf("filters (-want +got):\n%s", diff)
	}
	want := map[string]string{
		"team": "shop", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "node.kubernetes.io/instance-type": "m5.large", "beta.kubernetes.io/instance-type": "m5.large",
		"topology.kubernetes.io/zone": "us-west-2a", "failure-domain.beta.kubernetes.io/zone": "us-west-2a", "topology.ebs.csi.aws.com/zone": "us-west-2a",
		"topology.kubernetes.io/region": "us-west-2", "failure-domain.beta.kubernetes.io/region": "us-west-2",
	}
	if diff := cmp.Diff(want, g.Next.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got := g.Next.Capacity; got.CPU != 2000 || got.Pods != 29 || got.Get("example.com/dongle") != 2 || got.Memory >= 8<<30 || g.Next.Allocatable.Memory >= got.Memory {
		t.Errorf("capacity %+v, allocatable %+v", got, g.Next.Allocatable)
	}
	if diff := cmp.Diff([]model.Taint{{Key: "only", Value: "web", Effect: model.NoSchedule}}, g.Next.Taints); diff != "" {
		t.Errorf("taints (-want +got):\n%s", diff)
	}
	if g.Min != 1 || g.Max != 5 || g.Desired != 2 || g.Options["scaledownunneededtime"] != "3m" || g.Next.Price == 0 {
		t.Errorf("group %+v", g)
	}
	if i := g.Instances[0]; i.ProviderID != "aws:///us-west-2a/i-1" || i.State != cloud.Running || i.Price != g.Next.Price {
		t.Errorf("instance %+v", i)
	}
}

// For several types and zones, the next node promises the least of each resource, and no label whose value
// AWS chooses.
func TestMixedGroupsPromiseTheLeast(t *testing.T) {
	t.Parallel()
	mixed := func(share int32, names ...string) func(*astypes.AutoScalingGroup) {
		return func(g *astypes.AutoScalingGroup) {
			g.AvailabilityZones, g.LaunchTemplate = []string{"us-west-2b", "us-west-2a"}, nil
			g.SuspendedProcesses = []astypes.SuspendedProcess{{ProcessName: aws.String("AZRebalance")}}
			p := &astypes.MixedInstancesPolicy{
				InstancesDistribution: &astypes.InstancesDistribution{OnDemandPercentageAboveBaseCapacity: &share},
				LaunchTemplate:        &astypes.LaunchTemplate{LaunchTemplateSpecification: &astypes.LaunchTemplateSpecification{LaunchTemplateId: aws.String("lt-1")}},
			}
			for i := range names {
				p.LaunchTemplate.Overrides = append(p.LaunchTemplate.Overrides, astypes.LaunchTemplateOverrides{InstanceType: &names[i]})
			}
			g.MixedInstancesPolicy = p
		}
	}
	a := newAccount(group("mixed", mixed(0, "m5.xlarge", "c5.2xlarge", "m6g.xlarge")))
	a.templates["lt-1 $Default"] = ec2types.ResponseLaunchTemplateData{}
	g := only(t, a, all)
	if got := reasons(g); got != nil {
		t.Fatalf("problems %v", got)
	}
	if diff := cmp.Diff([]string{"spot"}, g.CapacityTypes); diff != "" {
		t.Errorf("capacity types (-want +got):\n%s", diff)
	}
	chosen := g.Next.Chosen
	for key, want := range map[string][]string{
		"topology.kubernetes.io/zone": {"us-west-2a", "us-west-2b"}, "kubernetes.io/arch": {"amd64", "arm64"}, "node.kubernetes.io/instance-type": {"c5.2xlarge", "m5.xlarge", "m6g.xlarge"},
	} {
		if _, promised := g.Next.Labels[key]; promised || !slices.Equal(chosen[key], want) {
			t.Errorf("%s: promised %v, chosen from %v", key, promised, chosen[key])
		}
	}
	for _, name := range g.Types {
		one := only(t, newAccountWith(a, group("one", mixed(0, name))), all)
		if g.Next.Allocatable.Lacking(one.Next.Allocatable) != "" || g.Next.Capacity.Lacking(one.Next.Capacity) != "" {
			t.Errorf("the group promises more than %s has", name)
		}
		if g.Next.Price < one.Next.Price {
			t.Errorf("the group is cheaper than its %s", name)
		}
	}
	if got := only(t, newAccountWith(a, group("both", mixed(50, "m5.large"))), all).CapacityTypes; !slices.Equal(got, []string{"on-demand", "spot"}) {
		t.Errorf("capacity types %v", got)
	}
}

func newAccountWith(a *account, g astypes.AutoScalingGroup) *account {
	other := newAccount(g)
	other.templates = a.templates
	return other
}

// The next node of an empty managed group has EKS's labels, taints and resources, which override those of
// tags.
func TestManagedGroupFromZero(t *testing.T) {
	t.Parallel()
	a := newAccount(group("eks-web-1", tagged("eks:cluster-name", "lab", "eks:nodegroup-name", "web", "k8s.io/cluster-autoscaler/node-template/label/team", "old")))
	a.managed["web"] = &ekstypes.Nodegroup{
		AmiType: ekstypes.AMITypesBottlerocketX8664, CapacityType: ekstypes.CapacityTypesOnDemand, Labels: map[string]string{"team": "shop"},
		Taints: []ekstypes.Taint{{Key: aws.String("only"), Value: aws.String("web"), Effect: ekstypes.TaintEffectNoExecute}},
		Tags:   map[string]string{"k8s.io/cluster-autoscaler/node-template/resources/example.com/dongle": "1"},
	}
	g := only(t, a, all)
	for key, want := range map[string]string{"team": "shop", "eks.amazonaws.com/nodegroup": "web", "eks.amazonaws.com/capacityType": "ON_DEMAND", "nodegroup-name": "web", "cluster-name": "lab"} {
		if got := g.Next.Labels[key]; got != want {
			t.Errorf("label %s is %q, want %q", key, got, want)
		}
	}
	if diff := cmp.Diff([]model.Taint{{Key: "only", Value: "web", Effect: model.NoExecute}}, g.Next.Taints); diff != "" || g.Next.Capacity.Get("example.com/dongle") != 1 {
		t.Errorf("capacity %v, taints (-want +got):\n%s", g.Next.Capacity, diff)
	}
}

// A group with requirements has all types that meet them. The reader understands launch configurations too.
func TestWhereTypesComeFrom(t *testing.T) {
	t.Parallel()
	a := newAccount(group("any", func(g *astypes.AutoScalingGroup) {
		g.LaunchTemplate, g.MixedInstancesPolicy = nil, &astypes.MixedInstancesPolicy{LaunchTemplate: &astypes.LaunchTemplate{
			LaunchTemplateSpecification: &astypes.LaunchTemplateSpecification{LaunchTemplateName: aws.String("image"), Version: aws.String("$Latest")},
			Overrides:                   []astypes.LaunchTemplateOverrides{{InstanceRequirements: &astypes.InstanceRequirements{VCpuCount: &astypes.VCpuCountRequest{Min: aws.Int32(4)}, MemoryMiB: &astypes.MemoryMiBRequest{Min: aws.Int32(1)}}}},
		}}
	}), group("old", func(g *astypes.AutoScalingGroup) {
		g.LaunchTemplate, g.LaunchConfigurationName = nil, aws.String("lc")
	}), group("script", func(g *astypes.AutoScalingGroup) {
		g.LaunchTemplate.LaunchTemplateName = aws.String("script")
	}))
	a.templates["image $Latest"] = ec2types.ResponseLaunchTemplateData{ImageId: aws.String("ami-1")}
	a.templates["script 3"] = ec2types.ResponseLaunchTemplateData{InstanceType: "m5.large", UserData: aws.String(base64.StdEncoding.EncodeToString([]byte(
		"/etc/eks/bootstrap.sh lab --kubelet-extra-args '--node-labels=team=shop,tier=1 --max-pods=17 --register-with-taints=only=web:NoSchedule'")))}
	a.meeting = []string{"m5.xlarge", "m5.2xlarge"}
	r, _ := reader(a, all)
	groups, err := r.Groups(t.Context())
	if err != nil || len(groups) != 3 {
		t.Fatalf("%d groups, error %v", len(groups), err)
	}
	if got := groups[0]; !slices.Equal(got.Types, a.meeting) || got.Next.Capacity.CPU != 4000 {
		t.Errorf("by requirements: %+v", got)
	}
	if got := groups[1]; !slices.Equal(got.Types, []string{"m5.xlarge"}) || !slices.Equal(got.CapacityTypes, []string{"spot"}) {
		t.Errorf("by launch configuration: %+v", got)
	}
	if got := groups[2].Next; got.Capacity.Pods != 17 || got.Labels["team"] != "shop" || got.Labels["tier"] != "1" || len(got.Taints) != 1 {
		t.Errorf("by user data: %+v", got)
	}
}

// The reader reports bad input as a problem of its group, with a remedy.
func TestProblems(t *testing.T) {
	t.Parallel()
	denied := &smithy.GenericAPIError{Code: "UnauthorizedOperation", Message: "no"}
	cases := map[string]struct {
		change func(*astypes.AutoScalingGroup)
		fail   map[string]error
		want   []string
		known  bool
	}{
		"weights": {change: func(g *astypes.AutoScalingGroup) {
			g.MixedInstancesPolicy = &astypes.MixedInstancesPolicy{LaunchTemplate: &astypes.LaunchTemplate{LaunchTemplateSpecification: g.LaunchTemplate,
				Overrides: []astypes.LaunchTemplateOverrides{{InstanceType: aws.String("m5.large"), WeightedCapacity: aws.String("2")}}}}
		}, want: []string{"Unsupported WeightedCapacity"}, known: true},
		"other units":     {change: func(g *astypes.AutoScalingGroup) { g.DesiredCapacityType = aws.String("vcpu") }, want: []string{"Unsupported CapacityInOtherUnits"}, known: true},
		"another service": {change: tagged("aws:batch:compute-environment", "x"), want: []string{"Unsupported OwnedByAnotherService"}, known: true},
		"launches are stopped": {change: func(g *astypes.AutoScalingGroup) {
			g.SuspendedProcesses = []astypes.SuspendedProcess{{ProcessName: aws.String("Launch")}}
		}, want: []string{"Unsupported ProcessSuspended"}, known: true},
		"zones are rebalanced":      {change: func(g *astypes.AutoScalingGroup) { g.AvailabilityZones = []string{"us-west-2a", "us-west-2b"} }, want: []string{"Hindered ZonesAreRebalanced"}, known: true},
		"more than allowed":         {change: func(g *astypes.AutoScalingGroup) { g.DesiredCapacity = aws.Int32(9) }, want: []string{"Unsupported AboveMaximum"}, known: true},
		"a taint without effect":    {change: tagged("k8s.io/cluster-autoscaler/node-template/taint/only", "web"), want: []string{"Hindered InvalidTag"}, known: true},
		"no quantity":               {change: tagged("k8s.io/cluster-autoscaler/node-template/resources/memory", "many"), want: []string{"Hindered InvalidTag"}, known: true},
		"no option":                 {change: tagged("k8s.io/cluster-autoscaler/node-template/autoscaling-options/speed", "1"), want: []string{"Hindered InvalidTag"}, known: true},
		"tags contradict":           {change: tagged("k8s.io/cluster-autoscaler/node-template/label/kubernetes.io/arch", "arm64"), want: []string{"Unknown TagsContradict"}, known: true},
		"a template without a type": {change: func(g *astypes.AutoScalingGroup) { g.LaunchTemplate.LaunchTemplateName = aws.String("typeless") }, want: []string{"Unknown NoInstanceType"}},
		"no such version":           {change: func(g *astypes.AutoScalingGroup) { g.LaunchTemplate.Version = aws.String("9") }, want: []string{"Unknown NoLaunchTemplateVersion"}},
		"no template":               {change: func(g *astypes.AutoScalingGroup) { g.LaunchTemplate = nil }, want: []string{"Unknown NoLaunchTemplate"}},
		"an unknown type":           {change: func(g *astypes.AutoScalingGroup) { g.LaunchTemplate.LaunchTemplateName = aws.String("new") }, want: []string{"Unknown InstanceTypeUnknown"}},
		"a missing permission":      {fail: map[string]error{"DescribeLaunchTemplateVersions": denied}, want: []string{"Unknown TemplateNotRead"}},
		"no permission for EKS": {change: tagged("eks:cluster-name", "lab", "eks:nodegroup-name", "web"), fail: map[string]error{"DescribeNodegroup": &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no"}},
			want: []string{"Unknown ManagedGroupNotRead"}, known: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount(group("bad", tc.change), group("good", nil))
			a.templates["typeless 3"], a.templates["new 3"] = ec2types.ResponseLaunchTemplateData{}, ec2types.ResponseLaunchTemplateData{InstanceType: "q9.large"}
			if tc.fail != nil {
				a.groups[1].LaunchTemplate, a.groups[1].LaunchConfigurationName, a.fail = nil, aws.String("lc"), tc.fail
			}
			r, _ := reader(a, all)
			groups, err := r.Groups(t.Context())
			if err != nil || len(groups) != 2 {
				t.Fatalf("%d groups, error %v", len(groups), err)
			}
			if diff := cmp.Diff(tc.want, reasons(groups[0])); diff != "" || (groups[0].Next != nil) != tc.known {
				t.Errorf("template known: %v, problems (-want +got):\n%s", groups[0].Next != nil, diff)
			}
			if got := groups[1]; len(got.Problems) > 0 || got.Next == nil {
				t.Errorf("the other group: %+v", got.Problems)
			}
		})
	}
}

// The flag determines the sizes of named groups, and the reader keeps a named group that is gone.
func TestNamedGroups(t *testing.T) {
	t.Parallel()
	a := newAccount(group("web", nil))
	r, _ := reader(a, nodegroup.Discovery{Static: []nodegroup.Static{{Name: "gone", Min: 1, Max: 2}, {Name: "web", Min: 0, Max: 9}}, Tags: all.Tags})
	groups, err := r.Groups(t.Context())
	if err != nil || len(groups) != 2 || !groups[0].Missing || groups[0].Max != 2 || groups[1].Min != 0 || groups[1].Max != 9 {
		t.Errorf("groups %+v, error %v", groups, err)
	}
	if got := reasons(groups[1]); !slices.Equal(got, []string{"Hindered MaximumOutOfRange"}) {
		t.Errorf("problems %v", got)
	}
}

// Five hundred groups cost five descriptions a minute and at most twenty-five look-ups of templates; later,
// the reader looks templates up every twenty minutes. A throttled look-up keeps the previous template.
func TestCallsAreBounded(t *testing.T) {
	t.Parallel()
	var many []astypes.AutoScalingGroup
	for i := range 500 {
		many = append(many, group(fmt.Sprintf("g-%03d", i), nil))
	}
	a := newAccount(many...)
	r, clock := reader(a, all)
	known := func() int {
		groups, err := r.Groups(t.Context())
		if err != nil || len(groups) != 500 {
			t.Fatalf("%d groups, error %v", len(groups), err)
		}
		n := 0
		for _, g := range groups {
			if g.Next != nil {
				n++
			}
		}
		return n
	}
	for minute := range 20 {
		clear(a.calls)
		if got := known(); got != 25*(minute+1) {
			t.Fatalf("%d templates known after minute %d", got, minute)
		}
		known() // from memory
		if diff := cmp.Diff(map[string]int{"DescribeAutoScalingGroups": 5, "DescribeLaunchTemplateVersions": 25, "DescribeScalingActivities": 10}, a.calls); diff != "" {
			t.Fatalf("calls of minute %d (-want +got):\n%s", minute, diff)
		}
		clock.SetTime(clock.Now().Add(time.Minute))
	}
	a.fail["DescribeLaunchTemplateVersions"] = &smithy.GenericAPIError{Code: "RequestLimitExceeded", Message: "later"}
	if got := known(); got != 500 {
		t.Errorf("%d templates are known while AWS throttles", got)
	}
	clock.SetTime(clock.Now().Add(time.Minute))
	a.fail["DescribeAutoScalingGroups"] = &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}
	if _, err := r.Groups(t.Context()); err == nil || !strings.Contains(err.Error(), "allow the controller autoscaling:DescribeAutoScalingGroups") {
		t.Errorf("error %v", err)
	}
}
