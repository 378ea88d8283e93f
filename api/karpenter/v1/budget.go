package v1

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Unlimited is the allowance of a budget that is not active.
const Unlimited = math.MaxInt32

// AllowedDisruptions returns how many of the pool's nodes may be disrupted together for a reason
// at a time: the smallest allowance of its budgets. Nodes that are being disrupted already count.
//
// If a budget cannot be read, the answer is an error and 0, even if that budget is about another reason:
// an unreadable budget must not have the effect of no budget.
func (p *NodePool) AllowedDisruptions(reason DisruptionReason, nodes int, now time.Time) (int, error) {
	allowed := Unlimited
	var broken []error
	for _, budget := range p.Spec.Disruption.Budgets {
		n, err := budget.Allowed(nodes, now)
		if err != nil {
			broken = append(broken, err)
		} else if budget.IsAbout(reason) {
			allowed = min(allowed, n)
		}
	}
	if len(broken) > 0 {
		return 0, fmt.Errorf("invalid disruption budgets in nodepool %s, %w", p.Name, errors.Join(broken...))
	}
	return allowed, nil
}

// BudgetProblem says what is wrong with a budget.
type BudgetProblem string

// The problems.
const (
	BudgetNodesUnreadable    BudgetProblem = "BudgetNodesUnreadable"
	BudgetHalfScheduled      BudgetProblem = "BudgetHalfScheduled" // a schedule without a duration, or a duration alone
	BudgetScheduleUnreadable BudgetProblem = "BudgetScheduleUnreadable"
)

// BudgetError says that a budget cannot be read.
// +kubebuilder:object:generate=false
type BudgetError struct {
	Problem BudgetProblem
	Value   string // the nodes or the schedule, as they are written
	Err     error  // what the parser of schedules says
}

func (e *BudgetError) Error() string {
	switch e.Problem {
	case BudgetHalfScheduled:
		return "'schedule' must be set with 'duration'"
	case BudgetScheduleUnreadable:
		return fmt.Sprintf("invariant violated, invalid cron, %v", e.Err)
	}
	return fmt.Sprintf("budget nodes %q: want a number or a percentage", e.Value)
}

// Unwrap returns the error of the parser of schedules.
func (e *BudgetError) Unwrap() error { return e.Err }

// IsAbout tells whether the budget bounds disruptions for a reason. A budget without reasons bounds all
// disruptions; one with an explicitly empty list bounds none.
func (b Budget) IsAbout(reason DisruptionReason) bool {
	return b.Reasons == nil || slices.Contains(b.Reasons, reason)
}

// Allowed returns how many of a pool's nodes the budget allows to be disrupted together at a time.
func (b Budget) Allowed(nodes int, now time.Time) (int, error) {
	active, err := b.IsActive(now)
	if err != nil {
		return 0, err
	}
	if !active {
		return Unlimited, nil
	}
	return b.nodesOf(nodes)
}

// IsActive tells whether the budget counts at a time: always if it has no schedule, otherwise from each
// hit of the schedule (inclusive) until the duration has passed (exclusive).
func (b Budget) IsActive(now time.Time) (bool, error) {
	if b.Schedule == nil && b.Duration == nil {
		return true, nil
	}
	if b.Schedule == nil || b.Duration == nil {
		return false, &BudgetError{Problem: BudgetHalfScheduled}
	}
	// The zone is given here because the line's own would win otherwise: schedules are in UTC.
	schedule, err := cron.ParseStandard("TZ=UTC " + *b.Schedule)
	if err != nil {
		return false, &BudgetError{Problem: BudgetScheduleUnreadable, Value: *b.Schedule, Err: err}
	}
	hit := schedule.Next(now.UTC().Add(-b.Duration.Duration))
	return !hit.IsZero() && !hit.After(now), nil // a zero hit is a date that never comes
}

// NextTurn returns when one of the pool's budgets next begins or ceases to count, and whether
// there is such a time. Until then the allowance depends on the number of nodes alone.
func (p *NodePool) NextTurn(now time.Time) (time.Time, bool) {
	var next time.Time
	for _, budget := range p.Spec.Disruption.Budgets {
		if turn, ok := budget.nextTurn(now); ok && (next.IsZero() || turn.Before(next)) {
			next = turn
		}
	}
	return next, !next.IsZero()
}

// mostHits is how many consecutive hits are looked at before a budget counts as always active: where the duration is
// longer than the time between two hits, each hit prolongs the time of the one before.
const mostHits = 100

func (b Budget) nextTurn(now time.Time) (time.Time, bool) {
	active, err := b.IsActive(now)
	if err != nil || b.Schedule == nil {
		return time.Time{}, false
	}
	schedule, err := cron.ParseStandard("TZ=UTC " + *b.Schedule)
	if err != nil {
		return time.Time{}, false
	}
	if !active {
		hit := schedule.Next(now.UTC())
		return hit, !hit.IsZero()
	}
	hit := schedule.Next(now.UTC().Add(-b.Duration.Duration))
	for range mostHits {
		end, following := hit.Add(b.Duration.Duration), schedule.Next(hit)
		if following.IsZero() || following.After(end) {
			return end, true
		}
		hit = following
	}
	return time.Time{}, false
}

// nodesOf reads the number or percentage of a pool's nodes; percentages are rounded up, so that
// even a pool of one node can be disrupted.
func (b Budget) nodesOf(nodes int) (int, error) {
	text, isPercentage := strings.CutSuffix(b.Nodes, "%")
	n, err := strconv.ParseUint(text, 10, 31)
	if errors.Is(err, strconv.ErrRange) && !isPercentage {
		return Unlimited, nil
	}
	if err != nil {
		return 0, &BudgetError{Problem: BudgetNodesUnreadable, Value: b.Nodes}
	}
	if isPercentage {
		return (int(n)*nodes + 99) / 100, nil
	}
	return int(n), nil
}
