package launchtemplate

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "tenon/api/aws/v1"
	"tenon/api/scalar"
)

const gibi = int64(1) << 30

// blockDevices returns the class's devices, or else the family's.
func blockDevices(own []*awsv1.BlockDeviceMapping, family string) []types.LaunchTemplateBlockDeviceMappingRequest {
	if len(own) == 0 {
		return usualDevices(family)
	}
	var list []types.LaunchTemplateBlockDeviceMappingRequest
	for _, m := range own {
		if m == nil {
			continue
		}
		request := types.LaunchTemplateBlockDeviceMappingRequest{DeviceName: m.DeviceName}
		if m.EBS != nil {
			request.Ebs = volume(m.EBS)
		}
		list = append(list, request)
	}
	return list
}

func volume(d *awsv1.BlockDevice) *types.LaunchTemplateEbsBlockDeviceRequest {
	v := &types.LaunchTemplateEbsBlockDeviceRequest{
		DeleteOnTermination:      d.DeleteOnTermination,
		Encrypted:                d.Encrypted,
		VolumeType:               types.VolumeType(aws.ToString(d.VolumeType)),
		Iops:                     positive(d.IOPS),
		Throughput:               positive(d.Throughput),
		KmsKeyId:                 d.KMSKeyID,
		SnapshotId:               d.SnapshotID,
		VolumeInitializationRate: d.VolumeInitializationRate,
	}
	if d.VolumeSize != nil {
		v.VolumeSize = aws.Int32(int32((scalar.Amount(*d.VolumeSize) + gibi - 1) / gibi))
	}
	return v
}

// positive converts a number, and leaves out one that is not positive.
func positive(n *int64) *int32 {
	if n == nil || *n == 0 {
		return nil
	}
	return aws.Int32(int32(*n))
}

func usualDevices(family string) []types.LaunchTemplateBlockDeviceMappingRequest {
	usual := func(name string, size int32) types.LaunchTemplateBlockDeviceMappingRequest {
		return types.LaunchTemplateBlockDeviceMappingRequest{DeviceName: &name, Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{
			Encrypted: aws.Bool(true), VolumeType: types.VolumeTypeGp3, VolumeSize: &size,
		}}
	}
	switch family {
	case awsv1.FamilyCustom:
		return nil // leave it to the image
	case awsv1.FamilyBottlerocket:
		return []types.LaunchTemplateBlockDeviceMappingRequest{usual("/dev/xvda", 4), usual("/dev/xvdb", 20)}
	case awsv1.FamilyWindows2019, awsv1.FamilyWindows2022, awsv1.FamilyWindows2025:
		return []types.LaunchTemplateBlockDeviceMappingRequest{usual("/dev/sda1", 50)}
	}
	return []types.LaunchTemplateBlockDeviceMappingRequest{usual("/dev/xvda", 20)}
}

// withoutIPv6 lists regions whose metadata service does not know the setting.
var withoutIPv6 = []string{
	"us-iso-east-1", "us-iso-west-1", "us-isob-east-1", "us-isob-west-1", "us-isof-south-1", "us-isof-east-1",
}

// metadataOptions returns the class's options. The schema has defaults, so a class without options is older
// than the defaults: then the endpoint is off, and tokens are required.
func metadataOptions(own *awsv1.MetadataOptions, ipv6 bool, region string) *types.LaunchTemplateInstanceMetadataOptionsRequest {
	if own == nil {
		protocol := "disabled"
		if ipv6 {
			protocol = "enabled"
		}
		own = &awsv1.MetadataOptions{
			HTTPEndpoint: aws.String("disabled"), HTTPProtocolIPv6: &protocol,
			HTTPPutResponseHopLimit: aws.Int64(2), HTTPTokens: aws.String("required"),
		}
	}
	options := &types.LaunchTemplateInstanceMetadataOptionsRequest{
		HttpEndpoint:         types.LaunchTemplateInstanceMetadataEndpointState(aws.ToString(own.HTTPEndpoint)),
		HttpProtocolIpv6:     types.LaunchTemplateInstanceMetadataProtocolIpv6(aws.ToString(own.HTTPProtocolIPv6)),
		HttpTokens:           types.LaunchTemplateHttpTokensState(aws.ToString(own.HTTPTokens)),
		InstanceMetadataTags: types.LaunchTemplateInstanceMetadataTagsStateDisabled,
	}
	if own.HTTPPutResponseHopLimit != nil {
		options.HttpPutResponseHopLimit = aws.Int32(int32(*own.HTTPPutResponseHopLimit))
	}
	if slices.Contains(withoutIPv6, region) {
		options.HttpProtocolIpv6 = ""
	}
	return options
}
