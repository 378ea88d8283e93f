package provisioner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/internal/testing/harness"
)

// Reasons why a pool cannot or may not buy are written on objects, and the purchase is not tried
// again at once.

// TestAPoolThatCanBuyNothingSaysSo: no offering of its cloud meets its requirements, or too few do.
func TestAPoolThatCanBuyNothingSaysSo(t *testing.T) {
	t.Parallel()
	nothing, few, enough := ready("nothing"), ready("few"), ready("enough")
	nothing.Spec.Template.Spec.Requirements = []karpenterv1.Requirement{harness.Requirement(corev1.LabelInstanceTypeStable, "no-such-type")}
	of := func(least int) []karpenterv1.Requirement {
		types := harness.Requirement(corev1.LabelInstanceTypeStable, "general-2", "no-such-type", "nor-this")
		types.MinValues = &least
		return []karpenterv1.Requirement{types}
	}
	few.Spec.Template.Spec.Requirements, enough.Spec.Template.Spec.Requirements = of(2), of(1)
	h := newFixture(t, nothing, few, enough, ready("default"))
	h.pods("web", 1, judged)
	h.decide()
	const text = "NodePool requirements filtered out all compatible available instance types"
	var said []string
	for _, e := range h.Events() {
		if strings.Contains(e, "NoCompatibleInstanceTypes") {
			said = append(said, e)
		}
	}
	slices.Sort(said)
	want := []string{"Warning NoCompatibleInstanceTypes few: " + text + " due to minValues incompatibility", "Warning NoCompatibleInstanceTypes nothing: " + text}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestLimitsHoldAndSaySo: the pool buys what its limit allows, and says on itself and on the pods
// what would help; when the limit is raised, the rest follows and the condition is removed.
func TestLimitsHoldAndSaySo(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default", limit("4")))
	h.pods("web", 10, judged)
	h.decide()
	if n := len(h.claims()); n != 1 {
		t.Fatalf("claims %v, want one within the limit", h.claims())
	}
	h.watch()
	pool := &karpenterv1.NodePool{}
	h.Get("default", pool)
	conditions := pool.Conditions(h.Clock.Now())
	if c, ok := conditions.Get(karpenterv1.ConditionLimitReached); !ok || !strings.Contains(c.Message, "raise the limits of pool default") {
		t.Errorf("the pool does not say what would help: %+v", c)
	}
	if events := strings.Join(h.Events(), "\n"); !strings.Contains(events, "Warning FailedScheduling web-") || !strings.Contains(events, "Warning LimitReached default") {
		t.Errorf("events lack the limit:\n%s", events)
	}
	pool.Spec.Limits[corev1.ResourceCPU] = resource.MustParse("100")
	pool.Generation++
	h.Must(h.API.Update(context.Background(), pool))
	conditions = pool.Conditions(h.Clock.Now())
	conditions.SetTrue(karpenterv1.ConditionValidationSucceeded)
	conditions.SetTrue(karpenterv1.ConditionNodeClassReady)
	pool.Status.Conditions = conditions.List()
	h.Must(h.API.Status().Update(context.Background(), pool))
	h.watch()
	h.decide()
	h.watch()
	if n := len(h.claims()); n != 2 {
		t.Errorf("claims %v, want one more", h.claims())
	}
	h.Get("default", pool)
	conditions = pool.Conditions(h.Clock.Now())
	if _, ok := conditions.Get(karpenterv1.ConditionLimitReached); ok {
		t.Error("the pool still says that its limit is reached")
	}
}

// TestAPoolNoLongerSaysWhatNoPodWaitsFor: a pool's condition about a waiting pod is removed once the pod is
// gone, also when another writer was faster, or the watch had not shown the condition yet.
func TestAPoolNoLongerSaysWhatNoPodWaitsFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		told bool // the watch shows the condition before the pod is deleted
		fail func(harness.Call) error
	}{
		"at once":                   {true, nil},
		"the watch is behind":       {false, nil},
		"another writer was faster": {true, harness.Conflict},
	} {
		h := newFixture(t, ready("default", limit("0")))
		h.pods("web", 1, judged)
		h.decide()
		if c.told {
			h.watch()
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0"}}
		h.Must(h.API.Delete(context.Background(), pod))
		h.world.Remove(pod)
		if c.fail != nil {
			h.Fail(func(call harness.Call) error {
				if call.String() == "patch status NodePool" {
					return c.fail(call)
				}
				return nil
			})
		}
		if again := h.Run(h.loop, "").After; again <= 0 || again > 10*time.Second {
			t.Errorf("%s: it looks again after %s, want ten seconds at most", name, again)
		}
		h.Fail(nil)
		h.watch()
		h.decide()
		pool := &karpenterv1.NodePool{}
		h.Get("default", pool)
		conditions := pool.Conditions(h.Clock.Now())
		if said, ok := conditions.Get(karpenterv1.ConditionLimitReached); ok {
			t.Errorf("%s: the pool still says %q", name, said.Message)
		}
	}
}

// TestWhatIsOutOfStockIsSaidOnThePool: since when, and when it is tried again; the condition is removed
// when the cloud has stock again.
func TestWhatIsOutOfStockIsSaidOnThePool(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	stock := func(outage *catalog.Outage) *catalog.Catalog {
		c := memory.Sample()
		for i := range c.Types {
			for j := range c.Types[i].Offerings {
				o := &c.Types[i].Offerings[j]
				o.Available, o.Outage = outage == nil, outage
			}
		}
		return c
	}
	h.stock = stock(&catalog.Outage{Since: h.Clock.Now(), Until: h.Clock.Now().Add(3 * time.Minute)})
	h.pods("web", 1, judged)
	h.decide()
	h.watch()
	want := fmt.Sprintf("(since %s, tried again at %s UTC)", h.Clock.Now().Add(-50*time.Millisecond).UTC().Format(time.TimeOnly), h.Clock.Now().Add(3*time.Minute-50*time.Millisecond).UTC().Format(time.TimeOnly))
	pool := &karpenterv1.NodePool{}
	h.Get("default", pool)
	conditions := pool.Conditions(h.Clock.Now())
	if c, ok := conditions.Get(karpenterv1.ConditionOutOfStock); !ok || !strings.Contains(c.Message, want) {
		t.Errorf("the pool says %q, want %q", c.Message, want)
	}
	if events := strings.Join(h.Events(), "\n"); !strings.Contains(events, "Warning OutOfStock default") || !strings.Contains(events, want) {
		t.Errorf("events lack %q:\n%s", want, events)
	}
	h.stock = stock(nil)
	h.Clock.Step(11 * time.Second)
	h.decide()
	h.watch()
	h.decide()
	if n := len(h.claims()); n != 1 {
		t.Errorf("%d claims, when there is stock again", n)
	}
	h.Get("default", pool)
	conditions = pool.Conditions(h.Clock.Now())
	if _, ok := conditions.Get(karpenterv1.ConditionOutOfStock); ok {
		t.Error("the pool still says that its offerings are out of stock")
	}
}

// TestAPoolWhoseNodesNeverJoinPauses: after two failures in a row nothing is bought for a
// minute, the pods say why, and then one more attempt is made.
func TestAPoolWhoseNodesNeverJoinPauses(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("web", 1, judged)
	uid := types.UID("uid-default")
	h.tracker.Fail(uid)
	h.tracker.Fail(uid)
	h.decide()
	h.expect()
	if events := strings.Join(h.Events(), "\n"); !strings.Contains(events, "the last 2 of its nodes never joined the cluster") {
		t.Errorf("events do not say why:\n%s", events)
	}
	h.Clock.Step(61 * time.Second)
	h.decide()
	h.expect("default 1")
}

// TestRefusedLaunchesAreTriedMoreAndMoreSlowly: while the offers stay the same, successive failing
// claims are created again after growing pauses, and the pod says so.
func TestRefusedLaunchesAreTriedMoreAndMoreSlowly(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("web", 1, judged)
	made := 0
	for begun := h.Clock.Now(); h.Clock.Since(begun) < time.Minute; h.Clock.Step(100 * time.Millisecond) {
		h.Run(h.loop, "")
		h.watch()
		var list karpenterv1.NodeClaimList
		h.Must(h.API.List(context.Background(), &list))
		for i := range list.Items {
			made++
			h.Vanish(&list.Items[i])
			h.world.Remove(&list.Items[i])
		}
	}
	if made < 5 || made > 9 {
		t.Errorf("%d claims in a minute", made)
	}
	if events := strings.Join(h.Events(), "\n"); !strings.Contains(events, "nodeclaims for it failed; the next is made at") {
		t.Errorf("the pod does not say why it waits:\n%s", events)
	}
}

// TestARefusalThatChangesTheOffersIsNoPause: if a refusal changes the offers, the next claim is a
// different one, and is created at once.
func TestARefusalThatChangesTheOffersIsNoPause(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.stock = memory.Sample()
	h.pods("web", 1, judged)
	for i := range 5 {
		h.decide()
		h.watch()
		claim := h.Claim(fmt.Sprintf("default-%05d", i+1))
		if claim == nil {
			t.Fatalf("claim %d is not made at once", i+1)
		}
		next := *h.stock // a catalogue in use does not change
		next.Types = slices.Clone(next.Types)
		next.Types[i].Offerings = slices.Clone(next.Types[i].Offerings)
		next.Types[i].Offerings[0].Available = !next.Types[i].Offerings[0].Available
		h.stock = &next
		h.Vanish(claim)
		h.world.Remove(claim)
	}
}
