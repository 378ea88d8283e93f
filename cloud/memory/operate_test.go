package memory_test

import (
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"tenon/cloud"
	"tenon/cloud/memory"
)

// A machine that is interrupted stays for as long as was said, and then is gone; its ID is
// what the owner of the cloud calls it.
func TestInterruptionsTakeTheirTime(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Unix(1_000_000, 0))
	c := memory.New(memory.Options{Clock: clock, ProviderID: func(zone, name string) string { return "x:///" + zone + "/" + name }})
	p := c.Connect()
	bought, err := p.Create(t.Context(), cloud.Claim{UID: "1", Name: "a", Class: cloud.ClassRef{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"}})
	if err != nil || !strings.HasPrefix(bought.ProviderID, "x:///") {
		t.Fatalf("bought %q, %v", bought.ProviderID, err)
	}
	if !c.Interrupt(bought.ProviderID, 2*time.Minute) || c.Interrupt(bought.ProviderID, 3*time.Minute) || c.Interrupt("x:///other", 0) {
		t.Error("an interruption is of a machine that is there, and the first one counts")
	}
	clock.Step(2*time.Minute - time.Second)
	if _, err := p.Get(t.Context(), bought.ProviderID); err != nil {
		t.Errorf("gone too early: %v", err)
	}
	clock.Step(time.Second)
	if _, err := p.Get(t.Context(), bought.ProviderID); !cloud.IsNotFound(err) {
		t.Errorf("still there: %v", err)
	}
}

// Another catalogue is seen at the next look, and an offering that is shunned is not
// available for a while.
func TestAnotherCatalogue(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakeClock(time.Unix(1_000_000, 0))
	c := memory.New(memory.Options{Clock: clock})
	p := c.Connect()
	ref := cloud.ClassRef{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"}
	next := memory.Sample()
	next.Types[0].Offerings[0].Price = 77
	c.SetCatalog(next)
	shown, err := p.Catalog(t.Context(), ref)
	if err != nil || shown.Types[0].Offerings[0].Price != 77 {
		t.Fatalf("price %v, %v", shown.Types[0].Offerings[0].Price, err)
	}
	p.Shun(cloud.Candidate{Type: &shown.Types[0], Offering: &shown.Types[0].Offerings[0]}.Offer())
	for _, want := range []bool{false, true} {
		shown, err = p.Catalog(t.Context(), ref)
		if err != nil || shown.Types[0].Offerings[0].Available != want {
			t.Errorf("available %t, want %t, %v", shown.Types[0].Offerings[0].Available, want, err)
		}
		clock.Step(3 * time.Minute)
	}
}
