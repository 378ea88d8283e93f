package drift_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/drift"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

const (
	hash    = awsv1.AnnotationNodeClassHash
	version = awsv1.AnnotationNodeClassHashVersion
)

// Hashes tell a drift only if both sides have one of the same version.
func TestStatic(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		class, claim map[string]string
		want         cloud.DriftReason
	}{
		"the same":              {map[string]string{hash: "1", version: "v5"}, map[string]string{hash: "1", version: "v5"}, drift.None},
		"another hash":          {map[string]string{hash: "2", version: "v5"}, map[string]string{hash: "1", version: "v5"}, drift.NodeClass},
		"of another version":    {map[string]string{hash: "2", version: "v5"}, map[string]string{hash: "1", version: "v4"}, drift.None},
		"the claim has none":    {map[string]string{hash: "2", version: "v5"}, nil, drift.None},
		"the class has no hash": {map[string]string{version: "v5"}, map[string]string{hash: "1", version: "v5"}, drift.None},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Annotations: tc.class}}
			if got := drift.Static(class, tc.claim); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// The first thing that differs is the reason; what is not known is an error.
func TestDynamic(t *testing.T) {
	t.Parallel()
	arch := func(value string) []corev1.NodeSelectorRequirement {
		return []corev1.NodeSelectorRequirement{{Key: requirement.KeyArch, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}}
	}
	offer := &catalog.Catalog{Types: []catalog.Type{
		{Name: "m5.large", Requirements: requirement.NewSet(requirement.New(requirement.KeyArch, requirement.In, "amd64"))},
		{Name: "m6g.large", Requirements: requirement.NewSet(requirement.New(requirement.KeyArch, requirement.In, "arm64"))},
	}}
	type change = func(*awsv1.EC2NodeClassStatus, *drift.Instance, map[string]string)
	cases := map[string]struct {
		change change
		want   cloud.DriftReason
		failed bool
	}{
		"nothing": {func(*awsv1.EC2NodeClassStatus, *drift.Instance, map[string]string) {}, drift.None, false},
		"a newer image": {func(s *awsv1.EC2NodeClassStatus, _ *drift.Instance, _ map[string]string) {
			s.AMIs = append([]awsv1.AMI{{ID: "ami-2", Requirements: arch("amd64")}}, s.AMIs...)
		}, drift.AMI, false},
		"a newer image for other machines": {func(s *awsv1.EC2NodeClassStatus, _ *drift.Instance, _ map[string]string) {
			s.AMIs = append([]awsv1.AMI{{ID: "ami-2", Requirements: arch("arm64")}}, s.AMIs...)
		}, drift.None, false},
		"no image for the type": {func(_ *awsv1.EC2NodeClassStatus, i *drift.Instance, _ map[string]string) { i.Type = "m6g.large" }, drift.None, true},
		"an unknown type":       {func(_ *awsv1.EC2NodeClassStatus, i *drift.Instance, _ map[string]string) { i.Type = "m1.huge" }, drift.None, true},
		"no images":             {func(s *awsv1.EC2NodeClassStatus, _ *drift.Instance, _ map[string]string) { s.AMIs = nil }, drift.None, true},
		"one group more": {func(_ *awsv1.EC2NodeClassStatus, i *drift.Instance, _ map[string]string) {
			i.Groups = append(i.Groups, "sg-3")
		}, drift.SecurityGroup, false},
		"no groups":      {func(s *awsv1.EC2NodeClassStatus, _ *drift.Instance, _ map[string]string) { s.SecurityGroups = nil }, drift.None, true},
		"another subnet": {func(_ *awsv1.EC2NodeClassStatus, i *drift.Instance, _ map[string]string) { i.SubnetID = "subnet-2" }, drift.Subnet, false},
		"no subnets":     {func(s *awsv1.EC2NodeClassStatus, _ *drift.Instance, _ map[string]string) { s.Subnets = nil }, drift.None, true},
		"a reservation that ended": {func(_ *awsv1.EC2NodeClassStatus, i *drift.Instance, _ map[string]string) {
			i.Reservation = "cr-1"
		}, drift.CapacityReservation, false},
		"another placement group": {func(_ *awsv1.EC2NodeClassStatus, _ *drift.Instance, l map[string]string) {
			l[awsv1.LabelPlacementGroupID] = "pg-1"
		}, drift.PlacementGroup, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			class := &awsv1.EC2NodeClass{Status: awsv1.EC2NodeClassStatus{
				AMIs:           []awsv1.AMI{{ID: "ami-1", Requirements: arch("amd64")}},
				SecurityGroups: []awsv1.SecurityGroup{{ID: "sg-2"}, {ID: "sg-1"}},
				Subnets:        []awsv1.Subnet{{ID: "subnet-1"}},
			}}
			i := drift.Instance{Type: "m5.large", ImageID: "ami-1", SubnetID: "subnet-1", Groups: []string{"sg-1", "sg-2"}}
			labels := map[string]string{}
			tc.change(&class.Status, &i, labels)
			got, err := drift.Dynamic(class, offer, labels, i, "")
			if got != tc.want || (err != nil) != tc.failed {
				t.Errorf("%q, %v; want %q", got, err, tc.want)
			}
		})
	}
}
