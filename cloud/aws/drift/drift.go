// Package drift decides whether an instance still is what its class asks for.
//
// It is pure. What could not be found out is an error and never a drift, because a drift
// replaces a node.
package drift

import (
	"fmt"
	"slices"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/image"
	"tenon/core/catalog"
)

// The reasons, in the order in which they are looked for.
const (
	NodeClass           cloud.DriftReason = "NodeClassDrift"
	AMI                 cloud.DriftReason = "AMIDrift"
	SecurityGroup       cloud.DriftReason = "SecurityGroupDrift"
	Subnet              cloud.DriftReason = "SubnetDrift"
	CapacityReservation cloud.DriftReason = "CapacityReservationDrift"
	PlacementGroup      cloud.DriftReason = "PlacementGroupDrift"
	None                cloud.DriftReason = ""
)

// Instance is what runs.
type Instance struct {
	Type, ImageID string
	SubnetID      string
	Groups        []string
	// Reservation is empty for capacity that is not reserved.
	Reservation string
}

// Static compares hashes: it needs no look at EC2.
func Static(class *awsv1.EC2NodeClass, claim map[string]string) cloud.DriftReason {
	of := class.Annotations
	const hash, version = awsv1.AnnotationNodeClassHash, awsv1.AnnotationNodeClassHashVersion
	for _, annotations := range []map[string]string{of, claim} {
		for _, key := range []string{hash, version} {
			if _, there := annotations[key]; !there {
				return None
			}
		}
	}
	if of[version] == claim[version] && of[hash] != claim[hash] {
		return NodeClass
	}
	return None
}

// Dynamic compares what runs with what the class's selectors find now. The catalogue is
// the class's, labels are the claim's, and group is the ID of the placement group that was
// found, empty for none.
func Dynamic(class *awsv1.EC2NodeClass, offer *catalog.Catalog, labels map[string]string, i Instance, group string) (cloud.DriftReason, error) {
	drifted, err := imageDrifted(class, offer, i)
	switch {
	case err != nil:
		return None, err
	case drifted:
		return AMI, nil
	}
	status := &class.Status
	switch {
	case len(status.SecurityGroups) == 0:
		return None, fmt.Errorf("class %s has no security groups in its status", class.Name)
	case !sameGroups(status.SecurityGroups, i.Groups):
		return SecurityGroup, nil
	case len(status.Subnets) == 0:
		return None, fmt.Errorf("class %s has no subnets in its status", class.Name)
	case !slices.ContainsFunc(status.Subnets, func(s awsv1.Subnet) bool { return s.ID == i.SubnetID }):
		return Subnet, nil
	case i.Reservation != "" && !slices.ContainsFunc(status.CapacityReservations, func(r awsv1.CapacityReservation) bool { return r.ID == i.Reservation }):
		return CapacityReservation, nil
	case labels[awsv1.LabelPlacementGroupID] != group:
		return PlacementGroup, nil
	}
	return None, nil
}

// imageDrifted: another image would be booted now, be it because there is a newer one.
func imageDrifted(class *awsv1.EC2NodeClass, offer *catalog.Catalog, i Instance) (bool, error) {
	if len(class.Status.AMIs) == 0 {
		return false, fmt.Errorf("class %s has no images in its status", class.Name)
	}
	at := slices.IndexFunc(offer.Types, func(t catalog.Type) bool { return t.Name == i.Type })
	if at < 0 {
		return false, fmt.Errorf("instance type %s is not known", i.Type)
	}
	booted, found := image.NewChooser(class.Status.AMIs).For(offer.Types[at].Requirements)
	if !found {
		return false, fmt.Errorf("no image of class %s is for instance type %s", class.Name, i.Type)
	}
	return booted.ID != i.ImageID, nil
}

func sameGroups(wanted []awsv1.SecurityGroup, has []string) bool {
	var ids []string
	for _, g := range wanted {
		ids = append(ids, g.ID)
	}
	slices.Sort(ids)
	return slices.Equal(slices.Compact(ids), slices.Compact(slices.Sorted(slices.Values(has))))
}
