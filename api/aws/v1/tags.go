package v1

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	karpenterv1 "tenon/api/karpenter/v1"
)

// Tags by which the product finds the resources that it made. Users therefore cannot set them.
const (
	TagClusterPrefix = "kubernetes.io/cluster/"
	TagClusterName   = "eks:eks-cluster-name"
	TagNodePool      = karpenterv1.LabelNodePool
	TagNodeClaim     = karpenterv1.Group + "/nodeclaim"
	TagNodeClass     = LabelNodeClass
	TagName          = "Name"
)

var clusterTag = regexp.MustCompile(`^kubernetes\.io/cluster/[0-9A-Za-z][A-Za-z0-9\-_]*$`)

// ValidateTags repeats the check of the schema, for objects that were stored before the schema had the rule.
// Users may set the key Name.
func (s *EC2NodeClassSpec) ValidateTags() error {
	var offending []string
	for _, key := range slices.Sorted(maps.Keys(s.Tags)) {
		if isReservedTag(key) {
			offending = append(offending, key)
		}
	}
	if len(offending) == 0 {
		return nil
	}
	return fmt.Errorf("tags failed validation requirements (tags=%q)", offending)
}

func isReservedTag(key string) bool {
	switch key {
	case TagClusterName, TagNodePool, TagNodeClaim, TagNodeClass:
		return true
	default:
		return clusterTag.MatchString(key)
	}
}
