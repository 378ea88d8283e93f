package translate

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/model"
)

// Record writes an instance on the claim that it was bought for. Labels that the claim has
// already win, annotations of the instance do: a label was asked for, an annotation is
// what the provider wants to find again. ordered is what the instance was bought by.
func Record(claim *karpenterv1.NodeClaim, ordered cloud.Claim, i cloud.Instance) {
	labels := maps.Clone(ordered.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, i.Labels)
	maps.Copy(labels, claim.Labels)
	claim.Labels = labels
	claim.Annotations = over(over(claim.Annotations, i.Annotations), priced(ordered, i.Offer))
	claim.Status.ProviderID = i.ProviderID
	claim.Status.ImageID = i.ImageID
	claim.Status.Capacity = Quantities(i.Capacity)
	claim.Status.Allocatable = Quantities(i.Allocatable)
}

// priced says what the instance costs, if that is known.
func priced(ordered cloud.Claim, bought cloud.Offer) map[string]string {
	if ordered.Catalog == nil {
		return nil
	}
	for i := range ordered.Catalog.Types {
		t := &ordered.Catalog.Types[i]
		if t.Name != bought.InstanceType {
			continue
		}
		for _, o := range t.Offerings {
			if !o.Unpriced && o.Zone == bought.Zone && o.CapacityType == bought.CapacityType && o.ReservationID == bought.Reservation {
				return map[string]string{karpenterv1.AnnotationPrice: o.Price.String()}
			}
		}
	}
	return nil
}

// over is base with more on top; it stays nil where there is nothing.
func over(base, more map[string]string) map[string]string {
	if len(base)+len(more) == 0 {
		return base
	}
	out := maps.Clone(base)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, more)
	return out
}

// Quantities are resources as the API writes them. Those of zero are left out, as a node
// leaves them out that does not have them.
func Quantities(r model.Resources) corev1.ResourceList {
	amounts := r.Amounts()
	if len(amounts) == 0 {
		return nil
	}
	list := make(corev1.ResourceList, len(amounts))
	for _, a := range amounts {
		list[corev1.ResourceName(a.Name)] = quantity(a)
	}
	return list
}

func quantity(a model.Amount) resource.Quantity {
	switch a.Name {
	case model.CPU:
		return *resource.NewMilliQuantity(a.Value, resource.DecimalSI)
	case model.Memory, model.EphemeralStorage:
		return *resource.NewQuantity(a.Value, resource.BinarySI)
	}
	return *resource.NewQuantity(a.Value, resource.DecimalSI)
}

// Is reports whether an instance is that of a claim with this UID and provider ID. A claim with a provider
// ID means exactly that instance, not a second one that was bought for it. The instance may have no UID,
// because another autoscaler bought it, or an earlier UID, because the claim was restored from a backup.
// For a claim without a provider ID the UID decides, which differs from that of an earlier claim of the
// same name.
func Is(i cloud.Instance, uid types.UID, providerID string) bool {
	if providerID != "" {
		return i.ProviderID == providerID
	}
	return i.ClaimUID != "" && i.ClaimUID == string(uid)
}
