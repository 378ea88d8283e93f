package classstatus_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/classstatus"
	"tenon/cloud/aws/instance"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// facts describe an instance that is what its class asks for, modified by change.
func facts(change func(*classstatus.DriftFacts)) classstatus.DriftFacts {
	amd := []corev1.NodeSelectorRequirement{{Key: requirement.KeyArch, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}}}
	class := &awsv1.EC2NodeClass{Status: awsv1.EC2NodeClassStatus{
		AMIs:           []awsv1.AMI{{ID: "ami-1", Requirements: amd}},
		SecurityGroups: []awsv1.SecurityGroup{{ID: "sg-1"}, {ID: "sg-2"}},
		Subnets:        []awsv1.Subnet{{ID: "subnet-1"}, {ID: "subnet-2"}},
	}}
	class.Annotations = map[string]string{awsv1.AnnotationNodeClassHash: "1", awsv1.AnnotationNodeClassHashVersion: "v5"}
	f := classstatus.DriftFacts{
		Class: class,
		Claim: &cloud.Claim{
			Annotations: map[string]string{awsv1.AnnotationNodeClassHash: "1", awsv1.AnnotationNodeClassHashVersion: "v5"},
			Labels:      map[string]string{},
		},
		Catalog: &catalog.Catalog{Types: []catalog.Type{{Name: "m5.large", Requirements: requirement.NewSet(
			requirement.New(requirement.KeyArch, requirement.In, "amd64"), requirement.New(requirement.KeyOS, requirement.In, "linux"),
		)}}},
		Machine: instance.Instance{Type: "m5.large", ImageID: "ami-1", SubnetID: "subnet-2", Groups: []string{"sg-2", "sg-1"}},
	}
	change(&f)
	return f
}

// onlyARM leaves only images for arm64, found by these aliases or by other terms.
func onlyARM(f *classstatus.DriftFacts, aliases ...string) {
	f.Class.Status.AMIs[0].Requirements[0].Values = []string{"arm64"}
	for _, alias := range aliases {
		f.Class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: alias}}
	}
}

// Every difference gives its reason, and unknown facts give none.
func TestOf(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*classstatus.DriftFacts)
		want   cloud.DriftReason
		fails  bool
	}{
		"nothing":      {func(*classstatus.DriftFacts) {}, "", false},
		"another hash": {func(f *classstatus.DriftFacts) { f.Claim.Annotations[awsv1.AnnotationNodeClassHash] = "2" }, classstatus.NodeClassDrift, false},
		"another version": {func(f *classstatus.DriftFacts) {
			f.Claim.Annotations = map[string]string{awsv1.AnnotationNodeClassHash: "2", awsv1.AnnotationNodeClassHashVersion: "v4"}
		}, "", false},
		"no annotations":                        {func(f *classstatus.DriftFacts) { f.Claim.Annotations = nil }, "", false},
		"another image":                         {func(f *classstatus.DriftFacts) { f.Machine.ImageID = "ami-0" }, classstatus.AMIDrift, false},
		"the terms name no image for it":        {func(f *classstatus.DriftFacts) { onlyARM(f) }, classstatus.AMIDrift, false},
		"the alias has one that was not found":  {func(f *classstatus.DriftFacts) { onlyARM(f, "al2023@latest") }, "", true},
		"the alias has no image for Linux":      {func(f *classstatus.DriftFacts) { onlyARM(f, "windows2022@latest") }, classstatus.AMIDrift, false},
		"no images":                             {func(f *classstatus.DriftFacts) { f.Class.Status.AMIs = nil }, "", true},
		"a type that is no longer sold":         {func(f *classstatus.DriftFacts) { f.Machine.Type = "m4.large" }, "", true},
		"a group less":                          {func(f *classstatus.DriftFacts) { f.Machine.Groups = []string{"sg-1"} }, classstatus.SecurityGroupDrift, false},
		"no groups":                             {func(f *classstatus.DriftFacts) { f.Class.Status.SecurityGroups = nil }, "", true},
		"another subnet":                        {func(f *classstatus.DriftFacts) { f.Machine.SubnetID = "subnet-3" }, classstatus.SubnetDrift, false},
		"no subnets":                            {func(f *classstatus.DriftFacts) { f.Class.Status.Subnets = nil }, "", true},
		"a reservation that is not the class's": {func(f *classstatus.DriftFacts) { f.Machine.Reservation = "cr-1" }, classstatus.CapacityReservationDrift, false},
		"its reservation": {func(f *classstatus.DriftFacts) {
			f.Machine.Reservation, f.Reservations = "cr-1", []awsv1.CapacityReservation{{ID: "cr-1"}}
		}, "", false},
		"another placement group": {func(f *classstatus.DriftFacts) { f.Group = "pg-1" }, classstatus.PlacementGroupDrift, false},
		"its placement group":     {func(f *classstatus.DriftFacts) { f.Group, f.Claim.Labels[awsv1.LabelPlacementGroupID] = "pg-1", "pg-1" }, "", false},
		"the first reason counts": {func(f *classstatus.DriftFacts) { f.Machine.ImageID, f.Machine.SubnetID = "ami-0", "subnet-3" }, classstatus.AMIDrift, false},
	}
	for name, tc := range cases {
		got, err := classstatus.DriftOf(facts(tc.change))
		if got != tc.want || (err != nil) != tc.fails {
			t.Errorf("%s: %q, error %v; want %q", name, got, err, tc.want)
		}
	}
}
