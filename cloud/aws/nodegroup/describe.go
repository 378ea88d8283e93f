package nodegroup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"tenon/cloud"
	"tenon/core/order"
)

// perCall is how many groups one call describes at most.
const perCall = 100

// describe finds the named groups and the discovered ones, each once, sorted by name.
func (r *Reader) describe(ctx context.Context) ([]types.AutoScalingGroup, error) {
	var found []types.AutoScalingGroup
	for names := range slices.Chunk(r.Named(), perCall) {
		list, err := r.pages(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: names, MaxRecords: aws.Int32(perCall)})
		if err != nil {
			return nil, &failed{"describe the Auto Scaling groups that are named", describing, err}
		}
		found = append(found, list...)
	}
	if len(r.Discovery.Tags) > 0 {
		list, err := r.pages(ctx, &autoscaling.DescribeAutoScalingGroupsInput{Filters: filters(r.Discovery.Tags), MaxRecords: aws.Int32(perCall)})
		if err != nil {
			return nil, &failed{"discover Auto Scaling groups by their tags", describing, err}
		}
		found = append(found, list...)
	}
	found = slices.DeleteFunc(found, func(g types.AutoScalingGroup) bool { return aws.ToString(g.AutoScalingGroupName) == "" })
	byName := func(a, b types.AutoScalingGroup) int {
		return strings.Compare(*a.AutoScalingGroupName, *b.AutoScalingGroupName)
	}
	slices.SortStableFunc(found, byName)
	return slices.CompactFunc(found, func(a, b types.AutoScalingGroup) bool { return byName(a, b) == 0 }), nil
}

func (r *Reader) pages(ctx context.Context, in *autoscaling.DescribeAutoScalingGroupsInput) ([]types.AutoScalingGroup, error) {
	var found []types.AutoScalingGroup
	for pages := autoscaling.NewDescribeAutoScalingGroupsPaginator(r.Clients.AutoScaling, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, page.AutoScalingGroups...)
	}
	return found, nil
}

// filters returns filters for groups that have all the tags. Several values of one filter would be
// alternatives, so each key has its own filter.
func filters(tags map[string]string) []types.Filter {
	var list []types.Filter
	for _, key := range order.Keys(tags) {
		if tags[key] == "" {
			list = append(list, types.Filter{Name: aws.String("tag-key"), Values: []string{key}})
		} else {
			list = append(list, types.Filter{Name: aws.String("tag:" + key), Values: []string{tags[key]}})
		}
	}
	return list
}

// group converts a described group and adds what the reader knows of its template.
func (r *Reader) group(g *types.AutoScalingGroup) cloud.Group {
	name := *g.AutoScalingGroupName
	out := cloud.Group{
		Name: name, Min: int64(aws.ToInt32(g.MinSize)), Max: int64(aws.ToInt32(g.MaxSize)), Desired: int64(aws.ToInt32(g.DesiredCapacity)),
		Zones: slices.Sorted(slices.Values(g.AvailabilityZones)), CapacityTypes: []string{},
	}
	if s, is := r.Discovery.static(name); is {
		out.Min, out.Max = s.Min, s.Max
	}
	out.Problems = problems(g, &out)
	t, known := r.templates[name]
	if !known {
		t = template{problems: []cloud.GroupProblem{{
			Effect: cloud.Unknown, Reason: "NotLookedUp", Message: "what the group launches has not been looked up yet", Remedy: "wait a minute: a few groups are looked up at a time",
		}}}
	}
	r.describeNext(&out, g, t)
	for i := range g.Instances {
		out.Instances = append(out.Instances, r.instance(&g.Instances[i]))
	}
	slices.SortFunc(out.Instances, func(a, b cloud.GroupInstance) int { return cmp.Compare(a.ProviderID, b.ProviderID) })
	return out
}

func (r *Reader) instance(i *types.Instance) cloud.GroupInstance {
	zone, id, name := aws.ToString(i.AvailabilityZone), aws.ToString(i.InstanceId), aws.ToString(i.InstanceType)
	price, _ := r.Prices().OnDemand(name)
	return cloud.GroupInstance{ProviderID: "aws:///" + zone + "/" + id, InstanceType: name, Zone: zone, State: stateOf(i.LifecycleState), Price: price}
}

func stateOf(s types.LifecycleState) cloud.State {
	switch {
	case strings.HasPrefix(string(s), "Terminat"):
		return cloud.Terminating
	case s == types.LifecycleStateInService:
		return cloud.Running
	case strings.HasPrefix(string(s), "Pending"):
		return cloud.Pending
	}
	return cloud.Stopped // Standby, Detached and the like: the instance is listed but does not serve the group
}

// owners lists prefixes of tags by which other services mark the groups that they manage.
var owners = map[string]string{
	"elasticbeanstalk:": "Elastic Beanstalk", "AmazonECSManaged": "an ECS capacity provider", "aws:batch:": "AWS Batch", "AWSBatchServiceTag": "AWS Batch",
}

// problems returns the problems that the description of a group shows.
func problems(g *types.AutoScalingGroup, as *cloud.Group) []cloud.GroupProblem {
	var found []cloud.GroupProblem
	note := func(effect cloud.GroupEffect, reason, message, remedy string) {
		found = append(found, cloud.GroupProblem{Effect: effect, Reason: reason, Message: message, Remedy: remedy})
	}
	if weighted(g.MixedInstancesPolicy) {
		note(cloud.Unsupported, "WeightedCapacity", "the overrides of the group have weights, so that its desired capacity is no number of nodes",
			"take weightedCapacity out of the overrides of the mixed instances policy")
	}
	if unit := aws.ToString(g.DesiredCapacityType); unit != "" && unit != "units" {
		note(cloud.Unsupported, "CapacityInOtherUnits", "the desired capacity of the group counts "+unit+" and not instances", "set the group's desired capacity type to units")
	}
	for _, t := range g.Tags {
		for _, prefix := range order.Keys(owners) {
			if strings.HasPrefix(aws.ToString(t.Key), prefix) {
				note(cloud.Unsupported, "OwnedByAnotherService", fmt.Sprintf("the tag %s says that the group belongs to %s", aws.ToString(t.Key), owners[prefix]),
					"take the group out of --nodes, or its discovery tags off; if it does not belong there any more, take that tag off")
			}
		}
	}
	if aws.ToInt32(g.DesiredCapacity) > aws.ToInt32(g.MaxSize) || as.Desired > as.Max {
		note(cloud.Unsupported, "AboveMaximum", fmt.Sprintf("the group has a desired size of %d and may have %d", as.Desired, as.Max), "raise the maximum of the group or in --nodes")
	}
	if own := int64(aws.ToInt32(g.MaxSize)); as.Max > own {
		note(cloud.Hindered, "MaximumOutOfRange", fmt.Sprintf("--nodes allows %d, and the group itself %d", as.Max, own), "raise the maximum of the group, or lower it in --nodes")
	}
	suspended := map[string]bool{}
	for _, p := range g.SuspendedProcesses {
		suspended[aws.ToString(p.ProcessName)] = true
	}
	for _, process := range []string{"Launch", "Terminate"} {
		if suspended[process] {
			note(cloud.Unsupported, "ProcessSuspended", "the process "+process+" of the group is suspended", "aws autoscaling resume-processes --scaling-processes "+process+" --auto-scaling-group-name "+as.Name)
		}
	}
	if len(g.AvailabilityZones) > 1 && !suspended["AZRebalance"] {
		note(cloud.Hindered, "ZonesAreRebalanced", "the group has several zones, and AWS terminates instances that work to make them even",
			"aws autoscaling suspend-processes --scaling-processes AZRebalance --auto-scaling-group-name "+as.Name)
	}
	return found
}

func weighted(policy *types.MixedInstancesPolicy) bool {
	return policy != nil && policy.LaunchTemplate != nil && slices.ContainsFunc(policy.LaunchTemplate.Overrides, func(o types.LaunchTemplateOverrides) bool {
		return aws.ToString(o.WeightedCapacity) != "" && aws.ToString(o.WeightedCapacity) != "1"
	})
}
