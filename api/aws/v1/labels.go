package v1

import (
	corev1 "k8s.io/api/core/v1"

	"tenon/api/label"
)

// Labels of nodes on EC2. Their values are facts of the instance type, or of the launch.
const (
	LabelZoneID = "topology.k8s.aws/zone-id"

	LabelInstanceCategory                     = Group + "/instance-category"
	LabelInstanceGeneration                   = Group + "/instance-generation"
	LabelInstanceFamily                       = Group + "/instance-family"
	LabelInstanceSize                         = Group + "/instance-size"
	LabelInstanceCapabilityFlex               = Group + "/instance-capability-flex"
	LabelInstanceCPU                          = Group + "/instance-cpu"
	LabelInstanceCPUManufacturer              = Group + "/instance-cpu-manufacturer"
	LabelInstanceCPUSustainedClockSpeedMHz    = Group + "/instance-cpu-sustained-clock-speed-mhz"
	LabelInstanceMemory                       = Group + "/instance-memory"
	LabelInstanceEBSBandwidth                 = Group + "/instance-ebs-bandwidth"
	LabelInstanceNetworkBandwidth             = Group + "/instance-network-bandwidth"
	LabelInstanceLocalNVME                    = Group + "/instance-local-nvme"
	LabelInstanceHypervisor                   = Group + "/instance-hypervisor"
	LabelInstanceEncryptionInTransitSupported = Group + "/instance-encryption-in-transit-supported"
	LabelInstanceGPUName                      = Group + "/instance-gpu-name"
	LabelInstanceGPUManufacturer              = Group + "/instance-gpu-manufacturer"
	LabelInstanceGPUCount                     = Group + "/instance-gpu-count"
	LabelInstanceGPUMemory                    = Group + "/instance-gpu-memory"
	LabelInstanceAcceleratorName              = Group + "/instance-accelerator-name"
	LabelInstanceAcceleratorManufacturer      = Group + "/instance-accelerator-manufacturer"
	LabelInstanceAcceleratorCount             = Group + "/instance-accelerator-count"
	LabelInstanceTenancy                      = Group + "/instance-tenancy"
	LabelCapacityReservationID                = Group + "/capacity-reservation-id"
	LabelCapacityReservationType              = Group + "/capacity-reservation-type"
	LabelCapacityReservationInterruptible     = Group + "/capacity-reservation-interruptible"
	LabelPlacementGroupID                     = Group + "/placement-group-id"
	LabelPlacementGroupPartition              = Group + "/placement-group-partition"

	// LabelNodeClass holds the name of the class. The product writes it and users may not,
	// so it is not well-known. As a tag it marks the resources in EC2 that belong to the class.
	LabelNodeClass = Group + "/ec2nodeclass"

	// labelEBSZone is the EBS driver's label for the zone of a volume.
	labelEBSZone = "topology.ebs.csi.aws.com/zone"
)

// Annotations that the product writes on classes and claims.
const (
	AnnotationNodeClassHash        = Group + "/ec2nodeclass-hash"
	AnnotationNodeClassHashVersion = Group + "/ec2nodeclass-hash-version"
	AnnotationInstanceProfileName  = Group + "/instance-profile-name"
	AnnotationTagged               = Group + "/tagged"
	AnnotationClusterNameTagged    = "compatibility." + Group + "/cluster-name-tagged"
)

// FinalizerTermination keeps a class until nothing in the cloud depends on it.
const FinalizerTermination = Group + "/termination"

// Values of LabelInstanceTenancy.
const (
	TenancyDefault   = "default"
	TenancyDedicated = "dedicated"
)

// Labels is EC2's data about labels, which is joined with that of the neutral API.
func Labels() label.Data {
	return label.Data{
		WellKnown: []string{
			LabelZoneID,
			LabelInstanceCategory,
			LabelInstanceGeneration,
			LabelInstanceFamily,
			LabelInstanceSize,
			LabelInstanceCapabilityFlex,
			LabelInstanceCPU,
			LabelInstanceCPUManufacturer,
			LabelInstanceCPUSustainedClockSpeedMHz,
			LabelInstanceMemory,
			LabelInstanceEBSBandwidth,
			LabelInstanceNetworkBandwidth,
			LabelInstanceLocalNVME,
			LabelInstanceHypervisor,
			LabelInstanceEncryptionInTransitSupported,
			LabelInstanceGPUName,
			LabelInstanceGPUManufacturer,
			LabelInstanceGPUCount,
			LabelInstanceGPUMemory,
			LabelInstanceAcceleratorName,
			LabelInstanceAcceleratorManufacturer,
			LabelInstanceAcceleratorCount,
			LabelInstanceTenancy,
			LabelCapacityReservationID,
			LabelCapacityReservationType,
			LabelCapacityReservationInterruptible,
			LabelPlacementGroupID,
			LabelPlacementGroupPartition,
		},
		RestrictedDomains: []string{Group},
		Aliases:           map[string]string{labelEBSZone: corev1.LabelTopologyZone},
		KnownValues:       map[string][]string{LabelInstanceTenancy: {TenancyDefault, TenancyDedicated}},
	}
}
