package topology

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/reason"
)

// follow places the parties that need company (required pod affinity): next to pods
// that are there or have been told where to go, else where pods that no rule has
// placed yet can be told to go, else, for a party that is its own company, together in
// one domain.
func (a *Assigner) follow(left []int, out *portions) (done []bool, failures []Failure) {
	done = make([]bool, len(a.parties))
	waiting := a.followers(left)
	for len(waiting) > 0 {
		var still []int
		for _, i := range waiting {
			if !a.followParty(i, left, out, false) {
				still = append(still, i)
			}
		}
		if len(still) == len(waiting) { // nobody has company yet: let one begin
			began := slices.IndexFunc(still, func(i int) bool { return a.followParty(i, left, out, true) })
			if began < 0 {
				break
			}
			still = slices.Delete(still, began, began+1)
		}
		waiting = still
	}
	for _, i := range waiting {
		need := a.parties[i].Rules.Needs[0]
		failures = append(failures, Failure{i, left[i], reason.Reason{Code: reason.Affinity, Where: a.reg.Groups()[need.Group].Key}})
		left[i] = 0
	}
	for i := range done {
		done[i] = len(a.parties[i].Rules.Needs) > 0
	}
	return done, failures
}

func (a *Assigner) followers(left []int) []int {
	var out []int
	for i := range a.parties {
		if left[i] > 0 && len(a.parties[i].Rules.Needs) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// followParty places as many pods of the party as have company; begin lets it found
// the company. It reports whether the party is finished with.
func (a *Assigner) followParty(i int, left []int, out *portions, begin bool) bool {
	for left[i] > 0 {
		pins, ok := a.company(i, left, out, begin)
		if !ok {
			return false
		}
		n := 1
		if !a.counted(i) { // nothing depends on which of the domains each pod takes
			n = left[i]
		}
		a.enter(i, pins, int32(n))
		for range n {
			out.add(i, pins)
		}
		left[i] -= n
		begin = begin && len(pins) == 0
	}
	return true
}

// counted reports whether some rule looks at the single domain of each of its pods.
func (a *Assigner) counted(i int) bool {
	r := a.parties[i].Rules
	return len(r.Spreads)+len(r.Caps) > 0 || slices.ContainsFunc(r.Counts, func(g int32) bool { return a.watched[g] })
}

func (a *Assigner) company(i int, left []int, out *portions, begin bool) ([]Pin, bool) {
	var pins []Pin
	for _, key := range a.keysOf(i) {
		values := a.companyOn(i, key, pins, left, out, begin)
		if len(values) == 0 {
			return nil, false
		}
		pins = append(pins, Pin{Key: key, Values: values})
	}
	return pins, true
}

// companyOn lists the domains of the key that will do, one only where rules count the
// pods one by one.
func (a *Assigner) companyOn(i int, key string, pins []Pin, left []int, out *portions, begin bool) []string {
	var domains []Domain
	for _, d := range a.atlas.Domains(i, key, pins) {
		if !a.banned[banKey(i, append(slices.Clip(pins), Pin{key, []string{d.Value}}))] && a.admit(i, key, d.Value).Code == reason.None {
			domains = append(domains, d)
		}
	}
	slices.SortFunc(domains, func(x, y Domain) int {
		return cmp.Or(cmp.Compare(a.load(i, key, x.Value), a.load(i, key, y.Value)), cmp.Compare(x.Price, y.Price), strings.Compare(x.Value, y.Value))
	})
	with := a.withCompany(i, key, domains)
	switch {
	case len(with) > 0:
	case !begin:
		return nil
	default:
		if with = a.found(i, key, domains, left, out); len(with) == 0 {
			return nil
		}
	}
	if a.counted(i) {
		with = with[:1]
	}
	slices.Sort(with)
	return with
}

// withCompany keeps the domains where every need on the key is met.
func (a *Assigner) withCompany(i int, key string, domains []Domain) []string {
	var out []string
	for _, d := range domains {
		met := true
		for _, n := range a.parties[i].Rules.Needs {
			if a.reg.Groups()[n.Group].Key == key && a.tallies[n.Group].lasting(d.Value) <= a.mutual(i, n.Group, d.Value) {
				met = false
			}
		}
		if met {
			out = append(out, d.Value)
		}
	}
	return out
}

// mutual counts the pods of the group in the domain that may be waiting, on their host, for
// the very pods that would rely on them.
func (a *Assigner) mutual(i int, g int32, domain string) (n int32) {
	for _, j := range a.clingy {
		if j == i || !has(a.parties[j].Rules.Counts, g) {
			continue
		}
		if a.clings(j, i) {
			n += a.there[whereabouts{j, a.reg.Groups()[g].Key, domain}]
		}
	}
	return n
}

// clings reports whether pods of j may be waiting, on their host, for pods of i.
func (a *Assigner) clings(j, i int) bool {
	return slices.ContainsFunc(a.parties[j].Rules.HostNeeds, func(n Need) bool { return has(a.parties[i].Rules.HostCounts, n.Group) })
}

// found opens a domain for the party: a pod that nobody has placed yet is told to go
// there, or the party is its own company. Where the group is about to leave is best: the
// scheduler lets nobody begin elsewhere before it is gone.
func (a *Assigner) found(i int, key string, domains []Domain, left []int, out *portions) []string {
	slices.SortStableFunc(domains, func(x, y Domain) int {
		return cmp.Compare(a.farewells(i, key, y.Value), a.farewells(i, key, x.Value))
	})
	for _, d := range domains {
		moves, ok := a.invite(i, key, d.Value, left)
		if !ok {
			continue
		}
		pin := []Pin{{Key: key, Values: []string{d.Value}}}
		for _, guest := range moves {
			a.enter(guest, pin, 1)
			out.add(guest, pin)
			left[guest]--
		}
		return []string{d.Value}
	}
	return nil
}

// farewells counts the pods in the domain that the party needs and that are leaving.
func (a *Assigner) farewells(i int, key, domain string) (n int32) {
	for _, need := range a.parties[i].Rules.Needs {
		if a.reg.Groups()[need.Group].Key == key {
			n += a.tallies[need.Group].leaving[domain]
		}
	}
	return n
}

// invite finds, for every need on the key that the domain does not meet, an unplaced
// pod that can go there. A party that satisfies its own need begins alone, but only
// where nobody of the group is anywhere.
func (a *Assigner) invite(i int, key, domain string, left []int) ([]int, bool) {
	var guests []int
	for _, n := range a.parties[i].Rules.Needs {
		t := &a.tallies[n.Group]
		if a.reg.Groups()[n.Group].Key != key || t.lasting(domain) > a.mutual(i, n.Group, domain) {
			continue
		}
		guest := a.guest(i, n.Group, key, domain, left)
		if guest < 0 {
			if n.Self && a.mayBegin(i, n) && !a.outsiders(n.Group, left) {
				continue
			}
			return nil, false
		}
		guests = append(guests, guest)
	}
	return guests, true
}

// outsiders reports whether some pod of the group still wants a place and does not need
// the group's company itself: it may end up anywhere.
func (a *Assigner) outsiders(g int32, left []int) bool {
	for j := range a.parties {
		r := a.parties[j].Rules
		if left[j] > 0 && has(r.Counts, g) && !slices.ContainsFunc(r.Needs, func(n Need) bool { return n.Group == g }) {
			return true
		}
	}
	return false
}

// mayBegin reports whether the party can be its own company. Several required terms are one
// to the scheduler: company by any of their keys forbids to begin anew.
func (a *Assigner) mayBegin(i int, need Need) bool {
	if need.Soft {
		return a.nowhere(need.Group)
	}
	return !slices.ContainsFunc(a.parties[i].Rules.Needs, func(n Need) bool { return !n.Soft && !a.nowhere(n.Group) })
}

// nowhere reports whether the group has no pod in any domain: as the scheduler sees it,
// company elsewhere forbids to begin anew, even where the party cannot go.
func (a *Assigner) nowhere(g int32) bool {
	t := &a.tallies[g]
	for d := range t.sure {
		if t.lasting(d) > 0 {
			return false
		}
	}
	return true
}

func (a *Assigner) guest(i int, g int32, key, domain string, left []int) int {
	for j := range a.parties {
		if j == i || left[j] == 0 || a.clings(j, i) || len(a.parties[j].Rules.Needs) > 0 || !has(a.parties[j].Rules.Counts, g) {
			continue
		}
		for _, d := range a.atlas.Domains(j, key, nil) {
			if d.Value == domain && a.admit(j, key, domain).Code == reason.None {
				return j
			}
		}
	}
	return -1
}
