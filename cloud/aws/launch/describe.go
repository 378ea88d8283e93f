package launch

import (
	"cmp"
	"maps"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"

	"tenon/cloud/aws/instancetype"
	"tenon/core/catalog"
	"tenon/core/model"
)

// described completes an instance with the labels and annotations that its offer determines.
func described(claim *cloud.Claim, f Facts, c cloud.Candidate, i cloud.Instance) cloud.Instance {
	labels := maps.Clone(i.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, c.Labels(claim))
	// A type can be bought with either tenancy, so its labels do not determine this machine's tenancy.
	labels[awsv1.LabelInstanceTenancy] = cmp.Or(i.Labels[awsv1.LabelInstanceTenancy], Tenancy(claim))
	if _, asked := claim.Requirements.Get(awsv1.LabelPlacementGroupPartition).Single(); !asked {
		if _, grouped := labels[awsv1.LabelPlacementGroupPartition]; grouped {
			labels[awsv1.LabelPlacementGroupPartition] = "" // EC2 decides, and Admit asks for it
		}
	}
	i.Labels = labels
	i.Annotations = annotations(f.Class)
	i.Capacity = c.Type.FullCapacity(c.Offering)
	i.Allocatable = c.Type.Allocatable(c.Offering)
	if claim.Requests.Get(instancetype.EFA) == 0 && f.Class.Spec.NetworkInterfaces == nil {
		i.Capacity, i.Allocatable = without(i.Capacity, instancetype.EFA), without(i.Allocatable, instancetype.EFA)
	}
	return i
}

func without(r model.Resources, name string) model.Resources {
	return r.Sub(model.NewResources(model.Amount{Name: name, Value: r.Get(name)}))
}

// annotations returns the annotations that later reveal drift.
func annotations(class *awsv1.EC2NodeClass) map[string]string {
	kept := map[string]string{awsv1.AnnotationInstanceProfileName: class.Status.InstanceProfile}
	for _, key := range []string{awsv1.AnnotationNodeClassHash, awsv1.AnnotationNodeClassHashVersion} {
		if value, has := class.Annotations[key]; has {
			kept[key] = value
		}
	}
	return kept
}

// findOffer returns a catalogue's offering for an offer.
func findOffer(c *catalog.Catalog, o cloud.Offer) (cloud.Candidate, bool) {
	if c == nil {
		return cloud.Candidate{}, false
	}
	for i := range c.Types {
		t := &c.Types[i]
		if t.Name != o.InstanceType {
			continue
		}
		for j := range t.Offerings {
			if found := (cloud.Candidate{Type: t, Offering: &t.Offerings[j]}); found.Offer() == o {
				return found, true
			}
		}
	}
	return cloud.Candidate{}, false
}
