package topology

import (
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
)

// spreadDomains are the domains that spreads look at: those of nodes that pass their filters, and
// those where their pods could get a new node.
type spreadDomains struct {
	sp     *feasible.Space
	reg    *Registry
	atlas  Atlas
	shapes []Shape
	// inherent are the domains of existing hosts, by group.
	inherent []map[string]bool
	known    map[spreadOf][]string
}

// spreadOf is the spread of a shape that counts a group.
type spreadOf struct {
	shape int
	group DomainGroup
}

// of lists, sorted, the domains that the shape's spread over the group looks at.
func (d *spreadDomains) of(i int, g DomainGroup) []string {
	key := spreadOf{i, g}
	if found, ok := d.known[key]; ok {
		return found
	}
	var out []string
	for domain := range d.inherent[g] {
		out = append(out, domain)
	}
	for _, domain := range d.atlas.Within(d.lookedAt(i, g), d.reg.Groups()[g].Key) {
		out = append(out, domain.Value)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	d.known[key] = out
	return out
}

// lookedAt is where nodes count for the group's spread: by the pod's own rules for nodes,
// without its volumes, or anywhere, as its policies say.
func (d *spreadDomains) lookedAt(i int, g DomainGroup) []*feasible.Places {
	f := d.reg.Groups()[g].Filter
	switch {
	case f != nil && f.Affinity:
		return f.Of.Places
	case f != nil && f.Taints:
		return []*feasible.Places{d.sp.Find(feasible.Asker{Tolerations: d.shapes[i].Places[0].Tolerations})}
	}
	return []*feasible.Places{d.sp.Find(feasible.Asker{Tolerations: []model.Toleration{{Operator: "Exists"}}})}
}

// add counts one more domain for all spreads over a group.
func (d *spreadDomains) add(g DomainGroup, domain string) {
	d.inherent[g][domain] = true
	for i := range d.shapes {
		delete(d.known, spreadOf{i, g})
	}
}
