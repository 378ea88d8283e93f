package check

import (
	"slices"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// addChoices lists what the claim's node may be: its offer, the alternatives, and all
// else of the same instance types the claim's requirements admit, since requirements are
// all that the cloud gets to see.
func (e *state) addChoices(n *node, f *finding) bool {
	known := true
	for i, o := range slices.AppendSeq([]plan.Offer{n.claim.Offer}, n.claim.Alternatives.All()) {
		kind, offering := e.find(n.pool, o)
		if offering == nil {
			f.note(Violation{Rule: OfferUnknown, Node: n.name, Offer: offerText(o)})
			known = known && i > 0
			continue
		}
		made, conflict := e.choice(n, o, kind, offering)
		if conflict != "" {
			f.note(Violation{Rule: OfferExcluded, Node: n.name, Offer: offerText(o), Detail: conflict})
		}
		made.listed = true
		n.choices = append(n.choices, made)
	}
	e.addAdmitted(n)
	return known
}

// addAdmitted adds offers of the listed types that the claim admits without listing
// them. Those too small for what the claim requests are not launched for it.
func (e *state) addAdmitted(n *node) {
	listed, kinds := map[plan.Offer]bool{}, map[string]bool{}
	for i := range n.choices {
		listed[unpriced(n.choices[i].offer)] = true
	}
	for _, v := range slices.Clone(n.choices) {
		kind := v.kind
		if kinds[kind.Name] {
			continue
		}
		kinds[kind.Name] = true
		for j := range kind.Offerings {
			offering := &kind.Offerings[j]
			o := offerOf(kind, offering, n.pool)
			if !e.available(offering) || listed[unpriced(o)] {
				continue
			}
			made, conflict := e.choice(n, o, kind, offering)
			if conflict == "" && n.claim.Requests.Fits(made.allocatable) {
				n.choices = append(n.choices, made)
			}
		}
	}
}

func offerOf(kind *catalog.Type, o *catalog.Offering, pool *snapshot.Pool) plan.Offer {
	return plan.Offer{
		InstanceType: kind.Name, Zone: o.Zone, CapacityType: o.CapacityType, Reservation: o.ReservationID,
		Price: o.Price + pool.NodePrice,
	}
}

// unpriced is what identifies an offer.
func unpriced(o plan.Offer) plan.Offer {
	o.Price = 0
	return o
}

func offerText(o plan.Offer) string {
	text := o.InstanceType + "/" + o.Zone + "/" + o.CapacityType
	if o.Reservation != "" {
		text += "/" + o.Reservation
	}
	return text
}

// find looks an offer up in the pool's catalogue.
func (e *state) find(pool *snapshot.Pool, o plan.Offer) (*catalog.Type, *catalog.Offering) {
	types := e.s.Catalogs[pool.Catalog].Types
	for t := range types {
		if types[t].Name != o.InstanceType {
			continue
		}
		for i := range types[t].Offerings {
			if unpriced(offerOf(&types[t], &types[t].Offerings[i], pool)) == unpriced(o) {
				return &types[t], &types[t].Offerings[i]
			}
		}
	}
	return nil, nil
}

// available: "reserved offerings have … a count"; while the gate is off they are not
// there at all.
func (e *state) available(o *catalog.Offering) bool {
	if o.CapacityType == catalog.Reserved {
		return o.Available && e.s.Settings.ReservedCapacity && o.ReservationCapacity > 0
	}
	return o.Available
}

// choice says what the node will be under one offer; conflict is why pool, claim, type and
// offering contradict each other, so that it could not be launched.
func (e *state) choice(n *node, o plan.Offer, kind *catalog.Type, offering *catalog.Offering) (made choice, conflict string) {
	all := n.pool.Requirements.Intersect(kind.Requirements).Intersect(offeringLabels(offering)).Intersect(n.asks)
	made = choice{
		offer: o, kind: kind, offering: offering, allocatable: kind.Allocatable(offering),
		labels: map[string]string{}, open: map[string]requirement.Requirement{},
	}
	for key, value := range n.claim.Labels {
		if !all.Has(key) {
			made.labels[key] = value
		}
	}
	for r := range all.All() {
		if r.Impossible() {
			conflict = "nothing satisfies all that is asked of " + r.Key()
			continue
		}
		settle(&made, n.claim, r)
	}
	made.labels[requirement.KeyHostname] = "\x00" + n.name // it cannot be known beforehand
	made.daemons = e.daemonsOn(n.taints, &made)
	return made, conflict
}

// settle finds the value that a label will have. What one requirement leaves open the
// claim's own labels may decide; otherwise a label that must be there is there, with a
// value that cannot be counted on.
func settle(made *choice, c *plan.Claim, r requirement.Requirement) {
	key := r.Key()
	if value, single := r.Single(); single {
		made.labels[key] = value
		return
	}
	if value, said := c.Labels[key]; said && r.Has(value) {
		made.labels[key] = value
		return
	}
	if !r.MayBeAbsent() {
		made.open[key] = r
	}
}

// offeringLabels: what the extra labels say of zone and capacity type goes over the offering's own fields.
func offeringLabels(o *catalog.Offering) requirement.Set {
	own := requirement.NewSet(
		requirement.New(requirement.KeyZone, requirement.In, o.Zone),
		requirement.New(requirement.KeyCapacityType, requirement.In, o.CapacityType),
	)
	for r := range o.Extra.All() {
		own = own.Replaced(r)
	}
	return own
}

// satisfies reports whether the node surely meets the requirements, as kube-scheduler
// will see them: label by label.
func (v *choice) satisfies(asked requirement.Set) (failing string, ok bool) {
	for r := range asked.All() {
		if !v.meets(r) {
			return r.String(), false
		}
	}
	return "", true
}

func (v *choice) meets(r requirement.Requirement) bool {
	if value, ok := v.labels[r.Key()]; ok {
		return r.Has(value)
	}
	possible, ok := v.open[r.Key()]
	if !ok {
		return r.MayBeAbsent()
	}
	if possible.Complement() {
		return coversAll(r, possible)
	}
	for value := range possible.All() {
		if !r.Has(value) {
			return false
		}
	}
	return true
}

// coversAll reports whether r accepts every value that a complement may turn out to be.
func coversAll(r, possible requirement.Requirement) bool {
	_, low := r.AtLeast()
	_, high := r.AtMost()
	if !r.Complement() || low || high {
		return false
	}
	for excluded := range r.All() {
		if possible.Has(excluded) {
			return false
		}
	}
	return true
}

// joined are the labels that every node of ours carries once it is in service.
var joined = map[string]string{"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}

// daemonsOn lists the DaemonSets that put a pod onto the node.
func (e *state) daemonsOn(taints []model.Taint, v *choice) []*snapshot.Template {
	inService := *v
	inService.labels = map[string]string{}
	for key, value := range joined {
		inService.labels[key] = value
	}
	for key, value := range v.labels {
		inService.labels[key] = value
	}
	var out []*snapshot.Template
	for _, d := range e.s.Daemons {
		t := &e.s.Templates[d.Template]
		if _, kept := untolerated(taints, t.Tolerations); kept {
			continue
		}
		if inService.matchesNodeRules(t) {
			out = append(out, t)
		}
	}
	return out
}

// untolerated is the first taint that keeps a pod off the node. Taints that only prefer
// keep no pod off.
func untolerated(taints []model.Taint, tolerations []model.Toleration) (model.Taint, bool) {
	for _, taint := range taints {
		if taint.Effect == model.PreferNoSchedule {
			continue
		}
		if !slices.ContainsFunc(tolerations, func(t model.Toleration) bool { return t.Tolerates(taint) }) {
			return taint, true
		}
	}
	return model.Taint{}, false
}

// matchesNodeRules reports whether node selector and required node affinity hold.
func (v *choice) matchesNodeRules(t *snapshot.Template) bool {
	if _, ok := v.satisfies(t.Selector); !ok {
		return false
	}
	if len(t.Terms) == 0 {
		return true
	}
	return slices.ContainsFunc(t.Terms, func(term requirement.Set) bool {
		_, ok := v.satisfies(term)
		return ok
	})
}
