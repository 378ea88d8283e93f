package nodegroup

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/core/order"
)

func (c *conversion) class(name string) *awsv1.EC2NodeClass {
	class := &awsv1.EC2NodeClass{
		TypeMeta: metav1.TypeMeta{APIVersion: awsv1.GroupVersion.String(), Kind: awsv1.KindEC2NodeClass}, ObjectMeta: metav1.ObjectMeta{Name: name},
	}
	s := &class.Spec
	for subnet := range strings.SplitSeq(aws.ToString(c.Group.VPCZoneIdentifier), ",") {
		if subnet = strings.TrimSpace(subnet); subnet != "" {
			s.SubnetSelectorTerms = append(s.SubnetSelectorTerms, awsv1.SubnetSelectorTerm{ID: subnet})
		}
	}
	c.securityGroups(s)
	c.image(s)
	c.role(s)
	c.devices(s)
	c.options(s)
	s.Tags = c.tags()
	return class
}

func (c *conversion) securityGroups(s *awsv1.EC2NodeClassSpec) {
	ids := c.Launch.SecurityGroupIds
	for i := range c.Launch.NetworkInterfaces {
		n := &c.Launch.NetworkInterfaces[i]
		ids = append(ids[:len(ids):len(ids)], n.Groups...)
		if n.AssociatePublicIpAddress != nil {
			s.AssociatePublicIPAddress = n.AssociatePublicIpAddress
		}
		if i > 0 {
			c.note(cloud.Lost, "further network interfaces", "write spec.networkInterfaces of the class by hand")
			break
		}
	}
	for _, id := range ids {
		s.SecurityGroupSelectorTerms = append(s.SecurityGroupSelectorTerms, awsv1.SecurityGroupSelectorTerm{ID: id})
	}
	if cluster, _ := managedBy(c.Group); len(ids) == 0 && cluster != "" {
		s.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"aws:eks:cluster-name": cluster}}}
		c.note(cloud.Changed, "security groups", "the launch template names none: the class selects those that EKS made for the cluster")
	} else if len(ids) == 0 {
		c.note(cloud.Lost, "security groups", "the launch template names none: write spec.securityGroupSelectorTerms of the class by hand")
	}
}

// image chooses between the published images of a family, and the group's own image with its own user data.
func (c *conversion) image(s *awsv1.EC2NodeClassSpec) {
	if c.Managed != nil && c.Managed.AmiType != "" && c.Managed.AmiType != "CUSTOM" {
		family := familyOf(c.Managed.AmiType)
		s.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: strings.ToLower(family) + "@" + awsv1.VersionLatest}}
		c.note(cloud.Changed, "image "+string(c.Managed.AmiType)+" "+aws.ToString(c.Managed.ReleaseVersion), "the class follows the latest release of %s: name a version in its alias to stay on one", family)
		if c.Managed.LaunchTemplate != nil && aws.ToString(c.Launch.UserData) != "" {
			c.note(cloud.Lost, "user data", "EKS merges it with its own: copy your part into spec.userData of the class")
		}
		return
	}
	family := awsv1.FamilyCustom
	s.AMIFamily = &family
	if id := aws.ToString(c.Launch.ImageId); id != "" {
		s.AMISelectorTerms = []awsv1.AMISelectorTerm{{ID: id}}
		c.note(cloud.Kept, "image "+id, "it stays this one until the class names another")
	} else {
		c.note(cloud.Lost, "image", "the launch template names none: write spec.amiSelectorTerms of the class by hand")
	}
	if data := aws.ToString(c.Launch.UserData); data != "" {
		text := decoded(data)
		s.UserData = &text
		c.note(cloud.Changed, "user data", "it is used as it is (amiFamily Custom): make it register the node with the taint karpenter.sh/unregistered:NoExecute, and take out labels of the group")
	}
}

func (c *conversion) role(s *awsv1.EC2NodeClassSpec) {
	profile := c.Launch.IamInstanceProfile
	switch {
	case c.Managed != nil && aws.ToString(c.Managed.NodeRole) != "":
		arn := *c.Managed.NodeRole
		s.Role = arn[strings.LastIndex(arn, "/")+1:]
	case profile != nil && aws.ToString(profile.Name) != "":
		s.InstanceProfile = profile.Name
	case profile != nil && aws.ToString(profile.Arn) != "":
		name := (*profile.Arn)[strings.LastIndex(*profile.Arn, "/")+1:]
		s.InstanceProfile = &name
	default:
		c.note(cloud.Lost, "instance profile", "the launch template names none: write spec.role of the class by hand")
	}
}

func (c *conversion) devices(s *awsv1.EC2NodeClassSpec) {
	for i := range c.Launch.BlockDeviceMappings {
		m := &c.Launch.BlockDeviceMappings[i]
		if m.Ebs == nil {
			c.note(cloud.Lost, "device "+aws.ToString(m.DeviceName), "only EBS volumes are carried over")
			continue
		}
		e := m.Ebs
		device := &awsv1.BlockDevice{
			DeleteOnTermination: e.DeleteOnTermination, Encrypted: e.Encrypted, KMSKeyID: e.KmsKeyId, SnapshotID: e.SnapshotId,
			IOPS: wide(e.Iops), Throughput: wide(e.Throughput),
		}
		if e.VolumeSize != nil {
			size := resource.MustParse("0Gi")
			size.Set(int64(*e.VolumeSize) << 30)
			device.VolumeSize = &size
		}
		if e.VolumeType != "" {
			kind := string(e.VolumeType)
			device.VolumeType = &kind
		}
		s.BlockDeviceMappings = append(s.BlockDeviceMappings, &awsv1.BlockDeviceMapping{DeviceName: m.DeviceName, EBS: device})
	}
}

func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	out := int64(*n)
	return &out
}

func (c *conversion) options(s *awsv1.EC2NodeClassSpec) {
	l := c.Launch
	if m := l.MetadataOptions; m != nil {
		s.MetadataOptions = &awsv1.MetadataOptions{
			HTTPEndpoint: said(string(m.HttpEndpoint)), HTTPProtocolIPv6: said(string(m.HttpProtocolIpv6)), HTTPTokens: said(string(m.HttpTokens)), HTTPPutResponseHopLimit: wide(m.HttpPutResponseHopLimit),
		}
	} else {
		c.note(cloud.Changed, "metadata options", "the launch template has none: nodes of the class require tokens, and pods do not reach the metadata (hop limit 1)")
	}
	if l.Monitoring != nil {
		s.DetailedMonitoring = l.Monitoring.Enabled
	}
	lost := map[string]bool{
		"CPU options": l.CpuOptions != nil, "capacity reservation": l.CapacityReservationSpecification != nil, "placement": l.Placement != nil && *l.Placement != (ec2types.LaunchTemplatePlacement{}),
		"enclave options": l.EnclaveOptions != nil, "hibernation": l.HibernationOptions != nil, "licences": len(l.LicenseSpecifications) > 0, "key pair": aws.ToString(l.KeyName) != "",
		"kernel or RAM disk": aws.ToString(l.KernelId)+aws.ToString(l.RamDiskId) != "",
	}
	for _, setting := range order.Keys(lost) {
		if lost[setting] {
			c.note(cloud.Lost, setting+" of the launch template", "it is not carried over: see the fields of EC2NodeClass")
		}
	}
	if aws.ToBool(l.EbsOptimized) {
		c.note(cloud.Needless, "EBS optimisation", "it is on by default on the present types")
	}
}

// said is nil for an empty text.
func said(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// foreignTags begin the keys of tags that belong to AWS or to an autoscaler.
var foreignTags = []string{"aws:", "eks:", "k8s.io/cluster-autoscaler/", "kubernetes.io/cluster/", "karpenter.sh/", "alpha.eksctl.io/", "eksctl.cluster.k8s.io/"}

// tags are those that instances of the group get, without those that belong to AWS, EKS or an autoscaler.
func (c *conversion) tags() map[string]string {
	out := map[string]string{}
	enter := func(key, value string) {
		for _, prefix := range foreignTags {
			if strings.HasPrefix(key, prefix) {
				return
			}
		}
		out[key] = value
	}
	for i := range c.Launch.TagSpecifications {
		if t := &c.Launch.TagSpecifications[i]; t.ResourceType == ec2types.ResourceTypeInstance {
			for _, tag := range t.Tags {
				enter(aws.ToString(tag.Key), aws.ToString(tag.Value))
			}
		}
	}
	for i := range c.Group.Tags {
		if t := &c.Group.Tags[i]; aws.ToBool(t.PropagateAtLaunch) {
			enter(aws.ToString(t.Key), aws.ToString(t.Value))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
