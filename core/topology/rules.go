package topology

import "slices"

// Rules are what one variant of a template asks of other pods, and where it is counted.
type Rules struct {
	// HostCounts are the host groups that count the pod. HostCaps bound what its node
	// may hold of a group, itself included; HostNeeds ask for partners.
	HostCounts []int32
	HostCaps   []Cap
	HostNeeds  []Need
	// The same over other keys, by domain group.
	Counts  []int32
	Spreads []Spread
	Caps    []Cap
	Needs   []Need
}

// Free reports whether no rule between pods concerns the pod.
func (r *Rules) Free() bool {
	return len(r.HostCounts)+len(r.HostCaps)+len(r.HostNeeds)+len(r.Counts)+len(r.Spreads)+len(r.Caps)+len(r.Needs) == 0
}

func has(sorted []int32, g int32) bool {
	_, ok := slices.BinarySearch(sorted, g)
	return ok
}

func selfCount(sorted []int32, g int32) int32 {
	if has(sorted, g) {
		return 1
	}
	return 0
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
