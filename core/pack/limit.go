package pack

import (
	"slices"

	"tenon/core/model"
)

// limits are what a pool may still launch: its own limits, then those of the cluster, which all pools share. They are reservations: a bin
// takes its machine's whole capacity when it is opened and gives it back when it is closed.
type limits []model.Amount

func (l limits) allows(capacity model.Resources) bool {
	for _, a := range l {
		if Share(capacity, a.Name) > a.Value {
			return false
		}
	}
	return true
}

// noMore reports whether, of everything that is limited, a takes no more than b.
func (l limits) noMore(a, b model.Resources) bool {
	for _, amount := range l {
		if Share(a, amount.Name) > Share(b, amount.Name) {
			return false
		}
	}
	return true
}

// Share is how much one node takes of a limited resource. By the API's rule, a pool that is over
// any of its limits launches nothing, not even a node that takes none of that resource.
func Share(capacity model.Resources, name string) int64 {
	if name == model.Nodes {
		return 1
	}
	return capacity.Get(name)
}

// after returns what is left once n nodes of the capacity are launched.
func (l limits) after(capacity model.Resources, n int64) limits {
	if len(l) == 0 {
		return l
	}
	out := slices.Clone(l)
	for i := range out {
		out[i].Value -= n * Share(capacity, out[i].Name)
	}
	return out
}

// without returns what is left once n nodes of the capacity are launched from another pool, of which the last few limits count too.
func (l limits) without(capacity model.Resources, n int64, shared int) limits {
	own := max(len(l)-shared, 0)
	return slices.Concat(l[:own], l[own:].after(capacity, n))
}

// LimitsAllow reports whether limits leave room for one more node of the capacity.
func LimitsAllow(left []model.Amount, capacity model.Resources) bool {
	return limits(left).allows(capacity)
}
