// Package reason says why something was not possible, as codes with operands. Text is
// made at the edge, when somebody reads it.
package reason

import "tenon/core/model"

// Code names one rule that can stand in the way.
type Code string

// The rules, in the order in which they are asked.
const (
	None                Code = ""
	PodRefused          Code = "PodRefused"
	NoPools             Code = "NoPools"
	PoolNotReady        Code = "PoolNotReady"
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
	Spread              Code = "Spread"
	Affinity            Code = "Affinity"
	AntiAffinity        Code = "AntiAffinity"
	ReservationTaken    Code = "ReservationTaken"
)

// Reason is one obstacle with its numbers.
type Reason struct {
	Code Code
	// Where names the thing concerned: a resource, a label key, a topology key, a taint.
	Where string
	// Detail is the text of a mismatch that has its own wording.
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
	Pool   string
	Funnel []Step
	// Reason is the rule that left nothing; Nearest is the offering that came closest.
	Reason  Reason
	Nearest string
}

// Remedy is the smallest change that would place the pod.
type Remedy struct {
	Text  string
	Pool  string
	Price model.Money
}

// Verdict is the answer for one unplaced pod. Pods of one shape share it.
type Verdict struct {
	// General is set when no pool was asked.
	General Reason
	Pools   []PoolVerdict
	Remedy  *Remedy
}
