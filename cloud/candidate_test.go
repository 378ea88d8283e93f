package cloud_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

const tenancy = "test.dev/tenancy"

func in(key string, values ...string) requirement.Requirement {
	return requirement.New(key, requirement.In, values...)
}

// shop is a catalogue with a small and a large machine; the small one costs more in zone b, and zone b has no
// spot.
func shop() *catalog.Catalog {
	kind := func(name string, cores int64, price model.Money, more ...catalog.Offering) catalog.Type {
		return catalog.Type{
			Name: name,
			Requirements: requirement.NewSet(
				in(requirement.KeyInstanceType, name), in(requirement.KeyArch, "amd64"),
				in(requirement.KeyZone, "a", "b"), in(requirement.KeyCapacityType, "on-demand", "spot"),
				in(tenancy, "dedicated", "shared"),
				requirement.New("test.dev/gpu", requirement.DoesNotExist),
			),
			Capacity: model.Resources{CPU: 1000 * cores, Pods: 10},
			Overhead: model.Resources{CPU: 100},
			Offerings: append([]catalog.Offering{
				{Zone: "b", CapacityType: "on-demand", Price: price + 1, Available: true},
				{Zone: "a", CapacityType: "on-demand", Price: price, Available: true},
				{Zone: "a", CapacityType: "spot", Price: price / 2, Available: true},
			}, more...),
		}
	}
	return &catalog.Catalog{Types: []catalog.Type{
		kind("large", 4, 40),
		kind("small", 1, 10, catalog.Offering{Zone: "b", CapacityType: "spot", Price: 1}),
		kind("small2", 1, 10),
	}}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		claim cloud.Claim
		want  []string
	}{
		"anything: cheapest first, and what cannot be had not at all": {
			want: []string{
				"small/a/spot", "small2/a/spot", "small/a/on-demand", "small2/a/on-demand", "small/b/on-demand",
				"small2/b/on-demand", "large/a/spot", "large/a/on-demand", "large/b/on-demand"},
		},
		"one zone": {
			claim: cloud.Claim{Requirements: requirement.NewSet(in(requirement.KeyZone, "b"))},
			want:  []string{"small/b/on-demand", "small2/b/on-demand", "large/b/on-demand"},
		},
		"zone and capacity type must meet in one offering": {
			claim: cloud.Claim{Requirements: requirement.NewSet(in(requirement.KeyZone, "b"), in(requirement.KeyCapacityType, "spot"))},
		},
		"what is requested must fit beside the overhead": {
			claim: cloud.Claim{Requests: model.Resources{CPU: 1000}, Requirements: requirement.NewSet(in(requirement.KeyZone, "a"))},
			want:  []string{"large/a/spot", "large/a/on-demand"},
		},
		"labels of the pool do not bind machines": {
			claim: cloud.Claim{Requirements: requirement.NewSet(in("team", "red"), in(requirement.KeyInstanceType, "large"))},
			want:  []string{"large/a/spot", "large/a/on-demand", "large/b/on-demand"},
		},
		"a label that no machine has": {
			claim: cloud.Claim{Requirements: requirement.NewSet(in("test.dev/gpu", "h100"))},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range cloud.Candidates(&tc.claim, shop()) {
				got = append(got, c.Offer().String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCandidatesTakeTheOfferingsOwnLabels(t *testing.T) {
	t.Parallel()
	c := shop()
	c.Types = c.Types[:1]
	c.Types[0].Offerings[0].Extra = requirement.NewSet(in(tenancy, "dedicated"))
	dedicated := cloud.Claim{Requirements: requirement.NewSet(in(tenancy, "dedicated"), in(requirement.KeyZone, "b"))}
	shared := cloud.Claim{Requirements: requirement.NewSet(in(tenancy, "shared"), in(requirement.KeyZone, "b"))}
	if n := len(cloud.Candidates(&dedicated, c)); n != 1 {
		t.Errorf("%d candidates, want the dedicated one", n)
	}
	if n := len(cloud.Candidates(&shared, c)); n != 0 {
		t.Errorf("%d candidates, want none: the offering is dedicated", n)
	}
}

func TestLabelsComeWithTheMachine(t *testing.T) {
	t.Parallel()
	claim := cloud.Claim{Requirements: requirement.NewSet(
		in(requirement.KeyZone, "a", "b"), in(tenancy, "shared", "other"), in("team", "red"))}
	got := cloud.Candidates(&claim, shop())[0].Labels(&claim)
	want := map[string]string{
		requirement.KeyInstanceType: "small", requirement.KeyArch: "amd64",
		requirement.KeyZone: "a", requirement.KeyCapacityType: "spot", tenancy: "shared",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestShortfalls(t *testing.T) {
	t.Parallel()
	claim := cloud.Claim{Requirements: requirement.NewSet(
		requirement.New(requirement.KeyInstanceType, requirement.Exists).WithMinValues(3))}
	candidates := cloud.Candidates(&claim, shop())
	if short := cloud.Shortfalls(&claim, candidates); short != nil {
		t.Errorf("three types are short of three: %v", short)
	}
	short := cloud.Shortfalls(&claim, candidates[:1])
	if want := (requirement.Shortfalls{{Key: requirement.KeyInstanceType, Want: 3, Have: 1}}); !cmp.Equal(want, short) {
		t.Errorf("shortfalls %v, want %v", short, want)
	}
}

func TestBootTaints(t *testing.T) {
	t.Parallel()
	claim := cloud.Claim{
		Taints:        []model.Taint{{Key: "dedicated", Value: "gpu", Effect: model.NoSchedule}},
		StartupTaints: []model.Taint{{Key: "agent", Effect: model.NoExecute}},
	}
	want := []model.Taint{{Key: "karpenter.sh/unregistered", Effect: model.NoExecute}, claim.Taints[0], claim.StartupTaints[0]}
	if diff := cmp.Diff(want, claim.BootTaints()); diff != "" {
		t.Errorf("taints (-want +got):\n%s", diff)
	}
}
