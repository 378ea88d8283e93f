// Package iampolicy writes the IAM policies that the controller needs: they allow the calls that it makes, on
// the resources that it uses, and no more. Its tests compare the policies with the calls in the code, in both
// directions.
//
// It calls no API.
package iampolicy

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Options say for what cluster and account the policies are.
type Options struct {
	Partition string // aws, aws-cn, aws-us-gov
	Region    string
	Account   string
	Cluster   string
	// NodeRole is the ARN of the role of the nodes.
	NodeRole string
	// Queue is the ARN of the interruption queue.
	Queue string
}

// Policy is a managed policy. There are several, because a single one would be too long.
type Policy struct {
	Name       string      `json:"-"`
	Version    string      `json:"Version"`
	Statements []Statement `json:"Statement"`
}

// Statement allows actions.
type Statement struct {
	Sid       string     `json:"Sid"`
	Effect    string     `json:"Effect"`
	Resource  []string   `json:"Resource"`
	Action    []string   `json:"Action"`
	Condition Conditions `json:"Condition,omitempty"`
}

// Conditions maps operators to keys and the values that the keys may have.
type Conditions map[string]map[string]any

// JSON returns the policy document.
func (p Policy) JSON() ([]byte, error) { return json.MarshalIndent(p, "", "  ") }

// Policies returns all policies that the controller needs.
func Policies(o Options) []Policy {
	list := []Policy{
		{Name: "NodeLifecycle", Statements: o.lifecycle()},
		{Name: "IAMIntegration", Statements: o.profiles()},
		{Name: "EKSIntegration", Statements: []Statement{
			allow("AllowAPIServerEndpointDiscovery", o.arn("eks", "cluster/"+o.Cluster)).to("eks:DescribeCluster"),
		}},
		{Name: "Interruption", Statements: []Statement{
			allow("AllowInterruptionQueueActions", o.Queue).to("sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"),
		}},
		{Name: "ZonalShift", Statements: []Statement{
			allow("AllowZonalShiftStatusReadOnly", "*").to("arc-zonal-shift:GetManagedResource").
				where("StringEquals", "arc-zonal-shift:ResourceIdentifier", o.arn("eks", "cluster/"+o.Cluster)),
		}},
		{Name: "ResourceDiscovery", Statements: o.discovery()},
	}
	for i := range list {
		list[i].Name = fmt.Sprintf("KarpenterController%sPolicy-%s", list[i].Name, o.Cluster)
		list[i].Version = "2012-10-17"
	}
	return list
}

// Groups is the additional policy for node groups: it allows reading them and changing their sizes. Attach it if the
// feature gate NodeGroups is on.
func Groups(o Options) Policy {
	return Policy{Name: "KarpenterControllerNodeGroupsPolicy-" + o.Cluster, Version: "2012-10-17", Statements: []Statement{
		allow("AllowNodeGroupReadActions", "*").to(
			"autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeLaunchConfigurations", "autoscaling:DescribeScalingActivities", "ec2:DescribeImages",
			"ec2:DescribeLaunchTemplateVersions", "ec2:GetInstanceTypesFromInstanceRequirements",
		).where("StringEquals", "aws:RequestedRegion", o.Region),
		allow("AllowNodeGroupSizeActions", o.arn("autoscaling", "autoScalingGroup:*:autoScalingGroupName/*")).
			to("autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"),
		allow("AllowManagedNodeGroupReadActions", o.arn("eks", "nodegroup/"+o.Cluster+"/*/*")).to("eks:DescribeNodegroup"),
	}}
}

// Keys of conditions.
const (
	requestTag  = "aws:RequestTag/"
	resourceTag = "aws:ResourceTag/"

	tagPool    = "karpenter.sh/nodepool"
	tagClass   = "karpenter.k8s.aws/ec2nodeclass"
	tagCluster = "eks:eks-cluster-name"
	tagRegion  = "topology.kubernetes.io/region"
)

func (o Options) owned() string { return "kubernetes.io/cluster/" + o.Cluster }

func (o Options) arn(service, resource string) string {
	return fmt.Sprintf("arn:%s:%s:%s:%s:%s", o.Partition, service, o.Region, o.Account, resource)
}

// ec2 returns the ARNs of kinds of resources in any account: images and snapshots belong to others.
func (o Options) ec2(kinds ...string) []string {
	var list []string
	for _, kind := range kinds {
		list = append(list, fmt.Sprintf("arn:%s:ec2:%s:*:%s/*", o.Partition, o.Region, kind))
	}
	return list
}

func (o Options) lifecycle() []Statement {
	made := o.ec2("fleet", "instance", "volume", "network-interface", "launch-template", "spot-instances-request")
	image := []string{fmt.Sprintf("arn:%s:ec2:%s::image/*", o.Partition, o.Region), fmt.Sprintf("arn:%s:ec2:%s::snapshot/*", o.Partition, o.Region)}
	return []Statement{
		allow("AllowScopedEC2InstanceAccessActions", slices.Concat(image, o.ec2("security-group", "subnet", "capacity-reservation", "placement-group"))...).
			to("ec2:RunInstances", "ec2:CreateFleet"),
		allow("AllowScopedEC2LaunchTemplateAccessActions", o.ec2("launch-template")...).
			to("ec2:RunInstances", "ec2:CreateFleet").
			where("StringEquals", resourceTag+o.owned(), "owned").where("StringLike", resourceTag+tagPool, "*"),
		allow("AllowScopedEC2InstanceActionsWithTags", made...).
			to("ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate").
			where("StringEquals", requestTag+o.owned(), "owned").where("StringEquals", requestTag+tagCluster, o.Cluster).
			where("StringLike", requestTag+tagPool, "*"),
		allow("AllowScopedResourceCreationTagging", made...).
			to("ec2:CreateTags").
			where("StringEquals", requestTag+o.owned(), "owned").where("StringEquals", requestTag+tagCluster, o.Cluster).
			where("StringEquals", "ec2:CreateAction", []string{"RunInstances", "CreateFleet", "CreateLaunchTemplate"}).
			where("StringLike", requestTag+tagPool, "*"),
		allow("AllowScopedResourceTagging", o.ec2("instance")...).
			to("ec2:CreateTags").
			where("StringEquals", resourceTag+o.owned(), "owned").where("StringLike", resourceTag+tagPool, "*").
			where("StringEqualsIfExists", requestTag+tagCluster, o.Cluster).
			where("ForAllValues:StringEquals", "aws:TagKeys", []string{tagCluster, "karpenter.sh/nodeclaim", "Name"}),
		// The controller puts removed tags back on resources that still have the tag of this cluster.
		allow("AllowScopedResourceTagRepair", o.ec2("instance")...).
			to("ec2:CreateTags").
			where("StringEquals", resourceTag+o.owned(), "owned").where("StringEquals", resourceTag+tagCluster, o.Cluster).
			where("ForAllValues:StringEquals", "aws:TagKeys", []string{tagPool, "karpenter.k8s.aws/ec2nodeclass", "karpenter.sh/nodeclaim"}),
		allow("AllowScopedDeletion", o.ec2("instance", "launch-template")...).
			to("ec2:TerminateInstances", "ec2:DeleteLaunchTemplate").
			where("StringEquals", resourceTag+o.owned(), "owned").where("StringLike", resourceTag+tagPool, "*"),
	}
}

func (o Options) profiles() []Statement {
	profile := fmt.Sprintf("arn:%s:iam::%s:instance-profile/*", o.Partition, o.Account)
	asked := func(s Statement) Statement {
		return s.where("StringEquals", requestTag+o.owned(), "owned").where("StringEquals", requestTag+tagCluster, o.Cluster).
			where("StringEquals", requestTag+tagRegion, o.Region).where("StringLike", requestTag+tagClass, "*")
	}
	has := func(s Statement) Statement {
		return s.where("StringEquals", resourceTag+o.owned(), "owned").where("StringEquals", resourceTag+tagRegion, o.Region).
			where("StringLike", resourceTag+tagClass, "*")
	}
	return []Statement{
		allow("AllowPassingInstanceRole", o.NodeRole).to("iam:PassRole").
			where("StringEquals", "iam:PassedToService", []string{"ec2.amazonaws.com", "ec2.amazonaws.com.cn"}),
		asked(allow("AllowScopedInstanceProfileCreationActions", profile).to("iam:CreateInstanceProfile")),
		has(asked(allow("AllowScopedInstanceProfileTagActions", profile).to("iam:TagInstanceProfile"))),
		has(allow("AllowScopedInstanceProfileActions", profile).
			to("iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile")),
	}
}

func (o Options) discovery() []Statement {
	return []Statement{
		allow("AllowRegionalReadActions", "*").to(
			"ec2:DescribeCapacityReservations", "ec2:DescribeImages", "ec2:DescribeInstances", "ec2:DescribeInstanceStatus",
			"ec2:DescribeInstanceTypeOfferings", "ec2:DescribeInstanceTypes", "ec2:DescribeLaunchTemplates", "ec2:DescribePlacementGroups",
			"ec2:DescribeSecurityGroups", "ec2:DescribeSpotPriceHistory", "ec2:DescribeSubnets",
		).where("StringEquals", "aws:RequestedRegion", o.Region),
		allow("AllowSSMReadActions", fmt.Sprintf("arn:%s:ssm:%s::parameter/aws/service/*", o.Partition, o.Region)).to("ssm:GetParameter"),
		allow("AllowPricingReadActions", "*").to("pricing:GetProducts"),
		allow("AllowUnscopedInstanceProfileListAction", "*").to("iam:ListInstanceProfiles"),
		allow("AllowInstanceProfileReadActions", fmt.Sprintf("arn:%s:iam::%s:instance-profile/*", o.Partition, o.Account)).to("iam:GetInstanceProfile"),
	}
}

func allow(sid string, resources ...string) Statement {
	return Statement{Sid: sid, Effect: "Allow", Resource: resources}
}

func (s Statement) to(actions ...string) Statement {
	s.Action = actions
	return s
}

// where adds a condition. It copies the statement, so that statements share nothing.
func (s Statement) where(operator, key string, value any) Statement {
	made := Conditions{}
	for o, keys := range s.Condition {
		made[o] = map[string]any{}
		for k, v := range keys {
			made[o][k] = v
		}
	}
	if made[operator] == nil {
		made[operator] = map[string]any{}
	}
	made[operator][key] = value
	s.Condition = made
	return s
}
