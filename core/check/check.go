// Package check verifies finished plans, slowly and with simple code, so that nothing depends on the packer
// being right.
//
// It builds the cluster as it will be once a plan has been carried out and asks of it
// every question that Kubernetes, the pools and the plan itself raise, one by one and
// from the start. Where the cloud may choose among several offers for a claim, every
// rule must hold for every choice.
//
// The package shares no code with those that make plans (core/pack, core/feasible, core/topology,
// core/shape), only the values that both speak about. It must stay that way: otherwise a mistake in shared
// code would hide itself. Preferences are not rules and are not looked at.
package check

import (
	"fmt"
	"strings"

	"tenon/core/plan"
	"tenon/core/snapshot"
)

// Rule names what a plan breaks.
type Rule string

// The rules about the plan as a list: every pod that wants a place is in it once.
const (
	PodMissing   Rule = "PodMissing"   // wants a place, and the plan does not speak of it
	PodTwice     Rule = "PodTwice"     // is in the plan more than once
	PodUninvited Rule = "PodUninvited" // is placed, though it wants no place or is refused
	NoVerdict    Rule = "NoVerdict"    // is unplaced without a reason
	NodeUnknown  Rule = "NodeUnknown"  // takes pods, but is not in the snapshot, or leaves it
)

// The rules of Kubernetes for a pod on a node.
const (
	Taint         Rule = "Taint"
	Label         Rule = "Label"
	Volume        Rule = "Volume"
	VolumeLimit   Rule = "VolumeLimit"
	HostPort      Rule = "HostPort"
	Room          Rule = "Room"
	Spread        Rule = "Spread"
	Affinity      Rule = "Affinity"
	AffinityOrder Rule = "AffinityOrder" // holds in the end, but no pod can be the first
	AntiAffinity  Rule = "AntiAffinity"
	Expendable    Rule = "Expendable" // gets a node of a group that is not for pods of its priority
)

// The rules for claims.
const (
	PoolUnknown      Rule = "PoolUnknown"
	PoolUnready      Rule = "PoolUnready"
	OfferUnknown     Rule = "OfferUnknown"     // is not in the pool's catalogue
	OfferUnavailable Rule = "OfferUnavailable" // cannot be had now
	OfferExcluded    Rule = "OfferExcluded"    // is listed, but pool or claim exclude it
	OfferOrder       Rule = "OfferOrder"       // is dearer than its alternative, or listed twice
	Price            Rule = "Price"            // differs from the catalogue's
	ClaimEmpty       Rule = "ClaimEmpty"       // is bought for no pod
	ClaimNarrowed    Rule = "ClaimNarrowed"    // is a replica that differs from its template
	Replicas         Rule = "Replicas"         // more nodes than a static pool should have
	ClaimName        Rule = "ClaimName"        // is used twice
	ClaimLabels      Rule = "ClaimLabels"      // are not those that the node will have
	ClaimTaints      Rule = "ClaimTaints"      // are not the pool's
	ClaimResources   Rule = "ClaimResources"   // are not those of the offer and its pods
	Minimum          Rule = "Minimum"          // minValues
	Limit            Rule = "Limit"            // of the pool
	Ceiling          Rule = "Ceiling"          // costs more than its pool allows while cheaper ones are out of stock
	Reservation      Rule = "Reservation"      // is bought more often than there is stock
	Cost             Rule = "Cost"             // is not the sum, or is below its own bound
	BufferRoom       Rule = "BufferRoom"       // a buffer's pods are not accounted for, each once
)

// Advice is about plans that Kubernetes would accept but that serve their pods badly.
const (
	Weight     Rule = "Weight"     // a pool was asked although one of higher weight would do
	Overlooked Rule = "Overlooked" // a pod is unplaced although there is a place for it
)

// IsAdvice reports whether breaking the rule makes a plan poor rather than wrong.
func (r Rule) IsAdvice() bool { return r == Weight || r == Overlooked }

// Violation is one rule that a plan breaks, with what is needed to see it.
type Violation struct {
	Rule Rule
	// Pod is namespace/name, Node an existing node or a claim of the plan, Offer the
	// choice of the cloud under which the rule breaks. Empty where it is about neither.
	Pod   string
	Node  string
	Offer string
	// Where names the resource, label, topology key, taint or port.
	Where string
	// Have is what there is, Want what the rule allows or asks for.
	Have, Want int64
	Detail     string
}

// String is one line for people.
func (v Violation) String() string {
	var b strings.Builder
	b.WriteString(string(v.Rule))
	for _, part := range []struct{ name, value string }{
		{"pod", v.Pod}, {"node", v.Node}, {"offer", v.Offer}, {"where", v.Where},
	} {
		if part.value != "" {
			fmt.Fprintf(&b, " %s=%s", part.name, part.value)
		}
	}
	if v.Have != 0 || v.Want != 0 {
		fmt.Fprintf(&b, " have=%d want=%d", v.Have, v.Want)
	}
	if v.Detail != "" {
		b.WriteString(": " + v.Detail)
	}
	return b.String()
}

// Plan lists everything that is wrong with p as an answer to s, in a fixed order. Advice comes last.
func Plan(s *snapshot.Snapshot, p *plan.Plan) []Violation {
	f := &finding{}
	checkRooms(s, p, f)
	p = withSpare(p)
	checkAccounts(s, p, f)
	end := finish(s, p, f)
	if end == nil {
		return f.list // the plan has unknown names: there is no final state to judge
	}
	for _, n := range end.nodes {
		end.checkEachPod(n, f)
		end.checkRoom(n, f)
		end.checkVolumeLimits(n, f)
		end.checkHostPorts(n, f)
	}
	end.checkSpreads(f)
	end.checkAntiAffinity(f)
	end.checkAffinity(f)
	end.checkAffinityOrder(f)
	checkClaims(end, f)
	checkReplicas(end, f)
	checkLimits(end, f)
	checkCeilings(end, f)
	checkReservations(end, f)
	checkCost(end, f)
	checkWeights(end, f)
	checkOverlooked(end, f)
	checkDisruptions(s, p, f)
	return f.list
}

// finding collects violations; the same one is noted once.
type finding struct {
	list []Violation
	seen map[Violation]bool
}

func (f *finding) note(v Violation) {
	if f.seen == nil {
		f.seen = map[Violation]bool{}
	}
	if !f.seen[v] {
		f.seen[v] = true
		f.list = append(f.list, v)
	}
}
