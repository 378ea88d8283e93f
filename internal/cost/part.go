// Package cost divides what nodes cost among the pods on them, sums it by pool, namespace, owner or kind of
// machine, and adds it up over time.
//
// It is the one place where this is computed: the viewer, the dashboard, `tenon cost` and the controller's
// metrics ask it. The package must not know where prices and requests come from.
package cost

import "tenon/core/model"

// Kind says what a part of a node's price pays for.
type Kind string

// The kinds of parts.
const (
	Pods    Kind = "pods"
	Daemons Kind = "daemons"
	Idle    Kind = "idle"
)

// Part is a part of what a node costs an hour. Each node has one part for each of its pods, and exactly one
// that is idle, which may be zero. The parts of a node add up to its price.
type Part struct {
	Pool, Type, Zone, CapacityType string
	Kind                           Kind
	// Namespace and Owner are those of the pod, Owner as Kind/name.
	Namespace, Owner string
	Price            model.Money
}

// Divide divides the price of a node among pods: each gets the larger of its shares of cpu and memory. The
// rest is idle. If the shares add up to more than the whole, Divide scales all of them down.
func Divide(price model.Money, allocatable model.Resources, requests []model.Resources) (parts []model.Money, idle model.Money) {
	shares := make([]float64, len(requests))
	sum := 0.0
	for i, r := range requests {
		shares[i] = max(share(r.CPU, allocatable.CPU), share(r.Memory, allocatable.Memory))
		sum += shares[i]
	}
	scale := price.Float() / max(sum, 1)
	parts, idle = make([]model.Money, len(requests)), price
	for i := range shares {
		parts[i] = min(model.MoneyFromFloat(shares[i]*scale), idle)
		idle -= parts[i]
	}
	return parts, idle
}

// share is a fraction; 0 of nothing.
func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
