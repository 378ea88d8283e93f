package podpolicy

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// A Cost is the cost of evicting a pod, in fractions of an ordinary pod's cost, fine enough that integer
// deletion costs and priorities lose nothing.
type Cost int64

// Ordinary is the cost of a pod without a priority and without a deletion cost.
const Ordinary Cost = 1 << 27

// bound is how far a single pod can move a sum, up or down.
const bound = 10 * Ordinary

// EvictionCost of a pod: an ordinary pod's, more for a high priority or deletion cost and
// less for a low one, within bounds. A deletion cost that cannot be read counts as none.
func EvictionCost(pod *corev1.Pod) Cost {
	cost := Ordinary
	if text, said := pod.Annotations[corev1.PodDeletionCost]; said {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil { // the API server knows no others
			cost += Cost(n)
		}
	}
	if pod.Spec.Priority != nil {
		cost += Cost(*pod.Spec.Priority) << 2
	}
	return min(max(cost, -bound), bound)
}
