package disruption

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/ingest"
)

// The reasons that do not depend on the provider, in the order in which they are tried.
const (
	poolDrifted         cloud.DriftReason = "NodePoolDrifted"
	requirementsDrifted cloud.DriftReason = "RequirementsDrifted"
	typeNotFound        cloud.DriftReason = "InstanceTypeNotFound"
)

const (
	// youngFor is how old a claim has to be before its type is looked for.
	youngFor = time.Hour
	// listedFor is how long a type that was found is not looked for again.
	listedFor = 30 * time.Minute
)

// isOfAnotherTemplate compares the hashes that were written on pool and claim. Hashes of
// different versions say nothing about each other, nor does one that is missing.
func isOfAnotherTemplate(pool *karpenterv1.NodePool, claim *karpenterv1.NodeClaim) bool {
	ours, has := pool.Annotations[karpenterv1.AnnotationNodePoolHash]
	theirs, had := claim.Annotations[karpenterv1.AnnotationNodePoolHash]
	version, versioned := pool.Annotations[karpenterv1.AnnotationNodePoolHashVersion]
	return has && had && versioned && version == claim.Annotations[karpenterv1.AnnotationNodePoolHashVersion] && ours != theirs
}

// meetsRequirements asks whether the claim's labels are what the pool's requirements want
// now. A label that the node does not have is one that it lacks: the pool's own labels are
// no excuse, because the hash is about them.
func meetsRequirements(words requirement.Vocabulary, pool *karpenterv1.NodePool, claim *karpenterv1.NodeClaim) (bool, error) {
	wanted, err := words.Parse(ingest.Entries(pool.Spec.Template.Spec.Requirements)...)
	if err != nil {
		return false, err
	}
	return words.FromLabels(claim.Labels).Compatible(wanted, requirement.KeySet{}), nil
}

// isOffered asks whether a machine with these labels is on the list, be it sold out or not.
// A claim that does not know its type is not known to be missing.
func isOffered(labels map[string]string, offers *catalog.Catalog, about cloud.Description, wellKnown requirement.KeySet) bool {
	name := labels[corev1.LabelInstanceTypeStable]
	if name == "" {
		return true
	}
	at := slices.IndexFunc(offers.Types, func(t catalog.Type) bool { return t.Name == name })
	if at < 0 {
		return false
	}
	has := boughtAs(labels, about)
	return slices.ContainsFunc(offers.Types[at].Offerings, func(o catalog.Offering) bool {
		face := o.Extra.With(
			requirement.New(requirement.KeyZone, requirement.In, o.Zone),
			requirement.New(requirement.KeyCapacityType, requirement.In, o.CapacityType))
		return has.Compatible(face, wellKnown)
	})
}

// boughtAs is what an offering must be compatible with. A reservation that has ended leaves
// its machine running on demand, so that it is still listed if that is.
func boughtAs(labels map[string]string, about cloud.Description) requirement.Set {
	has := requirement.FromLabels(labels)
	if labels[karpenterv1.LabelCapacityType] != catalog.Reserved {
		return has
	}
	return has.Without(about.ReservedLabels...).
		Replaced(requirement.New(requirement.KeyCapacityType, requirement.In, catalog.OnDemand, catalog.Reserved))
}
