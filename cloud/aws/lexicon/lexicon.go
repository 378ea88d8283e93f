// Package lexicon names the labels, resources and spellings that the AWS provider gives a
// meaning. It is vocabulary only: what value a label has for a type is decided in
// cloud/aws/offering.
package lexicon

import "tenon/core/requirement"

// Domain is the domain of all labels of the provider. Users may write none of its keys
// but the well-known ones.
const Domain = "karpenter.k8s.aws"

// NodeClass is the label that names a node's EC2NodeClass. It is not well-known.
const NodeClass = Domain + "/ec2nodeclass"

// Labels that tell what an instance type is.
const (
	InstanceCategory        = Domain + "/instance-category"
	InstanceGeneration      = Domain + "/instance-generation"
	InstanceFamily          = Domain + "/instance-family"
	InstanceSize            = Domain + "/instance-size"
	InstanceFlex            = Domain + "/instance-capability-flex"
	InstanceCPU             = Domain + "/instance-cpu"
	InstanceCPUManufacturer = Domain + "/instance-cpu-manufacturer"
	InstanceCPUClock        = Domain + "/instance-cpu-sustained-clock-speed-mhz"
	InstanceMemory          = Domain + "/instance-memory"
	InstanceEBSBandwidth    = Domain + "/instance-ebs-bandwidth"
	InstanceNetwork         = Domain + "/instance-network-bandwidth"
	InstanceLocalNVMe       = Domain + "/instance-local-nvme"
	InstanceHypervisor      = Domain + "/instance-hypervisor"
	InstanceEncryption      = Domain + "/instance-encryption-in-transit-supported"

	InstanceGPUName         = Domain + "/instance-gpu-name"
	InstanceGPUManufacturer = Domain + "/instance-gpu-manufacturer"
	InstanceGPUCount        = Domain + "/instance-gpu-count"
	InstanceGPUMemory       = Domain + "/instance-gpu-memory"

	InstanceAcceleratorName         = Domain + "/instance-accelerator-name"
	InstanceAcceleratorManufacturer = Domain + "/instance-accelerator-manufacturer"
	InstanceAcceleratorCount        = Domain + "/instance-accelerator-count"
)

// Labels that tell how an instance is bought and where it runs.
const (
	ZoneID                   = "topology.k8s.aws/zone-id"
	InstanceTenancy          = Domain + "/instance-tenancy"
	ReservationID            = Domain + "/capacity-reservation-id"
	ReservationType          = Domain + "/capacity-reservation-type"
	ReservationInterruptible = Domain + "/capacity-reservation-interruptible"
	PlacementGroupID         = Domain + "/placement-group-id"
	PlacementGroupPartition  = Domain + "/placement-group-partition"
)

// VolumeZone is what the EBS volume driver calls the zone.
const VolumeZone = "topology.ebs.csi.aws.com/zone"

// Tenancies are the values of InstanceTenancy.
func Tenancies() []string { return []string{"default", "dedicated"} }

// Extended resources that instances may have.
const (
	NvidiaGPU   = "nvidia.com/gpu"
	AMDGPU      = "amd.com/gpu"
	HabanaGaudi = "habana.ai/gaudi"
	Neuron      = "aws.amazon.com/neuron"
	NeuronCore  = "aws.amazon.com/neuroncore"
	EFA         = "vpc.amazonaws.com/efa"
	PodENI      = "vpc.amazonaws.com/pod-eni"
	PrivateIPv4 = "vpc.amazonaws.com/PrivateIPv4Address"
)

// Words are what the provider adds to the core's vocabulary.
func Words() requirement.Words {
	return requirement.Words{
		WellKnown: []string{
			InstanceCategory, InstanceGeneration, InstanceFamily, InstanceSize, InstanceFlex,
			InstanceCPU, InstanceCPUManufacturer, InstanceCPUClock, InstanceMemory,
			InstanceEBSBandwidth, InstanceNetwork, InstanceLocalNVMe, InstanceHypervisor, InstanceEncryption,
			InstanceGPUName, InstanceGPUManufacturer, InstanceGPUCount, InstanceGPUMemory,
			InstanceAcceleratorName, InstanceAcceleratorManufacturer, InstanceAcceleratorCount,
			ZoneID, InstanceTenancy, ReservationID, ReservationType, ReservationInterruptible,
			PlacementGroupID, PlacementGroupPartition,
		},
		RestrictedDomains: []string{Domain},
		Aliases:           map[string]string{VolumeZone: requirement.KeyZone},
		KnownValues:       map[string][]string{InstanceTenancy: Tenancies()},
	}
}

// Vocabulary is the core's vocabulary with the provider's words.
func Vocabulary() requirement.Vocabulary { return requirement.Core().With(Words()) }
