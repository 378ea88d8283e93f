package advice

import (
	"fmt"
	"strings"

	"tenon/core/order"
	"tenon/core/reason"
	"tenon/core/requirement"
)

// mostValues is how many values of a label are listed.
const mostValues = 8

// lacking names the first requirement of the pod that nothing in the pool meets, and what the pool has instead.
// It is empty if each requirement is met somewhere, and only all of them together are not.
func (s *offeringCount) lacking(code reason.Code) string {
	for r := range s.ask.Require.All() {
		switch ofSlot := s.d.Space.SlotLabel(r.Key()); {
		case code == reason.TypeIncompatible && !ofSlot:
			if has, lacks := lackedBy(r, s.typeLabels); lacks {
				return "no instance type of the pool has " + r.String() + has
			}
		case code == reason.NoOffering && ofSlot:
			if has, lacks := lackedBy(r, s.slotLabels); lacks {
				return "no offering of the pool has " + r.String() + has
			}
		}
	}
	return ""
}

// lackedBy reports whether no one of some sets of labels meets a requirement, and lists their values.
func lackedBy(r requirement.Requirement, sets func(yield func(requirement.Set))) (has string, lacks bool) {
	met, values := false, map[string]bool{}
	sets(func(labels requirement.Set) {
		if !labels.Has(r.Key()) {
			met = met || r.MayBeAbsent()
			return
		}
		of := labels.Get(r.Key())
		met = met || of.Intersects(r)
		for v := range of.All() {
			values[v] = true
		}
	})
	if met || len(values) == 0 {
		return "", !met
	}
	return ": they have " + listed(values), true
}

// listed are some values, sorted.
func listed(values map[string]bool) string {
	names := order.Keys(values)
	if more := len(names) - mostValues; more > 1 {
		return strings.Join(names[:mostValues], ", ") + fmt.Sprintf(" and %d others", more)
	}
	return strings.Join(names, ", ")
}

// typeLabels hands over what each instance type of the pool has.
func (s *offeringCount) typeLabels(yield func(requirement.Set)) {
	first, end := s.d.Space.PoolMachines(s.pool)
	for m := first; m < end; m++ {
		yield(s.d.Space.Machines[m].Type.Requirements)
	}
}

// slotLabels hands over what each offering of the allowed instance types has.
func (s *offeringCount) slotLabels(yield func(requirement.Set)) {
	first, end := s.d.Space.PoolMachines(s.pool)
	seen := map[int]bool{}
	for m := first; m < end; m++ {
		machine := &s.d.Space.Machines[m]
		if !s.types.Has(machine.Ordinal) {
			continue
		}
		for slot := range machine.Listed.All {
			if !seen[slot] {
				seen[slot] = true
				yield(s.d.Space.Slots[slot].Labels())
			}
		}
	}
}
