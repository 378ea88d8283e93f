package dashboard

import (
	"strings"
	"testing"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// TestWhyATypeIsExcluded checks why a pool may not buy a type: by what it asks for, its limits, where the type is sold, or the stock.
func TestWhyATypeIsExcluded(t *testing.T) {
	t.Parallel()
	in := func(key string, values ...string) requirement.Requirement {
		return requirement.New(key, requirement.In, values...)
	}
	pool := &snapshot.Pool{
		Name: "default", Requirements: requirement.NewSet(in(requirement.KeyArch, "amd64"), in(requirement.KeyZone, "z1"), in(requirement.KeyCapacityType, "spot")),
		Limits: []model.Amount{{Name: "cpu", Value: 8000}},
	}
	offer := func(zone, capacity string, available bool) catalog.Offering {
		return catalog.Offering{Zone: zone, CapacityType: capacity, Price: model.Unit, Available: available}
	}
	of := func(arch string, cpu int64, offers ...catalog.Offering) *catalog.Type {
		return &catalog.Type{Name: "t", Requirements: requirement.NewSet(in(requirement.KeyArch, arch)), Capacity: model.Resources{CPU: cpu}, Offerings: offers}
	}
	unpriced := offer("z1", "spot", true)
	unpriced.Unpriced = true
	for name, tc := range map[string]struct {
		kind *catalog.Type
		want string
	}{
		"it may":                   {of("amd64", 4000, offer("z2", "spot", true), offer("z1", "spot", true)), ""},
		"another architecture":     {of("arm64", 4000, offer("z1", "spot", true)), "and it is arm64"},
		"larger than the limit":    {of("amd64", 16000, offer("z1", "spot", true)), "limit of cpu"},
		"sold elsewhere":           {of("amd64", 4000, offer("z2", "spot", true)), "not sold in a zone"},
		"sold otherwise":           {of("amd64", 4000, offer("z1", "on-demand", true)), "not sold in a zone"},
		"without a price":          {of("amd64", 4000, unpriced), "no price"},
		"out of stock":             {of("amd64", 4000, offer("z1", "spot", false), offer("z2", "spot", true)), "out of stock"},
		"out of stock in one zone": {of("amd64", 4000, offer("z1", "spot", false), offer("z1", "spot", true)), ""},
	} {
		if got := excluded(pool, tc.kind); !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
