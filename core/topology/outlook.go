package topology

import (
	"slices"

	"tenon/core/feasible"
)

// Outlook is a spread that counts domains where its own pods cannot go: unless its node
// taints policy says otherwise, it looks at tainted nodes too. Nodes that are only planned
// do not count before they are there, so that no pod is held up by a pool that may never
// launch; once one is planned, its domain counts.
type Outlook struct {
	Group DomainGroup
	Key   string
	// Domains that count already, sorted.
	Domains []string
	// Places whose nodes count.
	Places []*feasible.Places
}

// Sees reports whether nodes of the machine and slot count.
func (o *Outlook) Sees(machine, slot int) bool {
	return slices.ContainsFunc(o.Places, func(p *feasible.Places) bool { return p.Machines.Has(machine) && p.Slots.Has(slot) })
}

// Knows reports whether the domain counts already.
func (o *Outlook) Knows(domain string) bool {
	_, ok := slices.BinarySearch(o.Domains, domain)
	return ok
}

// Outlooks lists the spreads that look further than their pods may go.
func (a *Assigner) Outlooks() []Outlook {
	var out []Outlook
	seen := map[DomainGroup]bool{}
	for i := range a.shapes {
		for _, s := range a.shapes[i].Rules.Spreads {
			g := &a.reg.Groups()[s.Group]
			if s.Soft || seen[s.Group] || !g.Filter.looksFurther() {
				continue
			}
			seen[s.Group] = true
			out = append(out, Outlook{Group: s.Group, Key: g.Key, Domains: a.domains.of(i, s.Group), Places: g.Filter.Passing()})
		}
	}
	return out
}

// Appear counts a domain that a planned node opens.
func (a *Assigner) Appear(group DomainGroup, domain string) { a.domains.add(group, domain) }
