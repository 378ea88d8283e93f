package preflight

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/internal/preflight"
	"tenon/internal/provider"
)

// subnetwork has one subnet for every selector, and some security groups.
type subnetwork struct {
	api.EC2
	free   int32
	groups int
	err    error
}

func (s subnetwork) DescribeSubnets(context.Context, *ec2.DescribeSubnetsInput, ...api.EC2Options) (*ec2.DescribeSubnetsOutput, error) {
	out := &ec2.DescribeSubnetsOutput{}
	if s.free >= 0 {
		out.Subnets = []types.Subnet{{SubnetId: aws.String("subnet-1"), AvailabilityZone: aws.String("us-west-2a"), AvailabilityZoneId: aws.String("usw2-az1"), AvailableIpAddressCount: &s.free}}
	}
	return out, s.err
}

func (s subnetwork) DescribeSecurityGroups(context.Context, *ec2.DescribeSecurityGroupsInput, ...api.EC2Options) (*ec2.DescribeSecurityGroupsOutput, error) {
	return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: make([]types.SecurityGroup, s.groups)}, s.err
}

// Nodes that are to be launched need subnets with addresses for them, and a security group; what cannot be looked up is skipped.
func TestRoom(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		network subnetwork
		want    string // levels of subnets and security groups
		text    string
	}{
		"enough":             {subnetwork{free: 10, groups: 1}, "ok ok", "10 free addresses for 10 nodes"},
		"one too few":        {subnetwork{free: 9, groups: 1}, "failed ok", "have 9 free addresses, and 10 nodes are to be launched"},
		"no subnet":          {subnetwork{free: -1, groups: 1}, "failed ok", "no subnet is selected by EC2NodeClass web"},
		"no security group":  {subnetwork{free: 10}, "ok failed", "no security group is selected by EC2NodeClass web"},
		"without permission": {subnetwork{err: denied}, "skipped skipped", "could not be looked up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "uid"}, Spec: awsv1.EC2NodeClassSpec{
				SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{ID: "subnet-1"}},
				SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{ID: "sg-1"}},
			}}
			var levels, texts []string
			for _, f := range room(t.Context(), api.Clients{EC2: tc.network}, []provider.Launch{{Class: class, Nodes: 10}}) {
				levels, texts = append(levels, string(f.Level)), append(texts, f.Text)
				if f.Level == preflight.Failed && (f.Means == "" || f.Remedy == "") {
					t.Errorf("%+v", f)
				}
			}
			if got := strings.Join(levels, " "); got != tc.want || !strings.Contains(strings.Join(texts, "; "), tc.text) {
				t.Errorf("%s, want %s; %q", got, tc.want, texts)
			}
		})
	}
}
