package cloud_test

import (
	"fmt"
	"testing"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// region is as large as the largest regions that are sold: 1,400 types in 4 zones.
func region() *catalog.Catalog {
	out := &catalog.Catalog{}
	none := requirement.NewSet(requirement.New("test.dev/reservation", requirement.DoesNotExist))
	for n := range 1400 {
		name := fmt.Sprintf("type-%d", n)
		t := catalog.Type{
			Name: name,
			Requirements: requirement.NewSet(in(requirement.KeyInstanceType, name), in(requirement.KeyArch, []string{"amd64", "arm64"}[n%2]),
				in(requirement.KeyZone, "a", "b", "c", "d"), in(requirement.KeyCapacityType, "on-demand", "spot")),
			Capacity: model.Resources{CPU: int64(1000 * (1 + n%64)), Memory: int64(n), Pods: 110},
		}
		for _, zone := range []string{"a", "b", "c", "d"} {
			for _, way := range []string{"on-demand", "spot"} {
				t.Offerings = append(t.Offerings, catalog.Offering{Zone: zone, CapacityType: way, Price: model.Money(n * 1000), Available: true, Extra: none})
			}
		}
		out.Types = append(out.Types, t)
	}
	return out
}

func BenchmarkCandidates(b *testing.B) {
	offers := region()
	claim := cloud.Claim{Requests: model.Resources{CPU: 1500}, Requirements: requirement.NewSet(
		in(requirement.KeyArch, "amd64"), in(requirement.KeyZone, "a", "b"), in(requirement.KeyCapacityType, "spot"), in("team", "red"))}
	b.ReportAllocs()
	for b.Loop() {
		if found := cloud.Candidates(&claim, offers); len(found) < 1000 {
			b.Fatalf("%d candidates", len(found))
		}
	}
}
