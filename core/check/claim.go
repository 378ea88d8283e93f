package check

import (
	"slices"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
)

// checkClaims asks what a claim must be in itself.
func checkClaims(e *state, f *finding) {
	names := map[string]bool{}
	for _, n := range slices.Concat(e.nodes, e.replicas) {
		if n.claim == nil {
			continue
		}
		if names[n.name] {
			f.note(Violation{Rule: ClaimName, Node: n.name})
		}
		names[n.name] = true
		if n.claim.Replica {
			e.checkReplica(n, f)
		} else {
			if len(n.claim.Pods) == 0 && !n.claim.Spare {
				f.note(Violation{Rule: ClaimEmpty, Node: n.name})
			}
			e.checkPool(n, f)
		}
		e.checkOffers(n, f)
		e.checkPromises(n, f)
		e.checkMinimums(n, f)
	}
}

func (e *state) checkPool(n *node, f *finding) {
	switch {
	case !n.pool.MayLaunch():
		f.note(Violation{Rule: PoolUnready, Node: n.name, Where: n.pool.Name, Detail: n.pool.Unready.Text()})
	case n.pool.Replicas != nil:
		f.note(Violation{Rule: PoolUnready, Node: n.name, Where: n.pool.Name, Detail: "static"})
	}
}

// checkOffers: every offer can be had now at its price, the claim's own is the cheapest,
// and the alternatives come "cheapest first".
func (e *state) checkOffers(n *node, f *finding) {
	seen := map[plan.Offer]bool{}
	last := plan.Offer{}
	for i := range n.choices {
		v := &n.choices[i]
		if !v.listed {
			continue
		}
		if !e.available(v.offering) {
			f.note(Violation{Rule: OfferUnavailable, Node: n.name, Offer: v.text()})
		}
		if listed := offerOf(v.kind, v.offering, n.pool).Price; v.offer.Price != listed {
			f.note(Violation{Rule: Price, Node: n.name, Offer: v.text(), Have: int64(v.offer.Price), Want: int64(listed)})
		}
		if v.offer.Price < last.Price {
			f.note(Violation{Rule: OfferOrder, Node: n.name, Offer: v.text(), Have: int64(last.Price), Want: int64(v.offer.Price)})
		}
		last = v.offer
		if seen[unpriced(v.offer)] {
			f.note(Violation{Rule: OfferOrder, Node: n.name, Offer: v.text(), Detail: "listed twice"})
		}
		seen[unpriced(v.offer)] = true
	}
}

// checkPromises compares what the claim says of itself with its first offer, its pool
// and its pods.
func (e *state) checkPromises(n *node, f *finding) {
	v := &n.choices[0]
	for _, key := range slices.Sorted(keysOf(n.claim.Labels)) {
		if will, ok := v.labels[key]; key != requirement.KeyHostname && (!ok || will != n.claim.Labels[key]) {
			f.note(Violation{Rule: ClaimLabels, Node: n.name, Where: key, Detail: n.claim.Labels[key] + " is promised, it will be " + will})
		}
	}
	if !sameTaints(n.claim.Taints, n.pool.Taints) || !sameTaints(n.claim.StartupTaints, n.pool.StartupTaints) {
		f.note(Violation{Rule: ClaimTaints, Node: n.name})
	}
	e.checkResources(n, "allocatable", n.claim.Allocatable, v.allocatable, f)
	e.checkResources(n, "capacity", n.claim.Capacity, v.kind.FullCapacity(v.offering), f)
	var least, most model.Resources
	for _, pod := range n.placed {
		least = least.Add(e.template(pod).Requests)
	}
	most = least
	if !n.claim.Replica { // which asks for nothing
		for _, t := range v.daemons {
			least = least.Add(t.Requests)
		}
		for _, d := range e.s.Daemons {
			most = most.Add(e.s.Templates[d.Template].Requests)
		}
	}
	if lacking := least.Lacking(n.claim.Requests); lacking != "" {
		f.note(Violation{Rule: ClaimResources, Node: n.name, Where: lacking, Have: n.claim.Requests.Get(lacking), Want: least.Get(lacking), Detail: "requests leave out pods or daemons"})
	}
	if over := n.claim.Requests.Lacking(most); over != "" && !n.claim.Spare {
		f.note(Violation{Rule: ClaimResources, Node: n.name, Where: over, Have: n.claim.Requests.Get(over), Want: most.Get(over), Detail: "requests are more than pods and daemons ask for"})
	}
}

func keysOf(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

func sameTaints(a, b []model.Taint) bool {
	in := func(list []model.Taint) func(model.Taint) bool {
		return func(t model.Taint) bool { return slices.Contains(list, t) }
	}
	return len(a) == len(b) && !slices.ContainsFunc(a, func(t model.Taint) bool { return !in(b)(t) })
}

func (e *state) checkResources(n *node, name string, have, want model.Resources, f *finding) {
	if have.Equal(want) {
		return
	}
	for _, a := range have.Max(want).Amounts() {
		if have.Get(a.Name) != want.Get(a.Name) {
			f.note(Violation{Rule: ClaimResources, Node: n.name, Where: name + "." + a.Name, Have: have.Get(a.Name), Want: want.Get(a.Name)})
		}
	}
}

// checkMinimums counts, "for each key with minValues, the number of distinct values
// declared by the instance types that remain". A minimum may be lowered only where the
// settings allow it, and the claim must then say so.
func (e *state) checkMinimums(n *node, f *finding) {
	for r := range n.pool.Requirements.All() {
		have := int64(e.variety(n, r.Key()))
		if have >= int64(r.MinValues()) || n.claim.MinimumRelaxed && e.s.Settings.BestEffortMinimum {
			continue
		}
		f.note(Violation{Rule: Minimum, Node: n.name, Where: r.Key(), Have: have, Want: int64(r.MinValues())})
	}
	for r := range n.claim.Requirements.All() {
		if have := e.variety(n, r.Key()); have < r.MinValues() {
			f.note(Violation{Rule: Minimum, Node: n.name, Where: r.Key(), Have: int64(have), Want: int64(r.MinValues()), Detail: "the claim asks for more than it has"})
		}
	}
}

func (e *state) variety(n *node, key string) int {
	values := map[string]bool{}
	for i := range n.choices {
		if declared := n.choices[i].kind.Requirements; n.choices[i].listed && declared.Has(key) && !declared.Get(key).Complement() {
			for value := range declared.Get(key).All() {
				values[value] = true
			}
		}
	}
	return len(values)
}
