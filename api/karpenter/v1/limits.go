package v1

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"tenon/api/scalar"
)

// ResourceNodes is the resource by which limits count nodes.
const ResourceNodes corev1.ResourceName = "nodes"

// Limits bound the resources of all nodes of a pool together. A resource that is not named is
// not bounded.
type Limits corev1.ResourceList

// UnmarshalJSON reads limits. A quantity that cannot be read makes this pool invalid; it must not make every
// list of pools unreadable.
func (l *Limits) UnmarshalJSON(text []byte) error {
	read, err := scalar.Resources(text)
	if err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	*l = Limits(read)
	return nil
}

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
