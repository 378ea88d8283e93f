package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

func TestLabelsOfAClaimsNode(t *testing.T) {
	t.Parallel()
	w := newWorld()
	small := w.kind("small")
	small.Requirements = small.Requirements.Replaced(requirement.New(requirement.KeyOS, requirement.In, "linux", "windows"))
	w.s.Pools[0].Requirements = w.s.Pools[0].Requirements.With(requirement.New("team", requirement.In, "red", "blue"))
	c := w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot", "small/b/spot")
	c.Labels = map[string]string{"team": "blue", requirement.KeyZone: "a"}
	got, err := Labels(w.s, c, w.offer("small/b/spot"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		requirement.KeyNodePool: "default", requirement.KeyInstanceType: "small", requirement.KeyArch: "amd64",
		requirement.KeyOS: "linux", requirement.KeyZone: "b", requirement.KeyCapacityType: "spot", "team": "blue",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestLabelsOfOffersThatCannotBe(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := w.claim("default", []snapshot.PodIndex{w.pod("web")}, "small/a/spot")
	for name, o := range map[string]plan.Offer{
		"not sold": {InstanceType: "small", Zone: "c", CapacityType: "spot"},
		"excluded": w.offer("small/b/spot"),
	} {
		if labels, err := Labels(w.s, c, o); err == nil {
			t.Errorf("%s: got labels %v", name, labels)
		}
	}
	c.Pool = "gone"
	if _, err := Labels(w.s, c, c.Offer); err == nil {
		t.Error("a pool that does not exist has labels")
	}
}
