package reason

import (
	"fmt"
	"strings"
)

// What can be wrong with a budget of a pool.
const (
	BudgetNodesUnreadable    Code = "BudgetNodesUnreadable" // Value: its nodes
	BudgetHalfScheduled      Code = "BudgetHalfScheduled"
	BudgetScheduleUnreadable Code = "BudgetScheduleUnreadable" // Value: its schedule; Parser: what is wrong with that
)

// BrokenBudgets are the budgets of a pool that cannot be read.
type BrokenBudgets struct {
	Pool   string        `json:"pool"`
	Faults []BudgetFault `json:"faults"`
}

// BudgetFault is what is wrong with one of them.
type BudgetFault struct {
	Code  Code   `json:"code"`
	Value string `json:"value,omitempty"`
	// Parser is what the parser of schedules says.
	Parser string `json:"parser,omitempty"`
}

// Text is what is wrong in words, a line for each budget.
func (b *BrokenBudgets) Text() string {
	lines := make([]string, len(b.Faults))
	for i := range b.Faults {
		lines[i] = b.Faults[i].text()
	}
	return fmt.Sprintf("invalid disruption budgets in nodepool %s, ", b.Pool) + strings.Join(lines, "\n")
}

func (f *BudgetFault) text() string {
	switch f.Code {
	case BudgetNodesUnreadable:
		return fmt.Sprintf("budget nodes %q: want a number or a percentage", f.Value)
	case BudgetHalfScheduled:
		return "'schedule' must be set with 'duration'"
	case BudgetScheduleUnreadable:
		return "invariant violated, invalid cron, " + f.Parser
	}
	return string(f.Code)
}
