package nodeclaim_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/internal/controller/nodeclaim/disruption"
	"tenon/internal/controller/nodepool/hash"
	"tenon/internal/market"
	"tenon/internal/nodeclaim"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
	"tenon/internal/translate"
)

// takeover is a cluster whose autoscaler was stopped a day ago: a pool, claims with
// instances, and the hashes that were written last, of some version.
func takeover(t *testing.T, version string) *harness.Harness {
	t.Helper()
	p := harness.Pool("web")
	p.Spec.Template.Labels = map[string]string{"team": "red"}
	p.Spec.Template.Spec.ExpireAfter = karpenterv1.DurationOf(720 * time.Hour)
	p.Spec.Template.Spec.Requirements = []karpenterv1.Requirement{harness.Requirement(corev1.LabelArchStable, "amd64")}
	old := map[string]string{}
	if version != "" {
		value := "1234567890123456789" // of an older way of hashing: it means nothing to us
		if version == karpenterv1.NodePoolHashVersion {
			value = p.Hash()
		}
		old = map[string]string{karpenterv1.AnnotationNodePoolHash: value, karpenterv1.AnnotationNodePoolHashVersion: version}
	}
	p.Annotations = old
	r := harness.New(t, memory.Options{}, p)
	words := r.Kit.Cloud.Describe().Vocabulary()
	for i := range 5 {
		claim := r.Named(fmt.Sprintf("web-%d", i), "web", func(c *karpenterv1.NodeClaim) {
			c.Annotations = old
			c.Labels["team"] = "red"
			c.CreationTimestamp = metav1.NewTime(r.Clock.Now().Add(-24 * time.Hour))
		})
		ordered, err := translate.Order(claim, words)
		r.Must(err)
		bought, err := r.Kit.Cloud.Create(t.Context(), ordered)
		r.Must(err)
		translate.Record(claim, ordered, bought)
		for _, name := range []string{karpenterv1.ConditionLaunched, karpenterv1.ConditionRegistered, karpenterv1.ConditionInitialized} {
			claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: name, Status: "True", Reason: name,
				LastTransitionTime: claim.CreationTimestamp}) // the first releases wrote no generation
		}
		r.Put(claim)
	}
	return r
}

// TestTakingOverDriftsNothing: at every moment while claims and pool are
// stamped, also after a crash in between, no claim has drifted; and once the pool is
// edited, all have.
func TestTakingOverDriftsNothing(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "v1", "v2", "v3"} {
		t.Run("hashes of version "+version, func(t *testing.T) {
			t.Parallel()
			r := takeover(t, version)
			marker := disruption.New(r.Kit, market.New(r.Kit.Cloud, false))
			drifted := func() (n int) {
				for i := range 5 {
					name := fmt.Sprintf("web-%d", i)
					r.Run(marker, name)
					for _, c := range r.Claim(name).Status.Conditions {
						if c.Type == karpenterv1.ConditionDrifted {
							n++
						}
					}
				}
				return n
			}
			stamper := hash.New(r.Kit)
			for crash := 0; ; crash++ {
				if n := drifted(); n > 0 {
					t.Fatalf("%d claims have drifted before write %d", n, crash)
				}
				writes := 0
				r.Fail(func(c harness.Call) error {
					if c.IsWrite() {
						if writes++; writes > 1 { // one write further each time, and then a crash
							return harness.ErrBroken
						}
					}
					return nil
				})
				_, err := stamper.Reconcile(t.Context(), reconcile.Key{Name: "web"})
				r.Fail(nil)
				if err == nil && writes == 0 {
					break
				}
			}
			if n := drifted(); n > 0 {
				t.Fatalf("%d claims have drifted in the end", n)
			}
			ours(t, r)
			edit(t, r)
			r.Run(stamper, "web")
			if n := drifted(); n != 5 {
				t.Errorf("after an edit %d claims have drifted, want all", n)
			}
		})
	}
}

// ours checks that a claim which is made now has the stamp that the pool has.
func ours(t *testing.T, r *harness.Harness) {
	t.Helper()
	var p karpenterv1.NodePool
	r.Get("web", &p)
	claim, err := nodeclaim.New(r.Kit.Cloud.Describe()).ForPool(&p)
	r.Must(err)
	for _, key := range []string{karpenterv1.AnnotationNodePoolHash, karpenterv1.AnnotationNodePoolHashVersion} {
		if claim.Annotations[key] == "" || claim.Annotations[key] != p.Annotations[key] {
			t.Errorf("%s is %q, and on the pool %q", key, claim.Annotations[key], p.Annotations[key])
		}
	}
}

func edit(t *testing.T, r *harness.Harness) {
	t.Helper()
	var p karpenterv1.NodePool
	r.Get("web", &p)
	p.Spec.Template.Annotations = map[string]string{"new": "yes"}
	r.Put(&p)
}
