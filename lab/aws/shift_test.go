package aws_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"tenon/cloud"
	"tenon/cloud/aws"
	"tenon/cloud/aws/api"
)

// blind is an EC2 that sees no instances for a while.
type blind struct {
	api.EC2
	now *bool
}

func (b blind) DescribeInstances(ctx context.Context, in *ec2.DescribeInstancesInput, options ...api.EC2Options) (*ec2.DescribeInstancesOutput, error) {
	if *b.now {
		return &ec2.DescribeInstancesOutput{}, nil
	}
	return b.EC2.DescribeInstances(ctx, in, options...)
}

// While traffic is shifted away from a zone, EC2 may not show the instances there. They do not count as
// gone, can still be tagged and ended, and are gone once they have ended.
func TestInstancesOfAShiftedZone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	unseeing := false
	p := n.connect(func(o *aws.Options) { o.Inventory.Clients.EC2 = blind{o.Inventory.Clients.EC2, &unseeing} })
	n.ready(p, "ready")
	bought := []cloud.Instance{got(p.Create(ctx, request("1")))(t), got(p.Create(ctx, request("2")))(t)}
	n.pass(10 * time.Minute) // recent purchases count as present anyway
	seen := got(p.List(ctx))(t)
	if len(seen) != 2 || seen[0].Offer.Zone != seen[1].Offer.Zone {
		t.Fatalf("seen are %+v, want two of one zone", seen)
	}
	away := map[string]bool{seen[0].Labels["topology.k8s.aws/zone-id"]: true}
	p.Inventory.Shifted = func() (map[string]bool, uint64) { return away, 1 }
	unseeing = true
	n.pass(10 * time.Minute)

	if still := got(p.List(ctx))(t); len(still) != 2 {
		t.Errorf("a list shows %d of 2", len(still))
	}
	if i := got(p.Get(ctx, bought[0].ProviderID))(t); i.ProviderID != bought[0].ProviderID || i.State != cloud.Running {
		t.Errorf("seen as %+v", i)
	}
	if err := p.Delete(ctx, bought[0].ProviderID); err != nil {
		t.Error(err)
	}
	n.pass(10 * time.Minute)
	if err := p.Delete(ctx, bought[0].ProviderID); !cloud.IsNotFound(err) {
		t.Errorf("what was ended: error %v, want NotFound", err)
	}
	if left := got(p.List(ctx))(t); len(left) != 1 || left[0].ProviderID != bought[1].ProviderID {
		t.Errorf("left are %+v", left)
	}
	away = nil
	n.pass(10 * time.Minute)
	if left := got(p.List(ctx))(t); len(left) != 0 {
		t.Errorf("EC2 is not believed after the shift: %+v", left)
	}
}

// Instances of a shifted zone get their names as well.
func TestTagsInAShiftedZone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := newNear(t, classOf("ready", "al2023@latest"))
	p := n.connect()
	n.ready(p, "ready")
	bought := got(p.Create(ctx, request("1")))(t)
	n.pass(time.Minute)
	zone := got(p.Get(ctx, bought.ProviderID))(t).Labels["topology.k8s.aws/zone-id"]
	p.Inventory.Shifted = func() (map[string]bool, uint64) { return map[string]bool{zone: true}, 1 }
	if err := p.Label(ctx, bought.ProviderID, map[string]string{"Name": "node-1", "karpenter.sh/nodeclaim": "claim-1"}); err != nil {
		t.Error(err)
	}
}
