package classstatus

import (
	"errors"
	"fmt"
	"slices"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/ami"
	"tenon/cloud/aws/instance"
	"tenon/core/catalog"
)

// The reasons, in the order in which DriftOf checks them. (As in Karpenter.)
const (
	NodeClassDrift           cloud.DriftReason = "NodeClassDrift"
	AMIDrift                 cloud.DriftReason = "AMIDrift"
	SecurityGroupDrift       cloud.DriftReason = "SecurityGroupDrift"
	SubnetDrift              cloud.DriftReason = "SubnetDrift"
	CapacityReservationDrift cloud.DriftReason = "CapacityReservationDrift"
	PlacementGroupDrift      cloud.DriftReason = "PlacementGroupDrift"
)

// DriftFacts is what DriftOf compares.
type DriftFacts struct {
	// Claim has the labels and annotations of the object.
	Claim *cloud.Claim
	Class *awsv1.EC2NodeClass
	// Catalog is what the class can buy.
	Catalog *catalog.Catalog
	Machine instance.Instance
	// Group is the ID of the class's placement group; empty if it has none.
	Group string
	// Reservations are those of the class; they may be more recent than its status.
	Reservations []awsv1.CapacityReservation
}

// DriftOf returns the first reason why the instance is not what the class asks for; empty if it is.
func DriftOf(f DriftFacts) (cloud.DriftReason, error) {
	if f.static() {
		return NodeClassDrift, nil
	}
	for _, look := range []struct {
		reason  cloud.DriftReason
		drifted func() (bool, error)
	}{
		{AMIDrift, f.image}, {SecurityGroupDrift, f.groups}, {SubnetDrift, f.subnet},
		{CapacityReservationDrift, f.reservation}, {PlacementGroupDrift, f.placement},
	} {
		drifted, err := look.drifted()
		if err != nil {
			return "", err
		}
		if drifted {
			return look.reason, nil
		}
	}
	return "", nil
}

// static compares fingerprints. A fingerprint of another version does not count as drift.
func (f DriftFacts) static() bool {
	hash, hashed := f.Claim.Annotations[awsv1.AnnotationNodeClassHash]
	version, versioned := f.Claim.Annotations[awsv1.AnnotationNodeClassHashVersion]
	classHash, classHashed := f.Class.Annotations[awsv1.AnnotationNodeClassHash]
	classVersion, classVersioned := f.Class.Annotations[awsv1.AnnotationNodeClassHashVersion]
	return hashed && versioned && classHashed && classVersioned && version == classVersion && hash != classHash
}

func (f DriftFacts) image() (bool, error) {
	if len(f.Class.Status.AMIs) == 0 {
		return false, errors.New("no amis exist given constraints")
	}
	at := slices.IndexFunc(f.Catalog.Types, func(t catalog.Type) bool { return t.Name == f.Machine.Type })
	if at < 0 {
		return false, fmt.Errorf("instance type %s is not one that the class can buy", f.Machine.Type)
	}
	labels := f.Catalog.Types[at].Requirements
	chosen, found := ami.NewChooser(f.Class.Status.AMIs).For(labels)
	if found {
		return chosen.ID != f.Machine.ImageID, nil
	}
	excluded, err := ami.Excludes(f.Class, labels)
	if err == nil && !excluded {
		err = fmt.Errorf("no image for instance type %s was found, although the class's alias has such images", f.Machine.Type)
	}
	return excluded, err
}

func (f DriftFacts) groups() (bool, error) {
	if len(f.Class.Status.SecurityGroups) == 0 {
		return false, errors.New("no security groups are present in the status")
	}
	var want []string
	for _, g := range f.Class.Status.SecurityGroups {
		want = append(want, g.ID)
	}
	has := slices.Clone(f.Machine.Groups)
	slices.Sort(want)
	slices.Sort(has)
	return !slices.Equal(slices.Compact(want), slices.Compact(has)), nil
}

func (f DriftFacts) subnet() (bool, error) {
	if len(f.Class.Status.Subnets) == 0 {
		return false, errors.New("no subnets are present in the status")
	}
	return !slices.ContainsFunc(f.Class.Status.Subnets, func(s awsv1.Subnet) bool { return s.ID == f.Machine.SubnetID }), nil
}

func (f DriftFacts) reservation() (bool, error) {
	if f.Machine.Reservation == "" {
		return false, nil
	}
	return !slices.ContainsFunc(f.Reservations, func(r awsv1.CapacityReservation) bool { return r.ID == f.Machine.Reservation }), nil
}

func (f DriftFacts) placement() (bool, error) {
	return f.Claim.Labels[awsv1.LabelPlacementGroupID] != f.Group, nil
}
