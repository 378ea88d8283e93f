package turnover

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
)

// A node goes when it is too old, in spite of budgets. A pod that must not be disrupted blocks it for the
// terminationGracePeriod and no longer, and runs again elsewhere.
func TestExpiryWithTerminationGracePeriod(t *testing.T) {
	const grace = 20 * time.Second
	s := tell(t)
	s.class()
	pool := s.pool(onDemand("m6a.large"), func(p *karpenterv1.NodePool) {
		p.Spec.Template.Spec.ExpireAfter = karpenterv1.DurationOf(40 * time.Second)
		p.Spec.Template.Spec.TerminationGracePeriod = &scalar.Duration{Duration: grace}
	})
	s.deploy("web", 1, "1500m", func(pod *v1.PodTemplateSpec) {
		pod.Annotations[karpenterv1.AnnotationDoNotDisrupt] = "true"
	})
	first := s.Running("web", 1)[0]
	claim := s.claims()[0]
	s.Patch(pool, `{"spec":{"template":{"spec":{"expireAfter":"Never"}}}}`) // the next node stays
	s.awaitClaims("the claim expires", func(c []karpenterv1.NodeClaim) bool {
		return !slices.ContainsFunc(c, func(c karpenterv1.NodeClaim) bool { return c.Name == claim.Name && c.DeletionTimestamp == nil })
	})
	began := time.Now()
	s.Lab.AwaitGone(s, &first)
	if took := time.Since(began); took < grace/2 {
		t.Errorf("the pod was gone after %s; the grace is %s", took, grace)
	}
	s.replaced([]karpenterv1.NodeClaim{claim}, 1)
	s.Running("web", 1)
}
