package static

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/podpolicy"
)

// occupied is a claim with the pods on its node.
type occupied struct {
	claim *karpenterv1.NodeClaim
	pods  []*corev1.Pod
}

// ranked sorts claims by how little is lost with them: claims without an instance first, then empty
// nodes, then nodes whose pods may be disrupted. Among the last it sorts by the cost of moving the
// pods, which is lower for nodes that would soon expire anyway. Otherwise the youngest go first:
// older nodes have proven to work.
func ranked(list []occupied, now time.Time) []occupied {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b occupied) int {
		return cmp.Or(
			cmp.Compare(a.class(now), b.class(now)),
			cmp.Compare(a.cost(now), b.cost(now)),
			b.claim.CreationTimestamp.Compare(a.claim.CreationTimestamp.Time),
			cmp.Compare(a.claim.Name, b.claim.Name),
		)
	})
	return out
}

// The classes, in the order of removal.
const (
	notLaunched = iota
	empty
	willing
	objecting
)

func (o occupied) class(now time.Time) int {
	objects := func(p *corev1.Pod) bool { return !podpolicy.Disruptable(p, now) }
	switch {
	case o.claim.Status.ProviderID == "":
		return notLaunched
	case slices.ContainsFunc(o.pods, objects):
		return objecting
	case !slices.ContainsFunc(o.pods, func(p *corev1.Pod) bool { return !podpolicy.Daemon(p) }):
		return empty
	}
	return willing
}

// whole is a complete lifetime.
const whole = 1000

// cost is the cost of moving all pods, weighted with the node's remaining share of its lifetime.
func (o occupied) cost(now time.Time) int64 {
	var sum int64
	for _, p := range o.pods {
		sum += int64(podpolicy.EvictionCost(p))
	}
	return sum / whole * remaining(o.claim, now)
}

// remaining is the share of its lifetime that a claim has left, out of whole.
func remaining(claim *karpenterv1.NodeClaim, now time.Time) int64 {
	life := claim.Spec.ExpireAfter.Duration
	if life == nil {
		return whole
	}
	if *life <= 0 {
		return 0
	}
	left := *life - now.Sub(claim.CreationTimestamp.Time)
	return min(max(int64(whole*left.Seconds()/life.Seconds()), 0), whole)
}
