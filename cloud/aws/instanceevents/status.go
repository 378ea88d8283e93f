package instanceevents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/cloud/aws/api"
)

// Category is the kind of problem that an instance has, as metrics name it.
type Category string

// The categories, and how EC2's checks and scheduled events map to them. (As in Karpenter.)
const (
	InstanceStatus Category = "InstanceStatus"
	SystemStatus   Category = "SystemStatus"
	EventStatus    Category = "EventStatus"
)

// Forceful reports whether it is too late to evict the instance's pods politely.
func (c Category) Forceful() bool { return c != EventStatus }

// Reason is the metrics' name for a removal in this category.
func (c Category) Reason() string {
	switch c {
	case InstanceStatus:
		return "instance_status"
	case SystemStatus:
		return "system_status"
	}
	return "event_status"
}

// Illness is one problem of one instance.
type Illness struct {
	Instance string
	Category Category
}

// ErrForbidden means that Tenon may not read the status of instances.
var ErrForbidden = errors.New("reading the status of instances is not permitted")

// tolerated is how long a check may fail before Poll reports it.
const tolerated = 120 * time.Second

// events lists EC2's scheduled events that end or stop an instance.
var events = []string{"instance-reboot", "system-reboot", "system-maintenance", "instance-retirement", "instance-stop"}

// Poll asks EC2 for all unhealthy instances of the account, including those of other clusters.
func Poll(ctx context.Context, client api.EC2Instances, now time.Time) ([]Illness, error) {
	var found []Illness
	for _, filter := range []types.Filter{
		{Name: aws.String("instance-status.status"), Values: []string{"impaired"}},
		{Name: aws.String("system-status.status"), Values: []string{"impaired"}},
		{Name: aws.String("event.code"), Values: events},
	} {
		pages := ec2.NewDescribeInstanceStatusPaginator(client, &ec2.DescribeInstanceStatusInput{Filters: []types.Filter{filter}})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			switch {
			case api.IsUnauthorized(err):
				return nil, fmt.Errorf("%w: %w", ErrForbidden, err)
			case err != nil:
				return nil, fmt.Errorf("describe the status of instances: %w", err)
			}
			for _, s := range page.InstanceStatuses {
				found = append(found, illnesses(s, now)...)
			}
		}
	}
	slices.SortFunc(found, func(a, b Illness) int {
		return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Category, b.Category))
	})
	return slices.Compact(found), nil
}

func illnesses(s types.InstanceStatus, now time.Time) []Illness {
	var found []Illness
	id := aws.ToString(s.InstanceId)
	if failing(s.InstanceStatus, now) {
		found = append(found, Illness{id, InstanceStatus})
	}
	if failing(s.SystemStatus, now) {
		found = append(found, Illness{id, SystemStatus})
	}
	if slices.ContainsFunc(s.Events, func(e types.InstanceStatusEvent) bool { return slices.Contains(events, string(e.Code)) && !over(e) }) {
		found = append(found, Illness{id, EventStatus})
	}
	return found
}

// over events are still described for up to a week; only their description says that they are over.
func over(e types.InstanceStatusEvent) bool {
	description := aws.ToString(e.Description)
	return strings.HasPrefix(description, "[Completed]") || strings.HasPrefix(description, "[Canceled]")
}

func failing(s *types.InstanceStatusSummary, now time.Time) bool {
	return s != nil && slices.ContainsFunc(s.Details, func(d types.InstanceStatusDetails) bool {
		return d.Status == types.StatusTypeFailed && d.ImpairedSince != nil && now.Sub(*d.ImpairedSince) >= tolerated
	})
}
