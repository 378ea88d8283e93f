package network

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/clock"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
)

// Finder finds what selectors select, and remembers it for a while. After a change to a class it looks again
// at once.
type Finder struct {
	ec2       api.EC2Network
	addresses *Addresses
	subnets   *api.Cache[revision, []Subnet]
	groups    *api.Cache[revision, []awsv1.SecurityGroup]
	placement *placements
}

// revision identifies a class as its user last changed it.
type revision struct {
	uid        string
	generation int64
}

func revisionOf(class *awsv1.EC2NodeClass) revision {
	return revision{string(class.UID), class.Generation}
}

// groupsHold is how long the finder remembers security groups. (As in Karpenter.)
const groupsHold = time.Minute

// New makes a finder that remembers subnets for subnetsHold, and reports EC2's figures to addresses.
func New(ec2 api.EC2Network, c clock.PassiveClock, subnetsHold time.Duration, addresses *Addresses) *Finder {
	return &Finder{
		ec2: ec2, addresses: addresses,
		subnets:   api.NewCache[revision, []Subnet](c, subnetsHold),
		groups:    api.NewCache[revision, []awsv1.SecurityGroup](c, groupsHold),
		placement: newPlacements(ec2, c),
	}
}

// Subnet is a subnet with its free addresses.
type Subnet struct {
	awsv1.Subnet
	Free int64
}

// Subnets returns the subnets that the class selects, those with the most free addresses first.
func (f *Finder) Subnets(ctx context.Context, class *awsv1.EC2NodeClass) ([]Subnet, error) {
	return f.subnets.Get(ctx, revisionOf(class), func(ctx context.Context) ([]Subnet, error) {
		found, err := f.askSubnets(ctx, class.Spec.SubnetSelectorTerms)
		if err != nil {
			return nil, fmt.Errorf("find the subnets of class %s: %w", class.Name, err)
		}
		for _, s := range found {
			f.addresses.Synced(s.ID, s.Free)
		}
		return found, nil
	})
}

func (f *Finder) askSubnets(ctx context.Context, terms []awsv1.SubnetSelectorTerm) ([]Subnet, error) {
	var found []Subnet
	for _, filters := range subnetQueries(terms) {
		pages := ec2.NewDescribeSubnetsPaginator(f.ec2, &ec2.DescribeSubnetsInput{Filters: filters, MaxResults: aws.Int32(500)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			for _, s := range page.Subnets {
				found = append(found, subnetOf(s))
			}
		}
	}
	slices.SortFunc(found, func(a, b Subnet) int {
		return cmp.Or(cmp.Compare(b.Free, a.Free), cmp.Compare(a.ID, b.ID))
	})
	return compactBy(found, func(s Subnet) string { return s.ID }), nil
}

// subnetQueries returns a call for each term with tags, and one for all IDs. In a term, an ID overrides the
// other fields.
func subnetQueries(terms []awsv1.SubnetSelectorTerm) [][]types.Filter {
	var queries [][]types.Filter
	var ids []string
	for _, t := range terms {
		if t.ID != "" {
			ids = append(ids, t.ID)
			continue
		}
		queries = append(queries, TagFilters(t.Tags))
	}
	if len(ids) > 0 {
		queries = append(queries, []types.Filter{Filter("subnet-id", ids...)})
	}
	return queries
}

func subnetOf(s types.Subnet) Subnet {
	return Subnet{
		Subnet: awsv1.Subnet{ID: aws.ToString(s.SubnetId), Zone: aws.ToString(s.AvailabilityZone), ZoneID: aws.ToString(s.AvailabilityZoneId)},
		Free:   int64(aws.ToInt32(s.AvailableIpAddressCount)),
	}
}

// compactBy keeps the first element for each key, in the original order.
func compactBy[T any](all []T, key func(T) string) []T {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(t T) bool {
		k := key(t)
		if seen[k] {
			return true
		}
		seen[k] = true
		return false
	})
}
