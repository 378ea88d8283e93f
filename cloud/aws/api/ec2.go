package api

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// EC2Options changes a single call.
type EC2Options = func(*ec2.Options)

// EC2 has every EC2 operation that Tenon calls, except those that only node groups need.
type EC2 interface {
	EC2Market
	EC2Network
	EC2Images
	EC2Reservations
	EC2Templates
	EC2Launches
	EC2Instances
}

// EC2Market finds what EC2 sells.
type EC2Market interface {
	DescribeInstanceTypes(context.Context, *ec2.DescribeInstanceTypesInput, ...EC2Options) (*ec2.DescribeInstanceTypesOutput, error)
	DescribeInstanceTypeOfferings(context.Context, *ec2.DescribeInstanceTypeOfferingsInput, ...EC2Options) (*ec2.DescribeInstanceTypeOfferingsOutput, error)
	DescribeSpotPriceHistory(context.Context, *ec2.DescribeSpotPriceHistoryInput, ...EC2Options) (*ec2.DescribeSpotPriceHistoryOutput, error)
}

// EC2Network finds subnets, security groups and placement groups.
type EC2Network interface {
	DescribeSubnets(context.Context, *ec2.DescribeSubnetsInput, ...EC2Options) (*ec2.DescribeSubnetsOutput, error)
	DescribeSecurityGroups(context.Context, *ec2.DescribeSecurityGroupsInput, ...EC2Options) (*ec2.DescribeSecurityGroupsOutput, error)
	DescribePlacementGroups(context.Context, *ec2.DescribePlacementGroupsInput, ...EC2Options) (*ec2.DescribePlacementGroupsOutput, error)
}

// EC2Images finds machine images.
type EC2Images interface {
	DescribeImages(context.Context, *ec2.DescribeImagesInput, ...EC2Options) (*ec2.DescribeImagesOutput, error)
}

// EC2Reservations finds reserved capacity, which the account already pays for.
type EC2Reservations interface {
	DescribeCapacityReservations(context.Context, *ec2.DescribeCapacityReservationsInput, ...EC2Options) (*ec2.DescribeCapacityReservationsOutput, error)
}

// EC2Templates keeps launch templates.
type EC2Templates interface {
	CreateLaunchTemplate(context.Context, *ec2.CreateLaunchTemplateInput, ...EC2Options) (*ec2.CreateLaunchTemplateOutput, error)
	DescribeLaunchTemplates(context.Context, *ec2.DescribeLaunchTemplatesInput, ...EC2Options) (*ec2.DescribeLaunchTemplatesOutput, error)
	DeleteLaunchTemplate(context.Context, *ec2.DeleteLaunchTemplateInput, ...EC2Options) (*ec2.DeleteLaunchTemplateOutput, error)
}

// EC2Launches buys instances. Tenon calls RunInstances only as a dry run.
type EC2Launches interface {
	CreateFleet(context.Context, *ec2.CreateFleetInput, ...EC2Options) (*ec2.CreateFleetOutput, error)
	RunInstances(context.Context, *ec2.RunInstancesInput, ...EC2Options) (*ec2.RunInstancesOutput, error)
}

// EC2Instances reads, tags and ends instances.
type EC2Instances interface {
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...EC2Options) (*ec2.DescribeInstancesOutput, error)
	DescribeInstanceStatus(context.Context, *ec2.DescribeInstanceStatusInput, ...EC2Options) (*ec2.DescribeInstanceStatusOutput, error)
	TerminateInstances(context.Context, *ec2.TerminateInstancesInput, ...EC2Options) (*ec2.TerminateInstancesOutput, error)
	CreateTags(context.Context, *ec2.CreateTagsInput, ...EC2Options) (*ec2.CreateTagsOutput, error)
}

// Once is an option for calls that the SDK must not retry.
func Once(o *ec2.Options) { o.RetryMaxAttempts = 1 }
