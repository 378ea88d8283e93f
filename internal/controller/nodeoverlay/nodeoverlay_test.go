package nodeoverlay_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/internal/controller/nodeoverlay"
	"tenon/internal/market"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

type fixture struct {
	*harness.Harness
	market *market.Market
	c      reconcile.Controller
}

func set(t *testing.T, objects ...client.Object) fixture {
	t.Helper()
	r := harness.New(t, memory.Options{}, objects...)
	r.Kit.Settings.FeatureGates.NodeOverlay = true
	m := market.New(r.Kit.Cloud, true)
	return fixture{r, m, nodeoverlay.New(r.Kit, m)[0]}
}

func about(name string, weight int32, change func(*karpenterv1alpha1.NodeOverlaySpec)) *karpenterv1alpha1.NodeOverlay {
	o := &karpenterv1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Generation: 1}}
	o.Spec.Requirements = []karpenterv1alpha1.Requirement{{Key: requirement.KeyInstanceType, Operator: "In", Values: []string{"general-4"}}}
	o.Spec.Weight = &weight
	change(&o.Spec)
	return o
}

func price(text string) func(*karpenterv1alpha1.NodeOverlaySpec) {
	return func(s *karpenterv1alpha1.NodeOverlaySpec) { s.Price = &text }
}

func (s fixture) sold(t *testing.T, pool string) (*catalog.Type, error) {
	t.Helper()
	c, err := s.market.Catalog(context.Background(), harness.Pool(pool))
	if err != nil {
		return nil, err
	}
	for i := range c.Types {
		if c.Types[i].Name == "general-4" {
			return &c.Types[i], nil
		}
	}
	t.Fatal("general-4 is not sold")
	return nil, nil
}

func (s fixture) verdict(t *testing.T, name string) (metav1.ConditionStatus, string, string) {
	t.Helper()
	var o karpenterv1alpha1.NodeOverlay
	s.Get(name, &o)
	c, _ := o.Conditions(s.Clock.Now()).Get(karpenterv1alpha1.ConditionValidationSucceeded)
	return c.Status, c.Reason, c.Message
}

// TestJudgement: every overlay gets its verdict, and those in use are sold by.
func TestJudgement(t *testing.T) {
	t.Parallel()
	s := set(t, harness.Pool("web"),
		about("heavy", 10, price("2")),
		about("light", 5, func(spec *karpenterv1alpha1.NodeOverlaySpec) {
			spec.Capacity = karpenterv1alpha1.Amounts{"example.dev/slot": resource.MustParse("3")}
		}),
		about("earlier", 10, price("3")),
		about("wrong", 1, func(spec *karpenterv1alpha1.NodeOverlaySpec) {
			spec.Capacity = karpenterv1alpha1.Amounts{corev1.ResourceCPU: resource.MustParse("3")}
		}))
	if _, err := s.sold(t, "web"); err == nil {
		t.Error("sold before the overlays were judged")
	}
	if again := s.Run(s.c, "all"); again.After != 6*time.Hour {
		t.Errorf("looks again in %s", again.After)
	}
	for name, want := range map[string][3]string{
		"heavy":   {"True", "ValidationSucceeded", ""},
		"light":   {"True", "ValidationSucceeded", ""},
		"earlier": {"False", "Conflict", "conflict with another overlay"},
		"wrong":   {"False", "RuntimeValidation", "invalid capacity: cpu in resource, restricted"},
	} {
		if status, reason, message := s.verdict(t, name); [3]string{string(status), reason, message} != want {
			t.Errorf("%s: %s %s %q", name, status, reason, message)
		}
	}
	kind, err := s.sold(t, "web")
	if err != nil {
		t.Fatal(err)
	}
	if kind.Offerings[0].Price != 2_000_000 || kind.Capacity.Get("example.dev/slot") != 3 || kind.Capacity.CPU != 4000 {
		t.Errorf("sold as %+v at %d", kind.Capacity, kind.Offerings[0].Price)
	}
	s.Calls()
	s.Run(s.c, "all")
	for _, call := range s.Calls() {
		if call.IsWrite() {
			t.Errorf("nothing changed, and yet: %s", call)
		}
	}
}

// TestToldFirst: what could not be written is not sold by.
func TestToldFirst(t *testing.T) {
	t.Parallel()
	s := set(t, harness.Pool("web"), about("heavy", 10, price("2")))
	s.Run(s.c, "all")
	changed := about("heavy", 10, price("4"))
	changed.Generation = 2
	s.Put(changed)
	for name, failure := range map[string]func(harness.Call) error{
		"conflict": harness.Conflict,
		"broken":   func(harness.Call) error { return harness.ErrBroken },
	} {
		s.Fail(func(c harness.Call) error {
			if c.IsWrite() {
				return failure(c)
			}
			return nil
		})
		again, err := s.c.Reconcile(t.Context(), reconcile.Key{Name: "all"})
		if err == nil && again.After == 0 || again.After > time.Minute {
			t.Errorf("%s: error %v, looks again in %s", name, err, again.After)
		}
		if kind, err := s.sold(t, "web"); err != nil || kind.Offerings[0].Price != 2_000_000 {
			t.Errorf("%s: sold at %v, %v", name, kind, err)
		}
	}
	s.Fail(nil)
	s.Run(s.c, "all")
	if kind, err := s.sold(t, "web"); err != nil || kind.Offerings[0].Price != 4_000_000 {
		t.Errorf("sold at %v, %v", kind, err)
	}
}

// TestUnreadableCatalogue: such a pool waits, others do not, and we look again soon.
func TestUnreadableCatalogue(t *testing.T) {
	t.Parallel()
	special, other := harness.Pool("special"), harness.Pool("other")
	special.Spec.Template.Spec.NodeClassRef.Name = "special"
	other.Spec.Template.Spec.NodeClassRef.Group = "other.dev"
	s := set(t, harness.Pool("web"), special, other)
	s.Far.SetClass("default", memory.Class{})
	s.Far.SetClass("special", memory.Class{NotReady: "no network"})
	if again := s.Run(s.c, "all"); again.After != 30*time.Second {
		t.Errorf("looks again in %s", again.After)
	}
	if _, err := s.sold(t, "web"); err != nil {
		t.Error(err)
	}
	s.Far.SetClass("special", memory.Class{})
	if _, err := s.market.Catalog(t.Context(), special); err == nil {
		t.Error("sold without a judgement")
	}
	s.Run(s.c, "all")
	if _, err := s.market.Catalog(t.Context(), special); err != nil {
		t.Error(err)
	}
}

// TestOverlayIsGone: and with it what it said.
func TestOverlayIsGone(t *testing.T) {
	t.Parallel()
	heavy := about("heavy", 10, price("2"))
	s := set(t, harness.Pool("web"), heavy)
	s.Run(s.c, "all")
	s.Must(s.API.Delete(t.Context(), heavy))
	s.Run(s.c, "all")
	own := memory.Sample().Types
	kind, err := s.sold(t, "web")
	if err != nil {
		t.Fatal(err)
	}
	var want model.Money
	for i := range own {
		if own[i].Name == "general-4" {
			want = own[i].Offerings[0].Price
		}
	}
	if kind.Offerings[0].Price != want || kind.PriceOverlay {
		t.Errorf("sold at %d, want %d", kind.Offerings[0].Price, want)
	}
}

// TestGate: closed, there is no controller.
func TestGate(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	if got := nodeoverlay.New(r.Kit, market.New(r.Kit.Cloud, false)); got != nil {
		t.Errorf("%d controllers", len(got))
	}
}

// TestWakes: edits of overlays, pools and classes lead to the same key.
func TestWakes(t *testing.T) {
	t.Parallel()
	s := set(t)
	if len(s.c.Watches) != 3 {
		t.Fatalf("%d watches", len(s.c.Watches))
	}
	old := about("heavy", 1, price("2"))
	told, edited := old.DeepCopy(), old.DeepCopy()
	told.Status.Conditions = []metav1.Condition{{Type: "Ready"}}
	edited.Generation++
	if w := s.c.Watches[0]; w.Wakes(old, told) || !w.Wakes(old, edited) || !w.Wakes(old, nil) || !w.Wakes(nil, old) {
		t.Error("woken at the wrong time")
	}
	for _, w := range s.c.Watches {
		if keys := w.KeysOf(t.Context(), old); len(keys) != 1 || keys[0].Name != "all" {
			t.Errorf("keys %v", keys)
		}
	}
}
