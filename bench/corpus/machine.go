package corpus

import (
	"fmt"

	"tenon/cloud/aws/instancetype"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

const gibibyte = int64(1) << 30

// overhead is what the kubelet of every fake and KWOK type keeps.
var overhead = model.Resources{CPU: 100, Memory: 10 << 20}

// Fake returns the evenly growing types of the reference's own benchmark: the i-th of n has i+1
// processors, twice as many GiB and room for ten times as many pods, and costs the same through
// each of its five offerings.
func Fake(n int) *catalog.Catalog {
	out := &catalog.Catalog{}
	for i := range int64(n) {
		cpu, memory := i+1, 2*(i+1)*gibibyte
		t := newType(fmt.Sprintf("fake-%d", i), []string{"amd64"}, []string{"linux", "windows", "darwin"})
		t.Capacity = model.Resources{CPU: 1000 * cpu, Memory: memory, Pods: 10 * cpu}
		price := model.MoneyFromFloat(0.1*float64(cpu) + 0.1*float64(memory)/1e9)
		for _, o := range []catalog.Offering{
			{Zone: "test-zone-1", CapacityType: catalog.Spot},
			{Zone: "test-zone-2", CapacityType: catalog.Spot},
			{Zone: "test-zone-1", CapacityType: catalog.OnDemand},
			{Zone: "test-zone-2", CapacityType: catalog.OnDemand},
			{Zone: "test-zone-3", CapacityType: catalog.OnDemand},
		} {
			o.Price, o.Available = price, true
			t.Offerings = append(t.Offerings, o)
		}
		out.Types = append(out.Types, offered(t))
	}
	return out
}

// KWOK returns 144 types: three ratios of memory to processors, twelve sizes, two architectures
// and two operating systems, in four zones, with spot at 70 % of on-demand.
func KWOK() *catalog.Catalog {
	out := &catalog.Catalog{}
	for _, cpu := range []int64{1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256} {
		for _, family := range []struct {
			name  string
			ratio int64
		}{{"c", 2}, {"s", 4}, {"m", 8}} {
			for _, os := range []string{"linux", "windows"} {
				for _, arch := range []string{"amd64", "arm64"} {
					name := fmt.Sprintf("%s-%dx-%s-%s", family.name, cpu, arch, os)
					t := newType(name, []string{arch}, []string{os})
					t.Capacity = model.Resources{
						CPU: 1000 * cpu, Memory: family.ratio * cpu * gibibyte, Storage: 20 * gibibyte, Pods: min(16*cpu, 1024),
					}
					out.Types = append(out.Types, offered(t, kwokOffers(t.Capacity)...))
				}
			}
		}
	}
	return out
}

func kwokOffers(size model.Resources) []catalog.Offering {
	price := 0.025*float64(size.CPU)/1000 + 0.001*float64(size.Memory)/1e9
	var out []catalog.Offering
	for _, zone := range []string{"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"} {
		out = append(out,
			catalog.Offering{Zone: zone, CapacityType: catalog.Spot, Price: model.MoneyFromFloat(0.7 * price), Available: true},
			catalog.Offering{Zone: zone, CapacityType: catalog.OnDemand, Price: model.MoneyFromFloat(price), Available: true})
	}
	return out
}

func newType(name string, arch, os []string) catalog.Type {
	return catalog.Type{
		Name: name,
		Requirements: requirement.NewSet(
			requirement.New(requirement.KeyInstanceType, requirement.In, name),
			requirement.New(requirement.KeyArch, requirement.In, arch...),
			requirement.New(requirement.KeyOS, requirement.In, os...),
			requirement.New(requirement.KeyRegion, requirement.DoesNotExist),
			requirement.New(requirement.KeyWindowsBuild, requirement.DoesNotExist),
		),
		Overhead: overhead,
	}
}

// offered adds offerings, and lists zones and capacity types among the requirements.
func offered(t catalog.Type, more ...catalog.Offering) catalog.Type {
	t.Offerings = append(t.Offerings, more...)
	var zones, ways []string
	for _, o := range t.Offerings {
		zones, ways = append(zones, o.Zone), append(ways, o.CapacityType)
	}
	t.Requirements = t.Requirements.With(
		requirement.New(requirement.KeyZone, requirement.In, zones...),
		requirement.New(requirement.KeyCapacityType, requirement.In, ways...))
	return t
}

// EC2 returns the built-in catalogue of a region with four zones.
func EC2() (*catalog.Catalog, requirement.Words) {
	built := instancetype.Build(instancetype.Defaults("us-west-2"))
	return &built.Catalog, instancetype.Words()
}
