package removal_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/cloud/memory"
	"tenon/internal/removal"
	"tenon/internal/testing/harness"
)

func made(r *harness.Harness) *karpenterv1.NodeClaim {
	claim := r.Named("web-1", "web", func(c *karpenterv1.NodeClaim) {
		c.Finalizers = []string{karpenterv1.FinalizerTermination}
		c.Labels[karpenterv1.LabelCapacityType] = "spot"
		c.Spec.TerminationGracePeriod = &scalar.Duration{Duration: time.Minute}
	})
	claim.Status.NodeName = "node-1"
	r.Put(claim)
	return r.Claim("web-1")
}

// TestDelete: one deletion, one count with all labels, and the pods that will move.
func TestDelete(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	claim := made(r)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "moves", Namespace: "a"}, Spec: corev1.PodSpec{NodeName: "node-1"}}
	daemon := pod.DeepCopy()
	daemon.Name, daemon.OwnerReferences = "stays", []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d"}}
	r.Must(r.API.Create(context.Background(), pod))
	r.Must(r.API.Create(context.Background(), daemon))

	deleted, err := removal.Delete(context.Background(), r.Kit, claim, removal.Expired)
	if err != nil || !deleted || r.Claim("web-1").DeletionTimestamp == nil {
		t.Fatalf("deleted %t, error %v", deleted, err)
	}
	if deleted, err := removal.Delete(context.Background(), r.Kit, r.Claim("web-1"), removal.Expired); err != nil || deleted {
		t.Errorf("deleted again %t, error %v", deleted, err)
	}
	labels := []string{"expired", "web", "spot", "when_empty_or_underutilized", "eventual"}
	if n := r.Count(r.Kit.Metrics.NodeclaimsDisruptedTotal.WithLabelValues(labels...)); n != 1 {
		t.Errorf("counted %v claims", n)
	}
	if n := r.Count(r.Kit.Metrics.PodsDisruptionInitiatedTotal.WithLabelValues(labels...)); n != 1 {
		t.Errorf("counted %v pods", n)
	}
}

// TestSeenTooLongAgo: a claim that has changed since is not deleted, and one that is gone
// is no error; neither is counted.
func TestSeenTooLongAgo(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	old := made(r)
	r.Put(r.Claim("web-1"))
	changed := r.Claim("web-1")
	changed.Labels["team"] = "red"
	r.Put(changed)
	if deleted, err := removal.Delete(context.Background(), r.Kit, old, removal.Expired); deleted || !apierrors.IsConflict(err) {
		t.Errorf("deleted %t, error %v", deleted, err)
	}
	now := r.Claim("web-1")
	now.Finalizers = nil
	r.Put(now)
	r.Must(r.API.Delete(context.Background(), r.Claim("web-1")))
	if deleted, err := removal.Delete(context.Background(), r.Kit, old, removal.Expired); deleted || err != nil {
		t.Errorf("deleted %t, error %v", deleted, err)
	}
	if n := r.Count(r.Kit.Metrics.NodeclaimsDisruptedTotal); n != 0 {
		t.Errorf("counted %v", n)
	}
}

// TestNames: policies and modes as metrics spell them.
func TestNames(t *testing.T) {
	t.Parallel()
	for policy, want := range map[karpenterv1.ConsolidationPolicy]string{
		karpenterv1.ConsolidateWhenEmpty:                "when_empty",
		karpenterv1.ConsolidateWhenEmptyOrUnderutilized: "when_empty_or_underutilized",
		karpenterv1.ConsolidateBalanced:                 "balanced",
		"":                                              "when_empty_or_underutilized",
		"Unheard":                                       "",
	} {
		pool := harness.Pool("web")
		pool.Spec.Disruption.ConsolidationPolicy = policy
		if got := removal.Policy(pool); got != want {
			t.Errorf("%q is %q, want %q", policy, got, want)
		}
	}
	for want, grace := range map[string]*scalar.Duration{"graceful": nil, "forceful": {}, "eventual": {Duration: time.Second}} {
		claim := &karpenterv1.NodeClaim{Spec: karpenterv1.NodeClaimSpec{TerminationGracePeriod: grace}}
		if got := removal.Mode(claim); got != want {
			t.Errorf("%v is %q, want %q", grace, got, want)
		}
	}
}
