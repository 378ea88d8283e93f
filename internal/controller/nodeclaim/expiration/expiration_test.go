package expiration

import (
	"context"
	"fmt"
	"testing"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/cloud/memory"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

func living(d karpenterv1.NillableDuration) func(*karpenterv1.NodeClaim) {
	return func(c *karpenterv1.NodeClaim) {
		c.Spec.ExpireAfter = d
		c.Finalizers = []string{karpenterv1.FinalizerTermination}
	}
}

// TestExpiration: a claim goes when its time is over, and not before.
func TestExpiration(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		life    karpenterv1.NillableDuration
		age     time.Duration
		deleted bool
		again   time.Duration
	}{
		"young":         {karpenterv1.DurationOf(time.Hour), 20 * time.Minute, false, 40 * time.Minute},
		"to the second": {karpenterv1.DurationOf(time.Hour), time.Hour, true, 0},
		"long past":     {karpenterv1.DurationOf(time.Hour), 9 * time.Hour, true, 0},
		"never":         {karpenterv1.NeverEnding(), 9000 * time.Hour, false, 0},
		"not set":       {karpenterv1.NillableDuration{}, 9000 * time.Hour, false, 0},
		"at once":       {karpenterv1.DurationOf(0), 0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{}, harness.Pool("web"))
			r.Named("web-1", "web", living(tc.life))
			r.Clock.Step(tc.age)
			c := New(r.Kit)
			if again := r.Run(c, "web-1").After; again != tc.again {
				t.Errorf("looks again in %s, want %s", again, tc.again)
			}
			r.Run(c, "web-1") // a second look changes nothing
			if deleted := r.Claim("web-1").DeletionTimestamp != nil; deleted != tc.deleted {
				t.Errorf("deleted %t", deleted)
			}
			counted := r.Count(r.Kit.Metrics.NodeclaimsDisruptedTotal.WithLabelValues("expired", "web", "", "when_empty_or_underutilized", "graceful"))
			if want := map[bool]float64{true: 1}[tc.deleted]; counted != want {
				t.Errorf("counted %v, want %v", counted, want)
			}
		})
	}
}

// TestOneAtATime: claims of the same age go a second apart.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	for n := range 3 {
		r.Named(fmt.Sprintf("web-%d", n), "", living(karpenterv1.DurationOf(time.Hour)))
	}
	r.Clock.Step(time.Hour)
	c := New(r.Kit)
	for second := range 3 {
		for n := range 3 {
			r.Run(c, fmt.Sprintf("web-%d", n))
		}
		if n := deleted(t, r); n != second+1 {
			t.Errorf("after %d seconds %d are deleted", second, n)
		}
		r.Clock.Step(pace)
	}
}

func deleted(t *testing.T, r *harness.Harness) int {
	t.Helper()
	var list karpenterv1.NodeClaimList
	r.Must(r.API.List(context.Background(), &list))
	n := 0
	for _, claim := range list.Items {
		if claim.DeletionTimestamp != nil {
			n++
		}
	}
	return n
}

// TestLeftAlone: claims of others, and conflicts, which come back.
func TestLeftAlone(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	r.Named("theirs", "", living(karpenterv1.DurationOf(0)), func(c *karpenterv1.NodeClaim) { c.Spec.NodeClassRef.Kind = "OtherClass" })
	r.Named("ours", "", living(karpenterv1.DurationOf(0)), func(c *karpenterv1.NodeClaim) {
		c.Spec.TerminationGracePeriod = &scalar.Duration{}
	})
	c := New(r.Kit)
	r.Run(c, "theirs")
	r.Fail(func(c harness.Call) error {
		if c.Verb == "delete" {
			return harness.Conflict(c)
		}
		return nil
	})
	if again := r.Run(c, "ours"); again == reconcile.Never {
		t.Error("a conflict is the end of it")
	}
	if n := deleted(t, r); n != 0 || r.Count(r.Kit.Metrics.NodeclaimsDisruptedTotal) != 0 {
		t.Errorf("%d deleted", n)
	}
	r.Fail(nil)
	r.Clock.Step(pace)
	r.Run(c, "ours")
	if n := r.Count(r.Kit.Metrics.NodeclaimsDisruptedTotal.WithLabelValues("expired", "", "", "", "forceful")); n != 1 {
		t.Errorf("counted %v", n)
	}
}
