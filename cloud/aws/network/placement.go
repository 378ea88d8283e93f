package network

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/instancetype"
)

// How long the finder remembers placement groups: it does not look a group up again within a minute, and
// while EC2 does not answer it uses the last known one for a day. (As in Karpenter.)
const (
	placementHolds = time.Minute
	placementKept  = 24 * time.Hour
)

type placements struct {
	ec2   api.EC2Network
	fresh *api.Cache[awsv1.PlacementGroupSelector, *Placement]
	kept  *api.Cache[awsv1.PlacementGroupSelector, *Placement]
}

// Placement is a placement group.
type Placement struct {
	instancetype.PlacementGroup
	Name string
}

func newPlacements(ec2 api.EC2Network, c clock.PassiveClock) *placements {
	return &placements{
		ec2:   ec2,
		fresh: api.NewCache[awsv1.PlacementGroupSelector, *Placement](c, placementHolds),
		kept:  api.NewCache[awsv1.PlacementGroupSelector, *Placement](c, placementKept),
	}
}

// Placement returns the placement group that the class selects; nil if it selects none, or none exists. With
// an error it returns the last known group, if there is one: a launch can continue with that.
func (f *Finder) Placement(ctx context.Context, class *awsv1.EC2NodeClass) (*Placement, error) {
	if class.Spec.PlacementGroupSelector == nil {
		return nil, nil
	}
	selector := *class.Spec.PlacementGroupSelector
	found, err := f.placement.fresh.Get(ctx, selector, func(ctx context.Context) (*Placement, error) {
		return f.placement.ask(ctx, selector)
	})
	if err != nil {
		last, _ := f.placement.kept.Peek(selector)
		return last, fmt.Errorf("find the placement group of class %s: %w", class.Name, err)
	}
	f.placement.kept.Put(selector, found)
	return found, nil
}

// LastPlacement returns the group that was found last, without asking EC2.
func (f *Finder) LastPlacement(class *awsv1.EC2NodeClass) *Placement {
	if class.Spec.PlacementGroupSelector == nil {
		return nil
	}
	last, _ := f.placement.kept.Peek(*class.Spec.PlacementGroupSelector)
	return last
}

func (p *placements) ask(ctx context.Context, selector awsv1.PlacementGroupSelector) (*Placement, error) {
	input := &ec2.DescribePlacementGroupsInput{Filters: []types.Filter{Filter("state", "available")}}
	if selector.ID != "" {
		input.GroupIds = []string{selector.ID}
	} else {
		input.GroupNames = []string{selector.Name}
	}
	answer, err := p.ec2.DescribePlacementGroups(ctx, input)
	switch {
	case api.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case len(answer.PlacementGroups) == 0:
		return nil, nil
	}
	g := answer.PlacementGroups[0]
	return &Placement{
		PlacementGroup: instancetype.PlacementGroup{
			ID: aws.ToString(g.GroupId), Strategy: string(g.Strategy), Partitions: int(aws.ToInt32(g.PartitionCount)),
		},
		Name: aws.ToString(g.GroupName),
	}, nil
}
