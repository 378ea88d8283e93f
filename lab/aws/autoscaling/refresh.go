package autoscaling

import (
	"slices"

	"tenon/lab/aws/accounts"
)

type startRefreshInput struct {
	name
	Strategy    string
	Preferences accounts.RefreshPreferences
}

type refreshOutput struct {
	ID string `xml:"InstanceRefreshId"`
}

func startRefresh(r *accounts.Region, in *startRefreshInput) (*refreshOutput, error) {
	f, err := r.StartRefresh(in.Name, in.Preferences)
	if err != nil {
		return nil, err
	}
	return &refreshOutput{f.ID}, nil
}

type cancelRefreshInput struct{ name }

func cancelRefresh(r *accounts.Region, in *cancelRefreshInput) (*refreshOutput, error) {
	f, err := r.CancelRefresh(in.Name)
	if err != nil {
		return nil, err
	}
	return &refreshOutput{f.ID}, nil
}

type refreshesInput struct {
	name
	IDs []string `query:"InstanceRefreshIds"`
}

type refreshesOutput struct {
	Refreshes []refreshItem `xml:"InstanceRefreshes>member"`
}

type refreshItem struct {
	ID          string                      `xml:"InstanceRefreshId"`
	Group       string                      `xml:"AutoScalingGroupName"`
	Status      string                      `xml:"Status"`
	Reason      string                      `xml:"StatusReason,omitempty"`
	Start       string                      `xml:"StartTime"`
	End         string                      `xml:"EndTime,omitempty"`
	Percentage  int                         `xml:"PercentageComplete"`
	Left        int                         `xml:"InstancesToUpdate"`
	Preferences accounts.RefreshPreferences `xml:"Preferences"`
	Strategy    string                      `xml:"Strategy"`
}

func refreshes(r *accounts.Region, in *refreshesInput) (*refreshesOutput, error) {
	g, err := r.ScalingGroup(in.Name)
	if err != nil {
		return nil, err
	}
	out := &refreshesOutput{}
	for _, f := range g.Refreshes {
		if len(in.IDs) > 0 && !slices.Contains(in.IDs, f.ID) {
			continue
		}
		percentage, left := f.Replaced()
		out.Refreshes = append(out.Refreshes, refreshItem{
			f.ID, g.Name, f.Status, f.Reason, stamp(f.Start), optionalStamp(f.End), percentage, left, f.Preferences, "Rolling",
		})
	}
	return out, nil
}
