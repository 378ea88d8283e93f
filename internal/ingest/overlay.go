package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	"tenon/api/scalar"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// PoolOffers is a pool with its catalogue.
type PoolOffers struct {
	Pool   *snapshot.Pool
	Offers *catalog.Catalog
}

// ErrOverlayConflict says why an overlay is left out: it contradicts another overlay of the same
// weight.
var ErrOverlayConflict = errors.New("conflict with another overlay")

// Overlay applies NodeOverlays. It returns the resulting catalogues, in the order of the pools, and
// by overlay name why some are not in use. Catalogues that no overlay changes are returned as they
// are, and pools that shared one still share it if the overlays treat them alike.
//
// Overlays are ranked by weight, the heavier first, and by name, the later first. The price of an
// offering is decided by the first overlay that sets one. Capacities add up; each resource is
// decided by the first overlay that names it. An overlay that sets the same price or resource as
// another of its own weight is left out entirely.
func (t *Translator) Overlay(list []*karpenterv1alpha1.NodeOverlay, pools []PoolOffers) ([]*catalog.Catalog, map[string]error) {
	canvases := make([]overlaid, len(pools))
	for i, p := range pools {
		canvases[i] = newOverlaid(p)
	}
	refused := map[string]error{}
	for _, o := range rankedOverlays(list) {
		c, err := t.correction(o)
		if err == nil && !apply(c, canvases) {
			err = ErrOverlayConflict
		}
		if err != nil {
			refused[o.Name] = err
		}
	}
	shared := map[string]*catalog.Catalog{}
	out := make([]*catalog.Catalog, len(pools))
	for i := range canvases {
		out[i] = canvases[i].finished(shared)
	}
	return out, refused
}

func rankedOverlays(list []*karpenterv1alpha1.NodeOverlay) []*karpenterv1alpha1.NodeOverlay {
	out := slices.DeleteFunc(slices.Clone(list), func(o *karpenterv1alpha1.NodeOverlay) bool { return o.DeletionTimestamp != nil })
	slices.SortFunc(out, func(a, b *karpenterv1alpha1.NodeOverlay) int {
		return cmp.Or(cmp.Compare(overlayWeight(b), overlayWeight(a)), strings.Compare(b.Name, a.Name))
	})
	return out
}

func overlayWeight(o *karpenterv1alpha1.NodeOverlay) int32 {
	if o.Spec.Weight == nil {
		return 0
	}
	return *o.Spec.Weight
}

// correction is a parsed overlay.
type correction struct {
	name     string
	weight   int32
	about    requirement.Set
	price    func(model.Money) model.Money // nil for none
	priced   bool                          // the overlay replaces the price instead of adjusting it
	capacity []model.Amount
}

func (t *Translator) correction(o *karpenterv1alpha1.NodeOverlay) (correction, error) {
	var entries []requirement.Entry
	var problems requirement.Problems
	for _, r := range o.Spec.Requirements {
		e := requirement.Entry{Key: r.Key, Operator: requirement.Operator(r.Operator), Values: r.Values}
		for _, problem := range t.options.Vocabulary.Validate(e) {
			problems = append(problems, fmt.Sprintf("invalid value: %s in requirements, restricted", problem))
		}
		entries = append(entries, e)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Spec.Capacity)) {
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
			problems = append(problems, fmt.Sprintf("invalid capacity: %s in resource, restricted", name))
		}
	}
	if err := scalar.CheckResources(corev1.ResourceList(o.Spec.Capacity)); err != nil {
		problems = append(problems, "invalid capacity: "+err.Error())
	}
	if err := problems.Err(); err != nil {
		return correction{}, err
	}
	about, err := t.options.Vocabulary.Parse(entries...)
	if err != nil {
		return correction{}, err
	}
	price, err := priceChange(&o.Spec)
	return correction{name: o.Name, weight: overlayWeight(o), about: about, price: price, priced: o.Spec.Price != nil, capacity: amounts(corev1.ResourceList(o.Spec.Capacity))}, err
}

// priceChange reads price or priceAdjustment. "Absolute price replaces; ±x adds; ±x%
// multiplies; results below 0 become 0."
func priceChange(spec *karpenterv1alpha1.NodeOverlaySpec) (func(model.Money) model.Money, error) {
	switch {
	case spec.Price != nil && spec.PriceAdjustment != nil:
		return nil, errors.New("cannot set both 'price' and 'priceAdjustment'")
	case spec.Price != nil:
		price, err := number(*spec.Price)
		return func(model.Money) model.Money { return positiveMoney(price) }, err
	case spec.PriceAdjustment == nil:
		return nil, nil
	}
	text, percent := strings.CutSuffix(*spec.PriceAdjustment, "%")
	change, err := number(text)
	if percent {
		return func(m model.Money) model.Money { return positiveMoney(m.Float() * (100 + change) / 100) }, err
	}
	return func(m model.Money) model.Money { return positiveMoney(m.Float() + change) }, err
}

func number(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.Abs(n) > 1e9 {
		return 0, fmt.Errorf("price %q is not a number of a sensible size", text)
	}
	return n, nil
}

func positiveMoney(amount float64) model.Money { return model.MoneyFromFloat(max(amount, 0)) }

// overlaid collects the changes to the catalogue of one pool.
type overlaid struct {
	PoolOffers
	labels requirement.Set // that all nodes of the pool have
	prices map[spot]priced
	added  map[int]map[string]resourced // by type and resource
}

// spot is an offering: indexes of the type and of the offering in it.
type spot struct{ kind, offering int }

// priced is the overlay that set a price, and the least weight of the overlays that applied.
type priced struct {
	by     correction
	lowest int32
}

type resourced struct {
	by    string
	value int64
	least int32
}

func newOverlaid(p PoolOffers) overlaid {
	return overlaid{PoolOffers: p, labels: requirement.FromLabels(p.Pool.Labels), prices: map[spot]priced{}, added: map[int]map[string]resourced{}}
}

// match is a type with the offerings that an overlay matches.
type match struct {
	overlaid  *overlaid
	kind      int
	offerings []int
}

// apply records a correction on all pools, or on none if it conflicts anywhere.
func apply(c correction, canvases []overlaid) bool {
	var matches []match
	for i := range canvases {
		matches = append(matches, canvases[i].matches(c.about)...)
	}
	if slices.ContainsFunc(matches, func(m match) bool { return m.conflicts(c) }) {
		return false
	}
	for _, m := range matches {
		m.record(c)
	}
	return true
}

// matches finds what an overlay applies to: "{nodepool=pool} ∩ pool labels ∩ type requirements is
// compatible with the overlay's requirements (no undefined allowed) and at least one offering is
// compatible".
func (v *overlaid) matches(about requirement.Set) []match {
	var out []match
	for i := range v.Offers.Types {
		kind := &v.Offers.Types[i]
		if !kind.Requirements.Intersect(v.labels).Compatible(about, requirement.KeySet{}) {
			continue
		}
		m := match{overlaid: v, kind: i}
		for j := range kind.Offerings {
			if isAbout(about, &kind.Offerings[j]) {
				m.offerings = append(m.offerings, j)
			}
		}
		if len(m.offerings) > 0 {
			out = append(out, m)
		}
	}
	return out
}

func isAbout(about requirement.Set, o *catalog.Offering) bool {
	return (!about.Has(requirement.KeyZone) || about.Get(requirement.KeyZone).Has(o.Zone)) &&
		(!about.Has(requirement.KeyCapacityType) || about.Get(requirement.KeyCapacityType).Has(o.CapacityType)) &&
		about.Intersects(o.Extra)
}

func (m match) conflicts(c correction) bool {
	if c.price != nil {
		for _, j := range m.offerings {
			if has, ok := m.overlaid.prices[spot{m.kind, j}]; ok && has.lowest == c.weight {
				return true
			}
		}
	}
	for _, a := range c.capacity {
		if has, ok := m.overlaid.added[m.kind][a.Name]; ok && has.least == c.weight {
			return true
		}
	}
	return false
}

func (m match) record(c correction) {
	if c.price != nil {
		for _, j := range m.offerings {
			at := spot{m.kind, j}
			has, ok := m.overlaid.prices[at]
			if !ok {
				has.by = c
			}
			has.lowest = c.weight
			m.overlaid.prices[at] = has
		}
	}
	if len(c.capacity) > 0 && m.overlaid.added[m.kind] == nil {
		m.overlaid.added[m.kind] = map[string]resourced{}
	}
	for _, a := range c.capacity {
		has, ok := m.overlaid.added[m.kind][a.Name]
		if !ok {
			has.by, has.value = c.name, a.Value
		}
		has.least = c.weight
		m.overlaid.added[m.kind][a.Name] = has
	}
}

// finished is the catalogue with the changes. Equal changes of one catalogue are made once.
func (v *overlaid) finished(shared map[string]*catalog.Catalog) *catalog.Catalog {
	if len(v.prices)+len(v.added) == 0 {
		return v.Offers
	}
	signature := v.signature()
	if made, ok := shared[signature]; ok {
		return made
	}
	made := &catalog.Catalog{Types: slices.Clone(v.Offers.Types)}
	for i := range made.Types {
		v.change(&made.Types[i], i)
	}
	shared[signature] = made
	return made
}

func (v *overlaid) signature() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%p", v.Offers)
	for i := range v.Offers.Types {
		for j := range v.Offers.Types[i].Offerings {
			if has, ok := v.prices[spot{i, j}]; ok {
				fmt.Fprintf(&b, " %d/%d=%s", i, j, has.by.name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v.added[i])) {
			fmt.Fprintf(&b, " %d:%s=%s", i, name, v.added[i][name].by)
		}
	}
	return b.String()
}

func (v *overlaid) change(kind *catalog.Type, i int) {
	for name, add := range v.added[i] {
		change := model.Amount{Name: name, Value: add.value - kind.Capacity.Get(name)}
		kind.Capacity = kind.Capacity.Add(model.NewResources(change))
		kind.CapacityOverlay = true
	}
	kind.Offerings = slices.Clone(kind.Offerings)
	for j := range kind.Offerings {
		if has, ok := v.prices[spot{i, j}]; ok {
			o := &kind.Offerings[j]
			o.Price = has.by.price(o.Price)
			if has.by.priced && o.Unpriced {
				o.Unpriced, o.Available = false, true
			}
			kind.PriceOverlay = true
		}
	}
}
