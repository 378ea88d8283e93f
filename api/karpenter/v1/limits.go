package v1

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// ResourceNodes is the resource by which limits count nodes.
const ResourceNodes corev1.ResourceName = "nodes"

// Limits bound the resources of all nodes of a pool together. A resource that is not named is
// not bounded.
type Limits corev1.ResourceList

// CheckUsage returns an error for the first resource, by name, that is used more than its limit.
// Usage equal to the limit is within it.
func (l Limits) CheckUsage(usage corev1.ResourceList) error {
	names := make([]corev1.ResourceName, 0, len(l))
	for name := range l {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		limit, used := l[name], usage[name]
		if used.Cmp(limit) > 0 {
			return fmt.Errorf("resource usage exceeds limit (limit=%s, resource-name=%s, usage=%s)",
				limit.String(), name, used.String())
		}
	}
	return nil
}
