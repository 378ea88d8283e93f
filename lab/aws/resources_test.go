package aws_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// codes runs calls that must fail and compares the codes.
func codes(t *testing.T, calls map[string]func() error) {
	t.Helper()
	for name, call := range calls {
		_, want, _ := strings.Cut(name, ": ")
		if err := call(); code(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// EC2 API, InstanceMetadataOptionsResponse: state is "pending" while "the instance is not ready to
// process metadata traffic with the new selection", then "applied"; HttpPutResponseHopLimit "Default: 1".
func TestMetadataOptions(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	w := e.discover()
	e.template(w, "nodes")
	id := ids(got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "nodes", "on-demand", 1, "m5.large a")))(t))[0]
	for _, want := range []types.InstanceMetadataOptionsState{"pending", "applied"} {
		m := e.instance(id).MetadataOptions
		if m.State != want || m.HttpTokens != "required" || m.HttpEndpoint != "enabled" || *m.HttpPutResponseHopLimit != 1 || m.InstanceMetadataTags != "disabled" {
			t.Errorf("options = %+v, want state %s", m, want)
		}
		e.pass(time.Minute)
	}
}

// A node's name comes from its address: the address of a dead node does not go to the next one.
func TestAddressesRest(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, func(c *configuration) { c.Resources.SubnetBits = 28 })
	w := e.discover()
	e.template(w, "nodes")
	var last string
	seen := map[string]bool{}
	for n := range 16 { // more than the eleven addresses of the subnet
		id := ids(got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "nodes", "on-demand", 1, "m5.large a")))(t))[0]
		name := *e.instance(id).PrivateDnsName
		if name == last || n < 11 && seen[name] {
			t.Errorf("launch %d gets the name %s again", n, name)
		}
		last, seen[name] = name, true
		got(e.ec2().TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}}))(t)
		e.pass(time.Minute)
	}
	if len(seen) != 11 {
		t.Errorf("%d addresses were given, want 11", len(seen))
	}
}

// EC2 API, CopyImage: "By default, user-defined AMI tags are not copied"; ClientToken makes it idempotent.
// EnableImageDeprecation: "You can't specify a date in the past", "rounds the seconds to the nearest minute".
// User Guide, "Deprecate an AMI": deprecated AMIs are still listed for their owner.
func TestImagesOfOnesOwn(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, w := t.Context(), e.discover()
	golden := e.image("/golden/image")
	order := func(source string, change ...func(*ec2.CopyImageInput)) (string, error) {
		in := &ec2.CopyImageInput{Name: sdk.String("copy"), SourceImageId: &source, SourceRegion: sdk.String(region), ClientToken: sdk.String("1"),
			TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeImage, Tags: tags("copied", "yes")}}}
		for _, f := range change {
			f(in)
		}
		out, err := e.ec2().CopyImage(ctx, in)
		if err != nil {
			return "", err
		}
		return *out.ImageId, nil
	}
	failing := func(source string, change func(*ec2.CopyImageInput)) func() error {
		return func() error { _, err := order(source, change); return err }
	}
	copied := got(order(w.image))(t)
	if again := got(order(w.image))(t); again != copied {
		t.Errorf("the same token makes %s and %s", copied, again)
	}
	tagged := got(order(golden, func(in *ec2.CopyImageInput) { in.CopyImageTags, in.ClientToken = sdk.Bool(true), sdk.String("2") }))(t)
	describe := func(id string) types.Image {
		return got(e.ec2().DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{id}}))(t).Images[0]
	}
	i := describe(copied)
	if *i.OwnerId != account || *i.Name != "copy" || *i.SourceImageId != w.image || *i.SourceImageRegion != region || i.DeprecationTime != nil || len(i.Tags) != 1 || *i.Public {
		t.Errorf("copy = %+v", i)
	}
	if n := len(describe(tagged).Tags); n != 2 {
		t.Errorf("the copy with its tags has %d tags, want team and copied", n)
	}

	at := start.Add(time.Hour + 29*time.Second)
	deprecate := func(id string, at time.Time) func() error {
		return func() error {
			_, err := e.ec2().EnableImageDeprecation(ctx, &ec2.EnableImageDeprecationInput{ImageId: &id, DeprecateAt: &at})
			return err
		}
	}
	if err := deprecate(copied, at)(); err != nil {
		t.Fatal(err)
	}
	if d := *describe(copied).DeprecationTime; d != "2026-08-21T13:00:00.000Z" {
		t.Errorf("deprecated at %s, want the nearest minute", d)
	}
	e.pass(2 * time.Hour)
	if own := got(e.ec2().DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}, Filters: []types.Filter{filter("name", "copy")}}))(t); len(own.Images) != 2 {
		t.Errorf("the owner sees %d copies of two", len(own.Images))
	}
	got(e.ec2().DisableImageDeprecation(ctx, &ec2.DisableImageDeprecationInput{ImageId: &copied}))(t)
	if d := describe(copied).DeprecationTime; d != nil {
		t.Errorf("still deprecated at %s", *d)
	}
	e.pass(20 * time.Second)
	if err := deprecate(copied, start.Add(2*time.Hour+5*time.Second))(); err != nil {
		t.Errorf("a time in the minute that has begun: %v", err)
	}
	got(e.ec2().DeregisterImage(ctx, &ec2.DeregisterImageInput{ImageId: &tagged}))(t)
	codes(t, map[string]func() error{
		"the past: InvalidParameterValue":                     deprecate(copied, start),
		"eleven years: InvalidParameterValue":                 deprecate(copied, start.AddDate(11, 0, 0)),
		"another's image: AuthFailure":                        deprecate(w.image, start.AddDate(1, 0, 0)),
		"no image: InvalidAMIID.NotFound":                     failing("ami-0", func(in *ec2.CopyImageInput) { in.ClientToken = nil }),
		"deregistered: InvalidAMIID.NotFound":                 failing(tagged, func(in *ec2.CopyImageInput) { in.ClientToken = nil }),
		"no region: InvalidParameterValue":                    failing(w.image, func(in *ec2.CopyImageInput) { in.SourceRegion = sdk.String("moon-1") }),
		"token for another name: IdempotentParameterMismatch": failing(w.image, func(in *ec2.CopyImageInput) { in.Name = sdk.String("other") }),
		"key without encryption: InvalidParameterDependency":  failing(w.image, func(in *ec2.CopyImageInput) { in.KmsKeyId = sdk.String("key") }),
		"tags of an instance: InvalidParameterValue": failing(w.image, func(in *ec2.CopyImageInput) {
			in.TagSpecifications[0].ResourceType = types.ResourceTypeInstance
		}),
	})
}

// EC2 API, CreateSecurityGroup: "You can't have two security groups for the same VPC with the same
// name", "Names are case-insensitive", "Can't start with sg-", VpcId is "Required for a nondefault VPC".
func TestSecurityGroupsOfOnesOwn(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, w := t.Context(), e.discover()
	create := func(name string, network *string) (*ec2.CreateSecurityGroupOutput, error) {
		return e.ec2().CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{GroupName: &name, Description: sdk.String("mine"), VpcId: network,
			TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeSecurityGroup, Tags: tags("team", "a")}}})
	}
	home := w.subnets[0].VpcId
	made := got(create("mine", home))(t)
	seen := got(e.ec2().DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{filter("tag:team", "a")}}))(t).SecurityGroups
	if len(seen) != 1 || *seen[0].GroupId != *made.GroupId || *seen[0].GroupName != "mine" || *seen[0].VpcId != *home {
		t.Errorf("groups = %+v", seen)
	}
	e.template(w, "nodes", func(d *types.RequestLaunchTemplateData) { d.NetworkInterfaces[0].Groups = []string{*made.GroupId} })
	node := ids(got(e.ec2().CreateFleet(ctx, e.fleet(w, "nodes", "on-demand", 1, "m5.large a")))(t))
	remove := func() error {
		_, err := e.ec2().DeleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: made.GroupId})
		return err
	}
	failing := func(name string, network *string) func() error {
		return func() error { _, err := create(name, network); return err }
	}
	codes(t, map[string]func() error{
		"twice: InvalidGroup.Duplicate":             failing("Mine", home),
		"no network: VPCIdNotSpecified":             failing("other", nil),
		"unknown network: InvalidVpcID.NotFound":    failing("other", sdk.String("vpc-0")),
		"like an identifier: InvalidParameterValue": failing("sg-other", home),
		"in use: DependencyViolation":               remove,
	})
	got(e.ec2().TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: node}))(t)
	e.pass(time.Minute)
	if err := remove(); err != nil {
		t.Error(err)
	}
}

// EC2 API, DescribeNetworkInterfaces: "You cannot specify this parameter [MaxResults] and the network
// interface IDs parameter in the same request"; a page has 5 to 1000 items.
func TestDescribeNetworkInterfaces(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, made := t.Context(), e.runningFleet("on-demand", 7)
	p := ec2.NewDescribeNetworkInterfacesPaginator(e.ec2(), &ec2.DescribeNetworkInterfacesInput{MaxResults: sdk.Int32(5), Filters: []types.Filter{filter("status", "in-use"), filter("tag:from", "template")}})
	var seen []string
	pages := 0
	for ; p.HasMorePages(); pages++ {
		for _, n := range got(p.NextPage(ctx))(t).NetworkInterfaces {
			seen = append(seen, *n.Attachment.InstanceId)
		}
	}
	slices.Sort(seen)
	slices.Sort(made)
	if !slices.Equal(seen, made) || pages != 2 {
		t.Errorf("interfaces of %v on %d pages, want those of %v on 2", seen, pages, made)
	}
	i := e.instance(made[0])
	own := got(e.ec2().DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: []types.Filter{filter("attachment.instance-id", made[0])}}))(t).NetworkInterfaces
	if len(own) != 1 || *own[0].NetworkInterfaceId != *i.NetworkInterfaces[0].NetworkInterfaceId || *own[0].PrivateIpAddress != *i.PrivateIpAddress ||
		*own[0].PrivateDnsName != *i.PrivateDnsName || *own[0].Groups[0].GroupId != *i.SecurityGroups[0].GroupId || !*own[0].Attachment.DeleteOnTermination {
		t.Fatalf("the instance's own = %+v", own)
	}
	id := []string{*own[0].NetworkInterfaceId}
	codes(t, map[string]func() error{
		"no such interface: InvalidNetworkInterfaceID.NotFound": func() error {
			_, err := e.ec2().DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{"eni-0"}})
			return err
		},
		"identifiers with a page size: InvalidParameterCombination": func() error {
			_, err := e.ec2().DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: id, MaxResults: sdk.Int32(5)})
			return err
		},
		"a small page: InvalidParameterValue": func() error {
			_, err := e.ec2().DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{MaxResults: sdk.Int32(4)})
			return err
		},
	})
	got(e.ec2().TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: made}))(t)
	e.pass(time.Minute)
	if left := got(e.ec2().DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{}))(t).NetworkInterfaces; len(left) != 0 {
		t.Errorf("%d interfaces outlive their instances", len(left))
	}
}

// EC2 API, DescribeVolumes: status is "in-use" while attached and "available" afterwards; a volume
// with DeleteOnTermination false outlives its instance. Gp3 has 3,000 IOPS and 125 MiB/s if nothing is said.
func TestDescribeVolumes(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, w := t.Context(), e.discover()
	e.template(w, "nodes", func(d *types.RequestLaunchTemplateData) {
		d.BlockDeviceMappings = append(d.BlockDeviceMappings, types.LaunchTemplateBlockDeviceMappingRequest{DeviceName: sdk.String("/dev/xvdb"),
			Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeSize: sdk.Int32(100), DeleteOnTermination: sdk.Bool(false)}})
		d.TagSpecifications = append(d.TagSpecifications, types.LaunchTemplateTagSpecificationRequest{ResourceType: types.ResourceTypeVolume, Tags: tags("team", "a")})
	})
	made := ids(got(e.ec2().CreateFleet(ctx, e.fleet(w, "nodes", "on-demand", 1, "m5.large b")))(t))
	volumes := func(filters ...types.Filter) []string {
		var texts []string
		for _, v := range got(e.ec2().DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: filters}))(t).Volumes {
			device := "-"
			if len(v.Attachments) > 0 {
				device = *v.Attachments[0].Device
			}
			texts = append(texts, fmt.Sprintf("%d %s %d %d %t %s %s %s", *v.Size, v.VolumeType, *v.Iops, sdk.ToInt32(v.Throughput), *v.Encrypted, v.State, *v.AvailabilityZone, device))
		}
		slices.Sort(texts)
		return texts
	}
	if have, want := volumes(filter("attachment.instance-id", made[0]), filter("tag:team", "a")), []string{
		"100 gp2 300 0 false in-use us-west-2b /dev/xvdb", "50 gp3 3000 125 true in-use us-west-2b /dev/xvda"}; !slices.Equal(have, want) {
		t.Errorf("volumes = %q, want %q", have, want)
	}
	kept := e.instance(made[0]).BlockDeviceMappings[1].Ebs.VolumeId
	remove := func() error {
		_, err := e.ec2().DeleteVolume(ctx, &ec2.DeleteVolumeInput{VolumeId: kept})
		return err
	}
	codes(t, map[string]func() error{"attached: VolumeInUse": remove})
	got(e.ec2().TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: made}))(t)
	e.pass(time.Minute)
	if have, want := volumes(), []string{"100 gp2 300 0 false available us-west-2b -"}; !slices.Equal(have, want) {
		t.Errorf("after the instance = %q, want %q", have, want)
	}
	if err := remove(); err != nil || len(volumes()) != 0 {
		t.Errorf("delete: %v, left %q", err, volumes())
	}
	codes(t, map[string]func() error{"deleted: InvalidVolume.NotFound": func() error {
		_, err := e.ec2().DescribeVolumes(ctx, &ec2.DescribeVolumesInput{VolumeIds: []string{*kept}})
		return err
	}})
}

// EC2 API, DescribeInstanceAttribute: "You can specify only one attribute at a time"; "the enaSupport
// attribute is not supported".
func TestDescribeInstanceAttribute(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	id := e.runningFleet("on-demand", 1)[0]
	ask := func(id, name string) (*ec2.DescribeInstanceAttributeOutput, error) {
		return e.ec2().DescribeInstanceAttribute(t.Context(), &ec2.DescribeInstanceAttributeInput{InstanceId: &id, Attribute: types.InstanceAttributeName(name)})
	}
	data := got(base64.StdEncoding.DecodeString(*got(ask(id, "userData"))(t).UserData.Value))(t)
	if string(data) != nodeConfig("lab") {
		t.Errorf("user data = %s", data)
	}
	kind := got(ask(id, "instanceType"))(t)
	if *kind.InstanceType.Value != string(e.instance(id).InstanceType) || kind.UserData != nil || *kind.InstanceId != id {
		t.Errorf("type = %+v", kind)
	}
	if a := got(ask(id, "disableApiTermination"))(t); *a.DisableApiTermination.Value {
		t.Error("the instance may not be terminated")
	}
	if a := got(ask(id, "groupSet"))(t); len(a.Groups) != 1 {
		t.Errorf("groups = %+v", a.Groups)
	}
	if a := got(ask(id, "kernel"))(t); a.KernelId == nil || a.KernelId.Value != nil {
		t.Errorf("kernel = %+v, want one without a value", a.KernelId)
	}
	codes(t, map[string]func() error{
		"enaSupport: InvalidParameterValue":   func() error { _, err := ask(id, "enaSupport"); return err },
		"nothing: InvalidInstanceID.NotFound": func() error { _, err := ask("i-0", "userData"); return err },
	})
}

// EC2 API, DeletePlacementGroup: "You must terminate all instances in the placement group before you can
// delete the placement group."
func TestDeletePlacementGroup(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, w := t.Context(), e.discover()
	got(e.ec2().CreatePlacementGroup(ctx, &ec2.CreatePlacementGroupInput{GroupName: sdk.String("near"), Strategy: "cluster"}))(t)
	e.template(w, "nodes", func(d *types.RequestLaunchTemplateData) {
		d.Placement = &types.LaunchTemplatePlacementRequest{GroupName: sdk.String("near")}
	})
	made := ids(got(e.ec2().CreateFleet(ctx, e.fleet(w, "nodes", "on-demand", 1, "m5.large a")))(t))
	remove := func() error {
		_, err := e.ec2().DeletePlacementGroup(ctx, &ec2.DeletePlacementGroupInput{GroupName: sdk.String("near")})
		return err
	}
	codes(t, map[string]func() error{"an instance runs: InvalidPlacementGroup.InUse": remove})
	got(e.ec2().TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: made}))(t)
	e.pass(time.Minute)
	if err := remove(); err != nil {
		t.Error(err)
	}
	codes(t, map[string]func() error{"gone: InvalidPlacementGroup.Unknown": remove})
}

// EC2 API, ModifySubnetAttribute: "You can only modify one attribute at a time"; MapPublicIpOnLaunch gives
// instances of the subnet a public address, unless the launch says otherwise (AssociatePublicIpAddress).
func TestModifySubnetAttribute(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, w := t.Context(), e.discover()
	yes := &types.AttributeBooleanValue{Value: sdk.Bool(true)}
	subnet := w.subnets[0].SubnetId
	got(e.ec2().ModifySubnetAttribute(ctx, &ec2.ModifySubnetAttributeInput{SubnetId: subnet, MapPublicIpOnLaunch: yes}))(t)
	got(e.ec2().ModifySubnetAttribute(ctx, &ec2.ModifySubnetAttributeInput{SubnetId: subnet, AssignIpv6AddressOnCreation: yes}))(t)
	if s := got(e.ec2().DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("map-public-ip-on-launch", "true")}}))(t).Subnets; len(s) != 1 ||
		*s[0].SubnetId != *subnet || !*s[0].MapPublicIpOnLaunch || !*s[0].AssignIpv6AddressOnCreation {
		t.Errorf("public subnets = %+v", s)
	}
	e.template(w, "default")
	e.template(w, "private", func(d *types.RequestLaunchTemplateData) {
		d.NetworkInterfaces[0].AssociatePublicIpAddress = sdk.Bool(false)
	})
	e.template(w, "public", func(d *types.RequestLaunchTemplateData) {
		d.NetworkInterfaces[0].AssociatePublicIpAddress = sdk.Bool(true)
	})
	for launch, want := range map[string]bool{"default a": true, "default b": false, "private a": false, "public b": true} {
		template, zone, _ := strings.Cut(launch, " ")
		i := e.instance(ids(got(e.ec2().CreateFleet(ctx, e.fleet(w, template, "on-demand", 1, "m5.large "+zone)))(t))[0])
		if public := i.PublicIpAddress != nil; public != want || (i.NetworkInterfaces[0].Association != nil) != want || (sdk.ToString(i.PublicDnsName) != "") != want {
			t.Errorf("%s: public %t, want %t; %+v", launch, public, want, i.NetworkInterfaces[0].Association)
		}
		if six := len(i.NetworkInterfaces[0].Ipv6Addresses) > 0; six != (zone == "a") {
			t.Errorf("%s: has an IPv6 address: %t", launch, six)
		}
	}
	codes(t, map[string]func() error{
		"two attributes: InvalidParameterCombination": func() error {
			_, err := e.ec2().ModifySubnetAttribute(ctx, &ec2.ModifySubnetAttributeInput{SubnetId: subnet, MapPublicIpOnLaunch: yes, AssignIpv6AddressOnCreation: yes})
			return err
		},
		"no subnet: InvalidSubnetID.NotFound": func() error {
			_, err := e.ec2().ModifySubnetAttribute(ctx, &ec2.ModifySubnetAttributeInput{SubnetId: sdk.String("subnet-0"), MapPublicIpOnLaunch: yes})
			return err
		},
	})
}

// EC2 API, NetworkInterface: connectionTrackingConfiguration is what the launch asked for.
func TestTrackingOfInterfaces(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, w := t.Context(), e.discover()
	e.template(w, "default")
	e.template(w, "tracked", func(d *types.RequestLaunchTemplateData) {
		d.NetworkInterfaces[0].ConnectionTrackingSpecification = &types.ConnectionTrackingSpecificationRequest{UdpTimeout: sdk.Int32(45)}
	})
	for template, want := range map[string]*types.ConnectionTrackingConfiguration{"default": nil, "tracked": {UdpTimeout: sdk.Int32(45)}} {
		id := ids(got(e.ec2().CreateFleet(ctx, e.fleet(w, template, "on-demand", 1, "m5.large a")))(t))[0]
		n := got(e.ec2().DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: []types.Filter{filter("attachment.instance-id", id)}}))(t).NetworkInterfaces[0]
		if diff := cmp.Diff(want, n.ConnectionTrackingConfiguration, cmpopts.IgnoreUnexported(types.ConnectionTrackingConfiguration{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", template, diff)
		}
	}
}

// A reservation may be cancelled again, as upstream's suites do.
func TestCancelAReservationTwice(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	id := e.reserve(`{"instanceType": "m5.large", "zone": "us-west-2a", "count": 1}`)
	for range 2 {
		got(e.ec2().CancelCapacityReservation(t.Context(), &ec2.CancelCapacityReservationInput{CapacityReservationId: &id}))(t)
	}
	list := got(e.ec2().DescribeCapacityReservations(t.Context(), &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: []string{id}}))(t)
	if state := list.CapacityReservations[0].State; state != types.CapacityReservationStateCancelled {
		t.Errorf("it is %s", state)
	}
}

// EC2 User Guide, "EC2 instance hostnames and domains": a resource name is i-0123456789abcdef.us-west-2.compute.internal, and an IP name
// ip-10-24-34-0.us-west-2.compute.internal. The subnet's
// type of names counts when an instance is launched.
func TestNamesOfInstances(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, w := t.Context(), e.discover()
	e.template(w, "default")
	launch := func() types.Instance {
		return e.instance(ids(got(e.ec2().CreateFleet(ctx, e.fleet(w, "default", "on-demand", 1, "m5.large a")))(t))[0])
	}
	before := launch()
	for _, s := range w.subnets {
		got(e.ec2().ModifySubnetAttribute(ctx, &ec2.ModifySubnetAttributeInput{SubnetId: s.SubnetId, PrivateDnsHostnameTypeOnLaunch: types.HostnameTypeResourceName}))(t)
		got(e.ec2().ModifySubnetAttribute(ctx, &ec2.ModifySubnetAttributeInput{SubnetId: s.SubnetId,
			EnableResourceNameDnsARecordOnLaunch: &types.AttributeBooleanValue{Value: sdk.Bool(true)}}))(t)
	}
	after := launch()
	if name := *after.PrivateDnsName; name != *after.InstanceId+".us-west-2.compute.internal" {
		t.Errorf("the instance has the name %s, want one after its ID", name)
	}
	if name := *e.instance(*before.InstanceId).PrivateDnsName; !strings.HasPrefix(name, "ip-") {
		t.Errorf("the instance that was there has the name %s, want its old one", name)
	}
	for _, s := range got(e.ec2().DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{*after.SubnetId}}))(t).Subnets {
		if o := s.PrivateDnsNameOptionsOnLaunch; o.HostnameType != types.HostnameTypeResourceName || !*o.EnableResourceNameDnsARecord {
			t.Errorf("subnet %s says %+v", *s.SubnetId, o)
		}
	}
}

// EC2 User Guide, "Spot request status": fulfilled requests are active; one whose instance was ended by
// its user is closed with instance-terminated-by-user, by EC2 for lack of capacity with
// instance-terminated-no-capacity. The request's default price is the price on demand.
func TestDescribeSpotInstanceRequests(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx, w := t.Context(), e.discover()
	e.template(w, "nodes")
	in := e.fleet(w, "nodes", "spot", 2, "m5.large a")
	in.TagSpecifications = append(in.TagSpecifications, types.TagSpecification{ResourceType: types.ResourceTypeSpotInstancesRequest, Tags: tags("team", "a")})
	made := ids(got(e.ec2().CreateFleet(ctx, in))(t))
	e.pass(time.Minute)
	request := func(instance string) types.SpotInstanceRequest {
		all := got(e.ec2().DescribeSpotInstanceRequests(ctx, &ec2.DescribeSpotInstanceRequestsInput{Filters: []types.Filter{filter("instance-id", instance), filter("tag:team", "a")}}))(t)
		return all.SpotInstanceRequests[0]
	}
	first := request(made[0])
	if *first.SpotInstanceRequestId != *e.instance(made[0]).SpotInstanceRequestId || first.State != "active" || *first.Status.Code != "fulfilled" ||
		first.Type != "one-time" || *first.SpotPrice != "0.096000" || first.LaunchSpecification.InstanceType != "m5.large" || *first.LaunchedAvailabilityZone != "us-west-2a" {
		t.Errorf("request = %+v", first)
	}
	got(e.ec2().TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: made[:1]}))(t)
	e.cause(`{"kind": "spot-interruption", "instances": ["` + made[1] + `"]}`)
	e.pass(5 * time.Minute)
	for n, want := range []string{"instance-terminated-by-user", "instance-terminated-no-capacity"} {
		if r := request(made[n]); r.State != "closed" || *r.Status.Code != want {
			t.Errorf("request %d is %s with %s, want closed with %s", n, r.State, *r.Status.Code, want)
		}
	}
	codes(t, map[string]func() error{"no request: InvalidSpotInstanceRequestID.NotFound": func() error {
		_, err := e.ec2().DescribeSpotInstanceRequests(ctx, &ec2.DescribeSpotInstanceRequestsInput{SpotInstanceRequestIds: []string{"sir-0"}})
		return err
	}})
}

// eksctl names the resources of its stack eksctl-CLUSTER-cluster/LOGICALID, with zones in capitals and
// without dashes; EKS names its own group eks-cluster-sg-CLUSTER-NUMBER.
func TestNamesOfEksctl(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx := t.Context()
	zoned := got(e.ec2().DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: []types.Filter{
		filter("tag:Name", "eksctl-lab-cluster/SubnetPrivateUSWEST2B"), filter("tag:alpha.eksctl.io/cluster-name", "lab"), filter("tag:karpenter.sh/discovery", "lab")}}))(t).Subnets
	if len(zoned) != 1 || *zoned[0].AvailabilityZone != "us-west-2b" {
		t.Errorf("subnets = %+v", zoned)
	}
	for name, filters := range map[string][]types.Filter{
		"all nodes": {filter("tag:Name", "eksctl-lab-cluster/ClusterSharedNodeSecurityGroup"), filter("group-name", "eksctl-lab-cluster-ClusterSharedNodeSecurityGroup-*")},
		"EKS":       {filter("group-name", "eks-cluster-sg-lab-*"), filter("tag:aws:eks:cluster-name", "lab"), filter("tag:kubernetes.io/cluster/lab", "owned")},
	} {
		if groups := got(e.ec2().DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: filters}))(t).SecurityGroups; len(groups) != 1 {
			t.Errorf("groups of %s: %+v", name, groups)
		}
	}
}
