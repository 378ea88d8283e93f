package garbagecollection

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
	"tenon/internal/translate"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func about() cloud.Description {
	return cloud.Description{Classes: []cloud.ClassKind{{Group: "test.dev", Version: "v1", Kind: "TestClass"}}, VisibleWithin: time.Minute}.WithDefaults()
}

func claimed(name, providerID string, launched time.Duration, change ...func(*karpenterv1.NodeClaim)) karpenterv1.NodeClaim {
	claim := karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}}
	claim.Spec.NodeClassRef = &karpenterv1.NodeClassReference{Group: "test.dev", Kind: "TestClass", Name: "default"}
	claim.Status.ProviderID = providerID
	if providerID != "" {
		claim.Status.Conditions = []metav1.Condition{{Type: "Launched", Status: "True", LastTransitionTime: metav1.NewTime(now.Add(-launched))}}
	}
	for _, c := range change {
		c(&claim)
	}
	return claim
}

// TestLost: which claims have lost their instance.
func TestLost(t *testing.T) {
	t.Parallel()
	shown := []cloud.Instance{{ProviderID: "here", State: cloud.Running}, {ProviderID: "stopped", State: cloud.Stopped}, {ProviderID: "ending", State: cloud.Terminating}}
	for name, tc := range map[string]struct {
		claim karpenterv1.NodeClaim
		want  bool
	}{
		"its instance is shown":                    {claimed("a", "here", time.Hour), false},
		"its instance is stopped, and so not gone": {claimed("a", "stopped", time.Hour), false},
		"its instance is on its way out":           {claimed("a", "ending", time.Hour), true},
		"its instance is missing":                  {claimed("a", "missing", time.Hour), true},
		"missing since it can be seen":             {claimed("a", "missing", time.Minute), true},
		"the list may be behind":                   {claimed("a", "missing", time.Minute-time.Second), false},
		"nothing was bought yet":                   {claimed("a", "", time.Hour), false},
		"it is being deleted anyway":               {claimed("a", "missing", time.Hour, func(c *karpenterv1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: now} }), false},
		"it is another provider's":                 {claimed("a", "missing", time.Hour, func(c *karpenterv1.NodeClaim) { c.Spec.NodeClassRef.Kind = "OtherClass" }), false},
	} {
		if got := len(lost([]karpenterv1.NodeClaim{tc.claim}, shown, now, about())) > 0; got != tc.want {
			t.Errorf("%s: lost %t, want %t", name, got, tc.want)
		}
	}
}

// TestOrphans: which instances have no claim.
func TestOrphans(t *testing.T) {
	t.Parallel()
	bought := func(ago time.Duration, uid string) cloud.Instance {
		return cloud.Instance{ProviderID: "p", ClaimUID: uid, State: cloud.Running, Launched: now.Add(-ago)}
	}
	ending := bought(time.Hour, "uid-gone")
	ending.State = cloud.Terminating
	for name, tc := range map[string]struct {
		instance cloud.Instance
		claims   []karpenterv1.NodeClaim
		want     bool
	}{
		"no claim at all":                                  {bought(time.Hour, "uid-a"), nil, true},
		"its claim does not know yet":                      {bought(time.Hour, "uid-a"), []karpenterv1.NodeClaim{claimed("a", "", 0)}, false},
		"its claim knows":                                  {bought(time.Hour, "uid-a"), []karpenterv1.NodeClaim{claimed("a", "p", 0)}, false},
		"a claim of the same name, made anew":              {bought(time.Hour, "uid-earlier"), []karpenterv1.NodeClaim{claimed("a", "", 0)}, true},
		"a claim that was restored from a backup":          {bought(time.Hour, "uid-earlier"), []karpenterv1.NodeClaim{claimed("a", "p", 0)}, false},
		"bought once more for a claim that has another":    {bought(time.Hour, "uid-a"), []karpenterv1.NodeClaim{claimed("a", "other", 0)}, true},
		"so young that the list may be behind":             {bought(time.Second, "uid-a"), nil, false},
		"on its way out":                                   {ending, nil, false},
		"another autoscaler's, known by its claim":         {bought(time.Hour, ""), []karpenterv1.NodeClaim{claimed("a", "p", 0)}, false},
		"another autoscaler's, which may still be written": {bought(4*time.Minute, ""), []karpenterv1.NodeClaim{claimed("a", "", 0)}, false},
		"another autoscaler's, which is not known":         {bought(time.Hour, ""), []karpenterv1.NodeClaim{claimed("a", "", 0)}, true},
	} {
		if got := len(orphans(tc.claims, []cloud.Instance{tc.instance}, now, about())) > 0; got != tc.want {
			t.Errorf("%s: orphan %t, want %t", name, got, tc.want)
		}
	}
}

// launch buys an instance and writes it on its claim, as the lifecycle would.
func launch(t *testing.T, r *harness.Harness, name string) cloud.Instance {
	t.Helper()
	claim := r.Named(name, "web", func(c *karpenterv1.NodeClaim) { c.Finalizers = []string{karpenterv1.FinalizerTermination} })
	order, err := translate.Order(claim, r.Kit.Cloud.Describe().Vocabulary())
	r.Must(err)
	i, err := r.Kit.Cloud.Create(context.Background(), order)
	r.Must(err)
	translate.Record(claim, order, i)
	conditions := claim.Conditions(r.Clock.Now())
	conditions.SetTrue(karpenterv1.ConditionLaunched)
	claim.Status.Conditions = conditions.List()
	r.Put(claim)
	return i
}

func deleted(r *harness.Harness, name string) bool { return r.Claim(name).DeletionTimestamp != nil }

// TestInstanceDies: its claim is deleted and counted once, unless its node is fine.
func TestInstanceDies(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	launch(t, r, "lives")
	r.Far.Kill(launch(t, r, "dead").ProviderID)
	killed := launch(t, r, "killed")
	r.Join(killed, harness.Ready)
	r.Far.Kill(killed.ProviderID)
	c := New(r.Kit, 1)
	for range 2 {
		if again := r.Run(c, "").After; again != period {
			t.Errorf("looks again in %s", again)
		}
	}
	got := []bool{deleted(r, "lives"), deleted(r, "dead"), deleted(r, "killed")}
	if diff := cmp.Diff([]bool{false, true, false}, got); diff != "" {
		t.Errorf("deleted: lives, dead, killed (-want +got):\n%s", diff)
	}
	if n := r.Count(r.Kit.Metrics.NodeclaimsDisruptedTotal); n != 1 {
		t.Errorf("counted %v", n)
	}
}

// partial is a provider whose list forgets everything.
type partial struct{ cloud.Provider }

func (partial) List(context.Context) ([]cloud.Instance, error) { return nil, nil }

// TestAWrongListRemovesNothing: an instance that Get still finds is not gone.
func TestAWrongListRemovesNothing(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	launch(t, r, "lives")
	r.Cloud(func(p cloud.Provider) cloud.Provider { return partial{p} })
	r.Run(New(r.Kit, 1), "")
	if deleted(r, "lives") {
		t.Error("deleted")
	}
}

// TestClaimGone: the instance goes, and with it the node that it became; others stay.
func TestClaimGone(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{Lag: time.Minute, Stop: time.Hour})
	kept, orphan := launch(t, r, "kept"), launch(t, r, "orphan")
	r.Join(kept)
	r.Join(orphan)
	claim := r.Claim("orphan")
	claim.Finalizers = nil
	r.Must(r.API.Update(context.Background(), claim))
	r.Must(r.API.Delete(context.Background(), claim))
	c := New(r.Kit, 1)
	state := func(id string) cloud.State {
		for _, i := range r.Far.Instances() {
			if i.ProviderID == id {
				return i.State
			}
		}
		return ""
	}
	r.Run(c, "")
	if state(orphan.ProviderID) == cloud.Terminating {
		t.Error("removed before the list can be trusted")
	}
	r.Clock.Step(2 * time.Minute)
	r.Run(c, "")
	if state(orphan.ProviderID) != cloud.Terminating || state(kept.ProviderID) == cloud.Terminating {
		t.Errorf("orphan is %s, kept is %s", state(orphan.ProviderID), state(kept.ProviderID))
	}
	if r.Get("node-orphan", &corev1.Node{}) || !r.Get("node-kept", &corev1.Node{}) {
		t.Error("the wrong node went")
	}
}

// TestAStaleCacheRemovesNothing: a cache that shows no claims is no proof that there are none,
// and neither is an API server that does not answer.
func TestAStaleCacheRemovesNothing(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	launch(t, r, "lives")
	r.Clock.Step(time.Hour)
	r.Lag("NodeClaimList")
	c := New(r.Kit, 1)
	r.Run(c, "")
	r.Fail(func(c harness.Call) error {
		if c.Uncached {
			return harness.ErrBroken
		}
		return nil
	})
	if _, err := c.Reconcile(context.Background(), reconcile.Key{}); err == nil {
		t.Error("no error")
	}
	if i := r.Far.Instances(); len(i) != 1 || i[0].State == cloud.Terminating {
		t.Errorf("instances %v", i)
	}
}

// TestListFails: then nothing is known, and nothing is done.
func TestListFails(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{Trouble: func(c memory.Call) memory.Fault {
		if c.Method == memory.List {
			return memory.Fault{Before: memory.ErrUnreachable}
		}
		return memory.Fault{}
	}})
	r.Far.Kill(launch(t, r, "dead").ProviderID)
	if _, err := New(r.Kit, 1).Reconcile(context.Background(), reconcile.Key{}); err == nil || deleted(r, "dead") {
		t.Errorf("error %v, deleted %t", err, deleted(r, "dead"))
	}
}

// TestAZoneFails: all its claims go in one round, with many workers as with one.
func TestAZoneFails(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, Workers} {
		r := harness.New(t, memory.Options{}, harness.Pool("web"))
		const many = 30
		for i := range many {
			r.Far.Kill(launch(t, r, fmt.Sprint("claim-", i)).ProviderID)
		}
		launch(t, r, "lives")
		r.Run(New(r.Kit, workers), "")
		gone := 0
		for i := range many {
			if deleted(r, fmt.Sprint("claim-", i)) {
				gone++
			}
		}
		if gone != many || deleted(r, "lives") || r.Count(r.Kit.Metrics.NodeclaimsDisruptedTotal) != many {
			t.Errorf("%d workers: %d of %d deleted, the one that lives deleted: %t", workers, gone, many, deleted(r, "lives"))
		}
	}
}
