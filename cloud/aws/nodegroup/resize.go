package nodegroup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"tenon/cloud"
	"tenon/cloud/aws/api"
)

// Resize implements cloud.GroupWriter: it takes two calls. What the first one shows replaces what the reader knew of the group.
func (r *Reader) Resize(ctx context.Context, name string, from, to int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	group, err := r.describeOne(ctx, name)
	if err != nil {
		return err
	}
	if err := cloud.MayResize(group, from, to); err != nil {
		return err
	}
	if _, err := r.Clients.AutoScaling.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{
		AutoScalingGroupName: &name, DesiredCapacity: aws.Int32(int32(to)), HonorCooldown: aws.Bool(false),
	}); err != nil {
		r.distrust() // AWS may have set it all the same
		return &failed{fmt.Sprintf("set the desired capacity of Auto Scaling group %s to %d", name, to), "autoscaling:SetDesiredCapacity", err}
	}
	group.Desired = to
	r.remember(group)
	return nil
}

// End implements cloud.GroupWriter: it takes two calls.
func (r *Reader) End(ctx context.Context, name, providerID string) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	group, err := r.describeOne(ctx, name)
	if _, changed := errors.AsType[*cloud.GroupChanged](err); changed { // it is gone, and its instances with it
		return 0, &cloud.NotFound{ProviderID: providerID}
	}
	if err != nil {
		return 0, err
	}
	found := group.Find(providerID)
	switch {
	case found == nil:
		return group.Desired, &cloud.NotFound{ProviderID: providerID}
	case found.State == cloud.Terminating:
		return group.Desired, nil
	}
	smaller := group.Desired > group.Min
	if _, err := r.Clients.AutoScaling.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
		InstanceId: aws.String(path.Base(providerID)), ShouldDecrementDesiredCapacity: &smaller,
	}); err != nil {
		return group.Desired, &failed{"end instance " + path.Base(providerID) + " of Auto Scaling group " + name, "autoscaling:TerminateInstanceInAutoScalingGroup", err}
	}
	if smaller {
		group.Desired--
	}
	group.Instances = slices.Clone(group.Instances)
	group.Find(providerID).State = cloud.Terminating
	r.remember(group)
	return group.Desired, nil
}

// describeOne asks for one group, and remembers it.
func (r *Reader) describeOne(ctx context.Context, name string) (*cloud.Group, error) {
	found, err := r.pages(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}, MaxRecords: aws.Int32(perCall)})
	if err != nil {
		return nil, &failed{"describe Auto Scaling group " + name, describing, err}
	}
	for i := range found {
		if aws.ToString(found[i].AutoScalingGroupName) == name {
			group := r.group(&found[i])
			r.remember(&group)
			return &group, nil
		}
	}
	r.distrust() // what else is gone?
	return nil, &cloud.GroupChanged{Group: name, Message: "it is gone"}
}

// distrust has the next reading ask AWS.
func (r *Reader) distrust() { r.looked = r.looked.Add(-sizesHold) }

// remember replaces what the reader knows of a group. Callers of Groups keep the list that they got.
func (r *Reader) remember(group *cloud.Group) {
	r.groups = slices.Clone(r.groups)
	for i := range r.groups {
		if r.groups[i].Name == group.Name {
			r.groups[i] = *group
		}
	}
}

// failed is the error of a call about groups. Its text is the same each time, since it is written into a status.
type failed struct {
	attempt string
	action  string // that the call needs to be allowed
	err     error
}

const describing = "autoscaling:DescribeAutoScalingGroups"

// Error includes the remedy if a permission is missing.
func (e *failed) Error() string {
	if denied(e.err) {
		return e.attempt + ": a permission is missing, allow the controller " + e.action + ": " + api.Explain(e.err)
	}
	return e.attempt + ": " + api.Explain(e.err)
}

// Unwrap returns the cause.
func (e *failed) Unwrap() error { return e.err }
