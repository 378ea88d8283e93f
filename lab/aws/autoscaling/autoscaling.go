// Package autoscaling is the wire face of Auto Scaling, as far as it describes.
package autoscaling

import (
	"cmp"
	"slices"
	"strconv"

	"tenon/lab/aws/accounts"
	"tenon/lab/aws/wire"
)

// Service is Auto Scaling on the given world.
func Service(w *accounts.World) *wire.Service {
	return &wire.Service{
		Name: "autoscaling", Protocol: wire.Query, Version: "2011-01-01", Namespace: "http://autoscaling.amazonaws.com/doc/2011-01-01/",
		Operations: map[string]wire.Handler{
			"DescribeAutoScalingGroups":    on(w, groups),
			"DescribeAutoScalingInstances": on(w, instances),
			"DescribeScalingActivities":    on(w, activities),
			"DescribeLaunchConfigurations": on(w, configurations),
			"DescribeTags":                 on(w, tags),
		},
	}
}

func on[In, Out any](w *accounts.World, do func(*accounts.Region, *In) (*Out, error)) wire.Handler {
	return wire.Operation(func(c *wire.Call, in *In) (out *Out, err error) {
		err = w.Do(c.Account, c.Region, func(r *accounts.Region) error {
			out, err = do(r, in)
			return err
		})
		return out, err
	})
}

type filter struct {
	Name   string
	Values []string
}

type paging struct {
	MaxRecords *int
	NextToken  string
}

type groupsInput struct {
	paging
	Names            []string `query:"AutoScalingGroupNames"`
	Filters          []filter
	IncludeInstances bool
}

type groupsOutput struct {
	Groups []groupItem `xml:"AutoScalingGroups>member"`
	Next   string      `xml:"NextToken,omitempty"`
}

type groupItem struct {
	Name     string    `xml:"AutoScalingGroupName"`
	ARN      string    `xml:"AutoScalingGroupARN"`
	Min      int       `xml:"MinSize"`
	Max      int       `xml:"MaxSize"`
	Desired  int       `xml:"DesiredCapacity"`
	Cooldown int       `xml:"DefaultCooldown"`
	Zones    []string  `xml:"AvailabilityZones>member"`
	Health   string    `xml:"HealthCheckType"`
	Created  string    `xml:"CreatedTime"`
	Template string    `xml:"LaunchTemplate>LaunchTemplateName,omitempty"`
	Version  string    `xml:"LaunchTemplate>Version,omitempty"`
	Tags     []tagItem `xml:"Tags>member"`
}

type tagItem struct {
	Resource string `xml:"ResourceId"`
	Kind     string `xml:"ResourceType"`
	Key      string `xml:"Key"`
	Value    string `xml:"Value"`
	AtLaunch bool   `xml:"PropagateAtLaunch"`
}

func tagsOf(g accounts.ScalingGroup) (items []tagItem) {
	for _, t := range g.Tags {
		items = append(items, tagItem{g.Name, "auto-scaling-group", t.Key, t.Value, true})
	}
	return items
}

func groups(r *accounts.Region, in *groupsInput) (*groupsOutput, error) {
	var filters []wire.Filter
	for _, f := range in.Filters {
		filters = append(filters, wire.Filter(f))
	}
	var found []accounts.ScalingGroup
	for _, g := range r.ScalingGroups(in.Names) {
		ok, err := wire.Match(filters, nil, g.Tags)
		if err != nil {
			return nil, wire.Errorf("ValidationError", "The filter is invalid: it must be tag-key, tag-value or tag:<key>.")
		}
		if ok {
			found = append(found, g)
		}
	}
	page, next, err := wire.Page(found, func(g accounts.ScalingGroup) string { return g.Name }, in.MaxRecords, in.NextToken, wire.Limits{Min: 1, Max: 100})
	out := &groupsOutput{Next: next}
	for _, g := range page {
		item := groupItem{
			Name: g.Name, ARN: r.ARN("autoscaling", "autoScalingGroup:"+strconv.Itoa(len(g.Name))+":autoScalingGroupName/"+g.Name), Min: g.Min, Max: g.Max,
			Desired: g.Desired, Cooldown: 300, Zones: g.Zones, Health: "EC2", Created: "2026-01-01T00:00:00Z", Tags: tagsOf(g),
		}
		if g.Template != "" {
			item.Template, item.Version = g.Template, "$Latest"
		}
		out.Groups = append(out.Groups, item)
	}
	return out, err
}

type instancesInput struct {
	paging
	IDs []string `query:"InstanceIds"`
}

type instancesOutput struct {
	Instances []string `xml:"AutoScalingInstances>member"`
}

// instances are none: the groups of the emulator launch nothing.
func instances(*accounts.Region, *instancesInput) (*instancesOutput, error) {
	return &instancesOutput{}, nil
}

type activitiesInput struct {
	paging
	Name           string   `query:"AutoScalingGroupName"`
	IDs            []string `query:"ActivityIds"`
	IncludeDeleted bool     `query:"IncludeDeletedGroups"`
}

type activitiesOutput struct {
	Activities []string `xml:"Activities>member"`
}

func activities(r *accounts.Region, in *activitiesInput) (*activitiesOutput, error) {
	if in.Name != "" && len(r.ScalingGroups([]string{in.Name})) == 0 {
		return nil, wire.Errorf("ValidationError", "AutoScalingGroup name not found - AutoScalingGroup %s not found", in.Name)
	}
	return &activitiesOutput{}, nil
}

type configurationsInput struct {
	paging
	Names []string `query:"LaunchConfigurationNames"`
}

type configurationsOutput struct {
	Configurations []string `xml:"LaunchConfigurations>member"`
}

// configurations are none: they are of the past, groups have launch templates.
func configurations(*accounts.Region, *configurationsInput) (*configurationsOutput, error) {
	return &configurationsOutput{}, nil
}

type tagsInput struct {
	paging
	Filters []filter
}

type tagsOutput struct {
	Tags []tagItem `xml:"Tags>member"`
	Next string    `xml:"NextToken,omitempty"`
}

// tags are those that pass the filters on group, key and value.
func tags(r *accounts.Region, in *tagsInput) (*tagsOutput, error) {
	var filters []wire.Filter
	for _, f := range in.Filters {
		filters = append(filters, wire.Filter(f))
	}
	var found []tagItem
	for _, g := range r.ScalingGroups(nil) {
		for _, t := range tagsOf(g) {
			ok, err := wire.Match(filters, wire.Attributes{"auto-scaling-group": {g.Name}, "key": {t.Key}, "value": {t.Value}, "propagate-at-launch": {"true"}}, nil)
			if err != nil {
				return nil, wire.Errorf("ValidationError", "Filter type is not correct. Allowed Filter types are: auto-scaling-group key value propagate-at-launch")
			}
			if ok {
				found = append(found, t)
			}
		}
	}
	key := func(t tagItem) string { return t.Resource + " " + t.Key }
	slices.SortFunc(found, func(a, b tagItem) int { return cmp.Compare(key(a), key(b)) })
	page, next, err := wire.Page(found, key, in.MaxRecords, in.NextToken, wire.Limits{Min: 1, Max: 100})
	return &tagsOutput{page, next}, err
}
