package topology

// Force is what a rule of a shape's own makes of where its pods are: at least Least of them in
// each of the Domains, and some in at least Width domains.
type Force struct {
	Key     string
	Domains []string // sorted; none where Least is zero
	Least   int
	Width   int
}

// Forces are what its spreads and its anti-affinity force on count pods of a shape, however
// domains are chosen. A spread forces nothing where others are counted with the shape's own pods:
// they may be what evens it out.
func (a *Assigner) Forces(shape, count int) []Force {
	r := a.shapes[shape].Rules
	groups := a.reg.Groups()
	var out []Force
	for _, c := range r.Caps {
		if has(r.Counts, c.Group) && c.Max > 0 {
			out = append(out, Force{Key: groups[c.Group].Key, Width: over(count, int(c.Max))})
		}
	}
	for _, s := range r.Spreads {
		if !s.Self || !a.alone(shape, s.Group) {
			continue
		}
		domains, skew := a.domains.of(shape, s.Group), int(s.MaxSkew)
		n := len(domains)
		if n == 0 || skew <= 0 {
			continue
		}
		f := Force{Key: groups[s.Group].Key, Width: over(count, skew)}
		if n >= int(s.MinDomains) {
			f.Width = min(f.Width, n)
			// With a least count of low, no domain holds more than low + skew.
			if rest := count - skew*(n-1); rest > 0 {
				f.Least, f.Domains = over(rest, n), domains
			}
		}
		out = append(out, f)
	}
	return out
}

// over is the quotient, rounded up.
func over(n, by int) int { return (n + by - 1) / by }

// alone reports whether the group surely counts all pods of the shape, and no others.
func (a *Assigner) alone(shape int, g DomainGroup) bool {
	if a.groups.settled[g] {
		return false
	}
	if sure, _ := passes(a.reg.Groups()[g].Filter, a.shapes[shape].Places); !sure {
		return false
	}
	for i := range a.shapes {
		if i != shape && a.shapes[i].Count > 0 && has(a.shapes[i].Rules.Counts, g) {
			return false
		}
	}
	return true
}
