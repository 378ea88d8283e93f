package instancetype_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"
	"tenon/core/model"
)

func ptr[T any](v T) *T { return &v }

func TestClassOf(t *testing.T) {
	t.Parallel()
	size := resource.MustParse("100Gi")
	spec := awsv1.EC2NodeClassSpec{
		AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}},
		Kubelet: &awsv1.KubeletConfiguration{
			MaxPods: ptr(int32(20)), PodsPerCore: ptr(int32(4)),
			SystemReserved: map[string]string{"memory": "1Gi", "cpu": "1.5"},
			KubeReserved:   map[string]string{"cpu": "0", "pid": "100"},
			EvictionHard:   map[string]string{"nodefs.available": "7.5%", "memory.available": "200Mi"},
			EvictionSoft:   map[string]string{"memory.available": "50%"},
		},
		BlockDeviceMappings: []*awsv1.BlockDeviceMapping{
			{DeviceName: ptr("/dev/xvda"), EBS: &awsv1.BlockDevice{SnapshotID: ptr("snap-1")}},
			nil,
			{DeviceName: ptr("/dev/xvdb"), RootVolume: true, EBS: &awsv1.BlockDevice{VolumeSize: &size}},
			{},
		},
		InstanceStorePolicy: ptr("RAID0"),
		NetworkInterfaces: []*awsv1.NetworkInterface{
			{InterfaceType: "interface"}, nil, {NetworkCardIndex: 1, DeviceIndex: 2, InterfaceType: "efa-only"},
		},
		ConnectionTracking: &awsv1.ConnectionTracking{},
		CPUOptions:         &awsv1.CPUOptions{NestedVirtualization: ptr("enabled")},
	}
	want := instancetype.Class{
		Family: "Bottlerocket",
		Kubelet: instancetype.Kubelet{
			MaxPods: ptr(int64(20)), PodsPerCore: 4,
			SystemReserved: []model.Amount{{Name: "cpu", Value: 1500}, {Name: "memory", Value: gibi}},
			KubeReserved:   []model.Amount{{Name: "cpu", Value: 0}, {Name: "pid", Value: 100}},
			EvictionHard: []instancetype.Threshold{
				{Signal: "memory.available", Amount: 200 * mebi}, {Signal: "nodefs.available", Percent: true, Hundredths: 750},
			},
		},
		BlockDevices:         []instancetype.BlockDevice{{Name: "/dev/xvda"}, {Name: "/dev/xvdb", Root: true, Bytes: 100 * gibi}, {}},
		RAID0:                true,
		NetworkInterfaces:    []instancetype.NetworkInterface{{}, {Card: 1, Device: 2, EFAOnly: true}},
		ConnectionTracking:   true,
		NestedVirtualization: true,
	}
	got, err := instancetype.ClassOf(&spec)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("class (-want +got):\n%s", diff)
	}
}

func TestClassOfAnEmptySpec(t *testing.T) {
	t.Parallel()
	got, err := instancetype.ClassOf(&awsv1.EC2NodeClassSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(instancetype.Class{Family: "Custom"}, got); diff != "" {
		t.Errorf("class (-want +got):\n%s", diff)
	}
	empty := awsv1.EC2NodeClassSpec{NetworkInterfaces: []*awsv1.NetworkInterface{}}
	if got, err = instancetype.ClassOf(&empty); err != nil || got.NetworkInterfaces == nil {
		t.Errorf("an empty list of interfaces became none: %v", err)
	}
}

func TestForClassRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		spec awsv1.EC2NodeClassSpec
		want string
	}{
		"an unknown alias": {
			awsv1.EC2NodeClassSpec{AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "al3000@latest"}}},
			`class web: alias "al3000@latest": unknown family "al3000"`,
		},
		"a reserve that is no amount": {
			awsv1.EC2NodeClassSpec{Kubelet: &awsv1.KubeletConfiguration{SystemReserved: map[string]string{"cpu": "some"}}},
			`class web: kubelet: systemReserved: reserved cpu: "some" is not an amount`,
		},
		"a negative reserve": {
			awsv1.EC2NodeClassSpec{Kubelet: &awsv1.KubeletConfiguration{KubeReserved: map[string]string{"memory": "-1Gi"}}},
			`class web: kubelet: kubeReserved: reserved memory: "-1Gi" is not an amount`,
		},
		"a threshold that is neither": {
			awsv1.EC2NodeClassSpec{Kubelet: &awsv1.KubeletConfiguration{EvictionHard: map[string]string{"memory.available": "low"}}},
			`class web: kubelet: evictionHard: eviction threshold memory.available: "low" is neither an amount nor a percentage`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tc.spec}
			if _, err := instancetype.Defaults("us-west-2").ForClass(class); err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

func TestForClassTakesTheZonesOfSubnets(t *testing.T) {
	t.Parallel()
	class := &awsv1.EC2NodeClass{}
	p, err := instancetype.Defaults("us-west-2").ForClass(class)
	if err != nil || len(p.Zones) != 4 || len(p.OtherZones) != 0 {
		t.Errorf("without subnets: zones %v and %v, error %v", p.Zones, p.OtherZones, err)
	}
	class.Status.Subnets = []awsv1.Subnet{
		{ID: "subnet-1", Zone: "us-west-2c", ZoneID: "usw2-az9"}, {ID: "subnet-2", Zone: "us-west-2a"}, {ID: "subnet-3", Zone: "us-west-2c"},
	}
	if p, err = instancetype.Defaults("us-west-2").ForClass(class); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]facts.Zone{{Name: "us-west-2a"}, {Name: "us-west-2c", ID: "usw2-az9"}}, p.Zones); diff != "" {
		t.Errorf("zones (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"us-west-2b", "us-west-2d"}, p.OtherZones); diff != "" {
		t.Errorf("other zones (-want +got):\n%s", diff)
	}
}

func TestParseThreshold(t *testing.T) {
	t.Parallel()
	cases := map[string]instancetype.Threshold{
		"5%":     {Percent: true, Hundredths: 500},
		"0%":     {Percent: true},
		"100%":   {Percent: true, Hundredths: 10_000},
		"7.5%":   {Percent: true, Hundredths: 750},
		"12.34%": {Percent: true, Hundredths: 1234},
		"100Mi":  {Amount: 100 * mebi},
		"1G":     {Amount: 1e9},
		"0":      {},
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			want.Signal = "memory.available"
			got, err := instancetype.ParseThreshold("memory.available", text)
			if err != nil || got != want {
				t.Errorf("threshold %+v, error %v; want %+v", got, err, want)
			}
		})
	}
	for _, text := range []string{"", "%", ".5%", "101%", "100.01%", "1.234%", "-5%", "-1Mi", "lots", "1.2.3%"} {
		t.Run("refused "+text, func(t *testing.T) {
			t.Parallel()
			if got, err := instancetype.ParseThreshold("memory.available", text); err == nil {
				t.Errorf("threshold %+v, want an error", got)
			}
		})
	}
}

func FuzzParseThreshold(f *testing.F) {
	for _, seed := range []string{"5%", "100%", "12.34%", "100Mi", "1e3", "-1", "%", "1e19", "9223372036854775808"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := instancetype.ParseThreshold("memory.available", text)
		if err != nil {
			return
		}
		if got.Amount < 0 || got.Hundredths < 0 || got.Hundredths > 10_000 || !got.Percent && got.Hundredths != 0 {
			t.Errorf("%q became %+v", text, got)
		}
	})
}

func TestCompatibility(t *testing.T) {
	t.Parallel()
	interfaces := func(list ...instancetype.NetworkInterface) func(*instancetype.Params) {
		return func(p *instancetype.Params) { p.Class.NetworkInterfaces = list }
	}
	discovered := func(name string, d instancetype.Discovered) func(*instancetype.Params) {
		return func(p *instancetype.Params) { p.Discovered = map[string]instancetype.Discovered{name: d} }
	}
	both := func(a, b func(*instancetype.Params)) func(*instancetype.Params) {
		return func(p *instancetype.Params) { a(p); b(p) }
	}
	family := func(name string) func(*instancetype.Params) {
		return func(p *instancetype.Params) { p.Class.Family = name }
	}
	nested := func(p *instancetype.Params) { p.Class.NestedVirtualization = true }
	tracking := func(p *instancetype.Params) { p.Class.ConnectionTracking = true }
	group := func(p *instancetype.Params) {
		p.Class.PlacementGroup = &instancetype.PlacementGroup{ID: "pg-1", Strategy: "cluster"}
	}
	efa := instancetype.NetworkInterface{Card: 0, Device: 1, EFAOnly: true}
	cases := map[string]struct {
		typ  string
		with func(*instancetype.Params)
		want bool
	}{
		"AL2023 on the first Gravitons":      {"a1.medium", family("AL2023"), false},
		"AL2 on the first Gravitons":         {"a1.medium", family("AL2"), true},
		"Bottlerocket on the first Graviton": {"a1.medium", family("Bottlerocket"), true},
		"one interface":                      {"m5.large", interfaces(instancetype.NetworkInterface{}), true},
		"an empty list of interfaces":        {"m5.large", interfaces([]instancetype.NetworkInterface{}...), true},
		"an interface beyond the card":       {"m5.large", interfaces(instancetype.NetworkInterface{Device: 3}), false},
		"the last interface of the card":     {"m5.large", interfaces(instancetype.NetworkInterface{Device: 2}), true},
		"an interface on a card too many":    {"m5.large", interfaces(instancetype.NetworkInterface{Card: 1}), false},
		"an interface on another card":       {"p4d.24xlarge", interfaces(instancetype.NetworkInterface{Card: 3}), true},
		"EFA where there is none":            {"m5.large", interfaces(instancetype.NetworkInterface{}, efa), false},
		"EFA where there is":                 {"p4d.24xlarge", interfaces(instancetype.NetworkInterface{}, efa), true},
		"interfaces of an unknown machine":   {"hpc7a.12xlarge", interfaces(instancetype.NetworkInterface{}), false},
		"interfaces without an adapter": {"m5.large",
			both(interfaces(instancetype.NetworkInterface{}), discovered("m5.large", instancetype.Discovered{NoENA: true})), false},
		"a small second card": {"p4d.24xlarge",
			both(interfaces(instancetype.NetworkInterface{Card: 1, Device: 1}), discovered("p4d.24xlarge", instancetype.Discovered{CardInterfaces: []int64{15, 1}})), false},
		"connection tracking on Nitro":         {"m5.large", tracking, true},
		"connection tracking on Xen":           {"m4.large", tracking, false},
		"connection tracking on bare metal":    {"m5.metal", tracking, false},
		"nested virtualization, not asked for": {"m5.large", nested, true},
		"nested virtualization": {"m5.large",
			both(nested, discovered("m5.large", instancetype.Discovered{Features: []string{"amd-sev-snp", "nested-virtualization"}})), true},
		"no nested virtualization": {"m5.large",
			both(nested, discovered("m5.large", instancetype.Discovered{Features: []string{}})), false},
		"a placement group, not asked for": {"m5.large", group, true},
		"a placement group": {"m5.large",
			both(group, discovered("m5.large", instancetype.Discovered{PlacementStrategies: []string{"cluster", "spread"}})), true},
		"no such placement group": {"m5.large",
			both(group, discovered("m5.large", instancetype.Discovered{PlacementStrategies: []string{"spread"}})), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := instancetype.Defaults("us-west-2")
			p.Prices = spotIn("us-west-2a") // gives everything a price
			tc.with(&p)
			offers := find(t, p, tc.typ).Offerings
			if len(offers) == 0 {
				t.Fatal("an incompatible type has offers all the same")
			}
			for _, o := range offers {
				if (o.Available || o.Unpriced) != tc.want {
					t.Errorf("%s %s is available: %t, want %t", o.Zone, o.CapacityType, o.Available, tc.want)
				}
			}
		})
	}
}
