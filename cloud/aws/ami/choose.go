package ami

import (
	corev1 "k8s.io/api/core/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/core/requirement"
)

// Chooser tells which image a machine boots. Make one for a list of images and reuse it for many types.
type Chooser struct {
	images       []awsv1.AMI
	requirements []requirement.Set
}

// NewChooser chooses among the images in a class's status, in their order.
func NewChooser(images []awsv1.AMI) Chooser {
	c := Chooser{images: images}
	for _, i := range images {
		c.requirements = append(c.requirements, setOf(i.Requirements))
	}
	return c
}

// For returns the first image for machines with these labels; false if no image is for them.
func (c Chooser) For(machine requirement.Set) (awsv1.AMI, bool) {
	for i, r := range c.requirements {
		if machine.Intersects(r) {
			return c.images[i], true
		}
	}
	return awsv1.AMI{}, false
}

// Excludes reports whether the terms of a class can never select an image for a machine with these labels, no
// matter how many images EC2 finds. Terms without an alias name their images and exclude all others; an alias
// excludes only machines that no release of its family supports.
func Excludes(class *awsv1.EC2NodeClass, machine requirement.Set) (bool, error) {
	alias, aliased, err := class.Spec.Alias()
	if err != nil || !aliased {
		return err == nil, err
	}
	for _, p := range parametersOf(alias, "") {
		for _, kind := range p.kinds {
			if machine.Intersects(setOf(kind)) {
				return false, nil
			}
		}
	}
	return true, nil
}

// IsStandard reports whether an image is for machines without GPU or accelerator, or for
// all machines.
func IsStandard(i awsv1.AMI) bool {
	for _, r := range i.Requirements {
		if (r.Key == awsv1.LabelInstanceGPUCount || r.Key == awsv1.LabelInstanceAcceleratorCount) && r.Operator == corev1.NodeSelectorOpExists {
			return false
		}
	}
	return true
}

func setOf(list []corev1.NodeSelectorRequirement) requirement.Set {
	requirements := make([]requirement.Requirement, len(list))
	for i, r := range list {
		requirements[i] = requirement.New(r.Key, requirement.Operator(r.Operator), r.Values...)
	}
	return requirement.NewSet(requirements...)
}
