package translate

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/internal/ingest"
)

// Recall is the instance that a launched claim tells of, for providers that are asked
// about one. reservation is the label under which reservations have their ID (see
// cloud.Description). The state is not on the claim: an instance that is recalled is taken
// to be running.
func Recall(claim *karpenterv1.NodeClaim, reservation string) cloud.Instance {
	i := cloud.Instance{
		ProviderID: claim.Status.ProviderID,
		ClaimUID:   string(claim.UID),
		ClaimName:  claim.Name,
		Pool:       claim.Labels[karpenterv1.LabelNodePool],
		Class:      ClassOf(claim),
		Offer: cloud.Offer{
			InstanceType: claim.Labels[corev1.LabelInstanceTypeStable],
			Zone:         claim.Labels[corev1.LabelTopologyZone],
			CapacityType: claim.Labels[karpenterv1.LabelCapacityType],
		},
		ImageID:     claim.Status.ImageID,
		Labels:      maps.Clone(claim.Labels),
		Annotations: maps.Clone(claim.Annotations),
		Capacity:    ingest.Resources(claim.Status.Capacity),
		Allocatable: ingest.Resources(claim.Status.Allocatable),
		State:       cloud.Running,
	}
	if reservation != "" && i.Offer.CapacityType == catalog.Reserved {
		i.Offer.Reservation = claim.Labels[reservation]
	}
	for _, c := range claim.Status.Conditions {
		if c.Type == karpenterv1.ConditionLaunched {
			i.Launched = c.LastTransitionTime.Time
		}
	}
	return i
}
