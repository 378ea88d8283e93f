package preflight

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/network"
	"tenon/core/order"
	"tenon/internal/preflight"
)

// discoveryTag is what guides and examples select by.
const discoveryTag = "karpenter.sh/discovery"

const (
	checkSubnets = "aws-subnets"
	checkGroups  = "aws-security-groups"
	// fewAddresses is the number of free addresses that a burst of nodes may use up.
	fewAddresses = 64
)

// network looks at what classes select; without a class, at what the guides' class would select.
func (l *inspection) network(ctx context.Context) []preflight.Finding {
	list := &awsv1.EC2NodeClassList{}
	if err := l.Cluster.List(ctx, list); err == nil {
		l.classes = list.Items
	}
	classes := l.classes
	if len(classes) == 0 {
		tags := map[string]string{discoveryTag: l.ClusterName}
		classes = []awsv1.EC2NodeClass{{ObjectMeta: metav1.ObjectMeta{UID: discoveryTag}, Spec: awsv1.EC2NodeClassSpec{
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: tags}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: tags}},
		}}}
	}
	var findings []preflight.Finding
	for i := range classes {
		findings = append(findings, l.subnets(ctx, &classes[i]), l.securityGroups(ctx, &classes[i]))
	}
	return findings
}

// selector is what a finding is about.
func (l *inspection) selector(class *awsv1.EC2NodeClass) string {
	if class.Name == "" {
		return fmt.Sprintf("the tag %s=%s (there is no EC2NodeClass yet)", discoveryTag, l.ClusterName)
	}
	return "EC2NodeClass " + class.Name
}

// selected are the subnets that a class selects; without any there is a finding.
func (l *inspection) selected(ctx context.Context, class *awsv1.EC2NodeClass) ([]network.Subnet, *preflight.Finding) {
	found, err := l.finder.Subnets(ctx, class)
	switch {
	case err != nil:
		return nil, &preflight.Finding{Check: checkSubnets, Level: preflight.Skipped, Text: "could not be looked up: " + l.why(err)}
	case len(found) == 0:
		return nil, &preflight.Finding{Check: checkSubnets, Level: preflight.Failed, Text: "no subnet is selected by " + l.selector(class),
			Means:  "no node can be launched",
			Remedy: fmt.Sprintf("tag the subnets: aws ec2 create-tags --resources SUBNET --tags Key=%s,Value=%s, or change subnetSelectorTerms", discoveryTag, cmp.Or(l.ClusterName, "CLUSTER"))}
	}
	return found, nil
}

func (l *inspection) subnets(ctx context.Context, class *awsv1.EC2NodeClass) preflight.Finding {
	found, finding := l.selected(ctx, class)
	if finding != nil {
		return *finding
	}
	l.subnet = found[0].ID
	zones := zonesOf(found)
	if len(zones) == 1 {
		return preflight.Finding{Check: checkSubnets, Level: preflight.Warning, Text: fmt.Sprintf("%s selects subnets in %s alone", l.selector(class), zones[0]),
			Means: "pods that spread over zones have no place, and a shortage of that zone stops every launch", Remedy: "tag subnets of other zones too"}
	}
	if least := slices.MinFunc(found, func(a, b network.Subnet) int { return int(a.Free - b.Free) }); least.Free < fewAddresses {
		return preflight.Finding{Check: checkSubnets, Level: preflight.Warning, Text: fmt.Sprintf("subnet %s in %s has %d free addresses", least.ID, least.Zone, least.Free),
			Means: "launches in that zone fail once there is none left", Remedy: "add subnets to the zone, or use prefix delegation or IPv6"}
	}
	return ok(checkSubnets, "%s selects %d subnets in %s", l.selector(class), len(found), strings.Join(zones, ", "))
}

func zonesOf(subnets []network.Subnet) []string {
	zones := map[string]bool{}
	for _, s := range subnets {
		zones[s.Zone] = true
	}
	return order.Keys(zones)
}

func (l *inspection) securityGroups(ctx context.Context, class *awsv1.EC2NodeClass) preflight.Finding {
	found, err := l.finder.SecurityGroups(ctx, class)
	switch {
	case err != nil:
		return preflight.Finding{Check: checkGroups, Level: preflight.Skipped, Text: "could not be looked up: " + l.why(err)}
	case len(found) == 0:
		return preflight.Finding{Check: checkGroups, Level: preflight.Failed, Text: "no security group is selected by " + l.selector(class),
			Means:  "no node can be launched",
			Remedy: fmt.Sprintf("tag the cluster's group: aws ec2 create-tags --resources GROUP --tags Key=%s,Value=%s, or change securityGroupSelectorTerms", discoveryTag, cmp.Or(l.ClusterName, "CLUSTER"))}
	}
	if l.groups == nil {
		for _, g := range found {
			l.groups = append(l.groups, g.ID)
		}
	}
	return ok(checkGroups, "%s selects %d security groups", l.selector(class), len(found))
}
