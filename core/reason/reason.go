// Package reason says why something was not possible, as codes with operands. Text is
// made at the edge, when it is read: the methods called Text make it.
//
// Where Karpenter has a sentence for a situation, the text begins with that sentence, so
// that searches, alerts and habits keep working. What follows are our numbers.
package reason

import (
	"time"

	"tenon/core/model"
)

// Code names one rule that can stand in the way.
type Code string

// The rules, in the order in which they are asked.
const (
	None                Code = ""
	NoPools             Code = "NoPools"
	PoolNotReady        Code = "PoolNotReady"
	PoolLimitsAwaited   Code = "PoolLimitsAwaited" // of a buffer: real pods wait for what the limits leave
	PodExpendable       Code = "PodExpendable"     // Want: the priority from which on pods get nodes of the group
	TaintNotTolerated   Code = "TaintNotTolerated"
	LabelsIncompatible  Code = "LabelsIncompatible"
	VolumeElsewhere     Code = "VolumeElsewhere"
	TypeIncompatible    Code = "TypeIncompatible"
	NoOffering          Code = "NoOffering"
	OfferingUnavailable Code = "OfferingUnavailable"
	InsufficientRoom    Code = "InsufficientRoom"
	HostPortTaken       Code = "HostPortTaken"
	MinimumNotMet       Code = "MinimumNotMet"
	LimitReached        Code = "LimitReached"
	ClusterLimitReached Code = "ClusterLimitReached" // a limit on all nodes of the cluster
	Spread              Code = "Spread"
	Affinity            Code = "Affinity"
	AntiAffinity        Code = "AntiAffinity"
	ReservationTaken    Code = "ReservationTaken"
	PriceCeiling        Code = "PriceCeiling" // Where: what would do and is out of stock; Have, Want: prices an hour
)

// Reason is one obstacle with its numbers.
type Reason struct {
	Code Code
	// Where names the thing concerned: a resource, a label key, a topology key, a taint.
	Where string
	// Detail is the text of a mismatch that has its own wording, and what a pool has instead of what a pod requires.
	Detail string
	Have   int64
	Want   int64
}

// Step is one rule of the funnel: how many offerings were left after it.
type Step struct {
	Code Code
	Left int
}

// PoolVerdict is why one pool could not take a pod.
type PoolVerdict struct {
	Pool string
	// Listed is how many offerings the pool has: what falls into the funnel.
	Listed int
	Funnel []Step
	// Met is what the pool's instance types could meet, and what not at the same time.
	Met Met
	// Reason is the rule that left nothing; Nearest is the instance type that came
	// closest, and Daemons what the pool's daemons take there of Reason.Where.
	Reason  Reason
	Nearest string
	// Unready is set with PoolNotReady and PoolLimitsAwaited.
	Unready Unready `json:",omitzero"`
	Daemons int64
	// Missing counts offerings that would do in every respect and are out of stock; Absent is the
	// instance type of the cheapest of them, and AbsentPrice its price.
	Missing     int
	Absent      string
	AbsentPrice model.Money
	// AbsentSince is when the cheapest of them was found to be out of stock, and AbsentUntil when it is
	// tried again; zero if unknown.
	AbsentSince, AbsentUntil time.Time
	// Suits says that the taints and labels of a pool that is not ready let the pod in: the pod may be
	// meant for this pool.
	Suits bool
}

// Met says which of three conditions some instance type of a pool meets, and which two of them a single
// type meets.
type Met struct {
	Labels, Room, Offer                bool
	LabelsRoom, LabelsOffer, RoomOffer bool
}

// Add counts one instance type.
func (m *Met) Add(labels, room, offer bool) {
	m.Labels = m.Labels || labels
	m.Room = m.Room || room
	m.Offer = m.Offer || offer
	m.LabelsRoom = m.LabelsRoom || labels && room
	m.LabelsOffer = m.LabelsOffer || labels && offer
	m.RoomOffer = m.RoomOffer || room && offer
}

// Verdict is the answer for one unplaced pod. Pods of one shape share it.
type Verdict struct {
	// General is set when no pool was asked, and Further if there are more reasons of this kind.
	General Reason
	Further []Reason `json:",omitempty"`
	Pools   []PoolVerdict
	// Remedy is the smallest single change that would place the pod. With Sought and no
	// Remedy there is none; without Sought none was looked for.
	Remedy *Remedy
	Sought bool
}
