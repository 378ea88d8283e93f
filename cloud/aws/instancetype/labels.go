package instancetype

import (
	awsv1 "tenon/api/aws/v1"
	"tenon/core/requirement"
)

// Extended resources that instances can have.
const (
	NvidiaGPU   = "nvidia.com/gpu"
	AMDGPU      = "amd.com/gpu"
	HabanaGaudi = "habana.ai/gaudi"
	Neuron      = "aws.amazon.com/neuron"
	NeuronCore  = "aws.amazon.com/neuroncore"
	EFA         = "vpc.amazonaws.com/efa"
	PodENI      = "vpc.amazonaws.com/pod-eni"
	PrivateIPv4 = "vpc.amazonaws.com/PrivateIPv4Address"
)

// Words returns the words that the provider adds to the core's vocabulary.
func Words() requirement.Words {
	labels := awsv1.Labels()
	return requirement.Words{
		WellKnown:         labels.WellKnown,
		RestrictedDomains: labels.RestrictedDomains,
		RestrictedKeys:    labels.RestrictedKeys,
		Aliases:           labels.Aliases,
		KnownValues:       labels.KnownValues,
	}
}

// Vocabulary returns the core's vocabulary with the provider's words.
func Vocabulary() requirement.Vocabulary { return requirement.Core().With(Words()) }
