// Package measure follows the fleet of a workload: how many pods are bound, what its claims cost, and the
// least cost for the same pods that "tenon plan" proves.
//
// The lab and the simulation both measure with it. The package must not look at a cluster: callers pass
// objects to it.
package measure

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
)

// Phase is the result after the pods of a workload were made, or after it was scaled down. Times count from
// the request on, money is dollars an hour.
type Phase struct {
	Pods  int     `json:"pods"`
	Bound float64 `json:"lowerBoundPerHour"` // the bound of "tenon plan" for the pods alone
	// Price and its Ratio to the bound are those at rest, First and FirstRatio those when all pods
	// were bound for the first time.
	Price        float64       `json:"pricePerHour"`
	Ratio        float64       `json:"ratio"`
	First        float64       `json:"pricePerHourWhenBound"`
	FirstRatio   float64       `json:"ratioWhenBound"`
	FirstClaims  int           `json:"claimsWhenBound"`
	Planned      float64       `json:"plannedPerHour"`
	PlannedNodes int           `json:"plannedNodes"`
	Peak         float64       `json:"peakPerHour"`
	Nodes        int           `json:"nodes"`
	Claims       int           `json:"claims"`      // made so far
	Made         time.Duration `json:"lastPodMade"` // until all pods were bound, as the next two
	LastClaim    time.Duration `json:"lastClaim"`
	LastBound    time.Duration `json:"lastBound"`
	Rest         time.Duration `json:"rest"`
	Moved        int           `json:"moved"` // deleted pods beyond those that scaling down removes
}

// Fleet follows pods, claims and nodes from phase to phase.
type Fleet struct {
	prices  Prices
	pods    map[string]bool // by name: whether it is bound
	bound   int
	claims  map[string]model.Money // all existing ones; zero until they have a machine
	price   model.Money
	nodes   map[string]bool
	phase   Phase
	before  int           // pods when the phase began
	deleted int           // since then
	made    time.Duration // when the last pod was made
	claimed time.Duration // when the last claim was made
	changed time.Duration // when anything changed
}

// NewFleet returns the fleet of a cluster without claims and without pods of the workload.
func NewFleet(prices Prices) *Fleet {
	return &Fleet{prices: prices, pods: map[string]bool{}, claims: map[string]model.Money{}, nodes: map[string]bool{}}
}

// Begin begins a phase, in which this many pods are wanted.
func (f *Fleet) Begin(pods int) {
	f.phase = Phase{Pods: pods}
	f.before, f.deleted = len(f.pods), 0
	f.made, f.claimed, f.changed = 0, 0, 0
}

// Note records the present state of an object, or its deletion, this long after the phase began.
func (f *Fleet) Note(o client.Object, gone bool, since time.Duration) {
	changed := false
	switch o := o.(type) {
	case *corev1.Pod:
		changed = f.notePod(o, gone, since)
	case *karpenterv1.NodeClaim:
		changed = f.noteClaim(o, gone, since)
	case *corev1.Node:
		changed = f.noteNode(o, gone)
	}
	if changed {
		f.changed = since
	}
	if f.phase.LastBound == 0 && f.Settled() {
		f.phase.Made, f.phase.LastClaim, f.phase.LastBound = f.made, f.claimed, since
		f.phase.First, f.phase.FirstClaims = f.price.Float(), f.phase.Claims
	}
}

func (f *Fleet) notePod(pod *corev1.Pod, gone bool, since time.Duration) bool {
	if pod.Namespace != corev1.NamespaceDefault {
		return false
	}
	was, known := f.pods[pod.Name]
	if was {
		f.bound--
	}
	if gone {
		delete(f.pods, pod.Name)
		f.deleted++
		return true
	}
	if !known {
		f.made = since
	}
	bound := pod.Spec.NodeName != ""
	if f.pods[pod.Name] = bound; bound {
		f.bound++
	}
	return !known || bound != was
}

func (f *Fleet) noteClaim(claim *karpenterv1.NodeClaim, gone bool, since time.Duration) bool {
	old, known := f.claims[claim.Name]
	if gone {
		f.price -= old
		delete(f.claims, claim.Name)
		return true
	}
	if !known {
		f.phase.Claims++
		f.claimed = since
	}
	price := old
	if claim.Status.ProviderID != "" && old == 0 {
		price = f.prices.Of(claim.Labels) // the price at the purchase: later changes of the market do not count
	}
	f.claims[claim.Name] = price
	f.price += price - old
	f.phase.Peak = max(f.phase.Peak, f.price.Float())
	return !known || price != old
}

func (f *Fleet) noteNode(node *corev1.Node, gone bool) bool {
	had := f.nodes[node.Name]
	if gone {
		delete(f.nodes, node.Name)
	} else {
		f.nodes[node.Name] = true
	}
	return had == gone
}

// Settled reports whether exactly the wanted pods exist and are bound.
func (f *Fleet) Settled() bool { return len(f.pods) == f.phase.Pods && f.bound == f.phase.Pods }

// Quiet returns how long nothing has changed, at a time after the beginning of the phase.
func (f *Fleet) Quiet(since time.Duration) time.Duration { return since - f.changed }

// Say describes the progress of the fleet.
func (f *Fleet) Say(since time.Duration, say func(format string, args ...any)) {
	say("%4ds: %d of %d pods bound, %d claims for %.2f $/h, %d made, %d pods deleted", int(since.Seconds()),
		f.bound, f.phase.Pods, len(f.claims), f.price.Float(), f.phase.Claims, f.deleted)
}

// PriceOf returns the price at which a claim's machine was bought, zero until it has one.
func (f *Fleet) PriceOf(claim string) model.Money { return f.claims[claim] }

// End ends the phase and compares the fleet with the plan for the same pods.
func (f *Fleet) End(planned Planned) Phase {
	p := f.phase
	p.Price, p.Nodes, p.Rest = f.price.Float(), len(f.nodes), f.changed
	p.Moved = f.deleted - max(0, f.before-p.Pods)
	p.Bound, p.Planned, p.PlannedNodes = planned.Bound, planned.Price, planned.Nodes
	if p.Bound > 0 {
		p.Ratio, p.FirstRatio = p.Price/p.Bound, p.First/p.Bound
	}
	return p
}
