package aws_test

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// "The new version inherits the same launch parameters as the source version, except for parameters that
// you specify"; launches use the named version, and groups follow $Default and $Latest.
func TestLaunchTemplateVersions(t *testing.T) {
	t.Parallel()
	s := newScaler(t)
	ctx, name := t.Context(), sdk.String("nodes")
	made := got(s.ec2().CreateLaunchTemplateVersion(ctx, &ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateName: name, SourceVersion: sdk.String("1"), LaunchTemplateData: &types.RequestLaunchTemplateData{InstanceType: "m5.xlarge"},
	}))(t).LaunchTemplateVersion
	if *made.VersionNumber != 2 || *made.DefaultVersion || made.LaunchTemplateData.InstanceType != "m5.xlarge" || *made.LaunchTemplateData.ImageId != s.world.image {
		t.Errorf("version = %+v", made)
	}
	launched := func(group, version string) string {
		s.group(1, func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.AutoScalingGroupName, in.LaunchTemplate.Version = &group, &version
		})
		s.settle()
		out := got(s.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{group}}))(t)
		i := out.AutoScalingGroups[0].Instances[0]
		return *i.InstanceType + " " + *i.LaunchTemplate.Version
	}
	s.check("default", launched("a", "$Default"), "m5.large 1")
	s.check("latest", launched("b", "$Latest"), "m5.xlarge 2")
	modified := got(s.ec2().ModifyLaunchTemplate(ctx, &ec2.ModifyLaunchTemplateInput{LaunchTemplateName: name, DefaultVersion: sdk.String("2")}))(t).LaunchTemplate
	if *modified.DefaultVersionNumber != 2 || *modified.LatestVersionNumber != 2 {
		t.Errorf("template = %+v", modified)
	}
	s.check("another default", launched("c", "$Default"), "m5.xlarge 2")
	versions := got(s.ec2().DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateName: name}))(t).LaunchTemplateVersions
	if len(versions) != 2 || *versions[0].VersionNumber != 2 || !*versions[0].DefaultVersion || *versions[1].DefaultVersion {
		t.Errorf("versions = %+v", versions)
	}
	_, err := s.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: sdk.String("a"),
		LaunchTemplate: &asgtypes.LaunchTemplateSpecification{LaunchTemplateName: name, Version: sdk.String("3")}})
	s.check("a version that does not exist", code(err), "ValidationError")
}
