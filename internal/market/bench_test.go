package market_test

import (
	"context"
	"fmt"
	"testing"

	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/internal/market"

	"tenon/cloud/memory"
)

// region has as many offerings as the largest regions, and every call returns new ones.
type region struct {
	cloud.Provider
	types []catalog.Type
}

func (r region) Catalog(context.Context, cloud.ClassRef) (*catalog.Catalog, error) {
	return &catalog.Catalog{Types: r.types}, nil
}

func large() region {
	r := region{Provider: memory.New(memory.Options{}).Connect()}
	is := func(key string, values ...string) requirement.Requirement {
		return requirement.New(key, requirement.In, values...)
	}
	for i := range 1400 {
		t := catalog.Type{Name: fmt.Sprintf("type-%d", i), Capacity: model.Resources{CPU: 4000}}
		labels := []requirement.Requirement{is(requirement.KeyInstanceType, t.Name), is(requirement.KeyArch, []string{"amd64", "arm64"}[i%2]),
			is(requirement.KeyZone, "a", "b", "c", "d"), is(requirement.KeyCapacityType, "on-demand", "spot"), is(memory.LabelFamily, fmt.Sprint("family-", i%200))}
		for j := range 20 {
			labels = append(labels, is(fmt.Sprintf("memory.tenon.dev/fact-%d", j), fmt.Sprint(i%(j+2))))
		}
		t.Requirements = requirement.NewSet(labels...)
		for _, zone := range []string{"a", "b", "c", "d"} {
			for _, way := range []string{"on-demand", "spot"} {
				t.Offerings = append(t.Offerings, catalog.Offering{Zone: zone, CapacityType: way, Price: model.Money(1000 * (i + 1)), Available: true})
			}
		}
		r.types = append(r.types, t)
	}
	return r
}

// BenchmarkNewCatalogue measures applying three overlays for ten pools to a changed catalogue of
// the provider.
func BenchmarkNewCatalogue(b *testing.B) {
	m := market.New(large(), true)
	var pools []*karpenterv1.NodePool
	for i := range 10 {
		pools = append(pools, pool(fmt.Sprintf("pool-%d", i), 1))
	}
	m.Adopt([]*karpenterv1alpha1.NodeOverlay{
		overlay("spot", "0.5", in(requirement.KeyCapacityType, "spot")),
		overlay("family", "0.7", in(memory.LabelFamily, "family-7"), in(requirement.KeyCapacityType, "on-demand")),
		overlay("pool", "0.9", in(requirement.KeyNodePool, "pool-3"), in(requirement.KeyArch, "arm64"), in(requirement.KeyCapacityType, "on-demand")),
	}, pools)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Catalog(context.Background(), pools[0]); err != nil {
			b.Fatal(err)
		}
	}
}
