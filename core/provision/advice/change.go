package advice

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/core/pack"
	"tenon/core/provision/claims"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// propose lists the changes that could make the pool take the pod: those that concern the
// rule that stood in the way.
func (k *Adviser) propose(c candidate, t *snapshot.Template, rq *Request, v *reason.PoolVerdict) []proposal {
	b := proposer{k: k, candidate: c, t: t, request: rq, pool: &k.d.Snapshot.Pools[c.pool]}
	switch v.Reason.Code {
	case reason.TaintNotTolerated:
		b.tolerate()
	case reason.LabelsIncompatible:
		b.labels(v.Reason.Where)
		b.widen(v.Reason.Where)
	case reason.TypeIncompatible, reason.NoOffering, reason.OfferingUnavailable:
		b.labels("")
		b.widen("")
	case reason.InsufficientRoom:
		b.requests()
		b.labels("")
		b.widen("")
	case reason.HostPortTaken:
		b.freePort(v.Reason.Where)
	case reason.MinimumNotMet:
		b.minimum(&v.Reason)
	case reason.LimitReached, reason.ClusterLimitReached:
		b.limits()
	case reason.Spread, reason.Affinity, reason.AntiAffinity:
		b.soften()
	}
	return b.out
}

// proposer collects the proposals for one pool.
type proposer struct {
	k *Adviser
	candidate
	t       *snapshot.Template
	request *Request
	pool    *snapshot.Pool
	out     []proposal
}

func (b *proposer) base(size float64, r reason.Remedy) proposal {
	r.Pool = b.pool.Name
	t := *b.t
	return proposal{remedy: r, size: size, pool: b.candidate.pool, of: b.t, template: &t, in: *b.pool}
}

// keep estimates a proposal that changes the pod, and drops it if no machine would do.
func (b *proposer) keep(p proposal) {
	found := b.k.machines(&p)
	if len(found) == 0 {
		return
	}
	for _, f := range found {
		p.types = append(p.types, f.of)
	}
	p.price = found[0].price
	b.out = append(b.out, p)
}

// tolerate covers the only taint that the pod does not tolerate. With two such taints, no single toleration
// helps.
func (b *proposer) tolerate() {
	taint, kept := model.Untolerated(b.pool.Taints, b.t.Tolerations, false)
	if !kept {
		return
	}
	t := model.Toleration{Key: taint.Key, Operator: "Exists", Effect: taint.Effect}
	if taint.Value != "" {
		t.Operator, t.Value = "Equal", taint.Value
	}
	p := b.base(sizeLine, reason.Remedy{Change: reason.Tolerate, Where: taint.String()})
	p.template.Tolerations = append(slices.Clone(b.t.Tolerations), t)
	if _, still := model.Untolerated(b.pool.Taints, p.template.Tolerations, false); !still {
		b.keep(p)
	}
}

// labels lets the pod do without what it asks of one label, or gives the pool's nodes the
// label if no pool defines it. With a key only that label is looked at.
func (b *proposer) labels(only string) {
	keys := map[string]bool{}
	for _, set := range append([]requirement.Set{b.t.Selector}, b.t.Terms...) {
		for _, key := range set.Keys() {
			keys[key] = only == "" || key == only
		}
	}
	for _, key := range order.Keys(keys) {
		if !keys[key] {
			continue
		}
		asked := b.asked(key)
		p := b.base(sizeLabel, reason.Remedy{Change: reason.DropLabel, Where: key, From: asked.String()})
		p.template.Selector = b.t.Selector.Without(key)
		p.template.Terms = nil
		for _, term := range b.t.Terms {
			p.template.Terms = append(p.template.Terms, term.Without(key))
		}
		if value, ok := asked.Any(); ok && !b.pool.Requirements.Has(key) && b.mayLabel(key) {
			p = b.addLabel(p, key, value)
		}
		b.keep(p)
	}
}

// asked is what the pod's alternative asks of a label.
func (b *proposer) asked(key string) requirement.Requirement {
	a := &b.request.Variant.Alternatives[b.alternative]
	if a.Require.Has(key) {
		return a.Require.Get(key)
	}
	for _, term := range b.t.Terms {
		if term.Has(key) {
			return term.Get(key)
		}
	}
	return b.t.Selector.Get(key)
}

// mayLabel tells labels that users may write on a pool: custom ones outside of the
// domains that belong to Kubernetes and to the API.
func (b *proposer) mayLabel(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	if !found {
		return true
	}
	for _, reserved := range []string{"kubernetes.io", "k8s.io", "karpenter.sh"} {
		if domain == reserved || strings.HasSuffix(domain, "."+reserved) {
			return false
		}
	}
	return !b.k.d.Snapshot.Settings.WellKnown.Contains(key)
}

// addLabel turns the dropping of what the pod asks into a label of the pool. The estimate
// is the same: no type has the label.
func (b *proposer) addLabel(p proposal, key, value string) proposal {
	p.size = sizeLine
	p.remedy.Change, p.remedy.To = reason.AddLabel, value
	p.in.Requirements = b.pool.Requirements.With(requirement.New(key, requirement.In, value))
	p.in.Labels = maps.Clone(b.pool.Labels)
	if p.in.Labels == nil {
		p.in.Labels = map[string]string{}
	}
	p.in.Labels[key] = value
	return p
}

// requests lowers them to what the nearest machine has. The machine is the one of which
// the worst cut is the least, so the proposal is the best of its kind.
func (b *proposer) requests() {
	a := &b.request.Variant.Alternatives[b.alternative]
	s := offeringCount{d: &b.k.pools, pool: b.candidate.pool, ask: a, request: b.request, types: b.k.d.Space.TypesFor(b.candidate.pool, a.Require), slots: b.k.d.Space.SlotsAllowed(a.Require), variety: requirement.NewVariety(requirement.Set{})}
	first, end := b.k.d.Space.PoolMachines(b.candidate.pool)
	for m := first; m < end; m++ {
		s.add(&b.k.d.Space.Machines[m])
	}
	b.k.Visits -= end - first
	if s.size.machine == nil || s.size.machine.Overdrawn != "" {
		return // no pod is small enough where the daemons have no room
	}
	p := b.base(sizeRequest+float64(100*s.size.by), reason.Remedy{Change: reason.LowerRequest})
	for i, name := range b.k.d.Space.Dims {
		want, have := b.request.Need[i], max(s.size.machine.Room[i], 0)
		if want <= have || want <= 0 {
			continue
		}
		if name == feasible.Others {
			return // the change would have too many parts
		}
		if name == model.Pods {
			return // a machine whose daemons leave no room for a pod
		}
		p.remedy.Amounts = append(p.remedy.Amounts, reason.Shift{Name: name, From: want, To: have})
		p.template.Requests = p.template.Requests.Sub(model.NewResources(model.Amount{Name: name, Value: want - have}))
	}
	b.keep(p)
}

// limits takes them away. How far they must be raised the simulation tells.
func (b *proposer) limits() {
	p := b.base(sizeLine, reason.Remedy{Change: reason.RaiseLimit})
	p.unlimited = true
	b.keep(p)
}

func (b *proposer) freePort(port string) {
	p := b.base(sizeLine, reason.Remedy{Change: reason.FreePort, Where: port})
	p.template.HostPorts = slices.DeleteFunc(slices.Clone(b.t.HostPorts), func(h model.HostPort) bool {
		return strconv.Itoa(int(h.Port)) == port
	})
	b.keep(p)
}

// minimum asks for no more variety than there is.
func (b *proposer) minimum(r *reason.Reason) {
	p := b.base(sizeSoften, reason.Remedy{
		Change: reason.LowerMinimum, Where: r.Where,
		From: strconv.FormatInt(r.Want, 10), To: strconv.FormatInt(r.Have, 10),
	})
	lowered := b.pool.Requirements.Get(r.Where).WithMinValues(int(r.Have))
	p.in.Requirements = b.pool.Requirements.Replaced(lowered)
	b.keep(p)
}

// softened is how many rules of a kind are tried, the first of the pod. Each trial looks at all rules of the pod.
const softened = 16

// soften turns one hard rule between pods into a preference.
func (b *proposer) soften() {
	add := func(code reason.Code, key string, change func(*snapshot.Template)) {
		p := b.base(sizeSoften, reason.Remedy{Change: reason.Soften, Where: key, From: string(code)})
		change(p.template)
		b.keep(p)
	}
	for i, s := range b.t.Spreads[:min(len(b.t.Spreads), softened)] {
		if !s.Soft {
			add(reason.Spread, s.Key, func(t *snapshot.Template) { t.Spreads = without(t.Spreads, i) })
		}
	}
	for i, a := range b.t.Affinity[:min(len(b.t.Affinity), softened)] {
		add(reason.Affinity, a.Key, func(t *snapshot.Template) { t.Affinity = without(t.Affinity, i) })
	}
	for i, a := range b.t.AntiAffinity[:min(len(b.t.AntiAffinity), softened)] {
		add(reason.AntiAffinity, a.Key, func(t *snapshot.Template) { t.AntiAffinity = without(t.AntiAffinity, i) })
	}
}

func without[T any](list []T, i int) []T { return slices.Delete(slices.Clone(list), i, i+1) }

// find is a suitable machine.
type find struct {
	of    *catalog.Type
	price model.Money
	value string // of the label by which a pool is widened
}

// kept is how many machines a proposal keeps: several, because the estimate does not know every rule. A
// pool that asks for variety keeps all that a claim can name.
const kept = 8

// cheapest sorts finds by price and keeps the first of each type. Of the second half each is
// at least twice as dear as the one before: for many pods larger machines are needed too.
func cheapest(found []find, varied bool) []find {
	slices.SortStableFunc(found, func(a, b find) int {
		return cmp.Or(cmp.Compare(a.price, b.price), strings.Compare(a.of.Name, b.of.Name))
	})
	var out []find
	seen := map[*catalog.Type]bool{}
	for _, f := range found {
		if len(out) == claims.MaxTypes || !varied && len(out) == kept {
			break
		}
		if seen[f.of] || !varied && len(out) >= kept/2 && f.price < 2*out[len(out)-1].price {
			continue
		}
		seen[f.of] = true
		out = append(out, f)
	}
	return out
}

// asksForVariety reports whether a claim of the pool must leave a choice (minValues).
func asksForVariety(r requirement.Set) bool {
	for q := range r.All() {
		if q.MinValues() > 0 {
			return true
		}
	}
	return false
}

// machines finds those of the pool as it is that would take the pod of the proposal.
func (k *Adviser) machines(p *proposal) []find {
	sp := k.d.Space
	first, end := sp.PoolMachines(p.pool)
	need := sp.Vector(p.template.Requests)
	variant := sp.Variant(p.template, sp.AllDropped(p.template))
	least := map[*catalog.Type]model.Money{}
	for i := range variant.Alternatives {
		a := &variant.Alternatives[i]
		if !p.in.Requirements.Compatible(a.Require, k.d.Snapshot.Settings.WellKnown) {
			continue
		}
		k.Visits -= end - first
		types, slots := sp.TypesFor(p.pool, a.Require.Without(p.addedKey())), sp.SlotsAllowed(a.Require)
		for m := first; m < end; m++ {
			machine := &sp.Machines[m]
			if !types.Has(machine.Ordinal) || !feasible.Fits(need, machine.Room) {
				continue
			}
			if !p.unlimited && !pack.LimitsAllow(k.pools.Left[p.pool], machine.Capacity) {
				continue
			}
			price, ok := k.price(machine, slots.All)
			if known, is := least[machine.Type]; ok && (!is || price < known) {
				least[machine.Type] = price
			}
		}
	}
	found := make([]find, 0, len(least))
	for of, price := range least { // in any order: they are sorted
		found = append(found, find{of: of, price: price})
	}
	return cheapest(found, asksForVariety(p.in.Requirements))
}

// addedKey is the label that the proposal gives the pool: no type says anything of it.
func (p *proposal) addedKey() string {
	if p.remedy.Change == reason.AddLabel {
		return p.remedy.Where
	}
	return ""
}

// price is the least of the slots in which the machine can be had. Reservations are left
// out: the plan may have used them up.
func (k *Adviser) price(m *feasible.Machine, slots func(func(int) bool)) (model.Money, bool) {
	best, ok := model.Money(0), false
	for slot := range slots {
		if !m.Slots.Has(slot) || k.d.Space.Slots[slot].CapacityType == catalog.Reserved {
			continue
		}
		if !ok || m.Price[slot] < best {
			best, ok = m.Price[slot], true
		}
	}
	return best, ok
}
