package view

import (
	"slices"
	"testing"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
)

// TestBudgetsHaveACalendar checks what a pool allows in the next week: with a budget for the nights of two days, with one that never
// changes, and with one that has so many turns that the list ends before the week.
func TestBudgetsHaveACalendar(t *testing.T) {
	t.Parallel()
	sunday := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	scheduled := func(nodes, schedule string, duration time.Duration) karpenterv1.Budget {
		return karpenterv1.Budget{Nodes: nodes, Schedule: &schedule, Duration: &scalar.Duration{Duration: duration}}
	}
	ready := []*Node{{Phase: Ready}, {Phase: Ready}}
	of := func(budgets ...karpenterv1.Budget) []Period {
		return budgetsOf(&karpenterv1.Disruption{Budgets: budgets}, ready, sunday).Calendar
	}
	got := of(karpenterv1.Budget{Nodes: "1"}, scheduled("0", "0 22 * * 1,2", 8*time.Hour))
	hours := func(n int) time.Time { return sunday.Add(time.Duration(n) * time.Hour) }
	var from []time.Time
	var allowed []int
	for _, p := range got {
		from, allowed = append(from, p.From), append(allowed, p.Allowed[0].Nodes)
	}
	if !slices.EqualFunc(from, []time.Time{hours(0), hours(34), hours(42), hours(58), hours(66)}, time.Time.Equal) || !slices.Equal(allowed, []int{1, 0, 1, 0, 1}) || !got[4].Until.Equal(hours(7*24)) {
		t.Errorf("the nights of two days: %+v", got)
	}
	if got := of(karpenterv1.Budget{Nodes: "1"}); len(got) != 0 {
		t.Errorf("a budget without a schedule: %+v", got)
	}
	if got := of(scheduled("0", "* * * * *", 30*time.Second)); len(got) != mostPeriods {
		t.Errorf("a budget that turns every minute: %d periods", len(got))
	}
	if got := of(scheduled("0", "0 22 * * 1,2", 8*time.Hour), scheduled("0", "0 22 * * 1", time.Hour)); len(got) != 5 {
		t.Errorf("a turn that changes nothing is no period: %+v", got)
	}
}
