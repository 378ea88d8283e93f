package nodegroup_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/smithy-go"

	"tenon/cloud"
	"tenon/cloud/aws/nodegroup"
	"tenon/cloud/conformance"
)

// TestConformance tries the laws of groups on Auto Scaling groups.
func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.RunGroups(t, func(*testing.T) conformance.GroupHarness {
		a := newAccount(group("web", running("i-1", "i-2")), group("other", nil))
		r, _ := reader(a, nodegroup.Discovery{Static: []nodegroup.Static{{Name: "web", Min: 1, Max: 4}, {Name: "other", Max: 9}}})
		return conformance.GroupHarness{
			Groups: r, Group: "web",
			Set:     func(n int64) { a.groups[0].DesiredCapacity = aws.Int32(int32(n)) },
			Desired: func() int64 { return int64(*a.groups[0].DesiredCapacity) },
			Writes:  func() int { return a.calls["SetDesiredCapacity"] },
			Ended:   func() int { return a.calls["TerminateInstanceInAutoScalingGroup"] },
		}
	})
}

// TestResizeFails: an error names the group and a missing permission, and the list that a caller has got does not change.
func TestResizeFails(t *testing.T) {
	t.Parallel()
	a := newAccount(group("web", nil))
	r, _ := reader(a, all)
	before, err := r.Groups(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Resize(context.Background(), "web", 2, 3); err != nil || before[0].Desired != 2 {
		t.Errorf("error %v, and the first list has a desired size of %d", err, before[0].Desired)
	}
	a.fail["SetDesiredCapacity web"] = &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}
	err = r.Resize(context.Background(), "web", 3, 4)
	if _, changed := errors.AsType[*cloud.GroupChanged](err); err == nil || changed || !strings.Contains(err.Error(), "Auto Scaling group web to 4: a permission is missing, allow the controller autoscaling:SetDesiredCapacity") {
		t.Errorf("error %v", err)
	}
	a.groups[0].DesiredCapacity = aws.Int32(4) // the answer was wrong
	if after, err := r.Groups(context.Background()); err != nil || after[0].Desired != 4 {
		t.Errorf("%v, error %v: AWS was not asked again", after, err)
	}
}

// running are instances of a group.
func running(ids ...string) func(*astypes.AutoScalingGroup) {
	return func(g *astypes.AutoScalingGroup) {
		for _, id := range ids {
			g.Instances = append(g.Instances, astypes.Instance{
				InstanceId: &id, AvailabilityZone: aws.String("us-west-2a"), InstanceType: aws.String("m5.large"), LifecycleState: astypes.LifecycleStateInService,
			})
		}
	}
}

// TestFailures: why a group lacks instances is what its newest launch says, if that failed.
func TestFailures(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	launch := func(code astypes.ScalingActivityStatusCode, message string) astypes.Activity {
		return astypes.Activity{Description: aws.String("Launching a new EC2 instance"), StatusCode: code, StatusMessage: &message, StartTime: &at}
	}
	const failed, done = astypes.ScalingActivityStatusCodeFailed, astypes.ScalingActivityStatusCodeSuccessful
	sold := "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Launching EC2 instance failed."
	cases := map[string]struct {
		activities []astypes.Activity
		instances  int
		want       string
	}{
		"nothing is missing":     {[]astypes.Activity{launch(failed, sold)}, 2, ""},
		"sold out":               {[]astypes.Activity{launch(failed, sold), launch(done, "")}, 1, "InsufficientInstanceCapacity"},
		"a later one succeeded":  {[]astypes.Activity{launch(done, ""), launch(failed, sold)}, 1, ""},
		"one is under way":       {[]astypes.Activity{launch(astypes.ScalingActivityStatusCodeInProgress, ""), launch(failed, sold)}, 1, "InsufficientInstanceCapacity"},
		"another process failed": {[]astypes.Activity{{Description: aws.String("Terminating EC2 instance: i-9"), StatusCode: failed, StartTime: &at}}, 1, ""},
		"of a mixed group":       {[]astypes.Activity{launch(failed, "Could not launch On-Demand Instances. VcpuLimitExceeded - You have requested more vCPU capacity than your current limit. Launching EC2 instance failed.")}, 1, "VcpuLimitExceeded"},
		"a cause that is new":    {[]astypes.Activity{launch(failed, "Something else.")}, 1, "LaunchFailed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount(group("web", running([]string{"i-1", "i-2"}[:tc.instances]...)))
			a.activities = tc.activities
			r, _ := reader(a, all)
			list, err := r.Groups(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if f := list[0].Failure; f != nil {
				got = f.Reason
				if !f.At.Equal(at) || f.Message == "" {
					t.Errorf("failure %+v", f)
				}
			}
			if asked := a.calls["DescribeScalingActivities"]; got != tc.want || (asked == 0) != (tc.instances == 2) {
				t.Errorf("%q after %d calls, want %q", got, asked, tc.want)
			}
		})
	}
}
