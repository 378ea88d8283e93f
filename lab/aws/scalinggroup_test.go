package aws_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/lab/aws/accounts"
)

// scaler is an emulator with a launch template for groups.
type scaler struct {
	*emulator
	*autoscaling.Client
	world world
}

func newScaler(t *testing.T, change ...func(*configuration)) *scaler {
	t.Helper()
	e := newEmulator(t, change...)
	s := &scaler{e, autoscaling.NewFromConfig(e.config(account, region)), e.discover()}
	s.template(s.world, "nodes", func(d *types.RequestLaunchTemplateData) { d.InstanceType = "m5.large" })
	return s
}

// zones returns the subnets of zones, given by their letters, in the form that a group takes.
func (s *scaler) zones(letters string) *string {
	var ids []string
	for _, subnet := range s.world.subnets {
		if z := *subnet.AvailabilityZone; strings.Contains(letters, z[len(z)-1:]) {
			ids = append(ids, *subnet.SubnetId)
		}
	}
	return sdk.String(strings.Join(ids, ","))
}

// group makes a group called "g" of up to ten instances in three zones, with the given changes.
func (s *scaler) group(desired int32, change ...func(*autoscaling.CreateAutoScalingGroupInput)) {
	s.t.Helper()
	in := &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: sdk.String("g"), MinSize: sdk.Int32(0), MaxSize: sdk.Int32(10), DesiredCapacity: &desired, VPCZoneIdentifier: s.zones("abc"),
		LaunchTemplate: &asgtypes.LaunchTemplateSpecification{LaunchTemplateName: sdk.String("nodes"), Version: sdk.String("$Latest")},
	}
	for _, f := range change {
		f(in)
	}
	got(s.CreateAutoScalingGroup(s.t.Context(), in))(s.t)
}

func (s *scaler) described() asgtypes.AutoScalingGroup {
	s.t.Helper()
	out := got(s.DescribeAutoScalingGroups(s.t.Context(), &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"g"}}))(s.t)
	if len(out.AutoScalingGroups) != 1 {
		s.t.Fatalf("groups = %+v", out.AutoScalingGroups)
	}
	return out.AutoScalingGroups[0]
}

// members describes the group's instances as text: how many in which zone and state.
func (s *scaler) members() string {
	s.t.Helper()
	counts := map[string]int{}
	for _, i := range s.described().Instances {
		z := *i.AvailabilityZone
		counts[z[len(z)-1:]+" "+string(i.LifecycleState)]++
	}
	var lines []string
	for key, n := range counts {
		lines = append(lines, fmt.Sprintf("%s %d", key, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// history is the group's activities, the newest first.
func (s *scaler) history() []asgtypes.Activity {
	s.t.Helper()
	return got(s.DescribeScalingActivities(s.t.Context(), &autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: sdk.String("g")}))(s.t).Activities
}

func (s *scaler) desire(n int32) error {
	_, err := s.SetDesiredCapacity(s.t.Context(), &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: sdk.String("g"), DesiredCapacity: &n, HonorCooldown: sdk.Bool(false)})
	return err
}

func (s *scaler) end(id string, decrement bool) error {
	_, err := s.TerminateInstanceInAutoScalingGroup(s.t.Context(), &autoscaling.TerminateInstanceInAutoScalingGroupInput{InstanceId: &id, ShouldDecrementDesiredCapacity: &decrement})
	return err
}

func (s *scaler) check(what, got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// settled is long enough for a group to do all that it can.
const settled = 5 * time.Minute

func (s *scaler) settle() {
	for range 30 {
		s.pass(settled / 30)
	}
}

// "Amazon EC2 Auto Scaling distributes instances evenly across the Availability Zones"; instances of a
// group join like those of a fleet, with the tags that the group propagates.
func TestGroupLaunchesBalancedAndNodesJoin(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.group(4, func(in *autoscaling.CreateAutoScalingGroupInput) {
		in.Tags = []asgtypes.Tag{
			{Key: sdk.String("team"), Value: sdk.String("a"), PropagateAtLaunch: sdk.Bool(true)},
			{Key: sdk.String("k8s.io/cluster-autoscaler/enabled"), Value: sdk.String("true"), PropagateAtLaunch: sdk.Bool(false)},
		}
	})
	s.check("at once", s.members(), "")
	s.pass(5 * time.Second)
	zones := map[string]int{}
	for _, i := range s.described().Instances {
		zones[*i.AvailabilityZone]++
		s.check("state", string(i.LifecycleState), "Pending")
	}
	if len(zones) != 3 {
		t.Errorf("zones = %v, want three", zones)
	}
	s.settle()
	g := s.described()
	i := s.instance(*g.Instances[0].InstanceId)
	has := map[string]string{}
	for _, tag := range i.Tags {
		has[*tag.Key] = *tag.Value
	}
	if has["aws:autoscaling:groupName"] != "g" || has["team"] != "a" || has["k8s.io/cluster-autoscaler/enabled"] != "" || *g.Instances[0].LaunchTemplate.Version != "1" {
		t.Errorf("tags = %v, template %+v", has, g.Instances[0].LaunchTemplate)
	}
	if joined := s.machines.all(); len(joined) != 4 || joined[0].Labels["team"] != "a" || joined[0].InstanceType != "m5.large" {
		t.Errorf("machines = %+v", joined)
	}
	newest := s.history()[0]
	if newest.StatusCode != "Successful" || !strings.Contains(*newest.Cause, "increasing the capacity from 0 to 4.") || !strings.HasPrefix(*newest.Description, "Launching a new EC2 instance: i-") {
		t.Errorf("activity = %+v", newest)
	}
}

// A group has bounds; AWS refuses sizes outside them.
func TestGroupBounds(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.group(2, func(in *autoscaling.CreateAutoScalingGroupInput) { in.MinSize, in.MaxSize = sdk.Int32(2), sdk.Int32(3) })
	s.settle()
	id := *s.described().Instances[0].InstanceId
	update := func(least, most int32) error {
		_, err := s.UpdateAutoScalingGroup(t.Context(), &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: sdk.String("g"), MinSize: &least, MaxSize: &most})
		return err
	}
	for want, err := range map[string]error{
		"New SetDesiredCapacity value 4 is above max value 3 for the AutoScalingGroup.":            s.desire(4),
		"New SetDesiredCapacity value 1 is below min value 2 for the AutoScalingGroup.":            s.desire(1),
		"Currently, desiredSize equals minSize (2). Terminating instance without replacement will": s.end(id, true),
		"Max bound, 1, must be greater than or equal to min bound, 2":                              update(2, 1),
		"No managed instance found for instance ID i-0":                                            s.end("i-0", true),
	} {
		if code(err) != "ValidationError" || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := update(3, 5); err != nil || *s.described().DesiredCapacity != 3 {
		t.Errorf("minimum above desired: %v, desired %d", err, *s.described().DesiredCapacity)
	}
}

// AWS refuses to make some groups.
func TestGroupsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*autoscaling.CreateAutoScalingGroupInput)
		want   string
	}{
		"no template": {func(in *autoscaling.CreateAutoScalingGroupInput) { in.LaunchTemplate = nil }, "ValidationError: Valid requests must contain either LaunchTemplate"},
		"unknown template": {func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.LaunchTemplate.LaunchTemplateName = sdk.String("none")
		}, "ValidationError: You must use a valid fully-formed launch template."},
		"no zone":           {func(in *autoscaling.CreateAutoScalingGroupInput) { in.VPCZoneIdentifier = nil }, "ValidationError: At least one Availability Zone or VPC Subnet is required."},
		"desired above max": {func(in *autoscaling.CreateAutoScalingGroupInput) { in.DesiredCapacity = sdk.Int32(11) }, "ValidationError: Desired capacity:11 must be between the specified min size:0 and max size:10"},
		"unknown subnet":    {func(in *autoscaling.CreateAutoScalingGroupInput) { in.VPCZoneIdentifier = sdk.String("subnet-0") }, "ValidationError: The subnet ID 'subnet-0' does not exist"},
		"a name in use":     {func(in *autoscaling.CreateAutoScalingGroupInput) { in.AutoScalingGroupName = sdk.String("taken") }, "AlreadyExists: AutoScalingGroup by this name already exists"},
	}
	s := newScaler(t)
	s.group(0, func(in *autoscaling.CreateAutoScalingGroupInput) { in.AutoScalingGroupName = sdk.String("taken") })
	for name, tc := range cases {
		in := &autoscaling.CreateAutoScalingGroupInput{
			AutoScalingGroupName: sdk.String("g"), MinSize: sdk.Int32(0), MaxSize: sdk.Int32(10), VPCZoneIdentifier: s.zones("a"),
			LaunchTemplate: &asgtypes.LaunchTemplateSpecification{LaunchTemplateName: sdk.String("nodes")},
		}
		tc.change(in)
		if _, err := s.CreateAutoScalingGroup(t.Context(), in); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
}

// TerminateInstanceInAutoScalingGroup replaces the instance, or with decrement lets the group be smaller;
// it ignores protection, but scale-in respects it.
func TestGroupInstancesEnd(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.group(3)
	s.settle()
	all := s.described().Instances
	first, second, third := *all[0].InstanceId, *all[1].InstanceId, *all[2].InstanceId
	got(s.SetInstanceProtection(t.Context(), &autoscaling.SetInstanceProtectionInput{AutoScalingGroupName: sdk.String("g"), InstanceIds: []string{first, second}, ProtectedFromScaleIn: sdk.Bool(true)}))(t)
	if err := s.end(first, true); err != nil {
		t.Fatal(err)
	}
	if cause := *s.history()[0].Cause; !strings.HasSuffix(cause, "instance "+first+" was taken out of service in response to a user request, shrinking the capacity from 3 to 2.") {
		t.Errorf("cause = %s", cause)
	}
	if s.instance(first).State.Name != "shutting-down" || *s.described().DesiredCapacity != 2 {
		t.Errorf("state %s, desired %d", s.instance(first).State.Name, *s.described().DesiredCapacity)
	}
	s.settle()
	if err := s.end(third, false); err != nil {
		t.Fatal(err)
	}
	s.settle()
	g := s.described()
	if *g.DesiredCapacity != 2 || len(g.Instances) != 2 || slices.ContainsFunc(g.Instances, func(i asgtypes.Instance) bool { return *i.InstanceId == third }) {
		t.Errorf("after a replacement: %+v", g.Instances)
	}
	if err := s.desire(0); err != nil {
		t.Fatal(err)
	}
	s.settle()
	if left := s.described().Instances; len(left) != 1 || *left[0].InstanceId != second || !*left[0].ProtectedFromScaleIn {
		t.Errorf("scale-in left %+v, want the protected instance", left)
	}
	if newest := s.history()[0]; newest.StatusCode != "Failed" || !strings.Contains(*newest.StatusMessage, "all remaining instances are protected from scale in") {
		t.Errorf("activity = %+v", newest)
	}
}

// "If an instance is in any state other than running ... Amazon EC2 Auto Scaling considers the instance to be unhealthy
// and replaces it", unless the process is suspended.
func TestGroupReplacesWhatEndsByItself(t *testing.T) {
	t.Parallel()
	for _, suspended := range []bool{false, true} {
		t.Run(fmt.Sprintf("suspended %t", suspended), func(t *testing.T) {
			t.Parallel()
			s := newScaler(t)
			s.group(1)
			s.settle()
			if suspended {
				got(s.SuspendProcesses(t.Context(), &autoscaling.SuspendProcessesInput{AutoScalingGroupName: sdk.String("g"), ScalingProcesses: []string{"ReplaceUnhealthy"}}))(t)
			}
			first := *s.described().Instances[0].InstanceId
			got(s.ec2().TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{first}}))(t)
			s.settle()
			g := s.described()
			if suspended {
				if *g.Instances[0].InstanceId != first || *g.Instances[0].HealthStatus != "Unhealthy" || *g.SuspendedProcesses[0].ProcessName != "ReplaceUnhealthy" {
					t.Errorf("suspended: %+v", g)
				}
				got(s.ResumeProcesses(t.Context(), &autoscaling.ResumeProcessesInput{AutoScalingGroupName: sdk.String("g")}))(t)
				s.settle()
				g = s.described()
			}
			if len(g.Instances) != 1 || *g.Instances[0].InstanceId == first || g.Instances[0].LifecycleState != "InService" {
				t.Errorf("instances = %+v", g.Instances)
			}
			var causes []string
			for _, a := range s.history() {
				causes = append(causes, *a.Cause)
			}
			if !strings.Contains(strings.Join(causes, "\n"), "in response to an EC2 health check indicating it has been terminated or stopped.") {
				t.Errorf("causes = %q", causes)
			}
		})
	}
}

// The history says when a launch fails; the group tries other zones, and tries again later.
func TestGroupLaunchesFail(t *testing.T) {
	t.Parallel()
	mixed := func(percentage int32, kinds ...string) func(*autoscaling.CreateAutoScalingGroupInput) {
		return func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.LaunchTemplate, in.MixedInstancesPolicy = nil, policyOf(percentage, kinds...)
		}
	}
	cases := map[string]struct {
		fault string
		group func(*autoscaling.CreateAutoScalingGroupInput)
		want  string
	}{
		"shortage":          {`{"kind": "no-capacity"}`, nil, "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2"},
		"quota":             {"", nil, "You have requested more vCPU capacity than your current vCPU limit of 1 allows"},
		"mixed on demand":   {`{"kind": "no-capacity"}`, mixed(100, "m5.large"), "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have sufficient m5.large"},
		"spot of one type":  {`{"kind": "no-capacity"}`, mixed(0, "m5.large"), "Could not launch Spot Instances. InsufficientInstanceCapacity - There is no Spot capacity available that matches your request."},
		"spot of two types": {`{"kind": "no-capacity"}`, mixed(0, "m5.large", "m5.xlarge"), "Could not launch Spot Instances. UnfulfillableCapacity - Unable to fulfill capacity due to your request configuration."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScaler(t, func(c *configuration) {
				if name == "quota" {
					c.Resources.Quotas = accounts.Quotas{OnDemandVCPUs: 1}
				}
			})
			if tc.fault != "" {
				s.cause(tc.fault)
			}
			s.group(2, func(in *autoscaling.CreateAutoScalingGroupInput) {
				if tc.group != nil {
					tc.group(in)
				}
			})
			s.pass(10 * time.Second)
			failed := s.history()
			if len(failed) != 3 {
				t.Fatalf("%d activities, want one for each zone", len(failed))
			}
			a := failed[0]
			if a.StatusCode != "Failed" || !strings.HasPrefix(*a.StatusMessage, tc.want) || !strings.HasSuffix(*a.StatusMessage, "Launching EC2 instance failed.") ||
				!strings.HasPrefix(*a.Description, "Launching a new EC2 instance.  Status Reason: "+tc.want) || a.EndTime == nil {
				t.Errorf("activity = %+v", a)
			}
			s.pass(time.Minute)
			if again := s.history(); len(again) != 6 {
				t.Errorf("after a minute %d activities, want 6", len(again))
			}
		})
	}
}

// During a shortage in one zone the group launches in the others; after its end, the group balances its
// zones.
func TestGroupLeavesAndComesBackToAZone(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.cause(`{"kind": "no-capacity", "zones": ["us-west-2a"], "for": "10m"}`)
	s.group(4)
	s.settle()
	s.check("short", s.members(), "b InService 2, c InService 2")
	s.settle()
	for range 4 {
		s.settle()
	}
	text := s.members()
	if !strings.Contains(text, "a InService") || strings.Count(text, "InService") != 3 || len(s.described().Instances) != 4 {
		t.Errorf("after the shortage: %s", text)
	}
}

// policyOf is a mixed instances policy with a share on demand.
func policyOf(percentage int32, kinds ...string) *asgtypes.MixedInstancesPolicy {
	p := &asgtypes.MixedInstancesPolicy{
		LaunchTemplate:        &asgtypes.LaunchTemplate{LaunchTemplateSpecification: &asgtypes.LaunchTemplateSpecification{LaunchTemplateName: sdk.String("nodes"), Version: sdk.String("$Latest")}},
		InstancesDistribution: &asgtypes.InstancesDistribution{OnDemandPercentageAboveBaseCapacity: &percentage, SpotAllocationStrategy: sdk.String("price-capacity-optimized")},
	}
	for _, kind := range kinds {
		name, weight, _ := strings.Cut(kind, "*")
		o := asgtypes.LaunchTemplateOverrides{InstanceType: &name}
		if weight != "" {
			o.WeightedCapacity = &weight
		}
		p.LaunchTemplate.Overrides = append(p.LaunchTemplate.Overrides, o)
	}
	return p
}

// A mixed group has its base and its share on demand, in the order of its overrides; the rest is spot.
func TestMixedGroups(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.group(5, func(in *autoscaling.CreateAutoScalingGroupInput) {
		in.LaunchTemplate, in.MixedInstancesPolicy = nil, policyOf(50, "m5.xlarge", "m5.large")
		in.MixedInstancesPolicy.InstancesDistribution.OnDemandBaseCapacity = sdk.Int32(1)
	})
	s.settle()
	counts := map[string]int{}
	for _, i := range s.described().Instances {
		described := s.instance(*i.InstanceId)
		counts[string(described.InstanceLifecycle)]++
		if described.InstanceLifecycle == "" && *i.InstanceType != "m5.xlarge" {
			t.Errorf("on demand is %s, want the first override", *i.InstanceType)
		}
	}
	if counts[""] != 3 || counts["spot"] != 2 {
		t.Errorf("on demand and spot = %v", counts)
	}
	d := s.described().MixedInstancesPolicy
	if *d.InstancesDistribution.OnDemandAllocationStrategy != "prioritized" || len(d.LaunchTemplate.Overrides) != 2 || d.LaunchTemplate.LaunchTemplateSpecification.LaunchTemplateId == nil {
		t.Errorf("policy = %+v", d)
	}
}

// With weights the desired capacity counts units, and a launch may exceed it.
func TestWeightedGroups(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.group(5, func(in *autoscaling.CreateAutoScalingGroupInput) {
		in.LaunchTemplate, in.MixedInstancesPolicy = nil, policyOf(100, "m5.xlarge*2")
	})
	s.settle()
	if all := s.described().Instances; len(all) != 3 || *all[0].WeightedCapacity != "2" {
		t.Errorf("instances = %+v, want three of weight 2", all)
	}
}

// Groups are found by name and by tags, which must all match, page by page.
func TestGroupsAreFound(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	for _, name := range []string{"b", "a", "c"} {
		s.group(0, func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.AutoScalingGroupName = &name
			in.Tags = []asgtypes.Tag{{Key: sdk.String("enabled"), Value: sdk.String("true")}, {Key: sdk.String("name"), Value: &name}}
		})
	}
	find := func(filters ...asgtypes.Filter) (names []string) {
		p := autoscaling.NewDescribeAutoScalingGroupsPaginator(s.Client, &autoscaling.DescribeAutoScalingGroupsInput{MaxRecords: sdk.Int32(1), Filters: filters})
		for p.HasMorePages() {
			for _, g := range got(p.NextPage(t.Context()))(t).AutoScalingGroups {
				names = append(names, *g.AutoScalingGroupName)
			}
		}
		return names
	}
	enabled := asgtypes.Filter{Name: sdk.String("tag-key"), Values: []string{"enabled"}}
	s.check("all", strings.Join(find(), " "), "a b c")
	s.check("two filters", strings.Join(find(enabled, asgtypes.Filter{Name: sdk.String("tag:name"), Values: []string{"b", "c"}}), " "), "b c")
	change := []asgtypes.Tag{{Key: sdk.String("enabled"), ResourceId: sdk.String("b"), ResourceType: sdk.String("auto-scaling-group")}}
	got(s.DeleteTags(t.Context(), &autoscaling.DeleteTagsInput{Tags: change}))(t)
	s.check("one without the tag", strings.Join(find(enabled), " "), "a c")
	change[0].Value, change[0].PropagateAtLaunch = sdk.String("again"), sdk.Bool(true)
	got(s.CreateOrUpdateTags(t.Context(), &autoscaling.CreateOrUpdateTagsInput{Tags: change}))(t)
	list := got(s.DescribeTags(t.Context(), &autoscaling.DescribeTagsInput{Filters: []asgtypes.Filter{{Name: sdk.String("auto-scaling-group"), Values: []string{"b"}}}}))(t).Tags
	if len(list) != 2 || *list[0].Value != "again" || !*list[0].PropagateAtLaunch {
		t.Errorf("tags = %+v", list)
	}
}

// "You cannot delete an Auto Scaling group that has instances" unless the deletion is forced; the history
// remains.
func TestGroupsAreDeleted(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.group(2)
	s.settle()
	name := sdk.String("g")
	if _, err := s.DeleteAutoScalingGroup(t.Context(), &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: name}); code(err) != "ResourceInUse" {
		t.Errorf("with instances: %s", code(err))
	}
	got(s.DeleteAutoScalingGroup(t.Context(), &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: name, ForceDelete: sdk.Bool(true)}))(t)
	s.check("status", sdk.ToString(s.described().Status), "Delete in progress")
	if err := s.desire(1); code(err) != "ValidationError" {
		t.Errorf("a size for a group that is deleted: %v", err)
	}
	s.settle()
	if _, err := s.DescribeScalingActivities(t.Context(), &autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: name}); code(err) != "ValidationError" {
		t.Errorf("history of a group that is gone: %s", code(err))
	}
	history := got(s.DescribeScalingActivities(t.Context(), &autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: name, IncludeDeletedGroups: sdk.Bool(true)}))(t).Activities
	if len(history) != 4 || history[0].StatusCode != "Successful" {
		t.Errorf("history = %+v", history)
	}
}

// "HonorCooldown: Indicates whether Amazon EC2 Auto Scaling waits for the cooldown period to complete."
func TestCooldown(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.group(1, func(in *autoscaling.CreateAutoScalingGroupInput) { in.DefaultCooldown = sdk.Int32(600) })
	s.settle()
	in := &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: sdk.String("g"), DesiredCapacity: sdk.Int32(2), HonorCooldown: sdk.Bool(true)}
	if _, err := s.SetDesiredCapacity(t.Context(), in); code(err) != "ScalingActivityInProgress" {
		t.Errorf("in the cooldown: %s", code(err))
	}
	s.settle()
	s.settle()
	got(s.SetDesiredCapacity(t.Context(), in))(t)
}

// Groups may launch from launch configurations, which have no versions.
func TestLaunchConfigurations(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	config := &autoscaling.CreateLaunchConfigurationInput{LaunchConfigurationName: sdk.String("old"), ImageId: &s.world.image, InstanceType: sdk.String("m5.xlarge"), SecurityGroups: []string{s.world.group}}
	got(s.CreateLaunchConfiguration(t.Context(), config))(t)
	s.group(1, func(in *autoscaling.CreateAutoScalingGroupInput) {
		in.LaunchTemplate, in.LaunchConfigurationName = nil, sdk.String("old")
	})
	s.settle()
	if i := s.described().Instances[0]; *i.InstanceType != "m5.xlarge" || *i.LaunchConfigurationName != "old" || i.LaunchTemplate != nil {
		t.Errorf("instance = %+v", i)
	}
	found := got(s.DescribeLaunchConfigurations(t.Context(), &autoscaling.DescribeLaunchConfigurationsInput{LaunchConfigurationNames: []string{"old"}}))(t).LaunchConfigurations
	if len(found) != 1 || *found[0].InstanceType != "m5.xlarge" || *found[0].ImageId != s.world.image {
		t.Errorf("configurations = %+v", found)
	}
	if _, err := s.DeleteLaunchConfiguration(t.Context(), &autoscaling.DeleteLaunchConfigurationInput{LaunchConfigurationName: sdk.String("old")}); code(err) != "ResourceInUse" {
		t.Errorf("deleted while a group uses it: %s", code(err))
	}
	list := got(s.DescribeAutoScalingInstances(t.Context(), &autoscaling.DescribeAutoScalingInstancesInput{}))(t).AutoScalingInstances
	if len(list) != 1 || *list[0].AutoScalingGroupName != "g" || *list[0].HealthStatus != "HEALTHY" {
		t.Errorf("instances = %+v", list)
	}
}

// A group whose template is gone reports that, and continues when it has another.
func TestGroupWithoutItsTemplate(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	s.group(0)
	got(s.ec2().DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: sdk.String("nodes")}))(t)
	if err := s.desire(1); err != nil {
		t.Fatal(err)
	}
	s.pass(10 * time.Second)
	if a := s.history()[0]; a.StatusCode != "Failed" || !strings.HasPrefix(*a.StatusMessage, "You must use a valid fully-formed launch template.") {
		t.Errorf("activity = %+v", a)
	}
	s.template(s.world, "others", func(d *types.RequestLaunchTemplateData) { d.InstanceType = "m5.large" })
	got(s.UpdateAutoScalingGroup(t.Context(), &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: sdk.String("g"), LaunchTemplate: &asgtypes.LaunchTemplateSpecification{LaunchTemplateName: sdk.String("others")}}))(t)
	s.settle()
	if i := s.described().Instances; len(i) != 1 || *i[0].LaunchTemplate.LaunchTemplateName != "others" {
		t.Errorf("instances = %+v", i)
	}
}
