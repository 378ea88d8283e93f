package fleet

import (
	"slices"

	"tenon/core/feasible"
	"tenon/core/shape"
	"tenon/core/snapshot"
	"tenon/core/topology"
)

// findRuled finds the pods that some rule between pods concerns. For the others, full nodes need not be
// examined.
func (f *Fleet) findRuled() {
	f.ruled = make([]bool, len(f.Snapshot.Templates))
	f.ties = make([]ties, len(f.Snapshot.Templates))
	f.component = make([]Component, len(f.Snapshot.Templates))
	var components components
	wishes := make([]shape.Wish, 0, len(f.Snapshot.Templates))
	for _, pod := range f.models() {
		t := f.Snapshot.Pods[pod].Template
		wishes = append(wishes, shape.Wish{Template: t, Dropped: f.sp.AtFirst(&f.Snapshot.Templates[t]), Pods: []snapshot.PodIndex{pod}})
	}
	hosts := make([]feasible.Host, 0, len(f.hosts))
	for _, h := range f.hosts {
		if h != nil {
			hosts = append(hosts, *h)
		}
	}
	set := shape.Compile(f.sp.Among(hosts, nil), wishes)
	f.set = set
	for i := range set.Shapes {
		for _, pod := range set.Shapes[i].Pods { // each stands for its template
			t := f.Snapshot.Pods[pod].Template
			f.ruled[t] = !set.Shapes[i].Rules.Free()
			f.ties[t] = tiesOf(&set.Shapes[i].Rules)
		}
		components.join(&set.Shapes[i].Rules)
	}
	for i := range set.Shapes {
		for _, pod := range set.Shapes[i].Pods {
			f.component[f.Snapshot.Pods[pod].Template] = components.of(&set.Shapes[i].Rules)
		}
	}
	for n, h := range f.hosts {
		if h != nil && slices.ContainsFunc(h.Bound, func(p snapshot.PodIndex) bool { return f.ruled[f.Snapshot.Pods[p].Template] }) {
			f.ruledOn = append(f.ruledOn, snapshot.NodeIndex(n))
		}
	}
}

// ties are the groups of pods that rules of a template ask for, and those that count it.
type ties struct{ asks, counts []Aspect }

// Aspect is a group of pods, and what a rule asks of it.
type Aspect struct {
	about aspect
	group int32 // of one of the two lists of groups
}

// aspect is what a rule looks at.
type aspect int8

const (
	inDomains aspect = iota // in which domains the group's pods are
	onHost                  // whether some of them are on the same node
	beside                  // how many of them one node may hold
)

func inDomainsOf(g topology.DomainGroup) Aspect { return Aspect{inDomains, int32(g)} }

func onHostOf(g topology.HostGroup) Aspect { return Aspect{onHost, int32(g)} }

func besideOf(g topology.HostGroup) Aspect { return Aspect{beside, int32(g)} }

func tiesOf(r *topology.Rules) ties {
	var out ties
	for _, s := range r.Spreads {
		if !s.Soft {
			out.asks = append(out.asks, inDomainsOf(s.Group))
		}
	}
	for _, n := range r.Needs {
		if !n.Soft {
			out.asks = append(out.asks, inDomainsOf(n.Group))
		}
	}
	for _, n := range r.HostNeeds {
		if !n.Soft {
			out.asks = append(out.asks, onHostOf(n.Group))
		}
	}
	for _, g := range r.Counts {
		out.counts = append(out.counts, inDomainsOf(g))
	}
	for _, g := range r.HostCounts {
		out.counts = append(out.counts, onHostOf(g))
		if !slices.ContainsFunc(r.HostCaps, func(c topology.Cap[topology.HostGroup]) bool { return c.Group == g && !c.Soft }) {
			out.counts = append(out.counts, besideOf(g)) // it would join without asking
		}
	}
	for _, c := range r.HostCaps {
		if !c.Soft {
			out.asks = append(out.asks, besideOf(c.Group))
		}
	}
	return out
}

// Asks are the groups of pods whose whereabouts decide where the pod may be, and which may
// not leave once it has moved: spreads and partners.
func (f *Fleet) Asks(p snapshot.PodIndex) []Aspect { return f.ties[f.Snapshot.Pods[p].Template].asks }

// Component is of the pods that rules which concern the pod may speak about.
func (f *Fleet) Component(p snapshot.PodIndex) Component {
	return f.component[f.Snapshot.Pods[p].Template]
}

// Counts are the groups that count the pod.
func (f *Fleet) Counts(p snapshot.PodIndex) []Aspect {
	return f.ties[f.Snapshot.Pods[p].Template].counts
}

// Ruled reports whether some rule between pods concerns the pod.
func (f *Fleet) Ruled(p snapshot.PodIndex) bool { return f.ruled[f.Snapshot.Pods[p].Template] }
