package topology

import (
	"cmp"
	"slices"

	"tenon/core/feasible"
	"tenon/core/order"
	"tenon/core/reason"
)

// Cap says that the pod's domain may hold at most Max pods of a group. A soft one is a
// preference of the pod and does not keep later pods away.
type Cap[G numbered] struct {
	Group G
	Max   int32
	Soft  bool
}

func (o *Rules) keepApart(r *Registry, of Group, c *counted, soft bool) {
	if of.Key == feasible.HostnameKey {
		g := r.hosts.id(of)
		o.HostCaps = append(o.HostCaps, Cap[HostGroup]{g, selfCount(c.hosts, g), soft})
		return
	}
	g := r.domains.id(of)
	o.Caps = append(o.Caps, Cap[DomainGroup]{g, selfCount(c.domains, g), soft})
}

// tightest keeps one cap a group of either kind, sorted by group.
func tightest[G numbered](caps []Cap[G]) []Cap[G] {
	slices.SortFunc(caps, func(a, b Cap[G]) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), order.Bools(a.Soft, b.Soft), cmp.Compare(a.Max, b.Max))
	})
	return slices.CompactFunc(caps, func(a, b Cap[G]) bool { return a.Group == b.Group && a.Soft == b.Soft })
}

func (x Cap[G]) admits(c Count, self int32) bool { return c.Total()+self <= x.Max }

// admitsOneMore reports whether the caps of the pods that are in the domain leave room for
// one more of the group.
func (c Count) admitsOneMore() bool { return !c.capped || c.Total()+1 <= c.most }

// keepsApart asks the caps of the shape and those of the pods in the domain whether one more pod of
// the shape may be there.
func (a *Assigner) keepsApart(i int, key, domain string) reason.Reason {
	r, groups := a.shapes[i].Rules, a.reg.Groups()
	for _, c := range r.Caps {
		if groups[c.Group].Key == key && !c.admits(a.counts.At(c.Group, domain), selfCount(r.Counts, c.Group)) {
			return reason.Reason{Code: reason.AntiAffinity, Where: key}
		}
	}
	for _, g := range r.Counts {
		if groups[g].Key == key && !a.counts.At(g, domain).admitsOneMore() {
			return reason.Reason{Code: reason.AntiAffinity, Where: key}
		}
	}
	return reason.Reason{}
}

// cap notes the caps of a pod of the shape that goes to the domain.
func (a *Assigner) cap(i int, key, domain string) {
	for _, c := range a.shapes[i].Rules.Caps {
		if !c.Soft && a.reg.Groups()[c.Group].Key == key {
			a.counts.Cap(c.Group, domain, c.Max)
		}
	}
}
