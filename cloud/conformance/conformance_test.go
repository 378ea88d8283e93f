package conformance_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"tenon/cloud"
	"tenon/cloud/conformance"
	"tenon/cloud/memory"
	"tenon/core/catalog"
)

// bench is a healthy provider on which breakages are tried.
type bench struct {
	conformance.Harness
	far *memory.Cloud
}

func healthy() *bench {
	clock := clocktesting.NewFakeClock(time.Date(2031, 5, 17, 8, 0, 0, 0, time.UTC))
	var lose atomic.Bool
	far := memory.New(memory.Options{
		Clock: clock, Boot: 20 * time.Second, Stop: 30 * time.Second, Lag: 10 * time.Second,
		Classes: map[string]memory.Class{"ready": {Image: "image-1"}, "unready": {NotReady: "no image was found"}},
		Trouble: func(c memory.Call) memory.Fault {
			if c.Method == memory.Create && lose.CompareAndSwap(true, false) {
				return memory.Fault{After: memory.ErrLost}
			}
			return memory.Fault{}
		},
	})
	near := far.Connect()
	kind := near.Describe().Classes[0]
	return &bench{far: far, Harness: conformance.Harness{
		Provider:     near,
		Class:        kind.Ref("ready"),
		UnreadyClass: kind.Ref("unready"),
		Advance:      clock.Step,
		EndsWithin:   30 * time.Second,
		Exhaust:      func(offer cloud.Offer) { far.SetStock(offer, 0) },
		LoseAnswer:   func() { lose.Store(true) },
		Kill:         func(id string) { far.Kill(id) },
		Drift:        func(string) { far.SetClass("ready", memory.Class{Image: "image-2"}) },
		Restart:      func() cloud.Provider { return far.Connect() },
		Bought:       far.Bought,
	}}
}

func TestAHealthyProviderKeepsTheLaws(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(*testing.T) conformance.Harness { return healthy().Harness })
}

// broken is a provider some of whose answers were replaced.
type broken struct {
	cloud.Provider
	describe func() cloud.Description
	create   func(context.Context, cloud.Claim) (cloud.Instance, error)
	remove   func(context.Context, string) error
	get      func(context.Context, string) (cloud.Instance, error)
	list     func(context.Context) ([]cloud.Instance, error)
	catalog  func(context.Context, cloud.ClassRef) (*catalog.Catalog, error)
	drifted  func(context.Context, cloud.Claim, cloud.Instance) (cloud.DriftReason, error)
}

func (b *broken) Describe() cloud.Description {
	if b.describe != nil {
		return b.describe()
	}
	return b.Provider.Describe()
}

func (b *broken) Create(ctx context.Context, c cloud.Claim) (cloud.Instance, error) {
	if b.create != nil {
		return b.create(ctx, c)
	}
	return b.Provider.Create(ctx, c)
}

func (b *broken) Delete(ctx context.Context, id string) error {
	if b.remove != nil {
		return b.remove(ctx, id)
	}
	return b.Provider.Delete(ctx, id)
}

func (b *broken) Get(ctx context.Context, id string) (cloud.Instance, error) {
	if b.get != nil {
		return b.get(ctx, id)
	}
	return b.Provider.Get(ctx, id)
}

func (b *broken) List(ctx context.Context) ([]cloud.Instance, error) {
	if b.list != nil {
		return b.list(ctx)
	}
	return b.Provider.List(ctx)
}

func (b *broken) Catalog(ctx context.Context, class cloud.ClassRef) (*catalog.Catalog, error) {
	if b.catalog != nil {
		return b.catalog(ctx, class)
	}
	return b.Provider.Catalog(ctx, class)
}

func (b *broken) Drifted(ctx context.Context, c cloud.Claim, i cloud.Instance) (cloud.DriftReason, error) {
	if b.drifted != nil {
		return b.drifted(ctx, c, i)
	}
	return b.Provider.Drifted(ctx, c, i)
}

// Every law must have a breakage, and must find it: a suite that cannot fail proves nothing.
func TestLawsFindWhatBreaksThem(t *testing.T) {
	t.Parallel()
	laws := map[string]conformance.Law{}
	for _, law := range conformance.Laws() {
		if _, twice := laws[law.Name]; twice || law.Why == "" {
			t.Errorf("law %q is there twice, or has no reason", law.Name)
		}
		laws[law.Name] = law
	}
	tried := map[string]bool{}
	for _, b := range breakages() {
		law, known := laws[b.law]
		if !known {
			t.Errorf("breakage %q is of the law %q, which does not exist", b.name, b.law)
			continue
		}
		tried[b.law] = true
		t.Run(b.law+"/"+b.name, func(t *testing.T) {
			t.Parallel()
			on := healthy()
			near := &broken{Provider: on.Provider}
			on.Provider = near
			b.do(on, near)
			err := law.Try(t.Context(), on.Harness)
			if err == nil || !strings.Contains(err.Error(), b.want) {
				t.Errorf("the law finds %v, want %q", err, b.want)
			}
		})
	}
	for name := range laws {
		if !tried[name] {
			t.Errorf("nothing here breaks the law %q", name)
		}
	}
}

func TestHarnessSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	err := conformance.Laws()[0].Try(t.Context(), conformance.Harness{})
	if err == nil {
		t.Fatal("an empty harness is taken")
	}
	for _, name := range []string{"Provider", "Class", "UnreadyClass", "Advance", "Exhaust", "LoseAnswer", "Kill", "Restart", "Bought"} {
		if !strings.Contains(err.Error(), "the harness has no "+name+"\n") && !strings.HasSuffix(err.Error(), "the harness has no "+name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

// A provider's own panic is its bug, and must not pass for the end of a run.
func TestPanicsAreNotSwallowed(t *testing.T) {
	t.Parallel()
	on := healthy()
	on.Provider = &broken{Provider: on.Provider, describe: func() cloud.Description { panic("boom") }}
	defer func() {
		if reason := recover(); reason != "boom" {
			t.Errorf("the provider's panic became %v", reason)
		}
	}()
	_ = conformance.Laws()[0].Try(t.Context(), on.Harness) // it does not return
	t.Error("the provider's panic was swallowed")
}
