package market_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/internal/market"
)

func pool(name string, generation int64) *karpenterv1.NodePool {
	p := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: generation}}
	p.Spec.Template.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"}
	return p
}

func overlay(name, price string, requirements ...karpenterv1alpha1.Requirement) *karpenterv1alpha1.NodeOverlay {
	return &karpenterv1alpha1.NodeOverlay{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 1},
		Spec:       karpenterv1alpha1.NodeOverlaySpec{Requirements: requirements, Price: &price},
	}
}

func in(key string, values ...string) karpenterv1alpha1.Requirement {
	return karpenterv1alpha1.Requirement{Key: key, Operator: "In", Values: values}
}

func priceOf(t *testing.T, c *catalog.Catalog, name string) model.Money {
	t.Helper()
	for i := range c.Types {
		if c.Types[i].Name == name {
			return c.Types[i].Offerings[0].Price
		}
	}
	t.Fatalf("no type %s", name)
	return 0
}

func catalogOf(t *testing.T, m *market.Market, p *karpenterv1.NodePool) *catalog.Catalog {
	t.Helper()
	c, err := m.Catalog(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func list[T any](items ...T) []T { return items }

// TestWithoutOverlays: the market returns the provider's own pointer.
func TestWithoutOverlays(t *testing.T) {
	t.Parallel()
	near := memory.New(memory.Options{}).Connect()
	own, err := near.Catalog(context.Background(), cloud.ClassRef{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"})
	if err != nil {
		t.Fatal(err)
	}
	if catalogOf(t, market.New(near, false), pool("web", 1)) != own {
		t.Error("with the gate off the catalogue is another one")
	}
	m := market.New(near, true)
	m.Adopt(nil, list(pool("web", 1)))
	if catalogOf(t, m, pool("web", 1)) != own {
		t.Error("without overlays the catalogue is another one")
	}
}

// TestAwaitsEvaluation: a pool that was not judged, or was judged with another class, buys nothing.
func TestAwaitsEvaluation(t *testing.T) {
	t.Parallel()
	m := market.New(memory.New(memory.Options{}).Connect(), true)
	awaits := func(when string, p *karpenterv1.NodePool) {
		t.Helper()
		_, err := m.Catalog(context.Background(), p)
		var unevaluated *market.Unevaluated
		if !errors.As(err, &unevaluated) || err.Error() != `nodepool "web" is awaiting evaluation` {
			t.Errorf("%s: %v", when, err)
		}
	}
	awaits("before the first judgement", pool("web", 1))
	m.Adopt(nil, list(pool("other", 1)))
	awaits("judged without it", pool("web", 1))
	m.Adopt(nil, list(pool("web", 1)))
	again := pool("web", 1)
	again.UID = "uid-of-another"
	awaits("made anew under the old name", again)
	moved := pool("web", 2)
	moved.Spec.Template.Spec.NodeClassRef.Name = "special"
	awaits("with another class", moved)
	catalogOf(t, m, pool("web", 2)) // a new generation with the same class keeps the old judgement
}

// TestOverlays: pools get their overlays, share catalogues if possible, and keep the pointer while
// nothing changes.
func TestOverlays(t *testing.T) {
	t.Parallel()
	far := memory.New(memory.Options{})
	near := far.Connect()
	m := market.New(near, true)
	woken := 0
	m.Subscribe(func() { woken++ })
	web, api, db := pool("web", 1), pool("api", 1), pool("db", 1)
	cheap := overlay("cheap", "0.5", in(requirement.KeyNodePool, "web", "api"), in(requirement.KeyInstanceType, "general-4"))
	m.Adopt(list(cheap), list(web, api, db))

	first := catalogOf(t, m, web)
	if got := priceOf(t, first, "general-4"); got != 500_000 {
		t.Errorf("price %d", got)
	}
	if catalogOf(t, m, api) != first {
		t.Error("pools that are treated alike do not share")
	}
	if priceOf(t, catalogOf(t, m, db), "general-4") == 500_000 {
		t.Error("the overlay is about another pool")
	}
	m.Adopt(list(cheap.DeepCopy()), list(db, web, api))
	if catalogOf(t, m, web) != first || woken != 1 {
		t.Errorf("the same judgement made another catalogue, or woke the controller (%d)", woken)
	}
	m.Adopt(list(overlay("dear", "9", in(requirement.KeyInstanceType, "general-4"))), list(web, api, db))
	if got := priceOf(t, catalogOf(t, m, db), "general-4"); got != 9_000_000 || woken != 2 {
		t.Errorf("price %d after another judgement, woken %d times", got, woken)
	}
}

// TestNewCatalogue: changes of the provider's catalogue are effective at once, at the overlay's
// price.
func TestNewCatalogue(t *testing.T) {
	t.Parallel()
	far := memory.New(memory.Options{Stock: map[cloud.Offer]int{
		{InstanceType: "general-4", Zone: "memory-1a", CapacityType: catalog.OnDemand}: 0}})
	near := far.Connect()
	m := market.New(near, true)
	web := pool("web", 1)
	m.Adopt(list(overlay("cheap", "0.5", in(requirement.KeyInstanceType, "general-4"))), list(web))
	before := catalogOf(t, m, web)
	_, err := near.Create(context.Background(), cloud.Claim{UID: "1", Name: "web-1", Class: cloud.ClassRef{Group: memory.Group, Kind: "MemoryNodeClass", Name: "default"},
		Requirements: requirement.NewSet(requirement.New(requirement.KeyInstanceType, requirement.In, "general-4"),
			requirement.New(requirement.KeyZone, requirement.In, "memory-1a"), requirement.New(requirement.KeyCapacityType, requirement.In, catalog.OnDemand))})
	if err == nil {
		t.Fatal("there was none to be had")
	}
	after := catalogOf(t, m, web)
	if after == before {
		t.Error("the shortage is not seen")
	}
	if got := priceOf(t, after, "general-4"); got != 500_000 {
		t.Errorf("price %d", got)
	}
}

// TestClassNotReady: the provider's answer comes first.
func TestClassNotReady(t *testing.T) {
	t.Parallel()
	m := market.New(memory.New(memory.Options{Classes: map[string]memory.Class{}}).Connect(), true)
	_, err := m.Catalog(context.Background(), pool("web", 1))
	var notReady *cloud.ClassNotReady
	if !errors.As(err, &notReady) {
		t.Errorf("error %v", err)
	}
}

// TestTheLastCatalogueIsKept: while the catalogue cannot be read, the last one still says what claims may become; that
// of a deleted pool is forgotten.
func TestTheLastCatalogueIsKept(t *testing.T) {
	t.Parallel()
	web, other, offers := pool("web", 1), pool("web", 1), &catalog.Catalog{}
	other.UID = "uid-of-another"
	shelf := &failing{offers: offers}
	supply := market.NewSupply(clock.RealClock{}, shelf, nil)
	for _, step := range []struct {
		what string
		err  error
		pool *karpenterv1.NodePool
		want *catalog.Catalog
	}{
		{"never read", errors.New("throttled"), web, nil},
		{"read", nil, web, offers},
		{"no longer read", errors.New("throttled"), web, offers},
		{"still not read", errors.New("throttled"), web, offers},
		{"another pool of that name", errors.New("throttled"), other, nil},
		{"the first one again", errors.New("throttled"), web, nil},
	} {
		shelf.err = step.err
		sale := supply.Of(t.Context(), []*karpenterv1.NodePool{step.pool})["web"]
		if sale.Catalog != step.want || !errors.Is(sale.Err, step.err) {
			t.Errorf("%s: %+v", step.what, sale)
		}
	}
}

// failing has one catalogue for all pools, or none.
type failing struct {
	offers *catalog.Catalog
	err    error
}

func (f *failing) Catalog(context.Context, *karpenterv1.NodePool) (*catalog.Catalog, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.offers, nil
}

// TestPoolsAreToldApart: by every kind of label that an overlay can select; the catalogue is the
// same as if each pool were alone.
func TestPoolsAreToldApart(t *testing.T) {
	t.Parallel()
	labelled := func(name string, labels map[string]string) *karpenterv1.NodePool {
		p := pool(name, 1)
		p.Spec.Template.Labels = labels
		return p
	}
	pools := list(
		pool("plain", 1), labelled("red", map[string]string{"team": "red"}), labelled("blue", map[string]string{"team": "blue"}),
		labelled("arm", map[string]string{requirement.KeyArch: "arm64"}), labelled("amd", map[string]string{requirement.KeyArch: "amd64"}),
		labelled("both", map[string]string{"team": "red", requirement.KeyArch: "amd64"}))
	cases := map[string]*karpenterv1alpha1.NodeOverlay{
		"a pool":           overlay("o", "7", in(requirement.KeyNodePool, "red", "arm")),
		"a custom label":   overlay("o", "7", in("team", "red", "green")),
		"no custom label":  overlay("o", "7", karpenterv1alpha1.Requirement{Key: "team", Operator: "NotIn", Values: []string{"red"}}),
		"a machine's":      overlay("o", "7", in(requirement.KeyArch, "amd64")),
		"both":             overlay("o", "7", in(requirement.KeyArch, "amd64"), in("team", "red")),
		"a machine's not":  overlay("o", "7", karpenterv1alpha1.Requirement{Key: requirement.KeyArch, Operator: "NotIn", Values: []string{"arm64"}}),
		"any of the class": overlay("o", "7", in("memory.tenon.dev/memorynodeclass", "default")),
	}
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			together := market.New(memory.New(memory.Options{}).Connect(), true)
			together.Adopt(list(o), pools)
			for _, p := range pools {
				alone := market.New(memory.New(memory.Options{}).Connect(), true)
				alone.Adopt(list(o), list(p))
				if got, want := catalogOf(t, together, p), catalogOf(t, alone, p); !cmp.Equal(got, want) {
					t.Errorf("pool %s does not get what it gets alone", p.Name)
				}
			}
		})
	}
}

// TestManyAtOnce: concurrent callers get the same catalogue.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	m := market.New(memory.New(memory.Options{}).Connect(), true)
	web := pool("web", 1)
	m.Adopt(list(overlay("cheap", "0.5", in(requirement.KeyInstanceType, "general-4"))), list(web))
	found := make([]*catalog.Catalog, 20)
	var group sync.WaitGroup
	for i := range found {
		group.Go(func() { found[i], _ = m.Catalog(context.Background(), web) })
	}
	group.Wait()
	for i, c := range found {
		if c == nil || c != found[0] {
			t.Errorf("caller %d got another catalogue", i)
		}
	}
}
