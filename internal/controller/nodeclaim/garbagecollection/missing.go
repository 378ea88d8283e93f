package garbagecollection

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/translate"
)

// lost are the claims of ours whose instances a list does not show, although it would have
// to. The reference looks at registered claims only; an instance that dies while it boots
// is as gone, and its claim need not wait until it is too late to register.
func lost(claims []karpenterv1.NodeClaim, shown []cloud.Instance, now time.Time, about cloud.Description) []*karpenterv1.NodeClaim {
	alive := map[string]bool{}
	for _, i := range shown {
		alive[i.ProviderID] = i.State != cloud.Terminating
	}
	var out []*karpenterv1.NodeClaim
	for n := range claims {
		claim := &claims[n]
		switch since, launched := launchedAt(claim); {
		case !launched, claim.DeletionTimestamp != nil, !about.Supports(translate.ClassOf(claim)):
		case alive[claim.Status.ProviderID], now.Sub(since) < about.VisibleWithin:
		default:
			out = append(out, claim)
		}
	}
	return out
}

// launchedAt is when the claim got its instance, if it has one. The condition is written
// after the purchase, so that nothing is missed earlier than it may be.
func launchedAt(claim *karpenterv1.NodeClaim) (time.Time, bool) {
	c := meta.FindStatusCondition(claim.Status.Conditions, karpenterv1.ConditionLaunched)
	if c == nil {
		return time.Time{}, false
	}
	return c.LastTransitionTime.Time, c.Status == metav1.ConditionTrue && claim.Status.ProviderID != ""
}

// orphans are the instances without a claim, in the order in which they are shown. One
// that carries no claim's UID was bought by another autoscaler, which may be about to write
// it on its claim: it gets the time that a launch may take.
func orphans(claims []karpenterv1.NodeClaim, shown []cloud.Instance, now time.Time, about cloud.Description) []cloud.Instance {
	var out []cloud.Instance
	owned := ownership(claims)
	for _, i := range shown {
		patience := about.VisibleWithin
		if i.ClaimUID == "" {
			patience = max(patience, about.LaunchTimeout)
		}
		if i.State != cloud.Terminating && now.Sub(i.Launched) >= patience && !owned(i) {
			out = append(out, i)
		}
	}
	return out
}

// ownership answers whether any claim is an instance's; see translate.Is.
func ownership(claims []karpenterv1.NodeClaim) func(cloud.Instance) bool {
	byProvider, byUID := map[string]*karpenterv1.NodeClaim{}, map[string]*karpenterv1.NodeClaim{}
	for n := range claims {
		byProvider[claims[n].Status.ProviderID] = &claims[n]
		byUID[string(claims[n].UID)] = &claims[n]
	}
	return func(i cloud.Instance) bool {
		for _, claim := range []*karpenterv1.NodeClaim{byProvider[i.ProviderID], byUID[i.ClaimUID]} {
			if claim != nil && translate.Is(i, claim.UID, claim.Status.ProviderID) {
				return true
			}
		}
		return false
	}
}
