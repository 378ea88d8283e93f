package autoscaling

import (
	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

// name holds the group that a request is about.
type name struct {
	Name string `query:"AutoScalingGroupName"`
}

type createGroupInput struct {
	name
	accounts.GroupSpec
	Tags  []tagItem
	Hooks []accounts.Hook `query:"LifecycleHookSpecificationList"`
}

func createGroup(r *accounts.Region, in *createGroupInput) (*done, error) {
	if _, err := r.CreateScalingGroup(in.Name, in.GroupSpec, groupTags(in.Tags)); err != nil {
		return nil, err
	}
	for _, h := range in.Hooks {
		if err := r.PutHook(in.Name, h); err != nil {
			return nil, err
		}
	}
	return &done{}, nil
}

type updateGroupInput struct {
	name
	accounts.GroupSpec
}

func updateGroup(r *accounts.Region, in *updateGroupInput) (*done, error) {
	return nothing(r.UpdateScalingGroup(in.Name, in.GroupSpec))
}

type deleteGroupInput struct {
	name
	ForceDelete bool
}

func deleteGroup(r *accounts.Region, in *deleteGroupInput) (*done, error) {
	return nothing(r.DeleteScalingGroup(in.Name, in.ForceDelete))
}

type setDesiredInput struct {
	name
	Desired       int `query:"DesiredCapacity"`
	HonorCooldown bool
}

func setDesired(r *accounts.Region, in *setDesiredInput) (*done, error) {
	return nothing(r.SetDesired(in.Name, in.Desired, in.HonorCooldown))
}

type processesInput struct {
	name
	Processes []string `query:"ScalingProcesses"`
}

func suspend(r *accounts.Region, in *processesInput) (*done, error) {
	return nothing(r.SuspendProcesses(in.Name, in.Processes))
}

func resume(r *accounts.Region, in *processesInput) (*done, error) {
	return nothing(r.ResumeProcesses(in.Name, in.Processes))
}

type groupsInput struct {
	paging
	Names            []string `query:"AutoScalingGroupNames"`
	Filters          []filter
	IncludeInstances *bool
}

type groupsOutput struct {
	Groups []groupItem `xml:"AutoScalingGroups>member"`
	Next   string      `xml:"NextToken,omitempty"`
}

type groupItem struct {
	Name    string `xml:"AutoScalingGroupName"`
	ARN     string `xml:"AutoScalingGroupARN"`
	Created string `xml:"CreatedTime"`
	Status  string `xml:"Status,omitempty"`
	accounts.GroupSpec
	Instances []memberItem                `xml:"Instances>member"`
	Suspended []accounts.SuspendedProcess `xml:"SuspendedProcesses>member"`
	Tags      []tagItem                   `xml:"Tags>member"`
	Warm      *accounts.WarmPool          `xml:"WarmPoolConfiguration"`
	WarmSize  int                         `xml:"WarmPoolSize"`
}

func groups(r *accounts.Region, in *groupsInput) (*groupsOutput, error) {
	filters := filtersOf(in.Filters)
	var found []*accounts.ScalingGroup
	for _, g := range r.ScalingGroups(in.Names) {
		ok, err := wire.Match(filters, nil, g.PlainTags())
		if err != nil {
			return nil, wire.Errorf("ValidationError", "The filter is invalid: it must be tag-key, tag-value or tag:<key>.")
		}
		if ok {
			found = append(found, g)
		}
	}
	cut, next, err := page(found, func(g *accounts.ScalingGroup) string { return g.Name }, in.paging)
	out := &groupsOutput{Next: next}
	for _, g := range cut {
		item := itemOfGroup(r, g)
		if in.IncludeInstances != nil && !*in.IncludeInstances {
			item.Instances = nil
		}
		out.Groups = append(out.Groups, item)
	}
	return out, err
}

func itemOfGroup(r *accounts.Region, g *accounts.ScalingGroup) groupItem {
	item := groupItem{
		Name: g.Name, ARN: r.GroupARN(g), Created: stamp(g.Created), Status: g.Status, GroupSpec: r.Told(g.Spec), Suspended: g.Suspended, Tags: tagsOf(g),
		Warm: g.Warm, WarmSize: len(g.Prepared),
	}
	for _, m := range g.Members {
		item.Instances = append(item.Instances, itemOfMember(m))
	}
	return item
}
