package ami

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	awsv1 "tenon/api/aws/v1"
	"tenon/core/order"
	"tenon/core/requirement"
)

// image is an image that EC2 returned, with the kinds of machines that it is known to be for.
type image struct {
	types.Image
	kinds [][]corev1.NodeSelectorRequirement
}

// candidate is an image for one kind of machines.
type candidate struct {
	awsv1.AMI
	created time.Time
	kind    string // the requirements, as one text
}

// reduce keeps one image for each kind of machine: it prefers images that are not deprecated, then the
// newest, then the last by name. The result lists the newest first.
func reduce(found []image, now time.Time) []awsv1.AMI {
	var all []candidate
	for _, i := range found {
		all = append(all, candidatesOf(i, now)...)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), comparePreference(a, b))
	})
	all = slices.CompactFunc(all, func(a, b candidate) bool { return a.kind == b.kind })
	// This order ignores deprecation: by now each kind has only the image that was chosen for it.
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(b.created.Compare(a.created), cmp.Compare(a.ID, b.ID), cmp.Compare(a.kind, b.kind))
	})
	images := make([]awsv1.AMI, len(all))
	for i, c := range all {
		images[i] = c.AMI
	}
	return images
}

func comparePreference(a, b candidate) int {
	return cmp.Or(order.Bools(a.Deprecated, b.Deprecated), b.created.Compare(a.created),
		cmp.Compare(b.Name, a.Name), cmp.Compare(a.ID, b.ID))
}

func candidatesOf(i image, now time.Time) []candidate {
	arch, known := architectures[i.Architecture]
	if !known {
		return nil // Kubernetes nodes do not run on it
	}
	kinds := i.kinds
	if len(kinds) == 0 {
		kinds = [][]corev1.NodeSelectorRequirement{nil}
	}
	created, _ := time.Parse(time.RFC3339, aws.ToString(i.CreationDate)) // an unknown date counts as very old
	var made []candidate
	for _, kind := range kinds {
		requirements := append(slices.Clone(kind), corev1.NodeSelectorRequirement{
			Key: requirement.KeyArch, Operator: corev1.NodeSelectorOpIn, Values: []string{arch},
		})
		slices.SortFunc(requirements, func(a, b corev1.NodeSelectorRequirement) int {
			return cmp.Or(cmp.Compare(len(a.Key), len(b.Key)), cmp.Compare(a.Key, b.Key))
		})
		made = append(made, candidate{
			AMI: awsv1.AMI{
				ID: aws.ToString(i.ImageId), Name: aws.ToString(i.Name),
				Deprecated: deprecated(i.Image, now), Requirements: requirements,
			},
			created: created,
			kind:    fmt.Sprint(requirements),
		})
	}
	return made
}

var architectures = map[types.ArchitectureValues]string{
	types.ArchitectureValuesX8664: "amd64",
	types.ArchitectureValuesArm64: "arm64",
}

func deprecated(i types.Image, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, aws.ToString(i.DeprecationTime))
	return err == nil && !at.After(now)
}
