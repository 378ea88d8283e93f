package aws_test

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/instance"
)

// Policies and people remove tags of instances. An instance that lost one is found by its identifier and
// in the list, gets the tag back, and is ended when asked for.
func TestALostTagLosesNoInstance(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	whole := map[string]string{awsv1.TagNodePool: "default", awsv1.TagNodeClass: "ready", awsv1.TagClusterName: "lab", instance.TagClaimUID: "?"}
	for tag, value := range whole {
		bought := got(p.Create(ctx, request(tag)))(t)
		_, id, _ := instance.Parse(bought.ProviderID)
		n.pass(time.Hour)
		got(n.ec2().DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: []string{id}, Tags: []types.Tag{{Key: sdk.String(tag)}}}))(t)
		again := n.connect() // a process that remembers nothing
		if i, err := again.Get(ctx, bought.ProviderID); err != nil || i.State != cloud.Running {
			t.Errorf("without %s: found %s, error %v", tag, i.State, err)
		}
		listed := got(n.connect().List(ctx))(t)
		if len(listed) != 1 || listed[0].ProviderID != bought.ProviderID {
			t.Errorf("without %s: listed %v", tag, listed)
		}
		if tag != instance.TagClaimUID {
			if err := again.Label(ctx, bought.ProviderID, map[string]string{awsv1.TagNodePool: "default", awsv1.TagNodeClass: "ready"}); err != nil {
				t.Errorf("without %s: %v", tag, err)
			}
			n.checkTags(id, map[string]string{tag: value})
			got(n.ec2().DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: []string{id}, Tags: []types.Tag{{Key: sdk.String(tag)}}}))(t)
		}
		if err := n.connect().Delete(ctx, bought.ProviderID); err != nil {
			t.Errorf("without %s: %v", tag, err)
		}
		n.pass(10 * time.Minute)
		if state := n.instance(id).State.Name; state != types.InstanceStateNameTerminated {
			t.Errorf("without %s the instance is %s, want terminated", tag, state)
		}
	}
}

// An instance with another cluster's name is not ended, and does not count as gone.
func TestAnotherClustersInstanceIsAnError(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	bought := got(p.Create(ctx, request("1")))(t)
	_, id, _ := instance.Parse(bought.ProviderID)
	n.pass(time.Hour)
	other := []types.Tag{{Key: sdk.String(awsv1.TagClusterName), Value: sdk.String("other")}}
	got(n.ec2().CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: other}))(t)
	again := n.connect()
	if _, err := again.Get(ctx, bought.ProviderID); err == nil || cloud.IsNotFound(err) {
		t.Errorf("looking: error %v, want one that is not NotFound", err)
	}
	if err := again.Delete(ctx, bought.ProviderID); err == nil || cloud.IsNotFound(err) {
		t.Errorf("ending: error %v, want one that is not NotFound", err)
	}
	if state := n.instance(id).State.Name; state != types.InstanceStateNameRunning {
		t.Errorf("the instance is %s, want running", state)
	}
}
