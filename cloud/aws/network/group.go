package network

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "tenon/api/aws/v1"
)

// SecurityGroups returns the groups that the class selects, sorted by ID. EC2 checks whether they belong to
// the subnets' network.
func (f *Finder) SecurityGroups(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.SecurityGroup, error) {
	return f.groups.Get(ctx, revisionOf(class), func(ctx context.Context) ([]awsv1.SecurityGroup, error) {
		found, err := f.askGroups(ctx, class.Spec.SecurityGroupSelectorTerms)
		if err != nil {
			return nil, fmt.Errorf("find the security groups of class %s: %w", class.Name, err)
		}
		return found, nil
	})
}

func (f *Finder) askGroups(ctx context.Context, terms []awsv1.SecurityGroupSelectorTerm) ([]awsv1.SecurityGroup, error) {
	var found []awsv1.SecurityGroup
	for _, filters := range groupQueries(terms) {
		pages := ec2.NewDescribeSecurityGroupsPaginator(f.ec2, &ec2.DescribeSecurityGroupsInput{Filters: filters, MaxResults: aws.Int32(500)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			for _, g := range page.SecurityGroups {
				found = append(found, awsv1.SecurityGroup{ID: aws.ToString(g.GroupId), Name: aws.ToString(g.GroupName)})
			}
		}
	}
	slices.SortFunc(found, func(a, b awsv1.SecurityGroup) int { return cmp.Compare(a.ID, b.ID) })
	return compactBy(found, func(g awsv1.SecurityGroup) string { return g.ID }), nil
}

// groupQueries returns a call for each term with tags, one for all IDs and one for all names. In a term, an
// ID overrides the other fields, and a name overrides tags.
func groupQueries(terms []awsv1.SecurityGroupSelectorTerm) [][]types.Filter {
	var queries [][]types.Filter
	var ids, names []string
	for _, t := range terms {
		switch {
		case t.ID != "":
			ids = append(ids, t.ID)
		case t.Name != "":
			names = append(names, t.Name)
		default:
			queries = append(queries, TagFilters(t.Tags))
		}
	}
	if len(ids) > 0 {
		queries = append(queries, []types.Filter{Filter("group-id", ids...)})
	}
	if len(names) > 0 {
		queries = append(queries, []types.Filter{Filter("group-name", names...)})
	}
	return queries
}
