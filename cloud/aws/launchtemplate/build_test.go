package launchtemplate_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/launchtemplate"
	"tenon/cloud/aws/userdata"
	"tenon/core/model"
)

// options returns the options of an ordinary launch, modified by change.
func options(change ...func(*launchtemplate.Options)) launchtemplate.Options {
	class := &awsv1.EC2NodeClass{
		Spec: awsv1.EC2NodeClassSpec{AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}},
		Status: awsv1.EC2NodeClassStatus{
			InstanceProfile: "profile", SecurityGroups: []awsv1.SecurityGroup{{ID: "sg-1"}, {ID: "sg-2"}},
		},
	}
	class.Name = "default"
	class.SetDefaults()
	o := launchtemplate.Options{
		Region:  "us-west-2",
		Cluster: userdata.Cluster{Name: "lab", Endpoint: "https://127.0.0.1:6443", CABundle: "bGFi", ServiceCIDR: "10.96.0.0/12", DNS: "10.96.0.10"},
		Class:   class, Tags: map[string]string{"b": "2", "a": "1"}, ImageID: "ami-1", MaxPods: 29,
		Labels: map[string]string{"karpenter.sh/nodepool": "default"}, CapacityType: "on-demand", ReservedCapacity: true,
		Taints: []model.Taint{{Key: "karpenter.sh/unregistered", Effect: model.NoExecute}},
	}
	for _, f := range change {
		f(&o)
	}
	return o
}

func build(t *testing.T, change ...func(*launchtemplate.Options)) launchtemplate.Template {
	t.Helper()
	made, err := launchtemplate.Build(options(change...))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// text is the data of a template as JSON, without its user data and unset fields.
func text(t *testing.T, made launchtemplate.Template) string {
	t.Helper()
	data := *made.Input.LaunchTemplateData
	data.UserData = nil
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	prune(tree)
	raw, err = json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func prune(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if inner == nil || inner == "" {
				delete(v, key)
				continue
			}
			prune(inner)
		}
	case []any:
		for _, inner := range v {
			prune(inner)
		}
	}
}

// An ordinary node requires tokens, encrypts its disk, and uses no open reservation. (AWS SDK, ec2 v1.344.0, HttpTokens: "required - IMDSv2
// is required. You must send a session token in your instance metadata retrieval requests"; HttpPutResponseHopLimit: "Default: 1".)
func TestBuild(t *testing.T) {
	t.Parallel()
	const want = `{"BlockDeviceMappings":[{"DeviceName":"/dev/xvda","Ebs":{"Encrypted":true,"VolumeSize":20,"VolumeType":"gp3"}}],` +
		`"CapacityReservationSpecification":{"CapacityReservationPreference":"none"},"IamInstanceProfile":{"Name":"profile"},"ImageId":"ami-1",` +
		`"MetadataOptions":{"HttpEndpoint":"enabled","HttpProtocolIpv6":"disabled","HttpPutResponseHopLimit":1,"HttpTokens":"required","InstanceMetadataTags":"disabled"},` +
		`"Monitoring":{"Enabled":false},"NetworkInterfaces":[{"DeviceIndex":0,"Groups":["sg-1","sg-2"]}],"Placement":{"Tenancy":"default"},` +
		`"TagSpecifications":[{"ResourceType":"network-interface","Tags":[{"Key":"a","Value":"1"},{"Key":"b","Value":"2"}]}]}`
	made := build(t)
	if got := text(t, made); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	user, err := base64.StdEncoding.DecodeString(*made.Input.LaunchTemplateData.UserData)
	if err != nil || len(user) != made.Bytes || !strings.Contains(string(user), "maxPods: 29") {
		t.Errorf("user data (%v, %d bytes):\n%s", err, made.Bytes, user)
	}
}

// Each setting shows in the request and changes the template's name.
func TestBuildSettings(t *testing.T) {
	t.Parallel()
	spec := func(f func(*awsv1.EC2NodeClassSpec)) func(*launchtemplate.Options) {
		return func(o *launchtemplate.Options) { f(&o.Class.Spec) }
	}
	cases := map[string]struct {
		change func(*launchtemplate.Options)
		want   string
	}{
		"spot tags its request": {func(o *launchtemplate.Options) { o.CapacityType = "spot" }, `{"ResourceType":"spot-instances-request"`},
		"reserved": {func(o *launchtemplate.Options) {
			o.Reservation = &launchtemplate.Reservation{ID: "cr-1", Kind: "default"}
		},
			`"CapacityReservationSpecification":{"CapacityReservationPreference":"capacity-reservations-only","CapacityReservationTarget":{"CapacityReservationId":"cr-1"}}`},
		"capacity block": {func(o *launchtemplate.Options) {
			o.Reservation = &launchtemplate.Reservation{ID: "cr-1", Kind: "capacity-block"}
		}, `"MarketType":"capacity-block"`},
		"interruptible": {func(o *launchtemplate.Options) {
			o.Reservation = &launchtemplate.Reservation{ID: "cr-1", Interruptible: true}
		}, `"MarketType":"interruptible-capacity-reservation"`},
		"tenancy":         {func(o *launchtemplate.Options) { o.Tenancy = "dedicated" }, `"Placement":{"Tenancy":"dedicated"}`},
		"placement group": {func(o *launchtemplate.Options) { o.Placement = launchtemplate.Placement{GroupID: "pg-1", Partition: 3} }, `"Placement":{"GroupId":"pg-1","PartitionNumber":3,"Tenancy":"default"}`},
		"enclave":         {func(o *launchtemplate.Options) { o.Enclave = true }, `"EnclaveOptions":{"Enabled":true}`},
		"EFA": {func(o *launchtemplate.Options) { o.EFA = 2 },
			`[{"DeviceIndex":0,"Groups":["sg-1","sg-2"],"InterfaceType":"efa","NetworkCardIndex":0},{"DeviceIndex":1,"Groups":["sg-1","sg-2"],"InterfaceType":"efa","NetworkCardIndex":1}]`},
		"IPv6": {func(o *launchtemplate.Options) { o.Cluster.DNS = "fd00::a"; o.Class.Spec.IPPrefixCount = aws.Int32(1) },
			`[{"DeviceIndex":0,"Groups":["sg-1","sg-2"],"Ipv6AddressCount":1,"Ipv6PrefixCount":1,"PrimaryIpv6":true}]`},
		"prefixes": {spec(func(s *awsv1.EC2NodeClassSpec) { s.IPPrefixCount = aws.Int32(2) }), `"Ipv4PrefixCount":2`},
		"configured interfaces": {spec(func(s *awsv1.EC2NodeClassSpec) {
			s.AssociatePublicIPAddress = aws.Bool(false)
			s.NetworkInterfaces = []*awsv1.NetworkInterface{{InterfaceType: "interface"}, {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: "efa-only"}}
		}), `[{"AssociatePublicIpAddress":false,"DeviceIndex":0,"Groups":["sg-1","sg-2"],"InterfaceType":"interface","NetworkCardIndex":0},` +
			`{"DeviceIndex":1,"Groups":["sg-1","sg-2"],"InterfaceType":"efa-only","NetworkCardIndex":1}]`},
		"connection tracking": {spec(func(s *awsv1.EC2NodeClassSpec) {
			s.ConnectionTracking = &awsv1.ConnectionTracking{UDPTimeout: aws.Int32(30)}
		}), `"ConnectionTrackingSpecification":{"UdpTimeout":30}`},
		"nested virtualization": {spec(func(s *awsv1.EC2NodeClassSpec) {
			s.CPUOptions = &awsv1.CPUOptions{NestedVirtualization: aws.String("enabled")}
		}), `"CpuOptions":{"NestedVirtualization":"enabled"}`},
		"monitoring": {spec(func(s *awsv1.EC2NodeClassSpec) { s.DetailedMonitoring = aws.Bool(true) }), `"Monitoring":{"Enabled":true}`},
		"a size is rounded up": {spec(func(s *awsv1.EC2NodeClassSpec) {
			size := resource.MustParse("50G")
			s.BlockDeviceMappings = []*awsv1.BlockDeviceMapping{{DeviceName: aws.String("/dev/xvda"), EBS: &awsv1.BlockDevice{VolumeSize: &size, IOPS: aws.Int64(0), Throughput: aws.Int64(200)}}}
		}), `"Ebs":{"Throughput":200,"VolumeSize":47}`},
		"a class without metadata options": {spec(func(s *awsv1.EC2NodeClassSpec) { s.MetadataOptions = nil }), `{"HttpEndpoint":"disabled","HttpProtocolIpv6":"disabled","HttpPutResponseHopLimit":2,"HttpTokens":"required"`},
		"no IPv6 setting there":            {func(o *launchtemplate.Options) { o.Region = "us-iso-east-1" }, `"MetadataOptions":{"HttpEndpoint":"enabled","HttpPutResponseHopLimit":1`},
		"Bottlerocket has two disks": {spec(func(s *awsv1.EC2NodeClassSpec) { s.AMISelectorTerms[0].Alias = "bottlerocket@latest" }),
			`{"DeviceName":"/dev/xvdb","Ebs":{"Encrypted":true,"VolumeSize":20,"VolumeType":"gp3"}}`},
		"Windows' disk is larger": {spec(func(s *awsv1.EC2NodeClassSpec) { s.AMISelectorTerms[0].Alias = "windows2022@latest" }), `"DeviceName":"/dev/sda1","Ebs":{"Encrypted":true,"VolumeSize":50`},
	}
	plain := build(t)
	names := map[string]string{plain.Name: "an ordinary one"}
	for name, tc := range cases {
		made := build(t, tc.change)
		if got := text(t, made); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s\nwant in it %s", name, got, tc.want)
		}
		if other, taken := names[made.Name]; taken {
			t.Errorf("%s and %s share the name %s", name, other, made.Name)
		}
		names[made.Name] = name
	}
	if again := build(t); again.Name != plain.Name || !strings.HasPrefix(again.Name, launchtemplate.Prefix) {
		t.Errorf("the same launch is called %s, then %s", plain.Name, again.Name)
	}
	if gateOff := build(t, func(o *launchtemplate.Options) { o.ReservedCapacity = false }); strings.Contains(text(t, gateOff), "CapacityReservation") {
		t.Error("without the gate nothing is said of reservations")
	}
}
