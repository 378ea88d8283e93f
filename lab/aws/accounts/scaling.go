package accounts

import (
	"slices"
	"strings"

	"tenon/lab/aws/wire"
)

// ScalingGroup is an Auto Scaling group that is there to be described. It launches
// nothing.
type ScalingGroup struct {
	Name     string     `json:"name"`
	Min      int        `json:"min"`
	Max      int        `json:"max"`
	Desired  int        `json:"desired"`
	Zones    []string   `json:"zones,omitempty"`
	Template string     `json:"launchTemplate,omitempty"` // its name
	Tags     []wire.Tag `json:"tags,omitempty"`
}

// ScalingGroups are all groups, or those that are named, sorted by name.
func (r *Region) ScalingGroups(names []string) []ScalingGroup {
	var found []ScalingGroup
	for _, g := range r.scaling {
		if len(names) == 0 || slices.Contains(names, g.Name) {
			found = append(found, g)
		}
	}
	slices.SortFunc(found, func(a, b ScalingGroup) int { return strings.Compare(a.Name, b.Name) })
	return found
}
