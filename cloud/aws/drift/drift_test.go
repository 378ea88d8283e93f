package drift_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/drift"
	"tenon/cloud/aws/instance"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// facts are those of an instance that is what its class asks for; a change comes on top.
func facts(change func(*drift.Facts)) drift.Facts {
	amd := []corev1.NodeSelectorRequirement{{Key: requirement.KeyArch, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}}}
	class := &awsv1.EC2NodeClass{Status: awsv1.EC2NodeClassStatus{
		AMIs:           []awsv1.AMI{{ID: "ami-1", Requirements: amd}},
		SecurityGroups: []awsv1.SecurityGroup{{ID: "sg-1"}, {ID: "sg-2"}},
		Subnets:        []awsv1.Subnet{{ID: "subnet-1"}, {ID: "subnet-2"}},
	}}
	class.Annotations = map[string]string{awsv1.AnnotationNodeClassHash: "1", awsv1.AnnotationNodeClassHashVersion: "v5"}
	f := drift.Facts{
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

// onlyARM leaves images for arm64 alone, found by these aliases or by other terms.
func onlyARM(f *drift.Facts, aliases ...string) {
	f.Class.Status.AMIs[0].Requirements[0].Values = []string{"arm64"}
	for _, alias := range aliases {
		f.Class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: alias}}
	}
}

// Every difference has its reason, and what is not known has none.
func TestOf(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*drift.Facts)
		want   cloud.DriftReason
		fails  bool
	}{
		"nothing":      {func(*drift.Facts) {}, "", false},
		"another hash": {func(f *drift.Facts) { f.Claim.Annotations[awsv1.AnnotationNodeClassHash] = "2" }, drift.NodeClass, false},
		"another version": {func(f *drift.Facts) {
			f.Claim.Annotations = map[string]string{awsv1.AnnotationNodeClassHash: "2", awsv1.AnnotationNodeClassHashVersion: "v4"}
		}, "", false},
		"no annotations":                        {func(f *drift.Facts) { f.Claim.Annotations = nil }, "", false},
		"another image":                         {func(f *drift.Facts) { f.Machine.ImageID = "ami-0" }, drift.AMI, false},
		"the terms name no image for it":        {func(f *drift.Facts) { onlyARM(f) }, drift.AMI, false},
		"the alias has one that was not found":  {func(f *drift.Facts) { onlyARM(f, "al2023@latest") }, "", true},
		"the alias has no image for Linux":      {func(f *drift.Facts) { onlyARM(f, "windows2022@latest") }, drift.AMI, false},
		"no images":                             {func(f *drift.Facts) { f.Class.Status.AMIs = nil }, "", true},
		"a type that is no longer sold":         {func(f *drift.Facts) { f.Machine.Type = "m4.large" }, "", true},
		"a group less":                          {func(f *drift.Facts) { f.Machine.Groups = []string{"sg-1"} }, drift.SecurityGroup, false},
		"no groups":                             {func(f *drift.Facts) { f.Class.Status.SecurityGroups = nil }, "", true},
		"another subnet":                        {func(f *drift.Facts) { f.Machine.SubnetID = "subnet-3" }, drift.Subnet, false},
		"no subnets":                            {func(f *drift.Facts) { f.Class.Status.Subnets = nil }, "", true},
		"a reservation that is not the class's": {func(f *drift.Facts) { f.Machine.Reservation = "cr-1" }, drift.CapacityReservation, false},
		"its reservation": {func(f *drift.Facts) {
			f.Machine.Reservation, f.Reservations = "cr-1", []awsv1.CapacityReservation{{ID: "cr-1"}}
		}, "", false},
		"another placement group": {func(f *drift.Facts) { f.Group = "pg-1" }, drift.PlacementGroup, false},
		"its placement group":     {func(f *drift.Facts) { f.Group, f.Claim.Labels[awsv1.LabelPlacementGroupID] = "pg-1", "pg-1" }, "", false},
		"the first reason counts": {func(f *drift.Facts) { f.Machine.ImageID, f.Machine.SubnetID = "ami-0", "subnet-3" }, drift.AMI, false},
	}
	for name, tc := range cases {
		got, err := drift.Of(facts(tc.change))
		if got != tc.want || (err != nil) != tc.fails {
			t.Errorf("%s: %q, error %v; want %q", name, got, err, tc.want)
		}
	}
}
