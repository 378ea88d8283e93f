// Package condition keeps the status conditions of an object in the way that all kinds share.
//
// A kind has one root condition, which says whether the object is ready, and dependents, from
// which the root is computed. The root is never set directly. Any other condition may be added for
// information; it does not take part in readiness.
//
//	Launched=True ─┐
//	Registered=True├─ every dependent True at this generation ─────▶ Ready=True
//	Initialized=…  ┘  some dependent False at this generation ─────▶ Ready=False  UnhealthyDependents
//	                  otherwise (Unknown, or of an old generation) ▶ Ready=Unknown ReconcilingDependents
//
// The owner of a Set makes it from an object's list, changes it, and writes it back. A Set reads
// no clock: its time is the one that it was made with.
package condition

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ready is the root condition of every kind.
const Ready = "Ready"

// Reasons and texts that this package itself sets.
const (
	AwaitingReconciliation = "AwaitingReconciliation"
	UnhealthyDependents    = "UnhealthyDependents"
	ReconcilingDependents  = "ReconcilingDependents"

	awaitingMessage = "object is awaiting reconciliation"
)

// Kind says which conditions together make an object of a kind ready.
type Kind struct {
	Root       string
	Dependents []string
}

// Subject is what a Set needs to know about the object that its conditions describe.
type Subject struct {
	Generation int64
	Created    time.Time
	Deleting   bool
}

// SubjectOf describes an API object.
func SubjectOf(o metav1.Object) Subject {
	return Subject{
		Generation: o.GetGeneration(),
		Created:    o.GetCreationTimestamp().Time,
		Deleting:   !o.GetDeletionTimestamp().IsZero(),
	}
}

// Set holds the conditions of one object at one time.
type Set struct {
	kind       Kind
	subject    Subject
	now        time.Time
	conditions []metav1.Condition
}

// Read makes a set from an object's list, which it does not change. A missing root or dependent condition
// is Unknown since the object's creation.
func (k Kind) Read(list []metav1.Condition, subject Subject, now time.Time) Set {
	s := Set{kind: k, subject: subject, now: now, conditions: slices.Clone(list)}
	if len(k.Dependents) == 0 {
		return s
	}
	_, hadRoot := s.Get(k.Root)
	added := false
	for _, name := range append(slices.Clone(k.Dependents), k.Root) {
		if _, ok := s.Get(name); !ok {
			s.conditions = append(s.conditions, s.awaiting(name))
			added = true
		}
	}
	if hadRoot && added { // an older version computed the root from fewer dependents, so it is computed again
		s.put(s.computeRoot())
	}
	if added {
		s.order()
	}
	return s
}

func (s *Set) awaiting(name string) metav1.Condition {
	return metav1.Condition{
		Type: name, Status: metav1.ConditionUnknown,
		Reason: AwaitingReconciliation, Message: awaitingMessage,
		ObservedGeneration: s.subject.Generation,
		LastTransitionTime: metav1.NewTime(s.subject.Created),
	}
}

// List returns the conditions, to be written into the object's status.
func (s Set) List() []metav1.Condition { return slices.Clone(s.conditions) }

// Get returns a condition, and whether it is there.
func (s Set) Get(name string) (metav1.Condition, bool) {
	if i := s.index(name); i >= 0 {
		return s.conditions[i], true
	}
	return metav1.Condition{}, false
}

func (s Set) index(name string) int {
	return slices.IndexFunc(s.conditions, func(c metav1.Condition) bool { return c.Type == name })
}

// Root returns the root condition, which is Unknown for a kind that has none yet.
func (s Set) Root() metav1.Condition {
	if root, ok := s.Get(s.kind.Root); ok {
		return root
	}
	return s.awaiting(s.kind.Root)
}

// IsReady tells whether the root is True for the object's current generation.
func (s Set) IsReady() bool { return s.isCurrent(s.Root(), metav1.ConditionTrue) }

// IsTrue tells whether all of the named conditions are True for the object's current generation.
func (s Set) IsTrue(names ...string) bool {
	for _, name := range names {
		if c, ok := s.Get(name); !ok || !s.isCurrent(c, metav1.ConditionTrue) {
			return false
		}
	}
	return true
}

func (s Set) isCurrent(c metav1.Condition, status metav1.ConditionStatus) bool {
	return c.Status == status && c.ObservedGeneration == s.subject.Generation
}

// HasStatus tells whether the condition exists with this status, at any generation.
func (s Set) HasStatus(name string, status metav1.ConditionStatus) bool {
	c, ok := s.Get(name)
	return ok && c.Status == status
}
