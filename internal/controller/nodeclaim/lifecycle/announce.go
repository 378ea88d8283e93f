package lifecycle

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/registration"
)

// announce reports the conditions that have just been written, and so reports each once.
func (l *lifecycle) announce(ctx context.Context, claim *karpenterv1.NodeClaim, was, now condition.Set) {
	log := reconcile.Log(ctx).WithValues("provider-id", claim.Status.ProviderID, "Node", claim.Status.NodeName)
	if became(karpenterv1.ConditionRegistered, was, now) {
		log.Info("registered nodeclaim")
		l.kit.Metrics.NodesCreatedTotal.WithLabelValues(claim.Labels[karpenterv1.LabelNodePool], claim.Labels[corev1.LabelTopologyZone]).Inc()
		l.record(ctx, claim, true)
	}
	if became(karpenterv1.ConditionInitialized, was, now) {
		log.Info("initialized nodeclaim", "allocatable", claim.Status.Allocatable)
	}
}

// record notes how a registration ended, and says on the pool what follows from it. The
// condition informs, so a pool that cannot be written is logged and no more: the next
// outcome says it again.
func (l *lifecycle) record(ctx context.Context, claim *karpenterv1.NodeClaim, registered bool) {
	pool := &karpenterv1.NodePool{}
	name := claim.Labels[karpenterv1.LabelNodePool]
	owner, owned := poolOf(claim)
	if !owned {
		return
	}
	err := l.kit.Client.Get(ctx, client.ObjectKey{Name: name}, pool)
	if err == nil && pool.UID == owner {
		l.seed(pool)
		l.count(owner, registered)
		err = l.judgePool(ctx, pool, claim, registered)
	}
	if err != nil && !patch.Outdated(err) { // the first caller has said the same
		reconcile.Log(ctx).Error(err, "recording registration health", "NodePool", name)
	}
}

// poolOf is the UID of the pool that made the claim: one of the same name may be another.
func poolOf(claim *karpenterv1.NodeClaim) (types.UID, bool) {
	for _, o := range claim.OwnerReferences {
		if o.Kind == "NodePool" && o.Name == claim.Labels[karpenterv1.LabelNodePool] {
			return o.UID, true
		}
	}
	return "", false
}

// seed makes good for what a restart forgot.
func (l *lifecycle) seed(pool *karpenterv1.NodePool) {
	conditions := pool.Conditions(l.kit.Clock.Now())
	switch c, _ := conditions.Get(karpenterv1.ConditionNodeRegistrationHealthy); c.Status {
	case metav1.ConditionTrue:
		l.tracker.Seed(pool.UID, true)
	case metav1.ConditionFalse:
		l.tracker.Seed(pool.UID, false)
	}
}

func (l *lifecycle) count(pool types.UID, registered bool) {
	if registered {
		l.tracker.Succeed(pool)
		return
	}
	l.tracker.Fail(pool)
}

// judgePool writes the condition: "a failure that makes it unhealthy sets False, a success
// that leaves it healthy sets True".
func (l *lifecycle) judgePool(ctx context.Context, pool *karpenterv1.NodePool, claim *karpenterv1.NodeClaim, registered bool) error {
	health := l.tracker.Health(pool.UID)
	return patch.Retry(ctx, l.kit, pool, func(pool *karpenterv1.NodePool) error {
		before := pool.DeepCopy()
		conditions := pool.Conditions(l.kit.Clock.Now())
		switch {
		case registered && health == registration.Healthy:
			conditions.SetTrue(karpenterv1.ConditionNodeRegistrationHealthy)
		case !registered && health == registration.Unhealthy:
			reason, message := whyUnhealthy(claim)
			conditions.SetFalse(karpenterv1.ConditionNodeRegistrationHealthy, reason, message)
		default:
			return nil
		}
		pool.Status.Conditions = conditions.List()
		if equality.Semantic.DeepEqual(before.Status, pool.Status) {
			return nil // nodes come in bursts, and all of them say the same
		}
		return patch.StatusIfUnchanged(ctx, l.kit, before, pool)
	})
}

// whyUnhealthy is about the node, or about the launch if it did not come to a node.
func whyUnhealthy(claim *karpenterv1.NodeClaim) (reason, message string) {
	for _, c := range claim.Status.Conditions {
		if c.Type == karpenterv1.ConditionLaunched && c.Status != metav1.ConditionTrue {
			return c.Reason, c.Message
		}
	}
	return "RegistrationFailed", "Failed to register node"
}
