package memory_test

import (
	"encoding/json"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

func claim(uid string, requirements ...requirement.Requirement) cloud.Claim {
	return cloud.Claim{
		UID: uid, Name: "claim-" + uid, Pool: "default",
		Class:        cloud.ClassRef{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"},
		Requirements: requirement.NewSet(requirements...),
		Requests:     model.Resources{CPU: 500},
	}
}

func is(key string, values ...string) requirement.Requirement {
	return requirement.New(key, requirement.In, values...)
}

func onDemand(zones ...string) []requirement.Requirement {
	r := []requirement.Requirement{is(requirement.KeyCapacityType, catalog.OnDemand)}
	if len(zones) > 0 {
		r = append(r, is(requirement.KeyZone, zones...))
	}
	return r
}

// world is a cloud on a clock that the test moves.
func world(o memory.Options) (*clocktesting.FakeClock, *memory.Cloud, *memory.Provider) {
	clock := clocktesting.NewFakeClock(start)
	o.Clock = clock
	far := memory.New(o)
	return clock, far, far.Connect()
}

func mustCreate(t *testing.T, p cloud.Provider, c cloud.Claim) cloud.Instance {
	t.Helper()
	i, err := p.Create(t.Context(), c)
	if err != nil {
		t.Fatalf("create %s: %v", c.UID, err)
	}
	return i
}

func TestStatesFollowTheClock(t *testing.T) {
	t.Parallel()
	clock, _, near := world(memory.Options{Boot: time.Minute, Stop: 30 * time.Second, Lag: 5 * time.Second})
	i := mustCreate(t, near, claim("a"))
	look := func(want cloud.State) {
		t.Helper()
		got, err := near.Get(t.Context(), i.ProviderID)
		if got.State != want || cloud.IsNotFound(err) != (want == "") {
			t.Errorf("at %s it is %q (%v), want %q", clock.Since(start), got.State, err, want)
		}
	}
	step := func(d time.Duration, want cloud.State) {
		t.Helper()
		clock.Step(d)
		look(want)
	}
	if i.State != cloud.Pending {
		t.Errorf("a new instance is %s", i.State)
	}
	look("") // reads are behind
	step(5*time.Second, cloud.Pending)
	step(55*time.Second, cloud.Pending) // it runs, and no look shows it
	step(5*time.Second, cloud.Running)
	if err := near.Delete(t.Context(), i.ProviderID); err != nil {
		t.Fatal(err)
	}
	look(cloud.Running)
	step(5*time.Second, cloud.Terminating)
	step(25*time.Second, cloud.Terminating)
	if err := near.Delete(t.Context(), i.ProviderID); !cloud.IsNotFound(err) {
		t.Errorf("delete is not behind: %v", err)
	}
	step(5*time.Second, "")
}

func TestStateGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	offer := cloud.Offer{InstanceType: "compute-1", Zone: "memory-1a", CapacityType: catalog.OnDemand}
	options := memory.Options{Stop: time.Minute, Stock: map[cloud.Offer]int{offer: 2}}
	asks := append(onDemand(offer.Zone), is(requirement.KeyInstanceType, offer.InstanceType))
	_, before, near := world(options)
	lives := mustCreate(t, near, claim("lives", asks...))
	ends := mustCreate(t, near, claim("ends", asks...))
	if err := near.Delete(t.Context(), ends.ProviderID); err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(before.State())
	if err != nil {
		t.Fatal(err)
	}
	plays := &recorder{}
	options.Launcher = plays
	if err := json.Unmarshal(file, &options.State); err != nil {
		t.Fatal(err)
	}
	clock, after, near := world(options)
	again, err := json.Marshal(after.State())
	if err != nil || string(again) != string(file) {
		t.Errorf("the state changed on its way (%v):\n%s\n%s", err, file, again)
	}
	plays.check(t, "launch lives")
	if i := mustCreate(t, near, claim("lives", asks...)); i.ProviderID != lives.ProviderID {
		t.Errorf("%s was bought again as %s", lives.ProviderID, i.ProviderID)
	}
	if _, err := near.Create(t.Context(), claim("ends", asks...)); !cloud.IsNotFound(err) {
		t.Errorf("a token that is spent: %v, want NotFound", err)
	}
	if _, err := near.Create(t.Context(), claim("new", asks...)); cloud.MetricLabel(err) != "InsufficientCapacityError" {
		t.Errorf("both are taken: %v, want a shortage", err)
	}
	clock.Step(3 * time.Minute)
	mustCreate(t, near, claim("new", asks...))
}

func TestClasses(t *testing.T) {
	t.Parallel()
	_, far, near := world(memory.Options{})
	mustCreate(t, near, claim("a")) // any name will do
	foreign := claim("b")
	foreign.Class.Group = "other.dev"
	if _, err := near.Create(t.Context(), foreign); cloud.MetricLabel(err) != "NodeClassNotReadyError" {
		t.Errorf("a class of another group: %v", err)
	}
	small := &catalog.Catalog{Types: memory.Sample().Types[:1]}
	far.SetClass("default", memory.Class{Image: "image-7", Catalog: small})
	if i := mustCreate(t, near, claim("c")); i.ImageID != "image-7" || i.Offer.InstanceType != small.Types[0].Name {
		t.Errorf("%s from %s", i.Offer, i.ImageID)
	}
	other := claim("d")
	other.Class.Name = "other"
	if _, err := near.Create(t.Context(), other); cloud.MetricLabel(err) != "NodeClassNotReadyError" {
		t.Errorf("a class that was not set: %v", err)
	}
	far.SetClass("default", memory.Class{NotReady: "no subnets"})
	if _, err := near.Create(t.Context(), claim("e")); cloud.MetricLabel(err) != "NodeClassNotReadyError" {
		t.Errorf("a class that is not ready: %v", err)
	}
	if i := mustCreate(t, near, claim("c")); i.ImageID != "image-7" {
		t.Errorf("what is paid for is hidden by its class: %+v", i)
	}
}

// Fakes must not be too kind: a machine's labels are those of what was bought.
func TestSampleSells(t *testing.T) {
	t.Parallel()
	_, _, near := world(memory.Options{})
	cases := map[string]struct {
		claim cloud.Claim
		want  string
	}{
		"the reservation first, since it is paid for": {claim("a"), "general-4/memory-1a/reserved/" + memory.ReservationID},
		"the cheapest zone":                           {claim("b", onDemand()...), "general-arm-1/memory-1a/on-demand"},
		"spot if allowed": {
			claim("c", is(requirement.KeyCapacityType, catalog.OnDemand, catalog.Spot)), "general-arm-1/memory-1a/spot"},
		"an architecture": {claim("d", append(onDemand(), is(requirement.KeyArch, "amd64"))...), "compute-1/memory-1a/on-demand"},
		"a zone":          {claim("e", onDemand("memory-1c")...), "general-arm-1/memory-1c/on-demand"},
		"a family":        {claim("f", append(onDemand(), is(memory.LabelFamily, "memory"))...), "memory-1/memory-1a/on-demand"},
		"more cores than a number": {
			claim("g", append(onDemand(), requirement.New(memory.LabelCPU, requirement.Gt, "8"))...), "general-arm-16/memory-1a/on-demand"},
	}
	gpu := claim("h", onDemand()...)
	gpu.Requests = model.NewResources(model.Amount{Name: memory.GPU, Value: 2})
	cases["accelerators"] = struct {
		claim cloud.Claim
		want  string
	}{gpu, "gpu-16/memory-1a/on-demand"}
	for name, tc := range cases {
		if got := mustCreate(t, near, tc.claim).Offer.String(); got != tc.want {
			t.Errorf("%s: %s was bought, want %s", name, got, tc.want)
		}
	}
}
