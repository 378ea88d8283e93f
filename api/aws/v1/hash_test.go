package v1_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/mitchellh/hashstructure/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "tenon/api/aws/v1"
	"tenon/api/scalar"
)

func pointer[T any](value T) *T { return &value }

func sampleClass() *v1.EC2NodeClass {
	return &v1.EC2NodeClass{Spec: v1.EC2NodeClassSpec{
		SubnetSelectorTerms:        []v1.SubnetSelectorTerm{{Tags: map[string]string{"a": "b"}}},
		SecurityGroupSelectorTerms: []v1.SecurityGroupSelectorTerm{{Name: "a"}},
		AMISelectorTerms:           []v1.AMISelectorTerm{{Alias: "al2023@latest"}},
		UserData:                   pointer("#!/bin/bash"),
		Role:                       "node",
		Tags:                       map[string]string{"intent": "apps"},
		Kubelet: &v1.KubeletConfiguration{
			ClusterDNS: []string{"10.0.0.10"}, MaxPods: pointer[int32](42),
			SystemReserved: map[string]string{"cpu": "100m"}, EvictionHard: map[string]string{"memory.available": "5%"},
			EvictionSoftGracePeriod: map[string]scalar.Duration{"memory.available": {Duration: 60e9}},
		},
		BlockDeviceMappings: []*v1.BlockDeviceMapping{
			{DeviceName: pointer("/dev/xvda"), EBS: &v1.BlockDevice{VolumeSize: pointer(resource.MustParse("20Gi"))}},
			{DeviceName: pointer("/dev/xvdb"), RootVolume: true},
		},
		NetworkInterfaces: []*v1.NetworkInterface{{InterfaceType: "interface"}, {DeviceIndex: 1, InterfaceType: "efa-only"}},
		MetadataOptions:   &v1.MetadataOptions{HTTPEndpoint: pointer("enabled"), HTTPPutResponseHopLimit: pointer[int64](1)},
	}}
}

func hashOf(t *testing.T, class *v1.EC2NodeClass, certificateAuthority string) string {
	t.Helper()
	hash, err := class.Hash(certificateAuthority)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// TestHashAgreesWithOracle: the input is a list of the spec, the family, and the authority.
func TestHashAgreesWithOracle(t *testing.T) {
	t.Parallel()
	for name, class := range map[string]*v1.EC2NodeClass{"sample": sampleClass(), "empty": {}} {
		family, err := class.Spec.Family()
		if err != nil {
			t.Fatal(err)
		}
		for _, authority := range []string{"", "Y2E="} {
			want, err := hashstructure.Hash([]any{class.Spec, family, authority}, hashstructure.FormatV2, &hashstructure.HashOptions{
				SlicesAsSets: true, IgnoreZeroValue: true, ZeroNil: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := hashOf(t, class, authority); got != strconv.FormatUint(want, 10) {
				t.Errorf("%s with %q: got %s, want %d", name, authority, got, want)
			}
		}
	}
}

// TestHashCovers follows the column "hash" of the fields, and the consequences of the algorithm.
func TestHashCovers(t *testing.T) {
	t.Parallel()
	before := hashOf(t, sampleClass(), "Y2E=")
	cases := map[string]struct {
		change  func(*v1.EC2NodeClassSpec)
		changes bool
	}{
		"subnets":         {func(s *v1.EC2NodeClassSpec) { s.SubnetSelectorTerms = nil }, false},
		"security groups": {func(s *v1.EC2NodeClassSpec) { s.SecurityGroupSelectorTerms = nil }, false},
		"reservations": {func(s *v1.EC2NodeClassSpec) {
			s.CapacityReservationSelectorTerms = []v1.CapacityReservationSelectorTerm{{ID: "cr-1"}}
		}, false},
		"ip prefixes":                        {func(s *v1.EC2NodeClassSpec) { s.IPPrefixCount = pointer[int32](1) }, false},
		"version of the alias":               {func(s *v1.EC2NodeClassSpec) { s.AMISelectorTerms[0].Alias = "al2023@v20250403" }, false},
		"family of the alias":                {func(s *v1.EC2NodeClassSpec) { s.AMISelectorTerms[0].Alias = "al2@latest" }, true},
		"the alias's family by name":         {func(s *v1.EC2NodeClassSpec) { s.AMIFamily = pointer("AL2023") }, false},
		"another family by name":             {func(s *v1.EC2NodeClassSpec) { s.AMIFamily = pointer("Custom") }, true},
		"placement group":                    {func(s *v1.EC2NodeClassSpec) { s.PlacementGroupSelector = &v1.PlacementGroupSelector{Name: "a"} }, true},
		"public addresses":                   {func(s *v1.EC2NodeClassSpec) { s.AssociatePublicIPAddress = pointer(false) }, true},
		"user data":                          {func(s *v1.EC2NodeClassSpec) { s.UserData = nil }, true},
		"role":                               {func(s *v1.EC2NodeClassSpec) { s.Role = "other" }, true},
		"profile":                            {func(s *v1.EC2NodeClassSpec) { s.InstanceProfile = pointer("a") }, true},
		"tags":                               {func(s *v1.EC2NodeClassSpec) { s.Tags["intent"] = "other" }, true},
		"kubelet":                            {func(s *v1.EC2NodeClassSpec) { s.Kubelet.MaxPods = nil }, true},
		"kubelet's period":                   {func(s *v1.EC2NodeClassSpec) { s.Kubelet.EvictionSoftGracePeriod = nil }, true},
		"volume size":                        {func(s *v1.EC2NodeClassSpec) { s.BlockDeviceMappings[0].EBS.VolumeSize.SetMilli(1) }, true},
		"plain false is like unset":          {func(s *v1.EC2NodeClassSpec) { s.BlockDeviceMappings[0].RootVolume = false }, false},
		"root volume":                        {func(s *v1.EC2NodeClassSpec) { s.BlockDeviceMappings[0].RootVolume = true }, true},
		"instance store":                     {func(s *v1.EC2NodeClassSpec) { s.InstanceStorePolicy = pointer("RAID0") }, true},
		"network interfaces":                 {func(s *v1.EC2NodeClassSpec) { s.NetworkInterfaces[1].DeviceIndex = 2 }, true},
		"a pointer to false is unlike unset": {func(s *v1.EC2NodeClassSpec) { s.DetailedMonitoring = pointer(false) }, true},
		"metadata options":                   {func(s *v1.EC2NodeClassSpec) { s.MetadataOptions.HTTPTokens = pointer("optional") }, true},
		"connection tracking": {func(s *v1.EC2NodeClassSpec) {
			s.ConnectionTracking = &v1.ConnectionTracking{UDPTimeout: pointer[int32](30)}
		}, true},
		"context":     {func(s *v1.EC2NodeClassSpec) { s.Context = pointer("a") }, true},
		"cpu options": {func(s *v1.EC2NodeClassSpec) { s.CPUOptions = &v1.CPUOptions{NestedVirtualization: pointer("enabled")} }, true},
		"order of lists": {func(s *v1.EC2NodeClassSpec) {
			s.BlockDeviceMappings[0], s.BlockDeviceMappings[1] = s.BlockDeviceMappings[1], s.BlockDeviceMappings[0]
		}, false},
	}
	for name, tc := range cases {
		class := sampleClass()
		tc.change(&class.Spec)
		if got := hashOf(t, class, "Y2E=") != before; got != tc.changes {
			t.Errorf("%s: the hash changes: %v, want %v", name, got, tc.changes)
		}
	}
	if hashOf(t, sampleClass(), "other") == before {
		t.Error("the certificate authority does not change the hash")
	}
}

// TestHashIsStable pins hashes: clusters have them in annotations, so they may change only together with the version.
func TestHashIsStable(t *testing.T) {
	t.Parallel()
	if v1.HashVersion != "v5" {
		t.Fatal("with a new version come new numbers")
	}
	if got, want := hashOf(t, sampleClass(), "Y2E="), "13386092655193206001"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestHashedNames pins the names and the order of the hashed fields, which are part of the hash.
func TestHashedNames(t *testing.T) {
	t.Parallel()
	const want = "-SubnetSelectorTerms -SecurityGroupSelectorTerms -CapacityReservationSelectorTerms PlacementGroupSelector " +
		"AssociatePublicIPAddress -IPPrefixCount -AMISelectorTerms -AMIFamily UserData Role InstanceProfile Tags Kubelet " +
		"BlockDeviceMappings InstanceStorePolicy NetworkInterfaces DetailedMonitoring MetadataOptions ConnectionTracking " +
		"Context CPUOptions"
	var names []string
	for field := range reflect.TypeFor[v1.EC2NodeClassSpec]().Fields() {
		name := field.Name
		if field.Tag.Get("hash") == "ignore" {
			name = "-" + name
		}
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestHashNeedsAFamily(t *testing.T) {
	t.Parallel()
	class := sampleClass()
	class.Name, class.Spec.AMISelectorTerms[0].Alias = "default", "plan9@latest"
	if hash, err := class.Hash(""); err == nil || !strings.Contains(err.Error(), "EC2NodeClass default") {
		t.Errorf("got %s (%v), want an error that names the class", hash, err)
	}
}
