package view

import (
	"slices"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
)

// Budgets say how many nodes of a pool may be disrupted at the same time.
type Budgets struct {
	// Nodes is how many nodes the budgets are about, and Disrupting how many of them are leaving or not
	// ready.
	Nodes      int `json:"nodes"`
	Disrupting int `json:"disrupting"`
	// Allowed is the smallest allowance of the active budgets for each reason.
	Allowed []Allowance `json:"allowed"`
	Lines   []Budget    `json:"lines"`
	// Turns is when a budget next becomes active or inactive; zero if it never does.
	Turns time.Time `json:"turns,omitzero"`
	// Calendar is what is allowed in the next week, for the present number of nodes; empty if no budget has a schedule.
	Calendar []Period `json:"calendar"`
}

// Period is a time in which the allowances do not change.
type Period struct {
	From    time.Time   `json:"from"`
	Until   time.Time   `json:"until"`
	Allowed []Allowance `json:"allowed"`
}

// calendarLength is how far the calendar reaches, and mostPeriods how many periods it has at most.
const (
	calendarLength = 7 * 24 * time.Hour
	mostPeriods    = 200
)

// calendar returns the periods of the next week. Neighbours that allow the same are one.
func calendar(pool *karpenterv1.NodePool, nodes int, now time.Time) []Period {
	out := []Period{}
	for at, end := now, now.Add(calendarLength); at.Before(end) && len(out) < mostPeriods; {
		next, turns := pool.NextTurn(at)
		switch {
		case !turns && len(out) == 0:
			return out
		case !turns || next.After(end):
			next = end
		}
		allowed := allowances(pool, nodes, at)
		if n := len(out); n > 0 && slices.Equal(out[n-1].Allowed, allowed) {
			out[n-1].Until = next
		} else {
			out = append(out, Period{at, next, allowed})
		}
		at = next
	}
	return out
}

func allowances(pool *karpenterv1.NodePool, nodes int, at time.Time) []Allowance {
	out := []Allowance{}
	for _, reason := range reasons {
		allowed, _ := pool.AllowedDisruptions(reason, nodes, at) // the line of the broken budget has the error
		out = append(out, Allowance{string(reason), bounded(allowed)})
	}
	return out
}

// Allowance is how many nodes may be disrupted at the same time for a reason.
type Allowance struct {
	Reason string `json:"reason"`
	// Nodes is Unbounded if no budget is active.
	Nodes int `json:"nodes"`
}

// Unbounded is the allowance if no active budget limits it.
const Unbounded = -1

// Budget is one of a pool's budgets.
type Budget struct {
	Nodes    string   `json:"nodes"`
	Reasons  []string `json:"reasons"` // empty: all
	Schedule string   `json:"schedule,omitempty"`
	Duration string   `json:"duration,omitempty"`
	Active   bool     `json:"active"`
	Allowed  int      `json:"allowed"`
	// Problem says why the budget cannot be read. Then nothing is disrupted.
	Problem string `json:"problem,omitempty"`
}

var reasons = []karpenterv1.DisruptionReason{karpenterv1.DisruptionEmpty, karpenterv1.DisruptionDrifted, karpenterv1.DisruptionUnderutilized}

// Budgets evaluates the budgets of a pool or group at a time; nil if it has no budgets of its own.
func (p *Pool) Budgets(now time.Time) *Budgets {
	if p.disruption == nil {
		return nil
	}
	return budgetsOf(p.disruption, p.Nodes, now)
}

// budgetsOf evaluates budgets for the nodes of a pool. As in the controller, a node counts if it is initialized and its
// instance is not being terminated.
func budgetsOf(d *karpenterv1.Disruption, nodes []*Node, now time.Time) *Budgets {
	out := &Budgets{Lines: []Budget{}}
	for _, n := range nodes {
		switch n.Phase {
		case Ready:
			out.Nodes++
		case NotReady, Draining:
			out.Nodes++
			out.Disrupting++
		case Launching, Registering, Initializing, Deleting:
		}
	}
	pool := karpenterv1.NodePool{Spec: karpenterv1.NodePoolSpec{Disruption: *d}}
	out.Allowed, out.Calendar = allowances(&pool, out.Nodes, now), calendar(&pool, out.Nodes, now)
	for _, b := range d.Budgets {
		line := Budget{Nodes: b.Nodes, Reasons: []string{}}
		for _, reason := range b.Reasons {
			line.Reasons = append(line.Reasons, string(reason))
		}
		if b.Reasons != nil && len(b.Reasons) == 0 {
			line.Reasons = []string{"none"}
		}
		if b.Schedule != nil {
			line.Schedule = *b.Schedule
		}
		if b.Duration != nil {
			line.Duration = plain(b.Duration.Duration)
		}
		allowed, err := b.Allowed(out.Nodes, now)
		line.Allowed = bounded(allowed)
		if err != nil {
			line.Allowed, line.Problem = 0, err.Error()
		}
		line.Active, _ = b.IsActive(now) // Problem has the error
		out.Lines = append(out.Lines, line)
	}
	if turns, ok := pool.NextTurn(now); ok {
		out.Turns = turns
	}
	return out
}

func bounded(allowed int) int {
	if allowed >= karpenterv1.Unlimited {
		return Unbounded
	}
	return allowed
}
