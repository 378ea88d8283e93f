package preflight

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/api"
	"tenon/cloud/aws/network"
	"tenon/core/order"
)

// What does not work without some actions.
const (
	noLaunch  = "no node can be launched"
	noMarket  = "the catalogue is empty or old, so that nothing is bought"
	noEnd     = "nodes that go leave their instances behind"
	noProfile = "classes with spec.role never become ready"
)

var (
	dry = aws.Bool(true)
	// absent is the name of something that does not exist.
	absent = aws.String("tenon-preflight-does-not-exist")
)

// trials are all that can be tried without changing anything, in the order in which people read them.
func (l *inspection) trials(ctx context.Context) []trial {
	list := l.reads()
	list = append(list, l.launches(ctx)...)
	list = append(list, l.ends(ctx)...)
	return list
}

func (l *inspection) reads() []trial {
	c := l.clients
	list := []trial{
		{"ec2:DescribeInstanceTypes", noMarket, func(ctx context.Context) error {
			_, err := c.EC2.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{DryRun: dry}, api.Once)
			return err
		}},
		{"ec2:DescribeInstanceTypeOfferings", noMarket, func(ctx context.Context) error {
			_, err := c.EC2.DescribeInstanceTypeOfferings(ctx, &ec2.DescribeInstanceTypeOfferingsInput{DryRun: dry}, api.Once)
			return err
		}},
		{"ec2:DescribeSpotPriceHistory", "spot prices are guessed from on-demand prices", func(ctx context.Context) error {
			_, err := c.EC2.DescribeSpotPriceHistory(ctx, &ec2.DescribeSpotPriceHistoryInput{DryRun: dry}, api.Once)
			return err
		}},
		{"ec2:DescribeImages", noLaunch, func(ctx context.Context) error {
			_, err := c.EC2.DescribeImages(ctx, &ec2.DescribeImagesInput{DryRun: dry}, api.Once)
			return err
		}},
		{"ec2:DescribeSubnets", noLaunch, func(ctx context.Context) error {
			_, err := c.EC2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{DryRun: dry}, api.Once)
			return err
		}},
		{"ec2:DescribeSecurityGroups", noLaunch, func(ctx context.Context) error {
			_, err := c.EC2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{DryRun: dry}, api.Once)
			return err
		}},
		{"ec2:DescribePlacementGroups", "classes with a placement group never become ready", func(ctx context.Context) error {
			_, err := c.EC2.DescribePlacementGroups(ctx, &ec2.DescribePlacementGroupsInput{DryRun: dry}, api.Once)
			return err
		}},
		{"ec2:DescribeCapacityReservations", "reserved capacity is not used", func(ctx context.Context) error {
			_, err := c.EC2.DescribeCapacityReservations(ctx, &ec2.DescribeCapacityReservationsInput{DryRun: dry}, api.Once)
			return err
		}},
		{"ec2:DescribeLaunchTemplates", noLaunch, func(ctx context.Context) error {
			_, err := c.EC2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{DryRun: dry}, api.Once)
			return err
		}},
		{"ec2:DescribeInstances", "what was bought is not seen", func(ctx context.Context) error {
			_, err := c.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{DryRun: dry}, api.Once)
			return err
		}},
		{"ec2:DescribeInstanceStatus", "scheduled events of instances are not heeded", func(ctx context.Context) error {
			_, err := c.EC2.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{DryRun: dry}, api.Once)
			return err
		}},
		{"ssm:GetParameter", "images that are named by an alias are not found", l.askImage},
	}
	return append(list, l.services()...)
}

// services are those beside EC2.
func (l *inspection) services() []trial {
	c := l.clients
	list := []trial{{"eks:DescribeCluster", "the address of the API server is not known to new nodes, unless --cluster-endpoint is set", func(ctx context.Context) error {
		_, err := c.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(l.ClusterName)})
		return err
	}}}
	if !l.Isolated {
		list = append(list, trial{"pricing:GetProducts", "on-demand prices are those of the day of the build", func(ctx context.Context) error {
			_, err := c.Pricing.GetProducts(ctx, &pricing.GetProductsInput{ServiceCode: aws.String("AmazonEC2"), MaxResults: aws.Int32(1)})
			return err
		}}, trial{"iam:GetInstanceProfile", noProfile, func(ctx context.Context) error {
			_, err := c.IAM.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: absent})
			return err
		}}, trial{"iam:ListInstanceProfiles", "instance profiles of classes that are gone stay behind", func(ctx context.Context) error {
			_, err := c.IAM.ListInstanceProfiles(ctx, &iam.ListInstanceProfilesInput{MaxItems: aws.Int32(1)})
			return err
		}})
	}
	if l.ZonalShift {
		list = append(list, trial{"arc-zonal-shift:GetManagedResource", "zonal shifts are not followed", func(ctx context.Context) error {
			arn := "arn:aws:eks:" + c.Region + ":" + l.account + ":cluster/" + l.ClusterName
			_, err := c.ZonalShift.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: aws.String(arn)})
			return err
		}})
	}
	return list
}

// askImage finds an image for the rehearsal of a launch.
func (l *inspection) askImage(ctx context.Context) error {
	name := "/aws/service/eks/optimized-ami/" + l.minor() + "/amazon-linux-2023/x86_64/standard/recommended/image_id"
	answer, err := l.clients.SSM.GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String(name)})
	if err == nil && answer.Parameter != nil {
		l.image = aws.ToString(answer.Parameter.Value)
	}
	return err
}

// tags are those of a launch.
func (l *inspection) tags() map[string]string {
	return map[string]string{
		awsv1.TagClusterPrefix + l.ClusterName: "owned", awsv1.TagNodePool: "tenon-preflight",
		awsv1.TagClusterName: l.ClusterName, awsv1.TagNodeClass: "tenon-preflight",
	}
}

func (l *inspection) tagList() []types.Tag {
	tags := l.tags()
	var list []types.Tag
	for _, key := range order.Keys(tags) {
		list = append(list, types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return list
}

// launches are tried with subnet and groups that were found, and the image that SSM tells.
func (l *inspection) launches(context.Context) []trial {
	c := l.clients
	list := []trial{{"ec2:CreateLaunchTemplate", noLaunch, func(ctx context.Context) error {
		_, err := c.EC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
			DryRun: dry, LaunchTemplateName: absent, LaunchTemplateData: &types.RequestLaunchTemplateData{InstanceType: types.InstanceTypeM5Large},
			TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate, Tags: l.tagList()}},
		}, api.Once)
		return err
	}}}
	if l.subnet == "" || len(l.groups) == 0 {
		return list // the findings on subnets and groups say why
	}
	return append(list, trial{"ec2:RunInstances", noLaunch, func(ctx context.Context) error {
		_, err := c.EC2.RunInstances(ctx, &ec2.RunInstancesInput{
			DryRun: dry, ImageId: aws.String(l.image), InstanceType: types.InstanceTypeM5Large, MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
			SubnetId: aws.String(l.subnet), SecurityGroupIds: l.groups,
			TagSpecifications: []types.TagSpecification{
				{ResourceType: types.ResourceTypeInstance, Tags: l.tagList()}, {ResourceType: types.ResourceTypeVolume, Tags: l.tagList()},
				{ResourceType: types.ResourceTypeNetworkInterface, Tags: l.tagList()},
			},
		}, api.Once)
		return err
	}})
}

// ends are tried on a machine of the cluster, if there is one: the permission depends on its tags.
func (l *inspection) ends(ctx context.Context) []trial {
	c := l.clients
	answer, err := c.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{
		Filters: append(network.TagFilters(map[string]string{awsv1.TagClusterPrefix + l.ClusterName: "owned", awsv1.TagNodePool: "*"}),
			network.Filter("instance-state-name", "running")),
	})
	if err != nil || len(answer.Reservations) == 0 || len(answer.Reservations[0].Instances) == 0 {
		return nil
	}
	id := aws.ToString(answer.Reservations[0].Instances[0].InstanceId)
	return []trial{
		{"ec2:TerminateInstances", noEnd, func(ctx context.Context) error {
			_, err := c.EC2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{DryRun: dry, InstanceIds: []string{id}}, api.Once)
			return err
		}},
		{"ec2:CreateTags", "instances do not carry the names of their claims", func(ctx context.Context) error {
			_, err := c.EC2.CreateTags(ctx, &ec2.CreateTagsInput{DryRun: dry, Resources: []string{id},
				Tags: []types.Tag{{Key: aws.String("Name"), Value: aws.String("tenon-preflight")}}}, api.Once)
			return err
		}},
	}
}
