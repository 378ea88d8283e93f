package nodegroup

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"tenon/cloud"
)

// activities is how many of a group's activities are looked at, the newest first.
const activities = 20

// asks is how many groups are asked for their activities in one look at most: an account may be short of everything at once.
const asks = 10

// findFailures looks up why groups lack instances, for some groups in each look, those first that were not asked for longest.
// The others keep what was known. A group whose activities cannot be read has a problem instead.
func (r *Reader) findFailures(ctx context.Context, groups []cloud.Group, now time.Time) {
	var short []*cloud.Group
	known := map[string]asked{}
	for i := range groups {
		if g := &groups[i]; g.Desired > g.Alive() {
			short = append(short, g)
			known[g.Name] = r.asked[g.Name]
		}
	}
	slices.SortStableFunc(short, func(a, b *cloud.Group) int { return known[a.Name].at.Compare(known[b.Name].at) })
	for i, g := range short {
		if i < asks {
			known[g.Name] = r.ask(ctx, g, now)
		}
		a := known[g.Name]
		if g.Failure = a.failure; a.problem.Reason != "" {
			g.Problems = append(g.Problems, a.problem)
		}
	}
	r.asked = known
}

// asked is what the activities of a group have shown, and when.
type asked struct {
	at      time.Time
	failure *cloud.GroupFailure
	problem cloud.GroupProblem
}

func (r *Reader) ask(ctx context.Context, g *cloud.Group, now time.Time) asked {
	out, err := r.Clients.AutoScaling.DescribeScalingActivities(ctx, &autoscaling.DescribeScalingActivitiesInput{
		AutoScalingGroupName: &g.Name, MaxRecords: aws.Int32(activities),
	})
	if err != nil {
		f := failed{"describe the activities of Auto Scaling group " + g.Name, "autoscaling:DescribeScalingActivities", err}
		return asked{at: now, problem: cloud.GroupProblem{
			Effect: cloud.Hindered, Reason: "ActivitiesNotRead", Message: f.Error(), Remedy: "until then a shortage is noticed only after the time that nodes may take",
		}}
	}
	return asked{at: now, failure: lastFailure(out.Activities)}
}

// lastFailure is the newest launch that failed, unless a newer one succeeded. One that is under way says nothing yet.
func lastFailure(newestFirst []types.Activity) *cloud.GroupFailure {
	for i := range newestFirst {
		a := &newestFirst[i]
		if !strings.HasPrefix(aws.ToString(a.Description), "Launching") {
			continue
		}
		switch a.StatusCode {
		case types.ScalingActivityStatusCodeFailed, types.ScalingActivityStatusCodeCancelled:
			message := aws.ToString(a.StatusMessage)
			return &cloud.GroupFailure{At: aws.ToTime(a.StartTime), Reason: reasonOf(message), Message: message}
		case types.ScalingActivityStatusCodeSuccessful:
			return nil
		}
	}
	return nil
}

// causes are parts of what AWS says of a failed launch, with the code of the error. (Texts as in "Troubleshoot Amazon EC2
// Auto Scaling: EC2 instance launch failures".)
var causes = []struct{ part, reason string }{
	{"do not have sufficient", "InsufficientInstanceCapacity"}, {"no Spot capacity available", "InsufficientInstanceCapacity"},
	{"Unable to fulfill capacity", "UnfulfillableCapacity"}, {"vCPU capacity", "VcpuLimitExceeded"},
}

// reasonOf is the code of a failure: the one that the text names, or what it is known by.
func reasonOf(message string) string {
	for word := range strings.FieldsFuncSeq(message, func(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') }) {
		if strings.HasSuffix(word, "Capacity") || strings.HasSuffix(word, "Exceeded") || word == "UnauthorizedOperation" || strings.HasPrefix(word, "Invalid") && word != "Invalid" {
			return word
		}
	}
	for _, c := range causes {
		if strings.Contains(message, c.part) {
			return c.reason
		}
	}
	return "LaunchFailed"
}
