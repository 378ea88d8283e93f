package cluster

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Weights of the scores in the default profile of kube-scheduler 1.36.
const (
	weightTaints    = 3
	weightAffinity  = 2
	weightSpread    = 2
	weightAllocated = 1
	weightBalanced  = 1
	fullScore       = 100
)

// scores prefer nodes that are emptier, become evenly used, and match the pod's preferences.
func (a *ask) scores(fit []*room) []int64 {
	sum := make([]int64, len(fit))
	if len(fit) < 2 {
		return sum // there is no choice
	}
	add := func(weight int64, scores []int64) {
		for i := range scores {
			sum[i] += weight * scores[i]
		}
	}
	each := func(score func(*room) int64) []int64 {
		scores := make([]int64, len(fit))
		for i, r := range fit {
			scores[i] = score(r)
		}
		return scores
	}
	add(weightAllocated, each(a.emptiness))
	if a.requests.cpu > 0 || a.requests.memory > 0 { // else such pods would all go to one node
		add(weightBalanced, each(a.balance))
	}
	add(weightTaints, normalized(each(a.unwelcome), true))
	if terms := a.preferred(); terms != nil {
		add(weightAffinity, normalized(each(func(r *room) int64 { return terms.Score(r.node) }), false))
	}
	add(weightSpread, a.crowds(fit))
	return sum
}

// normalized scales scores to between zero and the full score: as shares of the highest, or as its
// complement.
func normalized(scores []int64, reverse bool) []int64 {
	most := slices.Max(scores)
	for i := range scores {
		if most > 0 {
			scores[i] = scores[i] * fullScore / most
		}
		if reverse {
			scores[i] = fullScore - scores[i]
		}
	}
	return scores
}

// preferred returns the pod's preferred node affinity; nil means none.
func (a *ask) preferred() *nodeaffinity.PreferredSchedulingTerms {
	if a.pod.Spec.Affinity == nil || a.pod.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.pod.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil {
		return nil
	}
	return terms
}

// unwelcome is TaintToleration: the number of a node's PreferNoSchedule taints that the pod does not
// tolerate.
func (a *ask) unwelcome(r *room) int64 {
	n := int64(0)
	for _, t := range r.node.Spec.Taints {
		if t.Effect == corev1.TaintEffectPreferNoSchedule && !tolerates(a.pod, t) {
			n++
		}
	}
	return n
}

// emptiness is LeastAllocated: the share of CPU and memory that is free. A container without requests
// counts with a default.
func (a *ask) emptiness(r *room) int64 {
	sum, resources := int64(0), int64(0)
	for _, of := range [][2]int64{{r.weight.cpu + a.weighs.cpu, r.free.cpu + r.used.cpu}, {r.weight.memory + a.weighs.memory, r.free.memory + r.used.memory}} {
		requested, all := of[0], of[1]
		if all == 0 {
			continue
		}
		resources++
		if requested <= all {
			sum += (all - requested) * fullScore / all
		}
	}
	return sum / max(resources, 1)
}

// balance is BalancedAllocation: three quarters of the full score, more if the pod brings the used shares
// of CPU and memory closer together, and less if it moves them apart.
func (a *ask) balance(r *room) int64 {
	cpu, memory := r.free.cpu+r.used.cpu, r.free.memory+r.used.memory
	before := evenness(r.used.cpu, cpu, r.used.memory, memory)
	after := evenness(r.used.cpu+a.requests.cpu, cpu, r.used.memory+a.requests.memory, memory)
	return fullScore/2 + (fullScore/2+after-before)/2
}

// evenness is the full score if the same share of CPU as of memory is used.
func evenness(usedCPU, cpu, usedMemory, memory int64) int64 {
	if cpu == 0 || memory == 0 {
		return fullScore
	}
	share := func(used, all int64) float64 { return min(float64(used)/float64(all), 1) }
	apart := math.Abs(share(usedCPU, cpu)-share(usedMemory, memory)) / 2
	return int64((1 - apart) * fullScore)
}

// crowds is PodTopologySpread for constraints that need not hold: nodes in domains with fewer pods of the
// same kind score more. A node without the constraint's label scores nothing.
func (a *ask) crowds(fit []*room) []int64 {
	if len(a.soft) == 0 {
		return nil
	}
	own := len(a.pod.Spec.TopologySpreadConstraints) > 0
	ignored := make([]bool, len(fit))
	values := make([]map[string]bool, len(a.soft))
	for i := range a.soft {
		values[i] = map[string]bool{}
		for j, r := range fit {
			if _, has := r.node.Labels[a.soft[i].TopologyKey]; own && !has {
				ignored[j] = true
			}
		}
	}
	for i := range a.soft {
		for j, r := range fit {
			if !ignored[j] {
				values[i][r.node.Labels[a.soft[i].TopologyKey]] = true
			}
		}
	}
	scores := make([]int64, len(fit))
	least, most := int64(math.MaxInt64), int64(0)
	for j, r := range fit {
		if ignored[j] {
			continue
		}
		crowd := 0.0
		for i := range a.soft {
			s := &a.soft[i]
			if value, has := r.node.Labels[s.TopologyKey]; has {
				crowd += float64(s.counts[value])*math.Log(float64(len(values[i])+2)) + float64(s.MaxSkew-1)
			}
		}
		scores[j] = int64(math.Round(crowd))
		least, most = min(least, scores[j]), max(most, scores[j])
	}
	for j := range fit {
		switch {
		case ignored[j]:
			scores[j] = 0
		case most == 0:
			scores[j] = fullScore
		default:
			scores[j] = fullScore * (most + least - scores[j]) / most
		}
	}
	return scores
}
