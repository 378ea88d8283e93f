package instancetype_test

import (
	"fmt"
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

// offers lists the offers of m5.large, one on each line.
func offers(t *testing.T, p instancetype.Params) []string {
	t.Helper()
	var lines []string
	for _, o := range find(t, p, "m5.large").Offerings {
		line := fmt.Sprintf("%s %s %s", o.Zone, o.CapacityType, o.Price)
		if o.ReservationID != "" {
			line += fmt.Sprintf(" %s x%d", o.ReservationID, o.ReservationCapacity)
		}
		if id, ok := o.Extra.Get(awsv1.LabelZoneID).Single(); ok {
			line += " " + id
		}
		if part, ok := o.Extra.Get(awsv1.LabelPlacementGroupPartition).Single(); ok {
			line += " partition " + part
		}
		if !o.Available {
			line += " unavailable"
		}
		if o.Unpriced {
			line += " for want of a price"
		}
		lines = append(lines, line)
	}
	return lines
}

func twoZones() instancetype.Params {
	p := instancetype.Defaults("us-west-2")
	p.Zones = p.Zones[:2]
	return p
}

func TestOffers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		with func(*instancetype.Params)
		want []string
	}{
		"every zone, both ways": {
			with: func(*instancetype.Params) {},
			want: []string{
				"us-west-2a on-demand 0.096 usw2-az2", "us-west-2a spot 0.0672 usw2-az2",
				"us-west-2b on-demand 0.096 usw2-az1", "us-west-2b spot 0.0672 usw2-az1",
			},
		},
		"zones without a subnet cannot be used": {
			with: func(p *instancetype.Params) { p.Zones, p.OtherZones = p.Zones[:1], []string{"us-west-2z"} },
			want: []string{
				"us-west-2a on-demand 0.096 usw2-az2", "us-west-2a spot 0.0672 usw2-az2",
				"us-west-2z on-demand 0.096 unavailable", "us-west-2z spot 0.0672 unavailable",
			},
		},
		"zones that do not offer the type": {
			with: func(p *instancetype.Params) {
				p.Discovered = map[string]instancetype.Discovered{"m5.large": {Zones: []string{"us-west-2b", "us-west-2c"}}}
			},
			want: []string{
				"us-west-2a on-demand 0.096 usw2-az2 unavailable", "us-west-2a spot 0.0672 usw2-az2 unavailable",
				"us-west-2b on-demand 0.096 usw2-az1", "us-west-2b spot 0.0672 usw2-az1",
			},
		},
		"types that are sold in one way alone": {
			with: func(p *instancetype.Params) {
				p.Discovered = map[string]instancetype.Discovered{"m5.large": {CapacityTypes: []string{"capacity-block", "on-demand"}}}
			},
			want: []string{"us-west-2a on-demand 0.096 usw2-az2", "us-west-2b on-demand 0.096 usw2-az1"},
		},
		"an offer that cannot be had at the moment": {
			with: func(p *instancetype.Params) {
				p.Unavailable = func(typ, zone, capacityType string) bool {
					return typ == "m5.large" && zone == "us-west-2a" && capacityType == "spot"
				}
			},
			want: []string{
				"us-west-2a on-demand 0.096 usw2-az2", "us-west-2a spot 0.0672 usw2-az2 unavailable",
				"us-west-2b on-demand 0.096 usw2-az1", "us-west-2b spot 0.0672 usw2-az1",
			},
		},
		"what has no price is listed and cannot be had": {
			with: func(p *instancetype.Params) { p.Prices = nil }, want: []string{
				"us-west-2a on-demand 0 usw2-az2 unavailable for want of a price", "us-west-2a spot 0 usw2-az2 unavailable for want of a price",
				"us-west-2b on-demand 0 usw2-az1 unavailable for want of a price", "us-west-2b spot 0 usw2-az1 unavailable for want of a price",
			},
		},
		"no spot price in one zone": {
			with: func(p *instancetype.Params) { p.Prices = spotIn("us-west-2b") },
			want: []string{
				"us-west-2a on-demand 1 usw2-az2", "us-west-2a spot 0 usw2-az2 unavailable for want of a price",
				"us-west-2b on-demand 1 usw2-az1", "us-west-2b spot 0.25 usw2-az1",
			},
		},
		"a zone of unknown ID": {
			with: func(p *instancetype.Params) { p.Zones = []facts.Zone{{Name: "local"}} },
			want: []string{"local on-demand 0.096", "local spot 0.0672"},
		},
		"a reservation": {
			with: func(p *instancetype.Params) { p.Zones = p.Zones[:1]; p.Reservations = reservations() },
			want: []string{
				"us-west-2a on-demand 0.096 usw2-az2", "us-west-2a spot 0.0672 usw2-az2",
				"us-west-2a reserved 0.000001 cr-1 x3 usw2-az2",
				"us-west-2a reserved 0.000001 cr-empty x0 usw2-az2 unavailable",
				"us-west-2a reserved 0.000001 cr-ending x1 usw2-az2 unavailable",
				"us-west-2b reserved 0.000001 cr-elsewhere x1 unavailable",
			},
		},
		"a group of partitions": {
			with: func(p *instancetype.Params) {
				p.Zones = p.Zones[:1]
				p.Class.PlacementGroup = &instancetype.PlacementGroup{ID: "pg-1", Strategy: "partition", Partitions: 2}
				p.Reservations = reservations()[:1]
			},
			want: []string{
				"us-west-2a on-demand 0.096 usw2-az2 partition 1", "us-west-2a on-demand 0.096 usw2-az2 partition 2",
				"us-west-2a spot 0.0672 usw2-az2 partition 1", "us-west-2a spot 0.0672 usw2-az2 partition 2",
				"us-west-2a reserved 0.000001 cr-1 x3 usw2-az2 partition 1", "us-west-2a reserved 0.000001 cr-1 x3 usw2-az2 partition 2",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := twoZones()
			tc.with(&p)
			if diff := cmp.Diff(tc.want, offers(t, p)); diff != "" {
				t.Errorf("offers (-want +got):\n%s", diff)
			}
		})
	}
}

func reservations() []instancetype.Reservation {
	in := instancetype.Reservation{InstanceType: "m5.large", Zone: "us-west-2a", Kind: "default"}
	first, empty, ending, elsewhere, other := in, in, in, in, in
	first.ID, first.Available = "cr-1", 3
	empty.ID, empty.Interruptible = "cr-empty", true
	ending.ID, ending.Kind, ending.Available, ending.Expiring = "cr-ending", "capacity-block", 1, true
	elsewhere.ID, elsewhere.Zone, elsewhere.Available = "cr-elsewhere", "us-west-2b", 1
	other.ID, other.InstanceType, other.Available = "cr-other", "m5.xlarge", 1
	return []instancetype.Reservation{first, empty, ending, elsewhere, other}
}

// spotIn has a spot price in only one zone.
type spotIn string

func (spotIn) OnDemand(string) (model.Money, bool) { return model.Unit, true }
func (s spotIn) Spot(_, zone string) (model.Money, bool) {
	return model.Unit / 4, zone == string(s)
}

// A type's labels list every value that its offers can have; for an offer without such a label, the label is
// absent.
func TestReservationsInLabels(t *testing.T) {
	t.Parallel()
	p := twoZones()
	p.Reservations = reservations()
	typ := find(t, p, "m5.large")
	for key, want := range map[string]string{
		requirement.KeyCapacityType:                 "karpenter.sh/capacity-type In [on-demand reserved spot]",
		awsv1.LabelCapacityReservationID:            "karpenter.k8s.aws/capacity-reservation-id In [cr-1 cr-elsewhere cr-empty cr-ending]",
		awsv1.LabelCapacityReservationType:          "karpenter.k8s.aws/capacity-reservation-type In [capacity-block default]",
		awsv1.LabelCapacityReservationInterruptible: "karpenter.k8s.aws/capacity-reservation-interruptible In [false true]",
	} {
		if got := typ.Requirements.Get(key).String(); got != want {
			t.Errorf("label is %s, want %s", got, want)
		}
	}
	for _, o := range typ.Offerings {
		id := o.Extra.Get(awsv1.LabelCapacityReservationID)
		if reserved := o.CapacityType == catalog.Reserved; reserved != id.Has(o.ReservationID) || reserved == id.MayBeAbsent() {
			t.Errorf("%s offer has %s", o.CapacityType, id)
		}
	}
}

func TestPlacementGroupInLabels(t *testing.T) {
	t.Parallel()
	p := twoZones()
	p.Class.PlacementGroup = &instancetype.PlacementGroup{ID: "pg-1", Strategy: "cluster"}
	typ := find(t, p, "m5.large")
	if got, _ := typ.Requirements.Get(awsv1.LabelPlacementGroupID).Single(); got != "pg-1" {
		t.Errorf("group is %q", got)
	}
	if typ.Requirements.Has(awsv1.LabelPlacementGroupPartition) {
		t.Error("a cluster has partitions")
	}
}

func TestNotOfferedInTheRegion(t *testing.T) {
	t.Parallel()
	p := twoZones()
	p.Discovered = map[string]instancetype.Discovered{"m5.large": {}}
	got := instancetype.Build(p)
	if len(got.Catalog.Types) != 1 || got.Catalog.Types[0].Name != "m5.large" || len(got.Catalog.Types[0].Offerings) != 4 {
		t.Errorf("%d types, want m5.large alone with four offers", len(got.Catalog.Types))
	}
	if n := got.Count(instancetype.NotOffered); n != 1370 {
		t.Errorf("%d types not offered, want 1370", n)
	}
}

// The labels are right for names that are not a letter, a digit and a size.
func TestNamesTakenApart(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ category, generation, family, size, flex string }{
		"m5.large":           {"m", "5", "m5", "large", "false"},
		"c6gn.16xlarge":      {"c", "6", "c6gn", "16xlarge", "false"},
		"m7i-flex.large":     {"m", "7", "m7i-flex", "large", "true"},
		"u-6tb1.56xlarge":    {"u", "1", "u-6tb1", "56xlarge", "false"},
		"u7i-12tb.224xlarge": {"u", "7", "u7i-12tb", "224xlarge", "false"},
		"hpc6a.48xlarge":     {"hpc", "6", "hpc6a", "48xlarge", "false"},
		"inf2.xlarge":        {"inf", "2", "inf2", "xlarge", "false"},
		"m7i.metal-24xl":     {"m", "7", "m7i", "metal-24xl", "false"},
		"trn1n.32xlarge":     {"trn", "1", "trn1n", "32xlarge", "false"},
		"is4gen.medium":      {"is", "4", "is4gen", "medium", "false"},
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := find(t, instancetype.Defaults("us-west-2"), name).Requirements
			single := func(key string) string { v, _ := r.Get(key).Single(); return v }
			got := want
			got.category, got.generation = single(awsv1.LabelInstanceCategory), single(awsv1.LabelInstanceGeneration)
			got.family, got.size = single(awsv1.LabelInstanceFamily), single(awsv1.LabelInstanceSize)
			got.flex = single(awsv1.LabelInstanceCapabilityFlex)
			if got != want {
				t.Errorf("labels %v, want %v", got, want)
			}
		})
	}
}

func TestANameWithoutGenerationHasNoCategory(t *testing.T) {
	t.Parallel()
	mac := slices.Clone(facts.Types()[:1])
	mac[0].Name, mac[0].Family, mac[0].Size = "mac-m4.metal", "mac-m4", "metal"
	p := instancetype.Defaults("us-west-2")
	p.Types = mac
	r := instancetype.Build(p).Catalog.Types[0].Requirements
	for _, key := range []string{awsv1.LabelInstanceCategory, awsv1.LabelInstanceGeneration} {
		if got := r.Get(key); !got.MayBeAbsent() || got.Operator() != requirement.DoesNotExist {
			t.Errorf("label is %s", got)
		}
	}
}

func TestLabelsThatDependOnTheMachine(t *testing.T) {
	t.Parallel()
	windows := func(p *instancetype.Params) { p.Class.Family = awsv1.FamilyWindows2022 }
	cases := map[string]struct {
		typ  string
		with func(*instancetype.Params)
		want []string
	}{
		"bare metal has a hypervisor of no name": {typ: "m5.metal", want: []string{"karpenter.k8s.aws/instance-hypervisor In []"}},
		"a part of a GPU has a name, and counts none": {typ: "g6f.large", want: []string{
			"karpenter.k8s.aws/instance-gpu-name In [l4]", "karpenter.k8s.aws/instance-gpu-count In [0]", "karpenter.k8s.aws/instance-gpu-memory In [2861]"}},
		"a GPU of unknown name has no labels": {typ: "p3.2xlarge", want: []string{
			"karpenter.k8s.aws/instance-gpu-name DoesNotExist", "karpenter.k8s.aws/instance-gpu-count DoesNotExist"}},
		"no clock is zero":                  {typ: "c1.medium", want: []string{"karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz In [0]"}},
		"no bandwidth of volumes is absent": {typ: "t2.nano", want: []string{"karpenter.k8s.aws/instance-ebs-bandwidth DoesNotExist"}},
		"Linux":                             {typ: "c6g.medium", want: []string{"kubernetes.io/os In [linux]", "node.kubernetes.io/windows-build DoesNotExist"}},
		"Windows": {typ: "m5.large", with: windows, want: []string{
			"kubernetes.io/os In [windows]", "node.kubernetes.io/windows-build In [10.0.20348]"}},
		"Windows does not run on arm64": {typ: "c6g.medium", with: windows, want: []string{"kubernetes.io/os DoesNotExist"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := instancetype.Defaults("us-west-2")
			if tc.with != nil {
				tc.with(&p)
			}
			r := find(t, p, tc.typ).Requirements
			for _, want := range tc.want {
				key, _, _ := strings.Cut(want, " ")
				if got := r.Get(key).String(); got != want {
					t.Errorf("label is %s, want %s", got, want)
				}
			}
		})
	}
}

// An unknown hypervisor makes the label absent, and not empty as on bare metal.
func TestAnUnknownHypervisorIsAbsent(t *testing.T) {
	t.Parallel()
	machine := slices.Clone(facts.Types()[:1])
	machine[0].Hypervisor = ""
	p := instancetype.Defaults("us-west-2")
	p.Types = machine
	r := instancetype.Build(p).Catalog.Types[0].Requirements.Get(awsv1.LabelInstanceHypervisor)
	if r.Has("") || !r.MayBeAbsent() {
		t.Errorf("label is %s", r)
	}
}

func TestRegions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		region string
		zones  int
		price  model.Money // of m5.large
		priced int
	}{
		"us-west-2 is priced as us-east-1": {"us-west-2", 4, 96_000, 1353},
		"us-east-1":                        {"us-east-1", 6, 96_000, 1353},
		"GovCloud has its own":             {"us-gov-west-1", 3, 121_000, 0},
		"China is billed in yuan":          {"cn-north-1", 3, 1_013_000, 0},
		"a region to come":                 {"xx-new-1", 3, 96_000, 1353},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := instancetype.Defaults(tc.region)
			typ := find(t, p, "m5.large")
			if len(typ.Offerings) != 2*tc.zones || typ.Offerings[0].Price != tc.price {
				t.Errorf("%d offers, the first at %s; want %d at %s", len(typ.Offerings), typ.Offerings[0].Price, 2*tc.zones, tc.price)
			}
			if region, _ := typ.Requirements.Get(requirement.KeyRegion).Single(); region != tc.region {
				t.Errorf("region is %q", region)
			}
			result := instancetype.Build(p)
			if priced := len(result.Catalog.Types) - result.Count(instancetype.PriceUnknown); tc.priced > 0 && priced != tc.priced {
				t.Errorf("%d types have a price, want %d", priced, tc.priced)
			}
		})
	}
}
