package condition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SetTrue makes a condition True with its own name as reason, and tells whether anything changed.
func (s *Set) SetTrue(name string) bool {
	return s.set(name, metav1.ConditionTrue, name, "")
}

// SetTrueBecause makes a condition True, and tells whether anything changed.
func (s *Set) SetTrueBecause(name, reason, message string) bool {
	return s.set(name, metav1.ConditionTrue, reason, message)
}

// SetFalse makes a condition False, and tells whether anything changed.
func (s *Set) SetFalse(name, reason, message string) bool {
	return s.set(name, metav1.ConditionFalse, reason, message)
}

// SetUnknown makes a condition Unknown, and tells whether anything changed.
func (s *Set) SetUnknown(name, reason, message string) bool {
	return s.set(name, metav1.ConditionUnknown, reason, message)
}

// SetAwaiting makes a condition Unknown because nothing has looked at the object yet.
func (s *Set) SetAwaiting(name string) bool {
	return s.set(name, metav1.ConditionUnknown, AwaitingReconciliation, awaitingMessage)
}

// set changes a condition and recomputes the root. The root itself cannot be set: set does nothing for it.
func (s *Set) set(name string, status metav1.ConditionStatus, reason, message string) bool {
	if name == s.kind.Root {
		return false
	}
	before := slices.Clone(s.conditions)
	s.put(metav1.Condition{Type: name, Status: status, Reason: reason, Message: message})
	if s.subject.Deleting {
		s.observeAll()
	}
	if len(s.kind.Dependents) > 0 {
		s.put(s.computeRoot())
	}
	if slices.Equal(before, s.conditions) {
		return false // keep the order that was read, so that no write is needed
	}
	s.order()
	return true
}

// put adds or replaces a condition at the current generation. The transition time changes only
// with the status, and not with the reason.
func (s *Set) put(c metav1.Condition) {
	c.ObservedGeneration = s.subject.Generation
	c.LastTransitionTime = metav1.NewTime(s.now)
	i := s.index(c.Type)
	if i < 0 {
		s.conditions = append(s.conditions, c)
		return
	}
	if old := s.conditions[i]; old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	s.conditions[i] = c
}

// observeAll marks every condition as seen at the current generation: a deletion raises the
// generation without changing the spec, so the conditions are still valid.
func (s *Set) observeAll() {
	for i := range s.conditions {
		s.conditions[i].ObservedGeneration = s.subject.Generation
	}
}

func (s *Set) computeRoot() metav1.Condition {
	unhealthy := s.unhealthyDependents()
	if len(unhealthy) == 0 {
		return metav1.Condition{Type: s.kind.Root, Status: metav1.ConditionTrue, Reason: s.kind.Root}
	}
	root := metav1.Condition{
		Type: s.kind.Root, Status: metav1.ConditionUnknown,
		Reason: ReconcilingDependents, Message: summary(unhealthy),
	}
	if slices.ContainsFunc(unhealthy, func(c metav1.Condition) bool { return s.isCurrent(c, metav1.ConditionFalse) }) {
		root.Status, root.Reason = metav1.ConditionFalse, UnhealthyDependents
	}
	return root
}

// unhealthyDependents returns the dependents that are not True at the current generation, sorted by latest
// transition. Of those that changed in the same second, the one that the kind declares last comes first: it
// follows from the others.
func (s *Set) unhealthyDependents() []metav1.Condition {
	var unhealthy []metav1.Condition
	for _, name := range slices.Backward(s.kind.Dependents) {
		c, ok := s.Get(name)
		if !ok {
			c = s.awaiting(name)
		}
		if !s.isCurrent(c, metav1.ConditionTrue) {
			unhealthy = append(unhealthy, c)
		}
	}
	slices.SortStableFunc(unhealthy, func(a, b metav1.Condition) int {
		return b.LastTransitionTime.Compare(a.LastTransitionTime.Time)
	})
	return unhealthy
}

func summary(conditions []metav1.Condition) string {
	parts := make([]string, 0, len(conditions))
	for _, c := range conditions {
		parts = append(parts, fmt.Sprintf("%s=%s", c.Type, c.Status))
	}
	return strings.Join(parts, ", ")
}

// Clear removes a condition and tells whether it was there. It does not remove the root or a dependent, because
// every object has them. The remaining conditions are sorted by type.
func (s *Set) Clear(name string) bool {
	i := s.index(name)
	if i < 0 || name == s.kind.Root || slices.Contains(s.kind.Dependents, name) {
		return false
	}
	s.conditions = slices.Delete(s.conditions, i, i+1)
	slices.SortFunc(s.conditions, func(a, b metav1.Condition) int { return cmp.Compare(a.Type, b.Type) })
	return true
}

// order sorts by transition time with the root last, as readers of a status expect it.
func (s *Set) order() {
	slices.SortFunc(s.conditions, func(a, b metav1.Condition) int {
		if (a.Type == s.kind.Root) != (b.Type == s.kind.Root) {
			if a.Type == s.kind.Root {
				return 1
			}
			return -1
		}
		return byTransition(a, b)
	})
}

func byTransition(a, b metav1.Condition) int {
	return cmp.Or(a.LastTransitionTime.Compare(b.LastTransitionTime.Time), cmp.Compare(a.Type, b.Type))
}
