package disruption

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/internal/market"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
	"tenon/internal/translate"
)

// fixture is a claim with its instance, in a pool, some time after it was made.
type fixture struct {
	*harness.Harness
	c     reconcile.Controller
	claim *karpenterv1.NodeClaim
}

type setting struct {
	pool  func(*karpenterv1.NodePool)
	claim func(*karpenterv1.NodeClaim)
	cloud memory.Options
}

func set(t *testing.T, s setting) fixture {
	t.Helper()
	pool := harness.Pool("web")
	pool.Annotations = stamped("1", "v3")
	pool.Spec.Disruption.ConsolidateAfter = karpenterv1.DurationOf(10 * time.Minute)
	if s.pool != nil {
		s.pool(pool)
	}
	r := harness.New(t, s.cloud, pool)
	claim := r.Named("web-1", "web", func(c *karpenterv1.NodeClaim) { c.Annotations = stamped("1", "v3") })
	ordered, err := translate.Order(claim, r.Kit.Cloud.Describe().Vocabulary())
	r.Must(err)
	bought, err := r.Kit.Cloud.Create(t.Context(), ordered)
	r.Must(err)
	translate.Record(claim, ordered, bought)
	conditions := claim.Conditions(r.Clock.Now())
	for _, name := range []string{karpenterv1.ConditionLaunched, karpenterv1.ConditionRegistered, karpenterv1.ConditionInitialized} {
		conditions.SetTrue(name)
	}
	claim.Status.Conditions = conditions.List()
	if s.claim != nil {
		s.claim(claim)
	}
	r.Put(claim)
	return fixture{r, New(r.Kit, market.New(r.Kit.Cloud, false)), claim}
}

// marks are those on the claim: the reason of Drifted, and whether it is consolidatable.
func (s fixture) marks() (string, bool) {
	claim := s.Claim("web-1")
	drifted, _ := conditionOf(claim, karpenterv1.ConditionDrifted)
	return drifted.Reason, meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionConsolidatable)
}

func (s fixture) expect(t *testing.T, when, drift string) {
	t.Helper()
	s.Run(s.c, "web-1")
	if got, _ := s.marks(); got != drift {
		t.Errorf("%s: drifted %q, want %q", when, got, drift)
	}
}

// TestDriftReasons: the first reason that applies is the reported one.
func TestDriftReasons(t *testing.T) {
	t.Parallel()
	edited := func(p *karpenterv1.NodePool) { p.Annotations = stamped("2", "v3") }
	narrowed := func(p *karpenterv1.NodePool) {
		p.Spec.Template.Spec.Requirements = []karpenterv1.Requirement{harness.Requirement(corev1.LabelArchStable, "arm64")}
	}
	for name, tc := range map[string]struct {
		setting setting
		image   string
		want    string
	}{
		"none":                       {setting{}, "", ""},
		"the template":               {setting{pool: edited}, "", "NodePoolDrifted"},
		"the requirements":           {setting{pool: narrowed}, "", "RequirementsDrifted"},
		"both":                       {setting{pool: func(p *karpenterv1.NodePool) { edited(p); narrowed(p) }}, "", "NodePoolDrifted"},
		"the provider's":             {setting{}, "image-2", "ImageDrift"},
		"ours before the provider's": {setting{pool: narrowed}, "image-2", "RequirementsDrifted"},
		"not launched, with every class": {setting{pool: edited, claim: func(c *karpenterv1.NodeClaim) {
			c.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionDrifted, Status: "True", Reason: "Old"}}
		}}, "", ""},
		"no longer drifted": {setting{claim: func(c *karpenterv1.NodeClaim) {
			c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: karpenterv1.ConditionDrifted, Status: "True", Reason: "Old"})
		}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t, tc.setting)
			s.Far.SetClass("default", memory.Class{Image: tc.image})
			s.expect(t, "first", tc.want)
			s.Calls()
			s.expect(t, "again", tc.want)
			for _, call := range s.Calls() {
				if call.IsWrite() {
					t.Errorf("nothing changed, and yet: %s", call)
				}
			}
		})
	}
}

// TestTypeNotFound: not within the first hour, and after a good answer not for half an hour.
func TestTypeNotFound(t *testing.T) {
	t.Parallel()
	s := set(t, setting{})
	gone := func() { s.Far.SetClass("default", memory.Class{Catalog: &catalog.Catalog{}}) }
	gone()
	s.expect(t, "made just now", "")
	s.Clock.Step(time.Hour)
	s.expect(t, "an hour old", "")
	s.Far.SetClass("default", memory.Class{})
	s.Clock.Step(time.Second)
	s.expect(t, "older, and listed", "")
	gone()
	s.Clock.Step(29 * time.Minute)
	s.expect(t, "found 29 minutes ago", "")
	s.Clock.Step(time.Minute)
	s.expect(t, "found half an hour ago", "InstanceTypeNotFound")
	s.Far.SetClass("default", memory.Class{})
	s.expect(t, "listed again", "")
	fresh := New(s.Kit, market.New(s.Kit.Cloud, false))
	gone()
	s.Run(fresh, "web-1")
	if got, _ := s.marks(); got != "InstanceTypeNotFound" {
		t.Errorf("after a restart: %q", got)
	}
}

// TestUnknown: what cannot be found out leaves a mark as it is, and the other mark does not wait.
func TestUnknown(t *testing.T) {
	t.Parallel()
	broken := errors.New("no answer")
	var trouble error
	s := set(t, setting{
		claim: func(c *karpenterv1.NodeClaim) {
			c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: karpenterv1.ConditionDrifted, Status: "True", Reason: "Before"})
		},
		cloud: memory.Options{Trouble: func(c memory.Call) memory.Fault {
			if c.Method == memory.Drifted {
				return memory.Fault{Before: trouble}
			}
			return memory.Fault{}
		}},
	})
	s.Clock.Step(time.Hour)
	trouble = broken
	if _, err := s.c.Reconcile(t.Context(), reconcile.Key{Name: "web-1"}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if drift, quiet := s.marks(); drift != "Before" || !quiet {
		t.Errorf("drifted %q, consolidatable %t", drift, quiet)
	}
	for _, passing := range []error{&cloud.ClassNotReady{}, &cloud.Throttled{}} {
		trouble = passing
		if again := s.Run(s.c, "web-1"); again.After != time.Minute {
			t.Errorf("%T: looks again in %s", passing, again.After)
		}
	}
	trouble = &cloud.NotFound{ProviderID: "gone"}
	s.expect(t, "an instance that is gone", "")
}

// TestAwaitingOverlays: without prices nothing is said about the type.
func TestAwaitingOverlays(t *testing.T) {
	t.Parallel()
	s := set(t, setting{})
	s.Clock.Step(2 * time.Hour)
	if again := s.Run(New(s.Kit, market.New(s.Kit.Cloud, true)), "web-1"); again.After != time.Minute {
		t.Errorf("looks again in %s", again.After)
	}
}

func TestConsolidatable(t *testing.T) {
	t.Parallel()
	const window = 10 * time.Minute
	type look struct {
		after time.Duration
		quiet bool
		again time.Duration
	}
	event := func(ago time.Duration) func(*karpenterv1.NodeClaim) {
		return func(c *karpenterv1.NodeClaim) {
			c.Status.LastPodEventTime = metav1.NewTime(c.CreationTimestamp.Add(-ago))
		}
	}
	wait := func(d karpenterv1.NillableDuration) func(*karpenterv1.NodePool) {
		return func(p *karpenterv1.NodePool) { p.Spec.Disruption.ConsolidateAfter = d }
	}
	for name, tc := range map[string]struct {
		setting setting
		looks   []look
	}{
		"from the end of initialization": {setting{}, []look{{0, false, 5 * time.Minute}, {8 * time.Minute, false, 2 * time.Minute}, {2 * time.Minute, true, 5 * time.Minute}}},
		"from the last pod":              {setting{claim: event(time.Minute)}, []look{{8 * time.Minute, false, time.Minute}, {time.Minute, true, 5 * time.Minute}}},
		"a pod long ago":                 {setting{claim: event(window)}, []look{{0, true, 5 * time.Minute}}},
		"at once":                        {setting{pool: wait(karpenterv1.DurationOf(0))}, []look{{0, true, 5 * time.Minute}}},
		"never":                          {setting{pool: wait(karpenterv1.NeverEnding())}, []look{{24 * time.Hour, false, 5 * time.Minute}}},
		"a static pool":                  {setting{pool: func(p *karpenterv1.NodePool) { p.Spec.Replicas = new(int64) }}, []look{{24 * time.Hour, false, 5 * time.Minute}}},
		"a node that has not started": {setting{claim: func(c *karpenterv1.NodeClaim) {
			c.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionLaunched, Status: "True"},
				{Type: karpenterv1.ConditionConsolidatable, Status: "True"}}
		}}, []look{{24 * time.Hour, false, 5 * time.Minute}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t, tc.setting)
			for _, l := range tc.looks {
				s.Clock.Step(l.after)
				again := s.Run(s.c, "web-1")
				if _, quiet := s.marks(); quiet != l.quiet || again.After != l.again {
					t.Errorf("after %s more: %t, looks again in %s; want %t, %s", l.after, quiet, again.After, l.quiet, l.again)
				}
			}
		})
	}
}

// TestPodCameBack: a mark goes when the node is no longer quiet.
func TestPodCameBack(t *testing.T) {
	t.Parallel()
	s := set(t, setting{})
	s.Clock.Step(time.Hour)
	s.Run(s.c, "web-1")
	old := s.Claim("web-1")
	claim := old.DeepCopy()
	claim.Status.LastPodEventTime = metav1.NewTime(s.Clock.Now())
	s.Put(claim)
	if !s.c.Watches[0].Wakes(old, claim) {
		t.Error("not woken")
	}
	s.Run(s.c, "web-1")
	if _, quiet := s.marks(); quiet {
		t.Error("still consolidatable")
	}
}

// TestLeftAlone: claims that are gone or going, of no pool, of one that is gone, or not ours.
func TestLeftAlone(t *testing.T) {
	t.Parallel()
	s := set(t, setting{claim: func(c *karpenterv1.NodeClaim) { c.Finalizers = []string{"x/y"} }})
	s.Named("hand", "")
	s.Named("orphan", "gone")
	s.Named("other", "web", func(c *karpenterv1.NodeClaim) { c.Spec.NodeClassRef.Group = "other.dev" })
	s.Must(s.API.Delete(context.Background(), s.Claim("web-1")))
	s.Clock.Step(time.Hour)
	s.Calls()
	for _, name := range []string{"web-1", "hand", "orphan", "other", "absent"} {
		s.Run(s.c, name)
	}
	for _, call := range s.Calls() {
		if call.IsWrite() {
			t.Errorf("writes: %s", call)
		}
	}
}

// TestWakes: pools wake their claims by edits and hashes, not by counts.
func TestWakes(t *testing.T) {
	t.Parallel()
	s := set(t, setting{})
	pools := s.c.Watches[1]
	old := harness.Pool("web")
	counted, hashed := old.DeepCopy(), old.DeepCopy()
	counted.Status.Nodes = new(int64)
	hashed.Annotations = stamped("2", "v3")
	if pools.Wakes(old, counted) || !pools.Wakes(old, hashed) || pools.Wakes(old, nil) {
		t.Error("woken at the wrong time")
	}
	if keys := pools.KeysOf(t.Context(), old); len(keys) != 1 || keys[0].Name != "web-1" {
		t.Errorf("wakes %v", keys)
	}
}
