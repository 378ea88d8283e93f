package translate

import (
	"fmt"
	"maps"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/cloud"
	"tenon/core/requirement"
	"tenon/internal/ingest"
)

// ClassOf names the node class of a claim. It is zero if the claim names none.
func ClassOf(claim *karpenterv1.NodeClaim) cloud.ClassRef {
	ref := claim.Spec.NodeClassRef
	if ref == nil {
		return cloud.ClassRef{}
	}
	return cloud.ClassRef{Group: ref.Group, Kind: ref.Kind, Name: ref.Name}
}

// ClassLabel is the label by which a node is known as one of ours, and its value.
func ClassLabel(claim *karpenterv1.NodeClaim) (key, value string) {
	class := ClassOf(claim)
	return karpenterv1.NodeClassLabel(class.Group, class.Kind), class.Name
}

// Order is what a provider is asked for. It depends only on the object, so that the
// same is asked for after a crash. The catalogue is left to the caller. An error says that
// the claim's requirements cannot be read, which no retry will change.
func Order(claim *karpenterv1.NodeClaim, words requirement.Vocabulary) (cloud.Claim, error) {
	asked, err := words.Parse(ingest.Entries(claim.Spec.Requirements)...)
	if err != nil {
		return cloud.Claim{}, fmt.Errorf("requirements of claim %s: %w", claim.Name, err)
	}
	if err := scalar.CheckResources(claim.Spec.Resources.Requests); err != nil {
		return cloud.Claim{}, fmt.Errorf("requests of claim %s: %w", claim.Name, err)
	}
	return cloud.Claim{
		UID:           string(claim.UID),
		Name:          claim.Name,
		Pool:          claim.Labels[karpenterv1.LabelNodePool],
		Class:         ClassOf(claim),
		Requirements:  asked,
		Requests:      ingest.Resources(claim.Spec.Resources.Requests),
		Labels:        labels(claim, asked, words),
		Annotations:   maps.Clone(claim.Annotations),
		Taints:        ingest.Taints(claim.Spec.Taints),
		StartupTaints: ingest.Taints(claim.Spec.StartupTaints),
		// An annotation says that the maker of the claim has relaxed its minimums. Without it a minimum
		// holds, whichever policy the process has now.
		BestEffortMinimum: claim.Annotations[karpenterv1.AnnotationMinValuesRelaxed] == "true",
		// Claims that are to go have the record, too, but nothing is bought for those.
		Replaces: claim.Annotations[karpenterv1.AnnotationDisruption] != "",
	}, nil
}

// labels are those that the node is born with: the claim's own, the class's, and a value
// for every custom key that the claim asks for. Claims from pools have all of these
// already; claims made by hand seldom do.
func labels(claim *karpenterv1.NodeClaim, asked requirement.Set, words requirement.Vocabulary) map[string]string {
	out := words.Labels(asked)
	key, value := ClassLabel(claim)
	out[key] = value
	maps.Copy(out, claim.Labels)
	return out
}
