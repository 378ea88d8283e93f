package autoscaling

import (
	"cmp"
	"slices"
	"strconv"

	"tenon/lab/aws/accounts"
)

type memberItem struct {
	ID        string                  `xml:"InstanceId"`
	Type      string                  `xml:"InstanceType"`
	Zone      string                  `xml:"AvailabilityZone"`
	State     string                  `xml:"LifecycleState"`
	Health    string                  `xml:"HealthStatus"`
	Protected bool                    `xml:"ProtectedFromScaleIn"`
	Weight    string                  `xml:"WeightedCapacity,omitempty"`
	Template  *accounts.GroupTemplate `xml:"LaunchTemplate"`
	Config    string                  `xml:"LaunchConfigurationName,omitempty"`
}

func itemOfMember(m *accounts.Member) memberItem {
	i := m.Instance
	item := memberItem{
		ID: i.ID, Type: i.Type.Name, Zone: i.Subnet.Zone.Name, State: m.State, Health: m.Health(), Protected: m.Protected, Template: m.Template, Config: m.Config,
	}
	if m.Weight > 0 {
		item.Weight = strconv.Itoa(m.Weight)
	}
	return item
}

type instancesInput struct {
	paging
	IDs []string `query:"InstanceIds"`
}

type instancesOutput struct {
	Instances []detailItem `xml:"AutoScalingInstances>member"`
	Next      string       `xml:"NextToken,omitempty"`
}

type detailItem struct {
	Group string `xml:"AutoScalingGroupName"`
	memberItem
}

func instances(r *accounts.Region, in *instancesInput) (*instancesOutput, error) {
	found := r.GroupMembers(in.IDs)
	key := func(m *accounts.Member) string { return m.Instance.ID }
	slices.SortFunc(found, func(a, b *accounts.Member) int { return cmp.Compare(key(a), key(b)) })
	if in.MaxRecords == nil {
		usual := 50
		in.MaxRecords = &usual
	}
	cut, next, err := page(found, key, in.paging)
	out := &instancesOutput{Next: next}
	for _, m := range cut {
		item := detailItem{m.Group.Name, itemOfMember(m)}
		// These answers have the health in capitals.
		item.Health = map[bool]string{true: "UNHEALTHY", false: "HEALTHY"}[m.Unhealthy]
		out.Instances = append(out.Instances, item)
	}
	return out, err
}

type terminateInput struct {
	ID        string `query:"InstanceId"`
	Decrement *bool  `query:"ShouldDecrementDesiredCapacity"`
}

type activityOutput struct {
	Activity activityItem `xml:"Activity"`
}

func terminate(r *accounts.Region, in *terminateInput) (*activityOutput, error) {
	a, err := r.EndMember(in.ID, in.Decrement != nil && *in.Decrement)
	if err != nil {
		return nil, err
	}
	return &activityOutput{itemOfActivity(a)}, nil
}

type protectInput struct {
	name
	IDs       []string `query:"InstanceIds"`
	Protected bool     `query:"ProtectedFromScaleIn"`
}

func protect(r *accounts.Region, in *protectInput) (*done, error) {
	return nothing(r.ProtectMembers(in.Name, in.IDs, in.Protected))
}

type setHealthInput struct {
	ID           string `query:"InstanceId"`
	Health       string `query:"HealthStatus"`
	RespectGrace *bool  `query:"ShouldRespectGracePeriod"`
}

func setHealth(r *accounts.Region, in *setHealthInput) (*done, error) {
	return nothing(r.SetMemberHealth(in.ID, in.Health))
}
