package v1

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"tenon/api/label"
)

// Labels on Nodes and NodeClaims.
const (
	LabelNodePool        = Group + "/nodepool"
	LabelCapacityType    = Group + "/capacity-type"
	LabelRegistered      = Group + "/registered"
	LabelInitialized     = Group + "/initialized"
	LabelDoNotSyncTaints = Group + "/do-not-sync-taints"

	// LabelExcludeFromBalancers takes a node that is going away out of load balancers; its value is ExcludedBy.
	LabelExcludeFromBalancers = corev1.LabelNodeExcludeBalancers
	ExcludedBy                = "karpenter"
)

// Annotations that the product reads or writes.
const (
	AnnotationDoNotDisrupt           = Group + "/do-not-disrupt"
	AnnotationNodePoolHash           = Group + "/nodepool-hash"
	AnnotationNodePoolHashVersion    = Group + "/nodepool-hash-version"
	AnnotationTerminationTimestamp   = Group + "/nodeclaim-termination-timestamp"
	AnnotationMinValuesRelaxed       = Group + "/nodeclaim-min-values-relaxed"
	AnnotationRequestedDRADrivers    = Group + "/requested-dra-drivers"
	AnnotationPriceOverlayApplied    = Group + "/price-overlay-applied"
	AnnotationCapacityOverlayApplied = Group + "/capacity-overlay-applied"
	AnnotationBufferFakePod          = Group + "/capacity-buffer-fake-pod"
	AnnotationBufferName             = Group + "/capacity-buffer-name"
	AnnotationBufferNamespace        = Group + "/capacity-buffer-namespace"
	AnnotationProviderCompatibility  = "compatibility." + Group + "/provider"
)

// AnnotationDisruption holds, on claims, the disruption that is under way. It is the product's
// own; others must not write it.
const AnnotationDisruption = "tenon.sh/disruption"

// AnnotationPrice says on a claim what its machine cost an hour when it was bought, in the currency of
// the price list. It is the product's own; others must not write it.
const AnnotationPrice = "tenon.sh/price"

// AnnotationNodePrice says on a pool what each of its nodes costs beyond its machine, in dollars an
// hour: licences, agents, addresses. It is the product's own, for users to write.
const AnnotationNodePrice = "tenon.sh/node-price"

// AnnotationPriceCeiling says on a pool how many times the price of the cheapest machine that would do
// a new node may cost while that machine is out of stock, such as 4 or 2.5. Without it there is no
// ceiling.
const AnnotationPriceCeiling = "tenon.sh/price-ceiling"

// AnnotationChangedByHand says on a node, claim, pool or group what was last changed with tenon view, when, and by whom.
const AnnotationChangedByHand = "tenon.sh/changed-by-hand"

// AnnotationDriftAtLimit says on a pool what happens to drifted nodes when its limits leave no
// room for a replacement beside them: one of the values below. The default is DriftDeleteFirst.
const AnnotationDriftAtLimit = "tenon.sh/drift-at-limit"

// Values of AnnotationDriftAtLimit. With DriftDeleteFirst nodes go one at a time, and their
// replacements are bought as soon as they are going; with DriftWait they stay until there is room.
const (
	DriftDeleteFirst = "DeleteFirst"
	DriftWait        = "Wait"
)

// FinalizerTermination keeps a NodeClaim or Node until its instance is gone.
const FinalizerTermination = Group + "/termination"

// Values of LabelCapacityType.
const (
	CapacityTypeSpot     = "spot"
	CapacityTypeOnDemand = "on-demand"
	CapacityTypeReserved = "reserved"
)

// Values of the architecture label.
const (
	ArchitectureAmd64 = "amd64"
	ArchitectureArm64 = "arm64"
)

// Labels is the neutral API's data about labels, with which that of a cloud is joined.
func Labels() label.Data {
	return label.Data{
		WellKnown: []string{
			LabelNodePool,
			LabelCapacityType,
			corev1.LabelTopologyZone,
			corev1.LabelTopologyRegion,
			corev1.LabelInstanceTypeStable,
			corev1.LabelArchStable,
			corev1.LabelOSStable,
			corev1.LabelWindowsBuild,
		},
		RestrictedDomains: []string{Group},
		RestrictedKeys:    []string{corev1.LabelHostname},
		Aliases: map[string]string{
			corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
			corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
			corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
			"beta.kubernetes.io/arch":           corev1.LabelArchStable,
			"beta.kubernetes.io/os":             corev1.LabelOSStable,
		},
		KnownValues: map[string][]string{
			LabelCapacityType: {CapacityTypeSpot, CapacityTypeOnDemand, CapacityTypeReserved},
		},
	}
}

// NodeClassLabel is the label that holds the name of a node's class. On a Node its presence means
// that the node is managed.
func NodeClassLabel(group, kind string) string {
	return group + "/" + strings.ToLower(kind)
}
