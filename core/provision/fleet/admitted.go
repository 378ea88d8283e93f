package fleet

import (
	"slices"

	"tenon/core/feasible"
	"tenon/core/shape"
	"tenon/core/snapshot"
	"tenon/core/topology"
)

// isBound reports whether something that a forecast ignores decides where a pod may be.
func isBound(s *shape.Shape) bool {
	return len(s.Ports) > 0 || slices.ContainsFunc(s.Rules.HostNeeds, func(n topology.Need[topology.HostGroup]) bool { return !n.Soft })
}

// admitted reports whether a pod may be on a site, its room aside.
func (f *Forecast) admitted(p snapshot.PodIndex, s *shape.Shape, i siteIndex) bool {
	at := &f.sites[i]
	return (i == f.planned[p] || f.reachesClass(f.reachOf(p, s), p, s, at.class)) && hostRules(s, at)
}

// reach is where labels, taints and the domains of rules between pods let pods of one origin be.
type reach struct {
	classes []answered  // of hosts
	nodes   []siteIndex // sites of existing nodes, ascending
}

// origin tells apart pods with different reaches: by their template, and by the class of the host on which
// the answer puts them, or anyClass if their domains do not matter.
type origin struct {
	template snapshot.TemplateIndex
	class    int
}

const anyClass = -1

func (f *Forecast) reachOf(p snapshot.PodIndex, s *shape.Shape) *reach {
	from := origin{f.fleet.Snapshot.Pods[p].Template, anyClass}
	if !f.free && !s.Rules.Free() {
		from.class = f.sites[f.planned[p]].class
	}
	r := f.reaches[from]
	if r == nil {
		r = &reach{}
		f.reaches[from] = r
		for n, h := range f.fleet.hosts {
			if h != nil && f.reachesClass(r, p, s, h.Class) {
				r.nodes = append(r.nodes, siteIndex(n))
			}
		}
	}
	return r
}

// reachesClass reports whether hosts of a class are in the reach of a pod.
func (f *Forecast) reachesClass(r *reach, p snapshot.PodIndex, s *shape.Shape, class int) bool {
	if class >= len(r.classes) {
		r.classes = append(r.classes, make([]answered, len(f.fleet.sp.HostClasses)-len(r.classes))...)
	}
	if r.classes[class] == unasked {
		r.classes[class] = no
		if f.classAdmits(p, class) && f.sameDomains(s, class, f.sites[f.planned[p]].class) {
			r.classes[class] = yes
		}
	}
	return r.classes[class] == yes
}

// within are the sites in the reach of a pod, ascending, and the one that the answer plans for it. They
// are valid until the next call.
func (f *Forecast) within(p snapshot.PodIndex, s *shape.Shape) []siteIndex {
	r, planned := f.reachOf(p, s), f.planned[p]
	out := append(f.scratch[:0], r.nodes...)
	for i := siteIndex(len(f.fleet.hosts)); int(i) < len(f.sites); i++ {
		if f.reachesClass(r, p, s, f.sites[i].class) {
			out = append(out, i)
		}
	}
	if at, known := slices.BinarySearch(out, planned); !known {
		out = slices.Insert(out, at, planned)
	}
	f.scratch = out
	return out
}

// classAdmits reports whether labels and taints of a class let the pod be there.
func (f *Forecast) classAdmits(p snapshot.PodIndex, class int) bool {
	template := f.fleet.Snapshot.Pods[p].Template
	askers, known := f.askers[template]
	if !known {
		if first := f.fleet.wish(template); first.possible {
			askers = f.fleet.sp.Variant(&f.fleet.Snapshot.Templates[template], first.dropped).Alternatives
		}
		f.askers[template] = askers
	}
	return slices.ContainsFunc(askers, func(a feasible.Asker) bool { return f.fleet.sp.HostClassMeets(class, &a) })
}

// sameDomains reports whether hosts of two classes are in the same domains, as far as rules of the
// pod or about it look at them.
func (f *Forecast) sameDomains(s *shape.Shape, a, b int) bool {
	if a == b || f.free || s.Rules.Free() {
		return true
	}
	other := func(g topology.DomainGroup) bool {
		key := f.set.Registry.Groups()[g].Key
		x, _ := f.fleet.sp.ClassLabel(a, key)
		y, _ := f.fleet.sp.ClassLabel(b, key)
		return x != y
	}
	r := &s.Rules
	return !slices.ContainsFunc(r.Counts, other) &&
		!slices.ContainsFunc(r.Spreads, func(s topology.Spread) bool { return !s.Soft && other(s.Group) }) &&
		!slices.ContainsFunc(r.Caps, func(c topology.Cap[topology.DomainGroup]) bool { return !c.Soft && other(c.Group) }) &&
		!slices.ContainsFunc(r.Needs, func(n topology.Need[topology.DomainGroup]) bool { return !n.Soft && other(n.Group) })
}

// hostRules reports whether the rules of a node's pods and of the pod allow each other.
func hostRules(s *shape.Shape, at *site) bool {
	counted := func(g topology.HostGroup) bool { return slices.Contains(s.Rules.HostCounts, g) }
	for _, c := range s.Rules.HostCaps {
		held := at.groups[c.Group]
		if counted(c.Group) {
			held++
		}
		if !c.Soft && held > int64(c.Max) {
			return false
		}
	}
	for _, r := range at.bound {
		for _, c := range r.HostCaps {
			if counted(c.Group) && at.groups[c.Group]+1 > int64(c.Max) {
				return false
			}
		}
	}
	return true
}
