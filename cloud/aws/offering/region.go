package offering

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/cloud/aws/api"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"
	"tenon/cloud/aws/network"
)

// The names of empty listings. (As in Karpenter.)
var (
	ErrNoTypes     = errors.New("no instance types found")
	ErrNoOfferings = errors.New("no instance types offerings found")
)

// InstanceTypes is what EC2 said last. It may be used by many goroutines.
type InstanceTypes struct {
	ec2 api.EC2Market

	mu      sync.Mutex
	listing *Listing
}

// NewInstanceTypes has nothing until the first Update.
func NewInstanceTypes(client api.EC2Market) *InstanceTypes {
	return &InstanceTypes{ec2: client, listing: &Listing{}}
}

// Listing is what EC2 said at one time. It must not be changed.
type Listing struct {
	revision uint64
	// Types are sorted as the built-in facts are, and then by name.
	Types []facts.Type
	// Discovered is, by type, what the facts have no place for.
	Discovered map[string]instancetype.Discovered
	// Zones are all those in which anything is offered, sorted.
	Zones []string
}

// Revision is another number for another listing; zero before the first.
func (l *Listing) Revision() uint64 { return l.revision }

// Listing is what EC2 said last.
func (s *InstanceTypes) Listing() *Listing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listing
}

// Update asks EC2, and reports whether anything is different now.
func (s *InstanceTypes) Update(ctx context.Context) (changed bool, err error) {
	infos, err := s.askTypes(ctx)
	if err != nil {
		return false, fmt.Errorf("list the instance types: %w", err)
	}
	zones, err := s.askOfferings(ctx)
	if err != nil {
		return false, fmt.Errorf("list where instance types are offered: %w", err)
	}
	fresh := listingOf(infos, zones)
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh.revision = s.listing.revision
	if reflect.DeepEqual(*fresh, *s.listing) {
		return false, nil
	}
	fresh.revision++
	s.listing = fresh
	return true, nil
}

// Permitted asks EC2 whether Tenon may list types, without listing them: a first sign that region,
// credentials and network are right.
func (s *InstanceTypes) Permitted(ctx context.Context) error {
	_, err := s.ec2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{DryRun: aws.Bool(true)})
	if api.IsDryRun(err) {
		return nil
	}
	return fmt.Errorf("try out a call to EC2: %w", err)
}

func (s *InstanceTypes) askTypes(ctx context.Context) ([]types.InstanceTypeInfo, error) {
	var found []types.InstanceTypeInfo
	pages := ec2.NewDescribeInstanceTypesPaginator(s.ec2, &ec2.DescribeInstanceTypesInput{
		MaxResults: aws.Int32(100),
		Filters: []types.Filter{
			network.Filter("supported-virtualization-type", "hvm"),
			network.Filter("processor-info.supported-architecture", "x86_64", "arm64"),
		},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, page.InstanceTypes...)
	}
	if len(found) == 0 {
		return nil, ErrNoTypes
	}
	return found, nil
}

// askOfferings is the zones of each type, sorted.
func (s *InstanceTypes) askOfferings(ctx context.Context) (map[string][]string, error) {
	found := map[string][]string{}
	pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(s.ec2, &ec2.DescribeInstanceTypeOfferingsInput{
		LocationType: types.LocationTypeAvailabilityZone, MaxResults: aws.Int32(1000),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range page.InstanceTypeOfferings {
			found[string(o.InstanceType)] = append(found[string(o.InstanceType)], aws.ToString(o.Location))
		}
	}
	if len(found) == 0 {
		return nil, ErrNoOfferings
	}
	for _, zones := range found {
		slices.Sort(zones)
	}
	return found, nil
}
