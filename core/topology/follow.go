package topology

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/reason"
)

// follow places the shapes that need partners (required pod affinity): next to pods
// that are there or have been told where to go, else where pods that no rule has
// placed yet can be told to go, else, for a shape that is its own partner, together in
// one domain.
func (a *Assigner) follow(left []int, out *portions) (done []bool, failures []Failure) {
	done = make([]bool, len(a.shapes))
	waiting := a.followers(left)
	for len(waiting) > 0 {
		var still []int
		for _, i := range waiting {
			if !a.followShape(i, left, out, false) {
				still = append(still, i)
			}
		}
		if len(still) == len(waiting) { // no shape has partners yet: let one begin
			began := slices.IndexFunc(still, func(i int) bool { return a.followShape(i, left, out, true) })
			if began < 0 {
				break
			}
			still = slices.Delete(still, began, began+1)
		}
		waiting = still
	}
	for _, i := range waiting {
		need := a.shapes[i].Rules.Needs[0]
		failures = append(failures, Failure{i, left[i], reason.Reason{Code: reason.Affinity, Where: a.reg.Groups()[need.Group].Key}})
		left[i] = 0
	}
	for i := range done {
		done[i] = len(a.shapes[i].Rules.Needs) > 0
	}
	return done, failures
}

func (a *Assigner) followers(left []int) []int {
	var out []int
	for i := range a.shapes {
		if left[i] > 0 && len(a.shapes[i].Rules.Needs) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// followShape places as many pods of the shape as have partners; begin lets it found
// the group. It reports whether the shape is finished with.
func (a *Assigner) followShape(i int, left []int, out *portions, begin bool) bool {
	for left[i] > 0 {
		pins, ok := a.partnerPins(i, left, out, begin)
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
	r := a.shapes[i].Rules
	return len(r.Spreads)+len(r.Caps) > 0 || slices.ContainsFunc(r.Counts, func(g DomainGroup) bool { return a.groups.watched[g] })
}

func (a *Assigner) partnerPins(i int, left []int, out *portions, begin bool) ([]Pin, bool) {
	var pins []Pin
	for _, key := range a.keysOf(i) {
		values := a.partnerDomains(i, key, pins, left, out, begin)
		if len(values) == 0 {
			return nil, false
		}
		pins = append(pins, Pin{Key: key, Values: values})
	}
	return pins, true
}

// partnerDomains lists the domains of the key that will do, one only where rules count the
// pods one by one.
func (a *Assigner) partnerDomains(i int, key string, pins []Pin, left []int, out *portions, begin bool) []string {
	var domains []Domain
	for _, d := range a.atlas.Domains(i, key, pins) {
		if !a.banned[banKey(i, append(slices.Clip(pins), Pin{key, []string{d.Value}}))] && a.admit(i, key, d.Value).Code == reason.None {
			domains = append(domains, d)
		}
	}
	slices.SortFunc(domains, func(x, y Domain) int {
		return cmp.Or(cmp.Compare(a.load(i, key, x.Value), a.load(i, key, y.Value)), cmp.Compare(x.Price, y.Price), strings.Compare(x.Value, y.Value))
	})
	with := a.withPartners(i, key, domains)
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

// found opens a domain for the shape: a pod that is not placed yet is told to go there, or the shape is its
// own partner. A domain that the group is about to leave is best: until the group is gone, the scheduler
// lets no pod be the first elsewhere.
func (a *Assigner) found(i int, key string, domains []Domain, left []int, out *portions) []string {
	slices.SortStableFunc(domains, func(x, y Domain) int {
		return cmp.Compare(a.leavingPartners(i, key, y.Value), a.leavingPartners(i, key, x.Value))
	})
	for _, d := range domains {
		moves, ok := a.partners(i, key, d.Value, left)
		if !ok {
			continue
		}
		pin := []Pin{{Key: key, Values: []string{d.Value}}}
		for _, partner := range moves {
			a.enter(partner, pin, 1)
			out.add(partner, pin)
			left[partner]--
		}
		return []string{d.Value}
	}
	return nil
}

// leavingPartners counts the pods in the domain that the shape needs and that are leaving.
func (a *Assigner) leavingPartners(i int, key, domain string) (n int32) {
	for _, need := range a.shapes[i].Rules.Needs {
		if a.reg.Groups()[need.Group].Key == key {
			n += a.counts.At(need.Group, domain).Leaving
		}
	}
	return n
}

// partners finds, for every need on the key that the domain does not meet, an unplaced
// pod that can go there. A shape that satisfies its own need begins alone, but only
// where no pod of the group is anywhere.
func (a *Assigner) partners(i int, key, domain string, left []int) ([]int, bool) {
	var partners []int
	for _, n := range a.shapes[i].Rules.Needs {
		if a.reg.Groups()[n.Group].Key != key || n.met(a.counts.At(n.Group, domain), a.mutual(i, n.Group, domain)) {
			continue
		}
		partner := a.partner(i, n.Group, key, domain, left)
		if partner < 0 {
			if n.Self && a.mayBegin(i, n) && !a.preceded(i, n.Group, left) {
				continue
			}
			return nil, false
		}
		partners = append(partners, partner)
	}
	return partners, true
}

func (a *Assigner) partner(i int, g DomainGroup, key, domain string, left []int) int {
	for j := range a.shapes {
		if j == i || left[j] == 0 || a.waitsOnHost(j, i) || len(a.shapes[j].Rules.Needs) > 0 || !has(a.shapes[j].Rules.Counts, g) {
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
