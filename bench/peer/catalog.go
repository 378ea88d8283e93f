package peer

import (
	corev1 "k8s.io/api/core/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"tenon/bench/corpus"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// instanceTypes returns the catalogue as the reference reads it.
func instanceTypes(c *catalog.Catalog) []*cloudprovider.InstanceType {
	out := make([]*cloudprovider.InstanceType, len(c.Types))
	for i := range c.Types {
		out[i] = instanceType(&c.Types[i])
	}
	return out
}

func instanceType(t *catalog.Type) *cloudprovider.InstanceType {
	out := &cloudprovider.InstanceType{
		Name:         t.Name,
		Requirements: requirements(t.Requirements),
		Capacity:     corpus.Quantities(t.Capacity),
		Overhead:     &cloudprovider.InstanceTypeOverhead{KubeReserved: corpus.Quantities(t.Overhead)},
	}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		offer := &cloudprovider.Offering{Requirements: requirements(o.Extra), Price: o.Price.Float(), Available: o.Available}
		offer.Requirements.Add(
			scheduling.NewRequirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, o.Zone),
			scheduling.NewRequirement(karpenter.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, o.CapacityType))
		out.Offerings = append(out.Offerings, offer)
	}
	return out
}

func requirements(s requirement.Set) scheduling.Requirements {
	out := scheduling.NewRequirements()
	for _, e := range s.Entries() {
		out.Add(scheduling.NewRequirement(e.Key, corev1.NodeSelectorOperator(e.Operator), e.Values...))
	}
	return out
}

// price returns what the cheapest offering that is left to a claim costs.
func price(claim scheduling.Requirements, types []*cloudprovider.InstanceType) float64 {
	best, found := 0.0, false
	for _, t := range types {
		for _, o := range t.Offerings {
			if !o.Available || found && o.Price >= best {
				continue
			}
			if claim.IsCompatible(o.Requirements, scheduling.AllowUndefinedWellKnownLabels) {
				best, found = o.Price, true
			}
		}
	}
	return best
}
