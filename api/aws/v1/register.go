package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group and the domain of its labels.
const Group = "karpenter.k8s.aws"

// KindEC2NodeClass is the kind that a nodeClassRef names.
const KindEC2NodeClass = "EC2NodeClass"

// GroupVersion identifies the objects of this package.
var GroupVersion = schema.GroupVersion{Group: Group, Version: "v1"}

// AddToScheme makes the kinds of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &EC2NodeClass{}, &EC2NodeClassList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
