package static_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/command"
	"tenon/internal/controller/static"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// fixture is a static pool. The cache shows the lists of claims at the time when it was frozen.
type fixture struct {
	*harness.Harness
	up, down reconcile.Controller
	frozen   *karpenterv1.NodeClaimList
}

func pool(replicas int64, change ...func(*karpenterv1.NodePool)) *karpenterv1.NodePool {
	p := harness.Pool("web")
	p.Spec.Replicas = &replicas
	p.Spec.Template.Spec.ExpireAfter = karpenterv1.NeverEnding()
	p.Status.Conditions = []metav1.Condition{{Type: condition.Ready, Status: "True", ObservedGeneration: 1}}
	for _, f := range change {
		f(p)
	}
	return p
}

func limit(nodes string) func(*karpenterv1.NodePool) {
	return func(p *karpenterv1.NodePool) {
		p.Spec.Limits = karpenterv1.Limits{karpenterv1.ResourceNodes: resource.MustParse(nodes)}
	}
}

func set(t *testing.T, p *karpenterv1.NodePool) *fixture {
	t.Helper()
	r := harness.New(t, memory.Options{}, p)
	r.Kit.Settings.FeatureGates.StaticCapacity = true
	s := &fixture{Harness: r}
	r.Kit.Client = interceptor.NewClient(r.Kit.Client.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if into, is := list.(*karpenterv1.NodeClaimList); is && s.frozen != nil {
				s.frozen.DeepCopyInto(into)
				return nil
			}
			return c.List(ctx, list, opts...)
		},
	})
	both := static.New(r.Kit)
	s.up, s.down = both[0], both[1]
	return s
}

func (s *fixture) freeze() { s.frozen = s.list() }
func (s *fixture) thaw()   { s.frozen = nil }

func (s *fixture) list() *karpenterv1.NodeClaimList {
	list := &karpenterv1.NodeClaimList{}
	s.Must(s.API.List(context.Background(), list, client.MatchingLabels{karpenterv1.LabelNodePool: "web"}))
	return list
}

// staying returns how many of the pool's claims are not being deleted.
func (s *fixture) staying() int {
	return len(slices.DeleteFunc(s.list().Items, func(c karpenterv1.NodeClaim) bool { return c.DeletionTimestamp != nil }))
}

// finalize ends the claims that are being deleted: none has an instance.
func (s *fixture) finalize() {
	for _, c := range s.list().Items {
		if c.DeletionTimestamp != nil {
			s.Vanish(&c)
		}
	}
}

// names returns the names of the pool's claims; those that are being deleted have a minus.
func (s *fixture) names() string {
	var names []string
	for _, c := range s.list().Items {
		name := strings.TrimPrefix(c.Name, "web-")
		if c.DeletionTimestamp != nil {
			name += "-"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func (s *fixture) expect(t *testing.T, when, want string) {
	t.Helper()
	if got := s.names(); got != want {
		t.Errorf("%s: claims %q, want %q", when, got, want)
	}
}

// hold keeps a deleted claim, as its finalizer would.
func hold(c *karpenterv1.NodeClaim) { c.Finalizers = []string{karpenterv1.FinalizerTermination} }

func disrupted(c *karpenterv1.NodeClaim) {
	c.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionDisruptionReason, Status: "True"}}
}

func TestProvision(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pool  *karpenterv1.NodePool
		make  func(*fixture)
		want  string
		again time.Duration
	}{
		"from nothing":                {pool(3), nil, "0 1 2", time.Minute},
		"none wanted":                 {pool(0), nil, "", time.Minute},
		"numbers are filled up":       {pool(3), func(s *fixture) { s.Named("web-1", "web") }, "0 1 2", time.Minute},
		"claims by hand count":        {pool(2), func(s *fixture) { s.Named("mine", "web", func(c *karpenterv1.NodeClaim) { c.OwnerReferences = nil }) }, "0 mine", time.Minute},
		"a name of a stranger":        {pool(2), func(s *fixture) { s.Named("web-0", "other") }, "1 2", time.Minute},
		"not while it is not ready":   {pool(3, func(p *karpenterv1.NodePool) { p.Status.Conditions[0].Status = "False" }), nil, "", time.Minute},
		"not while an edit is judged": {pool(3, func(p *karpenterv1.NodePool) { p.Generation = 2 }), nil, "", time.Minute},
		"up to the limit":             {pool(5, limit("3")), nil, "0 1 2", 30 * time.Second},
		"at the limit":                {pool(5, limit("0")), nil, "", 30 * time.Second},
		"what leaves counts for the limit": {pool(2, limit("2")), func(s *fixture) {
			s.Named("web-0", "web", hold)
			s.Delete(s.Claim("web-0"))
		}, "0- 1", 30 * time.Second},
		"what is disrupted has a replacement of its own": {pool(2), func(s *fixture) {
			s.Named("web-0", "web", disrupted)
			s.Named("web-1", "web")
		}, "0 1", time.Minute},
		"what leaves is replaced under another name": {pool(1), func(s *fixture) {
			s.Named("web-0", "web", hold)
			s.Delete(s.Claim("web-0"))
		}, "0- 1", time.Minute},
		"claims of an earlier pool of the name": {pool(1), func(s *fixture) {
			s.Named("web-0", "web", func(c *karpenterv1.NodeClaim) { c.OwnerReferences[0].UID = "earlier" })
		}, "0 1", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t, tc.pool)
			if tc.make != nil {
				tc.make(s)
			}
			if again := s.Run(s.up, "web"); again.After != tc.again {
				t.Errorf("looks again in %s, want %s", again.After, tc.again)
			}
			s.expect(t, "then", tc.want)
			s.Run(s.up, "web")
			s.expect(t, "and again", tc.want)
			if s.Count(s.Kit.Metrics.NodeclaimsDisruptedTotal) != 0 {
				t.Error("counted as disrupted")
			}
		})
	}
}

// TestClaim: claims come straight from the template, without requests, and are counted and owned.
func TestClaim(t *testing.T) {
	t.Parallel()
	s := set(t, pool(2))
	s.Run(s.up, "web")
	claim := s.Claim("web-1")
	if claim.GenerateName != "" || len(claim.Spec.Resources.Requests) != 0 || len(claim.OwnerReferences) != 1 ||
		claim.Annotations[karpenterv1.AnnotationNodePoolHash] == "" {
		t.Errorf("claim %+v", claim)
	}
	if _, said := claim.Annotations[karpenterv1.AnnotationMinValuesRelaxed]; said {
		t.Error("nothing was relaxed")
	}
	if n := s.Count(s.Kit.Metrics.NodeclaimsCreatedTotal); n != 2 {
		t.Errorf("%g counted", n)
	}
}

// TestStaleCache: with every state of the cache, no claim is created or deleted twice.
func TestStaleCache(t *testing.T) {
	t.Parallel()
	s := set(t, pool(3))
	s.freeze()
	for range 3 {
		s.Run(s.up, "web")
		s.expect(t, "with a cache that shows nothing", "0 1 2")
	}
	s.Put(pool(1))
	s.thaw()
	s.freeze()
	for range 3 {
		s.Run(s.down, "web")
	}
	if n := s.staying(); n != 1 {
		t.Errorf("with a cache that shows all: %d claims, want 1", n)
	}
	s.Put(pool(2))
	s.Run(s.up, "web")
	if n := s.staying(); n != 1 {
		t.Errorf("a cache that shows enough: %d claims, want no look at all", n)
	}
	s.thaw()
	s.Run(s.up, "web")
	if n := s.staying(); n != 2 {
		t.Errorf("in the end: %d claims, want 2", n)
	}
}

// TestRandomHistories: with a cache that lags, crashes, lost answers, claims that disappear, and
// edits, no run makes the pool too large, nor exceeds the limit. Once the faults end, the pool has
// exactly the number.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		dice := rand.New(rand.NewPCG(seed, 7))
		s := set(t, pool(3, limit("5")))
		replicas := int64(3)
		var story []string
		tell := func(format string, args ...any) { story = append(story, fmt.Sprintf(format, args...)) }
		for range 40 {
			switch dice.IntN(7) {
			case 0:
				s.freeze()
				tell("freeze")
			case 1:
				s.thaw()
				tell("thaw")
			case 2:
				replicas = int64(dice.IntN(6))
				s.Put(pool(replicas, limit("5")))
				tell("replicas %d", replicas)
			case 3:
				if all := s.list().Items; len(all) > 0 {
					gone := all[dice.IntN(len(all))]
					s.Vanish(&gone)
					tell("%s vanishes", gone.Name)
				}
			case 4, 5:
				before := len(s.list().Items)
				s.trouble(dice.IntN(4), dice.IntN(3))
				_, err := s.up.Reconcile(t.Context(), reconcile.Key{Name: "web"})
				s.Fail(nil)
				after := len(s.list().Items)
				tell("up: %d -> %d, %v", before, after, err)
				if after > max(before, int(replicas)) || after > 5 {
					t.Fatalf("seed %d: %s", seed, strings.Join(story, "\n"))
				}
			case 6:
				before := len(s.list().Items)
				_, err := s.down.Reconcile(t.Context(), reconcile.Key{Name: "web"})
				s.finalize()
				after := len(s.list().Items)
				tell("down: %d -> %d, %v", before, after, err)
				if after < min(before, int(replicas)) {
					t.Fatalf("seed %d: %s", seed, strings.Join(story, "\n"))
				}
			}
		}
		s.thaw()
		for range 3 {
			s.Run(s.up, "web")
			s.Run(s.down, "web")
			s.finalize()
		}
		if n := len(s.list().Items); n != int(replicas) {
			t.Errorf("seed %d: %d claims, want %d:\n%s", seed, n, replicas, strings.Join(story, "\n"))
		}
	}
}

// trouble makes the nth creation of a claim fail, before it takes effect or after.
func (s *fixture) trouble(kind, nth int) {
	seen := 0
	s.Fail(func(c harness.Call) error {
		if c.Verb != "create" {
			return nil
		}
		seen++
		if seen <= nth || kind > 1 {
			return nil
		}
		if kind == 1 { // the answer is lost: the claim exists, and the caller does not know
			claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: c.Name, UID: types.UID("lost-" + c.Name),
				Labels: map[string]string{karpenterv1.LabelNodePool: "web"}}}
			s.Must(client.IgnoreAlreadyExists(s.API.Create(context.Background(), claim)))
		}
		return harness.ErrBroken
	})
}

// TestAnotherLeader: a second process that counted at the same time creates the same claims.
func TestAnotherLeader(t *testing.T) {
	t.Parallel()
	s := set(t, pool(3))
	other := static.New(s.Kit)[0]
	once := false
	s.Fail(func(c harness.Call) error {
		if c.Verb == "create" && !once {
			once = true
			s.Run(other, "web")
		}
		return nil
	})
	if _, err := s.up.Reconcile(t.Context(), reconcile.Key{Name: "web"}); err == nil {
		t.Error("did not notice the other")
	}
	s.expect(t, "both", "0 1 2")
	s.Run(s.up, "web")
	s.expect(t, "later", "0 1 2")
}

// recorded puts the record of a command on a claim, one that replaces a claim with another one.
func recorded(takes, brings string) func(*karpenterv1.NodeClaim) {
	record := command.Record{ID: "x", Claims: []command.Member{{Claim: takes}}, Replacements: []command.Member{{Claim: brings}}}
	return func(c *karpenterv1.NodeClaim) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, karpenterv1.AnnotationDisruption, record.String())
	}
}

func TestDeprovision(t *testing.T) {
	t.Parallel()
	launched := func(c *karpenterv1.NodeClaim) { c.Status.ProviderID = "memory:///" + c.Name }
	node := func(s *fixture, claim string, pods ...func(*corev1.Pod)) {
		s.Named(claim, "web", launched)
		s.Must(s.API.Create(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + claim}, Spec: corev1.NodeSpec{ProviderID: "memory:///" + claim}}))
		for i, change := range pods {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("%s-%d", claim, i)}, Spec: corev1.PodSpec{NodeName: "node-" + claim}}
			change(p)
			s.Must(s.API.Create(context.Background(), p))
		}
	}
	plain := func(*corev1.Pod) {}
	daemon := func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent"}}
	}
	objecting := func(p *corev1.Pod) { p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"} }
	cheap := func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: "-100000000"} }
	for name, tc := range map[string]struct {
		replicas int64
		make     func(*fixture)
		want     string // the remaining claims
	}{
		"just enough": {2, func(s *fixture) { s.Named("web-0", "web"); s.Named("web-1", "web") }, "0 1"},
		"what has no instance goes first": {1, func(s *fixture) {
			node(s, "web-0")
			s.Named("web-1", "web")
		}, "0"},
		"then empty nodes": {1, func(s *fixture) {
			node(s, "web-0", daemon)
			node(s, "web-1", plain)
		}, "1"},
		"a daemon that objects is no empty node": {1, func(s *fixture) {
			node(s, "web-0", daemon, func(p *corev1.Pod) { objecting(p) })
			node(s, "web-1", plain)
		}, "0"},
		"then those whose pods are cheap to move": {1, func(s *fixture) {
			node(s, "web-0", plain, plain)
			node(s, "web-1", plain, cheap)
			node(s, "web-2", plain, plain, cheap)
		}, "2"},
		"last those whose pods object, but they do go": {0, func(s *fixture) { node(s, "web-0", objecting) }, ""},
		"what a command is about to replace is not counted": {1, func(s *fixture) {
			s.Named("web-0", "web", recorded("web-0", "web-1"))
			s.Named("web-1", "web", recorded("web-0", "web-1"))
		}, "0 1"},
		"its replacement counts": {1, func(s *fixture) {
			s.Named("web-0", "web", recorded("web-0", "web-1"))
			s.Named("web-1", "web", recorded("web-0", "web-1"))
			node(s, "web-2")
		}, "0 2"},
		"what is disrupted or leaving is not counted": {1, func(s *fixture) {
			s.Named("web-0", "web", disrupted)
			s.Named("web-1", "web")
			s.Named("web-2", "web", hold)
			s.Delete(s.Claim("web-2"))
		}, "0 1 2-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t, pool(tc.replicas))
			tc.make(s)
			if again := s.Run(s.down, "web"); again.After != time.Minute {
				t.Errorf("looks again in %s", again.After)
			}
			s.expect(t, "then", tc.want)
		})
	}
}

// TestSoonToExpire: of two nodes with the same pods, the one that expires earlier is removed.
func TestSoonToExpire(t *testing.T) {
	t.Parallel()
	s := set(t, pool(1))
	for name, age := range map[string]time.Duration{"web-0": 9 * time.Hour, "web-1": time.Hour} {
		s.Named(name, "web", func(c *karpenterv1.NodeClaim) {
			c.Status.ProviderID = "memory:///" + c.Name
			c.Spec.ExpireAfter = karpenterv1.DurationOf(10 * time.Hour)
			c.CreationTimestamp = metav1.NewTime(s.Clock.Now().Add(-age))
		})
		s.Must(s.API.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{ProviderID: "memory:///" + name}}))
		s.Must(s.API.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{NodeName: name}}))
	}
	s.Run(s.down, "web")
	s.expect(t, "then", "1")
}

// TestNotOurs: dynamic pools, deleted pools and pools of others are ignored; without the gate there
// is no controller.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*karpenterv1.NodePool){
		"dynamic":   func(p *karpenterv1.NodePool) { p.Spec.Replicas = nil },
		"another's": func(p *karpenterv1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Group = "other.dev" },
	} {
		s := set(t, pool(3, change))
		s.Run(s.up, "web")
		s.Run(s.down, "web")
		s.Run(s.up, "absent")
		if got := s.names(); got != "" {
			t.Errorf("%s: claims %q", name, got)
		}
	}
	if static.New(harness.New(t, memory.Options{}).Kit) != nil {
		t.Error("there are controllers although the gate is closed")
	}
}

// TestWakes: edits, readiness, and new and deleted claims wake the controllers.
func TestWakes(t *testing.T) {
	t.Parallel()
	s := set(t, pool(1))
	pools, claims := s.up.Watches[0], s.up.Watches[1]
	old := pool(1)
	counted, scaled, unready := old.DeepCopy(), old.DeepCopy(), old.DeepCopy()
	counted.Status.Nodes = new(int64)
	scaled.Generation++
	unready.Status.Conditions[0].ObservedGeneration = 0
	if pools.Wakes(old, counted) || !pools.Wakes(old, scaled) || !pools.Wakes(unready, old) {
		t.Error("a pool wakes at the wrong time")
	}
	claim := s.Named("web-0", "web")
	launched, marked := claim.DeepCopy(), claim.DeepCopy()
	launched.Status.ProviderID = "memory:///1"
	disrupted(marked)
	if claims.Wakes(claim, launched) || !claims.Wakes(claim, marked) || !claims.Wakes(nil, claim) || !claims.Wakes(claim, nil) {
		t.Error("a claim wakes at the wrong time")
	}
	if keys := claims.KeysOf(t.Context(), claim); len(keys) != 1 || keys[0].Name != "web" {
		t.Errorf("wakes %v", keys)
	}
}
