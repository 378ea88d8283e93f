package market

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/class"
	"tenon/internal/ingest"
)

// evaluation is one judgement of the overlays.
type evaluation struct {
	overlays []*karpenterv1alpha1.NodeOverlay
	pools    []*karpenterv1.NodePool // by name
	classes  map[types.UID]cloud.ClassRef
	identity string // equal for judgements with the same content
}

func newEvaluation(overlays []*karpenterv1alpha1.NodeOverlay, pools []*karpenterv1.NodePool) *evaluation {
	v := &evaluation{overlays: slices.Clone(overlays), pools: slices.Clone(pools), classes: map[types.UID]cloud.ClassRef{}}
	slices.SortFunc(v.overlays, func(a, b *karpenterv1alpha1.NodeOverlay) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(v.pools, func(a, b *karpenterv1.NodePool) int { return strings.Compare(a.Name, b.Name) })
	var id strings.Builder
	for _, o := range v.overlays {
		fmt.Fprintf(&id, "%s@%d ", o.UID, o.Generation)
	}
	for _, p := range v.pools {
		v.classes[p.UID] = class.Of(p)
		fmt.Fprintf(&id, "|%s@%d", p.UID, p.Generation)
	}
	v.identity = id.String()
	return v
}

// knows reports whether the pool was judged with its present class.
func (v *evaluation) knows(pool types.UID, ref cloud.ClassRef) bool {
	if v == nil {
		return false
	}
	judged, found := v.classes[pool]
	return found && judged == ref
}

// apply makes the catalogues of all pools of a class. On a new catalogue, overlays may conflict that were
// judged on an older one: the one with less weight is left out until all are judged again.
//
// Pools that no overlay can tell apart are asked about once: there may be thousands of
// offerings, and the provider's catalogue changes with every shortage.
func (v *evaluation) apply(words requirement.Vocabulary, ref cloud.ClassRef, base *catalog.Catalog) map[types.UID]*catalog.Catalog {
	translator := ingest.NewTranslator(ingest.NewIndex(), ingest.Options{Vocabulary: words})
	abouts := v.abouts(words)
	first := map[string]int{} // of pools that are alike
	asks := map[types.UID]int{}
	var offers []ingest.PoolOffers
	for _, p := range v.pools {
		if v.classes[p.UID] != ref {
			continue
		}
		pool := translator.Pool(p)
		face := likeness(words, abouts, pool.Labels)
		if _, known := first[face]; !known {
			first[face] = len(offers)
			offers = append(offers, ingest.PoolOffers{Pool: &pool, Offers: base})
		}
		asks[p.UID] = first[face]
	}
	made, _ := translator.Overlay(v.overlays, offers) // the judge reports refused overlays
	out := make(map[types.UID]*catalog.Catalog, len(asks))
	for id, i := range asks {
		out[id] = made[i]
	}
	return out
}

// abouts are the requirements of the overlays, one by one. Unreadable overlays are left out.
func (v *evaluation) abouts(words requirement.Vocabulary) []requirement.Set {
	var out []requirement.Set
	for _, o := range v.overlays {
		var entries []requirement.Entry
		for _, r := range o.Spec.Requirements {
			entries = append(entries, requirement.Entry{Key: r.Key, Operator: requirement.Operator(r.Operator), Values: r.Values})
		}
		if about, err := words.Parse(entries...); err == nil {
			out = append(out, about)
		}
	}
	return out
}

// likeness is equal for pools of a class that every overlay treats alike. Of a label that instance
// types never have, only matters whether the overlay allows the pool's value; the value of another
// label is compared with those of the types, and so is used as it is.
func likeness(words requirement.Vocabulary, abouts []requirement.Set, labels map[string]string) string {
	var face strings.Builder
	for _, about := range abouts {
		for r := range about.All() {
			switch value, has := labels[r.Key()]; {
			case !has:
				face.WriteByte('-')
			case words.IsWellKnown(r.Key()) && r.Key() != requirement.KeyNodePool:
				fmt.Fprintf(&face, "%q", value)
			case r.Has(value):
				face.WriteByte('+')
			default:
				face.WriteByte('!')
			}
		}
	}
	return face.String()
}
