package aws

import (
	awsv1 "tenon/api/aws/v1"
	"tenon/internal/reference"
)

// rows are what EC2 adds to the pages about labels and events.
func rows() reference.Rows {
	return reference.Rows{Keys: keys(), Events: events()}
}

func keys() []reference.Key {
	label := func(name, meaning string) reference.Key {
		return reference.Key{Kind: reference.Label, Name: name, On: "nodes, claims", By: "Tenon", Meaning: meaning}
	}
	note := func(name, on, meaning string) reference.Key {
		return reference.Key{Kind: reference.Annotation, Name: name, On: on, By: "Tenon", Meaning: meaning}
	}
	tag := func(name, on, by, meaning string) reference.Key {
		return reference.Key{Kind: reference.Tag, Name: name, On: on, By: by, Meaning: meaning}
	}
	return []reference.Key{
		label(awsv1.LabelZoneID, "identifier of the zone, such as `usw2-az1`, which is the same in every account"),
		label(awsv1.LabelNodeClass, "name of the class; you may not require it, since a pool names its class"),
		label(awsv1.LabelInstanceCategory, "letters before the generation, such as `m`"),
		label(awsv1.LabelInstanceGeneration, "number of the generation, such as `7`"),
		label(awsv1.LabelInstanceFamily, "type without its size, such as `m7g`"),
		label(awsv1.LabelInstanceSize, "such as `xlarge` or `metal`"),
		label(awsv1.LabelInstanceCapabilityFlex, "`true` for types such as `m7i-flex`"),
		label(awsv1.LabelInstanceCPU, "number of vCPUs"),
		label(awsv1.LabelInstanceCPUManufacturer, "`intel`, `amd` or `aws`"),
		label(awsv1.LabelInstanceCPUSustainedClockSpeedMHz, "clock speed in MHz"),
		label(awsv1.LabelInstanceMemory, "memory in MiB"),
		label(awsv1.LabelInstanceEBSBandwidth, "most bandwidth to EBS, in Mbit/s"),
		label(awsv1.LabelInstanceNetworkBandwidth, "baseline bandwidth of the network, in Mbit/s"),
		label(awsv1.LabelInstanceLocalNVME, "local NVMe storage in GiB; absent without any"),
		label(awsv1.LabelInstanceHypervisor, "`nitro`, `xen`, or empty on metal"),
		label(awsv1.LabelInstanceEncryptionInTransitSupported, "`true` where traffic between instances can be encrypted"),
		label(awsv1.LabelInstanceGPUName, "such as `a10g`"),
		label(awsv1.LabelInstanceGPUManufacturer, "such as `nvidia`"),
		label(awsv1.LabelInstanceGPUCount, "number of GPUs"),
		label(awsv1.LabelInstanceGPUMemory, "memory of one GPU in MiB"),
		label(awsv1.LabelInstanceAcceleratorName, "such as `inferentia`"),
		label(awsv1.LabelInstanceAcceleratorManufacturer, "such as `aws`"),
		label(awsv1.LabelInstanceAcceleratorCount, "number of accelerators"),
		label(awsv1.LabelInstanceTenancy, "`default` or `dedicated`"),
		label(awsv1.LabelCapacityReservationID, "identifier of the capacity reservation that the node uses"),
		label(awsv1.LabelCapacityReservationType, "`default` or `capacity-block`"),
		label(awsv1.LabelCapacityReservationInterruptible, "`true` where the reservation's owner may take the machine back"),
		label(awsv1.LabelPlacementGroupID, "identifier of the placement group"),
		label(awsv1.LabelPlacementGroupPartition, "partition of the placement group"),

		note(awsv1.AnnotationNodeClassHash, "classes, claims", "hash of the class; drift is where class and claim differ"),
		note(awsv1.AnnotationNodeClassHashVersion, "classes, claims", "version of the way in which the hash is computed; if it differs, Tenon writes the hashes of claims anew, and the claims do not drift"),
		note(awsv1.AnnotationInstanceProfileName, "claims", "the instance profile that the machine was started with"),
		note(awsv1.AnnotationTagged, "claims", "`true`: the machine has the tags that name claim and node"),
		note(awsv1.AnnotationClusterNameTagged, "claims", "`true`: the machine has the tag `eks:eks-cluster-name`"),

		{Kind: reference.Finalizer, Name: awsv1.FinalizerTermination, On: "classes", By: "Tenon", Meaning: "the class stays until its claims, launch templates and instance profiles are gone"},

		tag("karpenter.sh/discovery", "subnets, security groups", "you", "the name of the cluster, by convention: the examples select by it"),
		tag(awsv1.TagClusterPrefix+"CLUSTER", "instances, volumes, launch templates, profiles", "Tenon", "`owned`; the policies let Tenon change only what has it"),
		tag(awsv1.TagClusterName, "instances and what they bring", "Tenon", "name of the cluster"),
		tag(awsv1.TagNodePool, "instances and what they bring", "Tenon", "name of the pool"),
		tag(awsv1.TagNodeClaim, "instances", "Tenon", "name of the claim"),
		tag("karpenter.sh/nodeclaim-uid", "instances", "Tenon", "UID of the claim, by which a machine is found again that was bought and not recorded"),
		tag(awsv1.TagNodeClass, "instances, launch templates, profiles", "Tenon", "name of the class"),
		tag(awsv1.TagName, "instances", "Tenon", "name of the node, unless the class sets it"),
	}
}

func events() []reference.Event {
	const both = "NodeClaim, Node"
	return []reference.Event{
		{Reason: "SpotInterrupted", Warning: true, On: both, Text: "Spot interruption warning was triggered", Remedy: "nothing: the node is drained, and replaced at once"},
		{Reason: "SpotRebalanceRecommendation", On: both, Text: "Spot rebalance recommendation was triggered", Remedy: "nothing"},
		{Reason: "CapacityReservationInstanceInterrupted", Warning: true, On: both, Text: "Capacity Reservation interruption warning was triggered", Remedy: "nothing: the node is drained, and replaced at once"},
		{Reason: "InstanceStopping", Warning: true, On: both, Text: "Instance is stopping", Remedy: "find out who stopped it"},
		{Reason: "InstanceTerminating", Warning: true, On: both, Text: "Instance is terminating", Remedy: "find out who ended it"},
		{Reason: "InstanceUnhealthy", Warning: true, On: both, Text: "An unhealthy warning was triggered for the instance", Remedy: "nothing: AWS plans maintenance, and the node is replaced"},
		{Reason: "TerminatingOnInterruption", Warning: true, On: both, Text: "Interruption triggered termination for the NodeClaim", Remedy: "nothing"},
		{Reason: "SpotSLRCreationFailed", Warning: true, On: "NodeClaim", Text: "Attempted to launch a spot instance but failed due to \"AuthFailure.ServiceLinkedRoleCreationNotPermitted\"", Remedy: "`aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`"},
		{Reason: "WaitingOnNodeClaimTermination", On: "EC2NodeClass", Text: "Waiting on NodeClaim termination for NAMES", Remedy: "delete the pools of the class, and wait for their claims"},
		{Reason: "ZonalShiftActive", Warning: true, On: "NodePool", Text: "Zonal shift detected: offerings in zone ZONE are unavailable for this NodePool", Remedy: "nothing: no node is bought in the zone"},
		{Reason: "ZonalShiftCleared", On: "NodePool", Text: "Zonal shift cleared: offerings in zone ZONE are restored for this NodePool", Remedy: "nothing"},
	}
}
