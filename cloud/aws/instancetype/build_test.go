package instancetype_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/facts"
	"tenon/cloud/aws/instancetype"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

var rewrite = flag.Bool("rewrite", false, "write golden files anew")

const (
	mebi = int64(1) << 20
	gibi = int64(1) << 30
)

// find builds a catalogue of the named type alone and returns the type.
func find(t *testing.T, p instancetype.Params, name string) catalog.Type {
	t.Helper()
	p.Types = slices.DeleteFunc(slices.Clone(facts.Types()), func(f facts.Type) bool { return f.Name != name })
	types := instancetype.Build(p).Catalog.Types
	if len(types) != 1 || types[0].Name != name {
		t.Fatalf("the catalogue of %s alone has %d types", name, len(types))
	}
	return types[0]
}

func allocatable(t catalog.Type) model.Resources { return t.Allocatable(&catalog.Offering{}) }

// The golden file has a few machines of every kind, for people to read in a diff.
func TestGoldenTypes(t *testing.T) {
	t.Parallel()
	names := []string{
		"m5.large", "c6g.medium", "p4d.24xlarge", "inf2.xlarge", "t3.nano", "m5.metal", "i3.metal", "trn1.32xlarge",
		"g4ad.xlarge", "g6f.large", "m7i-flex.large", "u-6tb1.56xlarge", "hpc7a.12xlarge", "dl2q.24xlarge", "a1.medium",
	}
	var got strings.Builder
	for _, typ := range instancetype.Build(instancetype.Defaults("us-west-2")).Catalog.Types {
		if slices.Contains(names, typ.Name) {
			show(&got, typ)
		}
	}
	path := filepath.Join("testdata", "golden.txt")
	if *rewrite {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}

func show(w *strings.Builder, t catalog.Type) {
	fmt.Fprintf(w, "%s\n", t.Name)
	for r := range t.Requirements.All() {
		if r.Operator() != requirement.DoesNotExist {
			fmt.Fprintf(w, "  %s\n", r)
		}
	}
	for _, part := range []struct {
		name string
		of   model.Resources
	}{{"capacity", t.Capacity}, {"overhead", t.Overhead}, {"allocatable", allocatable(t)}} {
		fmt.Fprintf(w, "  %s", part.name)
		for _, a := range part.of.Amounts() {
			fmt.Fprintf(w, " %s=%d", a.Name, a.Value)
		}
		fmt.Fprintln(w)
	}
	for _, o := range t.Offerings {
		fmt.Fprintf(w, "  offer %s %s %s %s available=%t\n",
			o.Zone, o.Extra.Get(awsv1.LabelZoneID), o.CapacityType, o.Price, o.Available)
	}
}

// The built-in catalogue has the expected types, and the expected remarks on the others.
func TestBuiltInCatalogueIsComplete(t *testing.T) {
	t.Parallel()
	got := instancetype.Build(instancetype.Defaults("us-west-2"))
	counts := map[instancetype.Why]int{}
	for _, remark := range got.Remarks {
		counts[remark.Why]++
	}
	want := map[instancetype.Why]int{
		instancetype.SizeUnknown: 38, instancetype.ArchitectureUnknown: 7, instancetype.PodLimitUnknown: 19,
		instancetype.PriceUnknown: 18, instancetype.Incompatible: 6,
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("remarks (-want +got):\n%s", diff)
	}
	if n := len(got.Catalog.Types); n != 1371 || n+38+7+19 != len(facts.Types()) {
		t.Errorf("%d types of %d", n, len(facts.Types()))
	}
	offers, available, unpriced := 0, 0, 0
	for _, typ := range got.Catalog.Types {
		offers += len(typ.Offerings)
		for _, o := range typ.Offerings {
			if o.Available {
				available++
			}
			if o.Unpriced {
				unpriced++
			}
		}
	}
	if wantOffers := 1371 * 4 * 2; offers != wantOffers || available != wantOffers-(18+6)*4*2 || unpriced != 18*4*2 {
		t.Errorf("%d offers, %d available, %d without a price; want %d, all but those of 6 types available, and of 18 without a price",
			offers, available, unpriced, wantOffers)
	}
}

func TestRemarksCount(t *testing.T) {
	t.Parallel()
	r := instancetype.Build(instancetype.Defaults("us-west-2"))
	if got := r.Count(instancetype.SizeUnknown); got != 38 {
		t.Errorf("%d types of unknown size, want 38", got)
	}
	for _, remark := range r.Remarks {
		there := slices.ContainsFunc(r.Catalog.Types, func(t catalog.Type) bool { return t.Name == remark.Type })
		if there == remark.Why.Skips() {
			t.Errorf("%s: %s, and in the catalogue: %t", remark.Type, remark.Why, there)
		}
	}
}

// Every type defines, as a value or as absent, every label that pods may select without a pool's help. The
// labels of placement groups are exempt, because a class need not have a group.
func TestEveryTypeDefinesEveryWellKnownLabel(t *testing.T) {
	t.Parallel()
	undefined := []string{requirement.KeyNodePool, awsv1.LabelPlacementGroupID, awsv1.LabelPlacementGroupPartition}
	for _, typ := range instancetype.Build(instancetype.Defaults("us-west-2")).Catalog.Types {
		for _, key := range instancetype.Vocabulary().WellKnown().Sorted() {
			if typ.Requirements.Has(key) == slices.Contains(undefined, key) {
				t.Fatalf("%s defines %s: %t", typ.Name, key, typ.Requirements.Has(key))
			}
		}
		if typ.Requirements.Impossible() {
			t.Errorf("%s has labels that no node can have: %s", typ.Name, typ.Requirements)
		}
	}
}

// Two ways lead to the same catalogue, and Build does not change its parameters.
func TestBuildIsPure(t *testing.T) {
	t.Parallel()
	compare := cmp.Options{
		cmp.Comparer(func(a, b requirement.Set) bool { return a.Equal(b) }),
		cmp.Comparer(func(a, b model.Resources) bool { return a.Equal(b) }),
	}
	p := instancetype.Defaults("eu-west-1")
	p.Reservations = []instancetype.Reservation{{ID: "cr-1", InstanceType: "m5.large", Zone: "eu-west-1a", Kind: "default", Available: 3}}
	first, second := instancetype.Build(p), instancetype.Build(p)
	if diff := cmp.Diff(first, second, compare); diff != "" {
		t.Errorf("second build differs (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(instancetype.Defaults("eu-west-1").Zones, p.Zones); diff != "" {
		t.Errorf("zones have changed:\n%s", diff)
	}
}

// Tenon keeps a region's catalogue for every class, so it must stay small. This test does not run in
// parallel: it measures the whole heap. BenchmarkBuild shows how much memory building takes.
func TestCatalogueTakesLittleMemory(t *testing.T) {
	p := instancetype.Defaults("us-west-2")
	instancetype.Build(p) // decodes the facts
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := instancetype.Build(p)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 20<<20 {
		t.Errorf("the heap has grown by %d bytes, want at most 20 MiB", grown)
	} else {
		t.Logf("the heap has grown by %d bytes", grown)
	}
	runtime.KeepAlive(kept)
}

func BenchmarkBuild(b *testing.B) {
	p := instancetype.Defaults("us-west-2")
	instancetype.Build(p)
	b.ReportAllocs()
	for b.Loop() {
		instancetype.Build(p)
	}
}
