package cluster

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Weights of the scores, as the real one has them.
const (
	weightTaints    = 3
	weightAffinity  = 2
	weightSpread    = 2
	weightAllocated = 1
	weightBalanced  = 1
	fullScore       = 100
)

// score prefers nodes that are emptier and evenly used, and what the pod prefers.
func (a *ask) score(r *room) int64 {
	score := weightAllocated*a.emptiness(r) + weightBalanced*a.balance(r)
	if preferred := a.pod.Spec.Affinity; preferred != nil && preferred.NodeAffinity != nil {
		terms, err := nodeaffinity.NewPreferredSchedulingTerms(preferred.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		if err == nil {
			score += weightAffinity * min(terms.Score(r.node), fullScore)
		}
	}
	if !slices.ContainsFunc(r.node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectPreferNoSchedule && !tolerates(a.pod, t)
	}) {
		score += weightTaints * fullScore
	}
	return score
}

// emptiness is LeastAllocated: the share of CPU and memory that is left.
func (a *ask) emptiness(r *room) int64 {
	share := func(free, used, asked int64) int64 {
		if left := free - asked; free+used > 0 && left > 0 {
			return left * fullScore / (free + used)
		}
		return 0
	}
	return (share(r.free.cpu, r.used.cpu, a.requests.cpu) + share(r.free.memory, r.used.memory, a.requests.memory)) / 2
}

// balance is BalancedAllocation: how close the shares of CPU and memory are that would be
// used.
func (a *ask) balance(r *room) int64 {
	share := func(free, used, asked int64) float64 {
		return min(float64(used+asked)/float64(max(free+used, 1)), 1)
	}
	apart := math.Abs(share(r.free.cpu, r.used.cpu, a.requests.cpu)-share(r.free.memory, r.used.memory, a.requests.memory)) / 2
	return int64((1 - apart) * fullScore)
}

// crowds is PodTopologySpread for constraints that need not hold: nodes whose domains have
// fewer pods of the same kind score more.
func (a *ask) crowds(fit []*room) []int64 {
	scores := make([]int64, len(fit))
	if len(a.soft) == 0 {
		return scores
	}
	crowd := make([]float64, len(fit))
	for i := range a.soft {
		s := &a.soft[i]
		weight := math.Log(float64(len(s.counts) + 2))
		for j, r := range fit {
			if value, has := r.node.Labels[s.TopologyKey]; has {
				crowd[j] += float64(s.counts[value])*weight + float64(s.MaxSkew-1)
			}
		}
	}
	if len(fit) == 0 {
		return scores
	}
	least, most := slices.Min(crowd), slices.Max(crowd)
	for j := range fit {
		scores[j] = weightSpread * fullScore
		if most > 0 {
			scores[j] = weightSpread * int64(fullScore*(most+least-crowd[j])/most)
		}
	}
	return scores
}
