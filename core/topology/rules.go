package topology

import "slices"

// Rules are what one variant of a template asks of other pods, and where it is counted.
type Rules struct {
	// HostCounts are the host groups that count the pod. HostCaps bound what its node
	// may hold of a group, itself included; HostNeeds ask for partners.
	HostCounts []HostGroup
	HostCaps   []Cap[HostGroup]
	HostNeeds  []Need[HostGroup]
	// The same over other keys, by domain group.
	Counts  []DomainGroup
	Spreads []Spread
	Caps    []Cap[DomainGroup]
	Needs   []Need[DomainGroup]
}

// Free reports whether no rule between pods concerns the pod.
func (r *Rules) Free() bool {
	return len(r.HostCounts)+len(r.HostCaps)+len(r.HostNeeds)+len(r.Counts)+len(r.Spreads)+len(r.Caps)+len(r.Needs) == 0
}

func has[G numbered](sorted []G, g G) bool {
	_, ok := slices.BinarySearch(sorted, g)
	return ok
}

func selfCount[G numbered](sorted []G, g G) int32 {
	if has(sorted, g) {
		return 1
	}
	return 0
}
