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
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// nodeConfig returns user data for AL2023.
func nodeConfig(cluster string) string {
	return `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: ` + cluster + `
    apiServerEndpoint: https://127.0.0.1:6443
    certificateAuthority: bGFi
    cidr: 10.96.0.0/12
  kubelet:
    config:
      maxPods: 42
      clusterDNS: [10.96.0.10]
      registerWithTaints:
      - {key: karpenter.sh/unregistered, effect: NoExecute}
    flags:
    - --node-labels="karpenter.sh/capacity-type=spot,team=a"
--//--
`
}

// world holds what a launch needs, discovered through the API.
type world struct {
	subnets []types.Subnet // one in each zone, in the order of zones
	group   string
	image   string // AL2023, x86_64, standard
	arm     string
}

func (e *emulator) discover() world {
	e.t.Helper()
	ctx := e.t.Context()
	subnets := got(e.ec2().DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("tag:karpenter.sh/discovery", "lab")}}))(e.t).Subnets
	slices.SortFunc(subnets, func(a, b types.Subnet) int { return strings.Compare(*a.AvailabilityZone, *b.AvailabilityZone) })
	groups := got(e.ec2().DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{filter("tag:Name", "eksctl-lab-cluster/ClusterSharedNodeSecurityGroup")}}))(e.t)
	return world{subnets: subnets, group: *groups.SecurityGroups[0].GroupId,
		image: e.image("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id"),
		arm:   e.image("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/standard/recommended/image_id")}
}

func (e *emulator) image(parameter string) string {
	e.t.Helper()
	client := ssm.NewFromConfig(e.config(account, region))
	return *got(client.GetParameter(e.t.Context(), &ssm.GetParameterInput{Name: &parameter}))(e.t).Parameter.Value
}

// template makes a launch template that works, with the given changes.
func (e *emulator) template(w world, name string, change ...func(*types.RequestLaunchTemplateData)) {
	e.t.Helper()
	data := &types.RequestLaunchTemplateData{
		ImageId:            &w.image,
		UserData:           sdk.String(base64.StdEncoding.EncodeToString([]byte(nodeConfig("lab")))),
		IamInstanceProfile: &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: sdk.String("KarpenterNodeInstanceProfile-lab")},
		NetworkInterfaces:  []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: sdk.Int32(0), Groups: []string{w.group}}},
		MetadataOptions:    &types.LaunchTemplateInstanceMetadataOptionsRequest{HttpTokens: types.LaunchTemplateHttpTokensStateRequired},
		Monitoring:         &types.LaunchTemplatesMonitoringRequest{Enabled: sdk.Bool(false)},
		BlockDeviceMappings: []types.LaunchTemplateBlockDeviceMappingRequest{{DeviceName: sdk.String("/dev/xvda"),
			Ebs: &types.LaunchTemplateEbsBlockDeviceRequest{VolumeSize: sdk.Int32(50), VolumeType: types.VolumeTypeGp3, Encrypted: sdk.Bool(true)}}},
		TagSpecifications: []types.LaunchTemplateTagSpecificationRequest{{ResourceType: types.ResourceTypeNetworkInterface, Tags: tags("from", "template")}},
	}
	for _, f := range change {
		f(data)
	}
	got(e.ec2().CreateLaunchTemplate(e.t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &name, LaunchTemplateData: data,
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate, Tags: tags("eks:eks-cluster-name", "lab", "karpenter.sh/nodepool", "")}},
	}))(e.t)
}

func tags(pairs ...string) (list []types.Tag) {
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, types.Tag{Key: &pairs[i], Value: &pairs[i+1]})
	}
	return list
}

// fleet asks for instances; overrides are "type zone" or "type zone priority".
func (e *emulator) fleet(w world, template, capacityType string, count int32, overrides ...string) *ec2.CreateFleetInput {
	in := &ec2.CreateFleetInput{
		Type: types.FleetTypeInstant,
		LaunchTemplateConfigs: []types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: &template, Version: sdk.String("$Latest")},
		}},
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{TotalTargetCapacity: &count, DefaultTargetCapacityType: types.DefaultTargetCapacityType(capacityType)},
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeInstance,
			Tags: tags("karpenter.sh/nodepool", "default", "karpenter.k8s.aws/ec2nodeclass", "default", "eks:eks-cluster-name", "lab")}},
	}
	if capacityType == "spot" {
		in.SpotOptions = &types.SpotOptionsRequest{AllocationStrategy: types.SpotAllocationStrategyPriceCapacityOptimized}
	} else {
		in.OnDemandOptions = &types.OnDemandOptionsRequest{AllocationStrategy: types.FleetOnDemandAllocationStrategyLowestPrice}
	}
	for _, o := range overrides {
		var kind, zone string
		var priority float64
		n, _ := fmt.Sscan(o, &kind, &zone, &priority)
		item := types.FleetLaunchTemplateOverridesRequest{InstanceType: types.InstanceType(kind), ImageId: &w.image}
		if n == 3 {
			item.Priority = &priority
		}
		for _, s := range w.subnets {
			if strings.HasSuffix(*s.AvailabilityZone, zone) {
				item.SubnetId, item.AvailabilityZone = s.SubnetId, s.AvailabilityZone
			}
		}
		in.LaunchTemplateConfigs[0].Overrides = append(in.LaunchTemplateConfigs[0].Overrides, item)
	}
	return in
}

// ids returns the instances of a fleet.
func ids(out *ec2.CreateFleetOutput) (list []string) {
	for _, i := range out.Instances {
		list = append(list, i.InstanceIds...)
	}
	return list
}

func (e *emulator) instance(id string) types.Instance {
	e.t.Helper()
	out := got(e.ec2().DescribeInstances(e.t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}}))(e.t)
	return out.Reservations[0].Instances[0]
}

func TestLaunchJoinsAndEnds(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	ctx := t.Context()
	w := e.discover()
	e.template(w, "karpenter.k8s.aws/1")
	before := *w.subnets[1].AvailableIpAddressCount

	out := got(e.ec2().CreateFleet(ctx, e.fleet(w, "karpenter.k8s.aws/1", "spot", 2, "m5.large b")))(t)
	if len(out.Errors) != 0 || len(ids(out)) != 2 {
		t.Fatalf("fleet made %v with errors %+v, want two instances and none", ids(out), out.Errors)
	}
	echo := out.Instances[0].LaunchTemplateAndOverrides.Overrides
	if echo.InstanceType != "m5.large" || *echo.SubnetId != *w.subnets[1].SubnetId || *echo.AvailabilityZone != "us-west-2b" || *echo.ImageId != w.image {
		t.Errorf("echoed override = %+v", echo)
	}
	i := e.instance(ids(out)[0])
	if i.State.Name != types.InstanceStateNamePending || i.SpotInstanceRequestId == nil || i.InstanceLifecycle != "spot" || *i.Placement.AvailabilityZoneId != "usw2-az1" {
		t.Errorf("new instance = state %v, request %v, lifecycle %v, placement %+v", i.State.Name, i.SpotInstanceRequestId, i.InstanceLifecycle, i.Placement)
	}
	if len(e.machines.all()) != 0 {
		t.Error("a machine boots before its instance runs")
	}

	e.pass(6 * time.Second)
	if s := e.instance(*i.InstanceId).State.Name; s != types.InstanceStateNameRunning {
		t.Errorf("state after 6s = %s, want running", s)
	}
	booted := e.machines.all()
	if len(booted) != 2 {
		t.Fatalf("%d machines boot, want 2; %s", len(booted), e.console(*i.InstanceId))
	}
	m := booted[0]
	if m.ProviderID != "aws:///us-west-2b/"+*i.InstanceId || m.Name != *i.PrivateDnsName || *m.Kubelet.MaxPods != 42 || m.BootDelay != 22*time.Second {
		t.Errorf("machine = %+v", m)
	}
	if m.Labels["team"] != "a" || len(m.Taints) != 1 || m.Capacity.Cpu().Value() != 2 || m.Capacity.StorageEphemeral().Value() != 50<<30 {
		t.Errorf("machine has labels %v, taints %v, capacity %v", m.Labels, m.Taints, m.Capacity)
	}
	if memory := m.Capacity.Memory().Value(); memory >= 8<<30 || memory < 8<<30*925/1000 {
		t.Errorf("memory = %d: want less than EC2 tells, and no less than is assumed", memory)
	}

	terminated := got(e.ec2().TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids(out)}))(t).TerminatingInstances
	if c := terminated[0]; c.CurrentState.Name != "shutting-down" || c.PreviousState.Name != "running" {
		t.Errorf("change = %s after %s", c.CurrentState.Name, c.PreviousState.Name)
	}
	e.pass(35 * time.Second)
	left := got(e.ec2().DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids(out),
		Filters: []types.Filter{filter("instance-state-name", "pending", "running", "stopping", "stopped", "shutting-down")}}))(t)
	if len(left.Reservations) != 0 || len(e.machines.terminated) != 2 {
		t.Errorf("%d reservations left, machines told to end: %v", len(left.Reservations), e.machines.terminated)
	}
	if after := *e.discover().subnets[1].AvailableIpAddressCount; after != before {
		t.Errorf("addresses after the end = %d, before %d", after, before)
	}
	e.pass(2 * time.Hour)
	_, err := e.ec2().DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids(out)})
	if code(err) != "InvalidInstanceID.NotFound" {
		t.Errorf("an hour after its end: %s", code(err))
	}
}

func (e *emulator) console(id string) string {
	e.t.Helper()
	out := got(e.ec2().GetConsoleOutput(e.t.Context(), &ec2.GetConsoleOutputInput{InstanceId: &id}))(e.t)
	text, err := base64.StdEncoding.DecodeString(*out.Output)
	if err != nil {
		e.t.Fatal(err)
	}
	return string(text)
}

func TestWrongNodesNeverJoin(t *testing.T) {
	t.Parallel()
	set := func(text string) func(*types.RequestLaunchTemplateData) {
		return func(d *types.RequestLaunchTemplateData) {
			d.UserData = sdk.String(base64.StdEncoding.EncodeToString([]byte(text)))
		}
	}
	profile := func(name string) func(*types.RequestLaunchTemplateData) {
		return func(d *types.RequestLaunchTemplateData) {
			d.IamInstanceProfile = &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: &name}
		}
	}
	cases := map[string]struct {
		change func(*types.RequestLaunchTemplateData)
		subnet string // the subnet's Name tag, if another subnet
		want   string // the text on the console
	}{
		"no user data":               {change: set(""), want: "no NodeConfig"},
		"another cluster":            {change: set(nodeConfig("prod")), want: `names the cluster "prod"`},
		"another API server":         {change: set(strings.Replace(nodeConfig("lab"), ":6443", ":443", 1)), want: "not that of the cluster"},
		"another authority":          {change: set(strings.Replace(nodeConfig("lab"), "bGFi", "bGFj", 1)), want: "certificate"},
		"a script for another image": {change: set("#!/bin/bash\n/etc/eks/bootstrap.sh lab"), want: "no NodeConfig"},
		"a label that no kubelet may set": {change: set(strings.Replace(nodeConfig("lab"), "team=a", "kubernetes.io/team=a", 1)),
			want: "NodeRestriction"},
		"a stranger's role":  {change: profile("StrangerRole-lab"), want: "no access entry"},
		"an isolated subnet": {change: func(*types.RequestLaunchTemplateData) {}, subnet: "isolated", want: "no route"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEmulator(t)
			w := e.discover()
			e.template(w, "wrong", tc.change)
			in := e.fleet(w, "wrong", "on-demand", 1, "m5.large a")
			if tc.subnet != "" {
				s := got(e.ec2().DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []types.Filter{filter("tag:Name", tc.subnet)}}))(t)
				in.LaunchTemplateConfigs[0].Overrides[0].SubnetId = s.Subnets[0].SubnetId
			}
			out := got(e.ec2().CreateFleet(t.Context(), in))(t)
			if len(ids(out)) != 1 {
				t.Fatalf("errors: %+v", out.Errors)
			}
			e.pass(time.Hour)
			if booted := e.machines.all(); len(booted) != 0 {
				t.Errorf("it joined as %+v", booted[0])
			}
			if text := e.console(ids(out)[0]); !strings.Contains(text, tc.want) {
				t.Errorf("console = %q, want %q in it", text, tc.want)
			}
		})
	}
}

// The AWS SDK says (ec2 v1.344.0) of AllocationStrategy: "lowest-price - EC2 Fleet uses price to determine the order, launching the lowest
// price first"; of Priority: "The lower the number, the higher the priority"; of MinTargetCapacity: "If this minimum capacity isn't
// reached, no instances are launched"; and of CreateFleetError: "The error code that indicates why the instance could not be launched."
func TestFleetStrategies(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	w := e.discover()
	e.template(w, "nodes")
	e.cause(`{"kind": "no-capacity", "instanceTypes": ["m5.large"], "zones": ["us-west-2a"]}`)
	e.cause(`{"kind": "no-capacity", "instanceTypes": ["c5.large"], "limit": 1}`)
	prioritized := func(in *ec2.CreateFleetInput) {
		in.OnDemandOptions.AllocationStrategy = types.FleetOnDemandAllocationStrategyPrioritized
	}
	cases := []struct {
		name      string
		overrides []string
		count     int32
		change    func(*ec2.CreateFleetInput)
		want      string // type@zone xN of each group; then the errors
	}{
		{"the cheapest wins", []string{"m5.4xlarge a", "m5.xlarge a", "r5.2xlarge b"}, 1, nil, "m5.xlarge@us-west-2a x1"},
		{"all in the cheapest", []string{"m5.xlarge b", "m5.2xlarge b"}, 3, nil, "m5.xlarge@us-west-2b x3"},
		{"priority before price", []string{"m5.xlarge a 2", "m5.4xlarge a 1"}, 1, prioritized, "m5.4xlarge@us-west-2a x1"},
		{"no capacity: the next one", []string{"m5.large a", "m5.xlarge a"}, 1, nil, "m5.xlarge@us-west-2a x1 InsufficientInstanceCapacity"},
		{"no capacity anywhere", []string{"m5.large a"}, 1, nil, "InsufficientInstanceCapacity"},
		{"a finite pool", []string{"c5.large a", "c5.xlarge a"}, 3, nil, "c5.large@us-west-2a x1 c5.xlarge@us-west-2a x2 InsufficientInstanceCapacity"},
		{"the minimum or nothing", []string{"c5.large b", "m5.large a"}, 2, func(in *ec2.CreateFleetInput) {
			in.OnDemandOptions.MinTargetCapacity = sdk.Int32(2)
		}, "InsufficientInstanceCapacity InsufficientInstanceCapacity"},
		{"an image of another architecture", []string{"m6g.large a"}, 1, nil, "InvalidParameterValue"},
		{"a type that does not exist", []string{"m5.huge a"}, 1, nil, "InvalidParameterValue"},
	}
	for _, tc := range cases { // in order, because they share the pools
		in := e.fleet(w, "nodes", "on-demand", tc.count, tc.overrides...)
		if tc.change != nil {
			tc.change(in)
		}
		out := got(e.ec2().CreateFleet(t.Context(), in))(t)
		var words []string
		for _, g := range out.Instances {
			words = append(words, fmt.Sprintf("%s@%s x%d", g.InstanceType, *g.LaunchTemplateAndOverrides.Overrides.AvailabilityZone, len(g.InstanceIds)))
		}
		for _, f := range out.Errors {
			words = append(words, *f.ErrorCode)
			if f.LaunchTemplateAndOverrides.Overrides.InstanceType == "" {
				t.Errorf("%s: the error does not echo its override", tc.name)
			}
		}
		if text := strings.Join(words, " "); text != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, text, tc.want)
		}
	}
}

// EC2 API Reference, "Error codes for the Amazon EC2 API", IdempotentParameterMismatch: "The request uses the same client token as a
// previous, but non-identical request."
func TestTokensBuyOnce(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	w := e.discover()
	e.template(w, "nodes")
	in := e.fleet(w, "nodes", "spot", 1, "m5.large a", "m5.large b")
	in.ClientToken = sdk.String("claim-1")
	e.cause(`{"kind": "lost-answer", "service": "ec2", "operations": ["CreateFleet"], "times": 1}`)
	if _, err := e.ec2().CreateFleet(t.Context(), in); !strings.HasPrefix(code(err), "no answer") {
		t.Fatalf("the answer was not lost: %s", code(err))
	}
	first := got(e.ec2().CreateFleet(t.Context(), in))(t)
	again := got(e.ec2().CreateFleet(t.Context(), in))(t)
	if !slices.Equal(ids(first), ids(again)) || len(e.World().Survey()) != 1 {
		t.Errorf("one token bought %v, %v; there are %d instances", ids(first), ids(again), len(e.World().Survey()))
	}
	in.TargetCapacitySpecification.TotalTargetCapacity = sdk.Int32(2)
	if _, err := e.ec2().CreateFleet(t.Context(), in); code(err) != "IdempotentParameterMismatch" {
		t.Errorf("the token with other parameters: %s", code(err))
	}
}

// EC2 API Reference, "Error codes for the Amazon EC2 API", InsufficientFreeAddressesInSubnet: "The specified subnet does not contain
// enough free private IP addresses to fulfill your request."
func TestSubnetsAreFinite(t *testing.T) {
	t.Parallel()
	e := newEmulator(t, func(c *configuration) { c.Resources.SubnetBits = 28 })
	w := e.discover()
	e.template(w, "nodes")
	if free := *w.subnets[0].AvailableIpAddressCount; free != 11 {
		t.Fatalf("a /28 has %d free addresses, want 11", free)
	}
	out := got(e.ec2().CreateFleet(t.Context(), e.fleet(w, "nodes", "on-demand", 12, "m5.large a")))(t)
	if len(ids(out)) != 11 || *out.Errors[0].ErrorCode != "InsufficientFreeAddressesInSubnet" {
		t.Errorf("%d instances, errors %+v", len(ids(out)), out.Errors)
	}
}

func TestDryRuns(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	w := e.discover()
	e.template(w, "nodes")
	ctx := t.Context()
	fleet := e.fleet(w, "nodes", "on-demand", 1, "m5.large a")
	fleet.DryRun = sdk.Bool(true)
	run := &ec2.RunInstancesInput{
		DryRun: sdk.Bool(true), MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1), InstanceType: "m5.large",
		LaunchTemplate:    &types.LaunchTemplateSpecification{LaunchTemplateName: sdk.String("nodes"), Version: sdk.String("$Latest")},
		NetworkInterfaces: []types.InstanceNetworkInterfaceSpecification{{DeviceIndex: sdk.Int32(0), SubnetId: w.subnets[0].SubnetId}},
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeVolume, Tags: tags("karpenter.sh/nodepool", "")}},
	}
	noProfile := *run
	noProfile.IamInstanceProfile = &types.IamInstanceProfileSpecification{Name: sdk.String("nobody")}
	for name, c := range map[string]struct {
		call func() error
		want string
	}{
		"types": {func() error {
			_, err := e.ec2().DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{DryRun: sdk.Bool(true)})
			return err
		}, "DryRunOperation"},
		"fleet":           {func() error { _, err := e.ec2().CreateFleet(ctx, fleet); return err }, "DryRunOperation"},
		"run":             {func() error { _, err := e.ec2().RunInstances(ctx, run); return err }, "DryRunOperation"},
		"run, no profile": {func() error { _, err := e.ec2().RunInstances(ctx, &noProfile); return err }, "InvalidParameterValue"},
	} {
		if got := code(c.call()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if made := e.World().Survey(); len(made) != 0 {
		t.Errorf("rehearsals made %v", made)
	}
}

// The AWS SDK says (ec2 v1.344.0, TerminateInstances): "The specified instances that are in the same Availability Zone as the protected
// instance are not terminated. The specified instances that are in different Availability Zones, where no other specified instances
// are protected, are successfully terminated." And: "for example, because of a single incorrect instance ID …, none of the instances are
// terminated."
func TestTerminationProtection(t *testing.T) {
	t.Parallel()
	e := newEmulator(t)
	w := e.discover()
	e.template(w, "nodes")
	e.template(w, "kept", func(d *types.RequestLaunchTemplateData) { d.DisableApiTermination = sdk.Bool(true) })
	launch := func(template, zone string) string {
		return ids(got(e.ec2().CreateFleet(t.Context(), e.fleet(w, template, "on-demand", 1, "m5.large "+zone)))(t))[0]
	}
	kept, beside, apart := launch("kept", "a"), launch("nodes", "a"), launch("nodes", "b")
	e.pass(time.Minute)
	end := func(ids ...string) string {
		_, err := e.ec2().TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: ids})
		states := []string{code(err)}
		for _, id := range []string{kept, beside, apart} {
			states = append(states, string(e.instance(id).State.Name))
		}
		return strings.Join(states, " ")
	}
	if s := end(beside, apart, "i-0"); s != "InvalidInstanceID.NotFound running running running" {
		t.Errorf("with a wrong ID: %s", s)
	}
	if s := end(kept, beside, apart); s != "OperationNotPermitted running running shutting-down" {
		t.Errorf("with a protected one: %s", s)
	}
	if s := end(beside, apart); s != "no error running shutting-down shutting-down" {
		t.Errorf("the others once more: %s", s)
	}
}
