package static

import (
	"math"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
	"tenon/internal/command"
)

// poolClaims are a pool's claims, by how they count for its number of replicas.
type poolClaims struct {
	running []*karpenterv1.NodeClaim
	// pending are being disrupted: they run, and each has or gets its own replacement.
	pending []*karpenterv1.NodeClaim
	// leaving claims still have a node, which counts for limits, and a name.
	leaving []*karpenterv1.NodeClaim
}

func count(pool *karpenterv1.NodePool, claims []*karpenterv1.NodeClaim) poolClaims {
	var c poolClaims
	for _, claim := range claims {
		switch {
		case claim.DeletionTimestamp != nil || isOfAnother(pool, claim):
			c.leaving = append(c.leaving, claim)
		case command.Removes(claim):
			c.pending = append(c.pending, claim)
		default:
			c.running = append(c.running, claim)
		}
	}
	return c
}

// isOfAnother reports whether a claim belongs to an earlier pool of this name: it is about to be
// collected with that pool. Claims without an owner were created by hand, and count.
func isOfAnother(pool *karpenterv1.NodePool, claim *karpenterv1.NodeClaim) bool {
	of := func(isIt func(metav1.OwnerReference) bool) bool {
		return slices.ContainsFunc(claim.OwnerReferences, func(r metav1.OwnerReference) bool {
			return r.Kind == "NodePool" && isIt(r)
		})
	}
	return of(func(metav1.OwnerReference) bool { return true }) &&
		!of(func(r metav1.OwnerReference) bool { return r.UID == pool.UID })
}

// missing is how many claims the pool lacks. Disruption, not this controller, creates the
// replacements of claims that are being disrupted.
func (c poolClaims) missing(pool *karpenterv1.NodePool) int {
	return max(int(*pool.Spec.Replicas)-len(c.running)-len(c.pending), 0)
}

// extra is how many surplus claims the pool has.
func (c poolClaims) extra(pool *karpenterv1.NodePool) int {
	return max(len(c.running)-int(*pool.Spec.Replicas), 0)
}

// room is how many more nodes the pool's limit allows.
func (c poolClaims) room(pool *karpenterv1.NodePool) int {
	limit, limited := pool.Spec.Limits[karpenterv1.ResourceNodes]
	if !limited {
		return math.MaxInt
	}
	return max(int(scalar.Amount(limit))-len(c.running)-len(c.pending)-len(c.leaving), 0)
}

// freeNames are the names of the next claims: the pool's name with the lowest numbers that no claim
// has.
func (c poolClaims) freeNames(pool string) func() string {
	taken := map[string]bool{}
	for _, claim := range slices.Concat(c.running, c.pending, c.leaving) {
		taken[claim.Name] = true
	}
	next := 0
	return func() string {
		for {
			name := pool + "-" + strconv.Itoa(next)
			next++
			if !taken[name] {
				return name
			}
		}
	}
}

// poolMatters reports that the pool was edited, as by the scale subresource, or has become ready.
// Counts in the status do not matter.
func poolMatters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	a, b := old.(*karpenterv1.NodePool), changed.(*karpenterv1.NodePool)
	return a.Generation != b.Generation || isReady(a) != isReady(b)
}

// isReady reports whether the pool was found ready in its present generation: an edit makes it
// unready for a moment.
func isReady(pool *karpenterv1.NodePool) bool {
	return slices.ContainsFunc(pool.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == condition.Ready && c.Status == metav1.ConditionTrue && c.ObservedGeneration == pool.Generation
	})
}

// claimMatters reports that a claim was created, deleted, or began to be deleted or replaced.
func claimMatters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return true
	}
	a, b := old.(*karpenterv1.NodeClaim), changed.(*karpenterv1.NodeClaim)
	return (a.DeletionTimestamp == nil) != (b.DeletionTimestamp == nil) ||
		a.Labels[karpenterv1.LabelNodePool] != b.Labels[karpenterv1.LabelNodePool] ||
		command.Removes(a) != command.Removes(b)
}
