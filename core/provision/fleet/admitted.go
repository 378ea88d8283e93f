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
	return len(s.Ports) > 0 || len(s.Attach) > 0 || slices.ContainsFunc(s.Rules.HostNeeds, func(n topology.Need) bool { return !n.Soft })
}

func (f *Forecast) admitted(p snapshot.PodIndex, s *shape.Shape, i int) bool {
	at, planned := &f.sites[i], f.planned[p]
	if i != planned && (!f.classAdmits(p, at.class) || !f.sameDomains(s, at.class, f.sites[planned].class)) {
		return false
	}
	return hostRules(s, at)
}

// classAdmits reports whether labels and taints of a class let the pod be there.
func (f *Forecast) classAdmits(p snapshot.PodIndex, class int) bool {
	a := f.admissionOf(f.fleet.Snapshot.Pods[p].Template)
	if class >= len(a.classes) {
		a.classes = append(a.classes, make([]answered, len(f.fleet.sp.HostClasses)-len(a.classes))...)
	}
	if a.classes[class] == unasked {
		a.classes[class] = no
		if slices.ContainsFunc(a.askers, func(asker feasible.Asker) bool { return f.fleet.sp.Find(asker).HostClasses.Has(class) }) {
			a.classes[class] = yes
		}
	}
	return a.classes[class] == yes
}

// admission is what labels and taints say about the pods of a template.
type admission struct {
	askers  []feasible.Asker // without preferences that cannot be met; none if no node can take such pods
	classes []answered
}

func (f *Forecast) admissionOf(template snapshot.TemplateIndex) *admission {
	if f.admits[template] == nil {
		f.admits[template] = &admission{}
		if first := f.fleet.wish(template); first.possible {
			f.admits[template].askers = f.fleet.sp.Variant(&f.fleet.Snapshot.Templates[template], first.dropped).Alternatives
		}
	}
	return f.admits[template]
}

// sameDomains reports whether hosts of two classes are in the same domains, as far as rules of the
// pod or about it look at them.
func (f *Forecast) sameDomains(s *shape.Shape, a, b int) bool {
	if a == b || f.free || s.Rules.Free() {
		return true
	}
	other := func(g int32) bool {
		key := f.set.Registry.Groups()[g].Key
		x, _ := f.fleet.sp.ClassLabel(a, key)
		y, _ := f.fleet.sp.ClassLabel(b, key)
		return x != y
	}
	r := &s.Rules
	return !slices.ContainsFunc(r.Counts, other) &&
		!slices.ContainsFunc(r.Spreads, func(s topology.Spread) bool { return !s.Soft && other(s.Group) }) &&
		!slices.ContainsFunc(r.Caps, func(c topology.Cap) bool { return !c.Soft && other(c.Group) }) &&
		!slices.ContainsFunc(r.Needs, func(n topology.Need) bool { return !n.Soft && other(n.Group) })
}

// hostRules reports whether the rules of a node's pods and of the pod allow each other.
func hostRules(s *shape.Shape, at *site) bool {
	counted := func(g int32) bool { return slices.Contains(s.Rules.HostCounts, g) }
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
