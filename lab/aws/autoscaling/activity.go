package autoscaling

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tenon/lab/aws/accounts"
)

type activitiesInput struct {
	paging
	Name           string   `query:"AutoScalingGroupName"`
	IDs            []string `query:"ActivityIds"`
	IncludeDeleted bool     `query:"IncludeDeletedGroups"`
}

type activitiesOutput struct {
	Activities []activityItem `xml:"Activities>member"`
	Next       string         `xml:"NextToken,omitempty"`
}

type activityItem struct {
	ID          string `xml:"ActivityId"`
	Group       string `xml:"AutoScalingGroupName"`
	Description string `xml:"Description"`
	Cause       string `xml:"Cause"`
	Start       string `xml:"StartTime"`
	End         string `xml:"EndTime,omitempty"`
	Status      string `xml:"StatusCode"`
	Message     string `xml:"StatusMessage,omitempty"`
	Progress    int    `xml:"Progress"`
	Details     string `xml:"Details"`
}

func itemOfActivity(a *accounts.Activity) activityItem {
	return activityItem{
		a.ID, a.Group, a.Description, a.Cause, stamp(a.Start), optionalStamp(a.End), a.Status, a.Message, a.Progress, a.Details,
	}
}

// activities lists activities, the newest first.
func activities(r *accounts.Region, in *activitiesInput) (*activitiesOutput, error) {
	all, err := r.ActivitiesOf(in.Name, in.IncludeDeleted)
	if err != nil {
		return nil, err
	}
	var found []*accounts.Activity
	for _, a := range all {
		if len(in.IDs) == 0 || slices.Contains(in.IDs, a.ID) {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b *accounts.Activity) int { return cmp.Compare(b.Number, a.Number) })
	cut, next, err := page(found, func(a *accounts.Activity) string { return fmt.Sprintf("%020d", math.MaxInt64-a.Number) }, in.paging)
	out := &activitiesOutput{Next: next}
	for _, a := range cut {
		out.Activities = append(out.Activities, itemOfActivity(a))
	}
	return out, err
}
