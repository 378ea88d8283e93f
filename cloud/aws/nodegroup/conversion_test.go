package nodegroup_test

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"tenon/cloud"
	"tenon/cloud/aws/nodegroup"
)

var rewrite = flag.Bool("rewrite", false, "write golden files anew")

// selfManaged is a group with a mixed instances policy, and a launch template that a user wrote.
func selfManaged() nodegroup.Original {
	g := group("Web ASG", tagged(
		"k8s.io/cluster-autoscaler/node-template/label/team", "shop", "k8s.io/cluster-autoscaler/node-template/taint/only", "web:NoSchedule",
		"k8s.io/cluster-autoscaler/node-template/resources/example.com/disk", "2", "k8s.io/cluster-autoscaler/node-template/autoscaling-options/scaledownunneededtime", "4m",
		"k8s.io/cluster-autoscaler/node-template/autoscaling-options/scaledownutilizationthreshold", "0.7", "k8s.io/cluster-autoscaler/enabled", "true", "cost", "web",
	))
	for i := range g.Tags {
		g.Tags[i].PropagateAtLaunch = aws.Bool(true)
	}
	g.AvailabilityZones, g.VPCZoneIdentifier = []string{"us-west-2b", "us-west-2a"}, aws.String("subnet-0a,subnet-0b")
	g.MaxInstanceLifetime, g.CapacityRebalance, g.TargetGroupARNs = aws.Int32(86400), aws.Bool(true), []string{"arn"}
	g.SuspendedProcesses = []astypes.SuspendedProcess{{ProcessName: aws.String("AZRebalance")}}
	g.MixedInstancesPolicy = &astypes.MixedInstancesPolicy{
		InstancesDistribution: &astypes.InstancesDistribution{OnDemandPercentageAboveBaseCapacity: aws.Int32(20), SpotAllocationStrategy: aws.String("lowest-price"), SpotMaxPrice: aws.String("0.05")},
	}
	size, iops := int32(100), int32(4000)
	return nodegroup.Original{Group: &g, Types: []string{"m5.large", "m5a.large"}, Launch: &ec2types.ResponseLaunchTemplateData{
		ImageId: aws.String("ami-0abc1230000000000"), SecurityGroupIds: []string{"sg-1"}, KeyName: aws.String("admin"),
		UserData:           aws.String(base64.StdEncoding.EncodeToString([]byte("#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--node-labels=disk=fast'\n"))),
		IamInstanceProfile: &ec2types.LaunchTemplateIamInstanceProfileSpecification{Arn: aws.String("arn:aws:iam::000000000001:instance-profile/web")},
		BlockDeviceMappings: []ec2types.LaunchTemplateBlockDeviceMapping{{DeviceName: aws.String("/dev/xvda"), Ebs: &ec2types.LaunchTemplateEbsBlockDevice{
			VolumeSize: &size, Iops: &iops, VolumeType: ec2types.VolumeTypeGp3, Encrypted: aws.Bool(true), DeleteOnTermination: aws.Bool(true),
		}}},
		MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptions{HttpTokens: ec2types.LaunchTemplateHttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(2)},
		TagSpecifications: []ec2types.LaunchTemplateTagSpecification{{ResourceType: ec2types.ResourceTypeInstance, Tags: []ec2types.Tag{
			{Key: aws.String("owner"), Value: aws.String("shop")}, {Key: aws.String("kubernetes.io/cluster/demo"), Value: aws.String("owned")},
		}}},
	}}
}

// managedByEKS is a managed node group whose launch template EKS made.
func managedByEKS() nodegroup.Original {
	g := group("eks-web-84c0ffee", tagged("eks:cluster-name", "demo", "eks:nodegroup-name", "web"))
	g.MinSize, g.VPCZoneIdentifier = aws.Int32(0), aws.String("subnet-0a")
	return nodegroup.Original{
		Group: &g, Types: []string{"m5.large"},
		Launch: &ec2types.ResponseLaunchTemplateData{SecurityGroupIds: []string{"sg-1"}, ImageId: aws.String("ami-0abc1230000000000"), UserData: aws.String("TUlNRQ==")},
		Managed: &ekstypes.Nodegroup{
			NodegroupName: aws.String("web"), NodeRole: aws.String("arn:aws:iam::000000000001:role/path/KarpenterNodeRole-demo"), AmiType: ekstypes.AMITypesAl2023X8664Standard,
			ReleaseVersion: aws.String("1.34.1-20261101"), CapacityType: ekstypes.CapacityTypesSpot, Labels: map[string]string{"team": "shop"},
			Taints:       []ekstypes.Taint{{Key: aws.String("node.cilium.io/agent-not-ready"), Value: aws.String("true"), Effect: ekstypes.TaintEffectNoExecute}},
			UpdateConfig: &ekstypes.NodegroupUpdateConfig{MaxUnavailable: aws.Int32(2)},
		},
	}
}

// Groups become pools and classes; what is different is said of each setting. The objects of the golden files are validated by
// package validate.
func TestToPool(t *testing.T) {
	t.Parallel()
	for name, original := range map[string]nodegroup.Original{"selfmanaged": selfManaged(), "managed": managedByEKS()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := original.ToPool()
			var text strings.Builder
			for _, n := range found.Notes {
				fmt.Fprintf(&text, "# %-8s %s: %s\n", n.Effect, n.Setting, n.Text)
			}
			for _, object := range found.Objects {
				fields := map[string]any{}
				written, err := json.Marshal(object)
				if err == nil {
					err = json.Unmarshal(written, &fields)
				}
				if err != nil {
					t.Fatal(err)
				}
				delete(fields, "status")
				if written, err = yaml.Marshal(fields); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&text, "---\n%s", written)
			}
			path := filepath.Join("testdata", "conversion", name+".yaml")
			if *rewrite {
				if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Notes name only what the group has: one without anything special loses nothing.
func TestToPoolOfAPlainGroup(t *testing.T) {
	t.Parallel()
	o := managedByEKS()
	o.Managed.LaunchTemplate = nil
	if found := o.ToPool(); !found.Complete() {
		t.Errorf("notes %+v", found.Notes)
	}
	o.Group.MinSize = aws.Int32(1)
	if found := o.ToPool(); found.Complete() || found.Notes[0].Effect != cloud.Lost || !strings.HasPrefix(found.Notes[0].Setting, "minimum size 1") {
		t.Errorf("notes %+v", found.Notes)
	}
}

// A group is read with its launch template, its types and its managed node group; what cannot be read is an error.
func TestOriginal(t *testing.T) {
	t.Parallel()
	a := newAccount(group("web", tagged("eks:cluster-name", "demo", "eks:nodegroup-name", "web")), group("old", func(g *astypes.AutoScalingGroup) {
		g.LaunchTemplate, g.LaunchConfigurationName = nil, aws.String("old")
	}))
	a.managed = map[string]*ekstypes.Nodegroup{"web": {NodegroupName: aws.String("web")}}
	r, _ := reader(a, nodegroup.Discovery{})
	o, err := r.Original(t.Context(), "web")
	if err != nil || o.Launch == nil || o.Managed == nil || len(o.Types) == 0 {
		t.Errorf("%+v, error %v", o, err)
	}
	for name, want := range map[string]string{"old": "has no launch template: give it one", "gone": "there is no Auto Scaling group gone"} {
		if _, err := r.Original(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
}
