package topology

import (
	"slices"
	"tenon/core/feasible"
)

// Filter is the node filter of a topology spread constraint.
type Filter struct {
	// Of is the asker's variant: its alternatives for the node and its tolerations.
	Of Node
	// Affinity and Taints tell which of them count (nodeAffinityPolicy, nodeTaintsPolicy).
	Affinity bool
	Taints   bool

	passing []*feasible.Places
}

// Passing are the places whose nodes pass the filter: where a pod is counted, which is
// more than where the asker itself may go when its tolerations are not asked for.
func (f *Filter) Passing() []*feasible.Places {
	if f.passing == nil {
		f.passing = f.Of.Find(f.Affinity, f.Taints)
	}
	return f.passing
}

// Node is what a node filter looks at in the pod that has the constraint.
type Node struct {
	// Key tells different ones apart.
	Key string
	// Several says that the pod has spreads on several keys: nodes must have them all.
	Several bool
	// Places are where the pod itself may go.
	Places []*feasible.Places
	// Find gives the places that pass the chosen policies.
	Find func(affinity, taints bool) []*feasible.Places
	// Admits reports whether a class of hosts passes the chosen policies.
	Admits func(class int, affinity, taints bool) bool
}

func admits(f *Filter, class int) bool {
	return f == nil || f.Of.Admits(class, f.Affinity, f.Taints)
}

// passes tells whether nodes of the places certainly, or possibly, pass the filter.
func passes(f *Filter, places []*feasible.Places) (sure, possible bool) {
	if f == nil {
		return true, true
	}
	sure = true
	for _, p := range places {
		within, meets := false, false
		for _, q := range f.Passing() {
			if p == q || !f.Taints && p.Require.Equal(q.Require) {
				within, meets = true, true
				break
			}
			within = within || !q.Choosy() && p.Machines.Within(q.Machines) && p.HostClasses.Within(q.HostClasses) && p.Slots.Within(q.Slots)
			meets = meets || p.Machines.Meets(q.Machines) || p.HostClasses.Meets(q.HostClasses)
		}
		sure = sure && within
		possible = possible || meets
	}
	return sure && possible, possible
}

// looksFurther reports whether nodes pass the filter on which the asker may not run.
func (f *Filter) looksFurther() bool {
	if f == nil || !f.Affinity || f.Taints {
		return false // its domains are those of all nodes that pass, see lookedAt
	}
	return slices.ContainsFunc(f.Passing(), func(p *feasible.Places) bool {
		return !slices.ContainsFunc(f.Of.Places, func(q *feasible.Places) bool { return p.Machines.Within(q.Machines) })
	})
}
