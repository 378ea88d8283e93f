package topology

// Counts are the pods of each group in each domain: those that are there, and those that were
// told to go there. They know no rule.
type Counts []map[string]Count // by group and domain

// Count is what a domain holds of a group.
type Count struct {
	Sure  int32 // pods that certainly count
	Maybe int32 // pods that count if their node passes the group's filter
	// Dependent are, of Sure, those that need the group's partners themselves.
	Dependent int32
	// Leaving are, of Sure, those on nodes that are being removed: they are in the way while
	// they run, but even nothing out and are no partners to rely on.
	Leaving int32
	// most is the tightest cap of the pods in the domain, where some pod has one.
	most   int32
	capped bool
}

// Total is how many pods may be in the way.
func (c Count) Total() int32 { return c.Sure + c.Maybe }

// Lasting is how many pods will be there for certain.
func (c Count) Lasting() int32 { return c.Sure - c.Leaving }

// NewCounts is empty.
func NewCounts(groups int) Counts {
	out := make(Counts, groups)
	for g := range out {
		out[g] = map[string]Count{}
	}
	return out
}

// At is what a domain holds of a group.
func (c Counts) At(g DomainGroup, domain string) Count { return c[g][domain] }

// Add counts more pods of a group in a domain; what is negative is taken away.
func (c Counts) Add(g DomainGroup, domain string, more Count) {
	have := c[g][domain]
	have.Sure += more.Sure
	have.Maybe += more.Maybe
	have.Dependent += more.Dependent
	have.Leaving += more.Leaving
	c[g][domain] = have
}

// Cap notes that a pod in the domain bears at most some pods of the group there. A cap stays
// when its pod is taken away: rules that were kept once are kept.
func (c Counts) Cap(g DomainGroup, domain string, most int32) {
	have := c[g][domain]
	if !have.capped || most < have.most {
		have.capped, have.most = true, most
	}
	c[g][domain] = have
}

// Any reports whether pods of the group are in some domain.
func (c Counts) Any(g DomainGroup) bool {
	return c.some(g, func(x Count) bool { return x.Total() > 0 })
}

// Anywhere reports whether pods of the group will be in some domain for certain.
func (c Counts) Anywhere(g DomainGroup) bool {
	return c.some(g, func(x Count) bool { return x.Lasting() > 0 })
}

// Capped reports whether some pod has a cap on the group.
func (c Counts) Capped(g DomainGroup) bool {
	return c.some(g, func(x Count) bool { return x.capped })
}

// Lasting is how many pods of the group will be there for certain, in all domains.
func (c Counts) Lasting(g DomainGroup) (n int32) {
	for _, x := range c[g] { // in any order: it is a sum
		n += x.Lasting()
	}
	return n
}

func (c Counts) some(g DomainGroup, holds func(Count) bool) bool {
	for _, x := range c[g] { // in any order: one is enough
		if holds(x) {
			return true
		}
	}
	return false
}
