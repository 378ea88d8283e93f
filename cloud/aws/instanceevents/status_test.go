package instanceevents_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/cloud/aws/api"
	"tenon/cloud/aws/instanceevents"
)

// planned is EC2 with one scheduled event of one instance.
type planned struct {
	api.EC2Instances
	description *string
}

func (p planned) DescribeInstanceStatus(_ context.Context, in *ec2.DescribeInstanceStatusInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceStatusOutput, error) {
	out := &ec2.DescribeInstanceStatusOutput{}
	if aws.ToString(in.Filters[0].Name) == "event.code" {
		out.InstanceStatuses = []types.InstanceStatus{{InstanceId: aws.String("i-1"), Events: []types.InstanceStatusEvent{{Code: types.EventCodeSystemReboot, Description: p.description}}}}
	}
	return out, nil
}

// An event that is over is no reason to replace an instance. The AWS SDK says (ec2 v1.344.0, InstanceStatusEvent.Description): "After a scheduled
// event is completed, it can still be described for up to a week. If the event has been completed, this description starts with the following
// text: [Completed]." EC2 User Guide, "View scheduled events that affect your Amazon EC2 instances", in an example of a cancelled one: "Description" :
// "[Canceled] scheduled reboot".
func TestEventsThatAreOver(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		description *string
		want        string
	}{
		"to come":               {aws.String("The instance will be rebooted"), "[{i-1 EventStatus}]"},
		"without a description": {nil, "[{i-1 EventStatus}]"},
		"completed":             {aws.String("[Completed] The instance will be rebooted"), "[]"},
		"cancelled":             {aws.String("[Canceled] The instance will be rebooted"), "[]"},
	} {
		ill, err := instanceevents.Poll(t.Context(), planned{description: tc.description}, time.Now())
		if got := fmt.Sprint(ill); err != nil || got != tc.want {
			t.Errorf("%s: %s, error %v, want %s", name, got, err, tc.want)
		}
	}
}
