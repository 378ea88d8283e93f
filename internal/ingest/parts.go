package ingest

import (
	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/label"
	"tenon/core/model"
	"tenon/core/requirement"
)

// The functions in this file translate parts of objects for callers that need no snapshot, so that
// a quantity or a taint means the same wherever it is read.

// Resources translates a list of quantities. Fractions of a unit count as a whole one,
// and negative quantities as nothing.
func Resources(list corev1.ResourceList) model.Resources { return resources(list) }

// Taints translates taints.
func Taints(list []corev1.Taint) []model.Taint { return taints(list) }

// Entries translates the requirements of a pool or claim into the form that a vocabulary parses.
func Entries(list []karpenterv1.Requirement) []requirement.Entry { return poolEntries(list) }

// Rules are a vocabulary in the form that package api reads.
func Rules(v requirement.Vocabulary) label.Rules { return labelRules(v) }

// Requests are what a pod takes from its node in any state.
func Requests(pod *corev1.Pod) model.Resources { return requests(pod) }
