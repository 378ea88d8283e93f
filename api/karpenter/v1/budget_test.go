package v1_test

import (
	"strings"
	"testing"
	"time"

	v1 "tenon/api/karpenter/v1"
	"tenon/api/scalar"
)

// A Tuesday.
var tuesday = time.Date(2026, 8, 18, 0, 0, 0, 0, time.UTC)

func clock(text string) time.Time {
	of, err := time.Parse("15:04:05", text)
	if err != nil {
		panic(err)
	}
	return tuesday.Add(time.Duration(of.Hour())*time.Hour + time.Duration(of.Minute())*time.Minute + time.Duration(of.Second())*time.Second)
}

func budget(nodes string, reasons ...v1.DisruptionReason) v1.Budget {
	return v1.Budget{Nodes: nodes, Reasons: reasons}
}

func scheduled(b v1.Budget, schedule string, duration time.Duration) v1.Budget {
	b.Schedule, b.Duration = &schedule, &scalar.Duration{Duration: duration}
	return b
}

func poolWith(budgets ...v1.Budget) *v1.NodePool {
	pool := &v1.NodePool{}
	pool.Name = "default"
	pool.Spec.Disruption.Budgets = budgets
	return pool
}

func TestAllowedDisruptions(t *testing.T) {
	t.Parallel()
	office := scheduled(budget("0"), "0 9 * * mon-fri", 8*time.Hour)
	cases := map[string]struct {
		budgets []v1.Budget
		nodes   int
		now     string
		want    int
	}{
		"no budgets are no bound":              {nil, 19, "12:00:00", v1.Unlimited},
		"an explicitly empty list is no bound": {[]v1.Budget{}, 19, "12:00:00", v1.Unlimited},
		"a percentage is rounded up":           {[]v1.Budget{budget("20%")}, 19, "12:00:00", 4},
		"a tenth of one node is one":           {[]v1.Budget{budget("10%")}, 1, "12:00:00", 1},
		"a tenth of ten nodes is one":          {[]v1.Budget{budget("10%")}, 10, "12:00:00", 1},
		"a percentage of no nodes is none":     {[]v1.Budget{budget("100%")}, 0, "12:00:00", 0},
		"nothing of any nodes is none":         {[]v1.Budget{budget("0%")}, 50, "12:00:00", 0},
		"all of the nodes":                     {[]v1.Budget{budget("100%")}, 7, "12:00:00", 7},
		"a number":                             {[]v1.Budget{budget("5")}, 1, "12:00:00", 5},
		"a number beyond all fleets":           {[]v1.Budget{budget("99999999999999999999")}, 1, "12:00:00", v1.Unlimited},
		"the tightest counts":                  {[]v1.Budget{budget("5"), budget("2"), budget("50%")}, 10, "12:00:00", 2},
		"one about the reason counts":          {[]v1.Budget{budget("5"), budget("1", v1.DisruptionEmpty)}, 10, "12:00:00", 1},
		"one about other reasons does not":     {[]v1.Budget{budget("5"), budget("1", v1.DisruptionDrifted)}, 10, "12:00:00", 5},
		"one about no reasons does not":        {[]v1.Budget{budget("5"), {Nodes: "1", Reasons: []v1.DisruptionReason{}}}, 10, "12:00:00", 5},
		"before the window":                    {[]v1.Budget{office}, 10, "08:59:59", v1.Unlimited},
		"the window begins on the hit":         {[]v1.Budget{office}, 10, "09:00:00", 0},
		"just within the window":               {[]v1.Budget{office}, 10, "16:59:59", 0},
		"the window ends before its end":       {[]v1.Budget{office}, 10, "17:00:00", v1.Unlimited},
		"a macro":                              {[]v1.Budget{scheduled(budget("0"), "@daily", time.Hour)}, 10, "00:30:00", 0},
		"a date that never comes":              {[]v1.Budget{scheduled(budget("0"), "0 0 30 2 *", time.Hour)}, 10, "00:00:00", v1.Unlimited},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := poolWith(tc.budgets...).AllowedDisruptions(v1.DisruptionEmpty, tc.nodes, clock(tc.now))
			if err != nil || got != tc.want {
				t.Errorf("got %d (%v), want %d", got, err, tc.want)
			}
		})
	}
}

// TestSchedulesAreInUTC: the zone of the clock that asks does not matter.
func TestSchedulesAreInUTC(t *testing.T) {
	t.Parallel()
	office := scheduled(budget("0"), "0 9 * * *", time.Hour)
	east := time.FixedZone("east", 9*3600)
	for text, want := range map[string]bool{"09:30:00": true, "00:30:00": false} {
		if got, err := office.IsActive(clock(text).In(east)); err != nil || got != want {
			t.Errorf("at %s UTC active is %v (%v), want %v", text, got, err, want)
		}
	}
}

// TestBrokenBudgets: "any error in any budget — including one for another reason — makes the
// caller use 0".
func TestBrokenBudgets(t *testing.T) {
	t.Parallel()
	schedule := "@daily"
	cases := map[string]struct {
		broken v1.Budget
		want   string
	}{
		"no cron line":        {scheduled(budget("1"), "every day", time.Hour), "invariant violated, invalid cron, "},
		"six fields":          {scheduled(budget("1"), "0 0 9 * * *", time.Hour), "invariant violated, invalid cron, "},
		"a zone of its own":   {scheduled(budget("1"), "TZ=Asia/Tokyo 0 9 * * *", time.Hour), "invariant violated, invalid cron, "},
		"no number":           {budget("many"), `budget nodes "many": want a number or a percentage`},
		"negative":            {budget("-1"), `budget nodes "-1": want a number or a percentage`},
		"huge percentage":     {budget("99999999999%"), `budget nodes "99999999999%": want a number or a percentage`},
		"nothing":             {budget(""), `budget nodes "": want a number or a percentage`},
		"schedule alone":      {v1.Budget{Nodes: "1", Schedule: &schedule}, "'schedule' must be set with 'duration'"},
		"duration alone":      {v1.Budget{Nodes: "1", Duration: &scalar.Duration{Duration: time.Hour}}, "'schedule' must be set with 'duration'"},
		"about other reasons": {budget("many", v1.DisruptionDrifted), `budget nodes "many": want a number or a percentage`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := poolWith(budget("5"), tc.broken).AllowedDisruptions(v1.DisruptionEmpty, 10, clock("12:00:00"))
			if got != 0 || err == nil {
				t.Fatalf("got %d (%v), want 0 and an error", got, err)
			}
			if !strings.HasPrefix(err.Error(), "invalid disruption budgets in nodepool default, "+tc.want) {
				t.Errorf("got %q, want %q", err, tc.want)
			}
		})
	}
}

// A budget with a schedule turns when a hit comes and when its duration is over; hits that come
// before that prolong it.
func TestNextTurn(t *testing.T) {
	t.Parallel()
	office := scheduled(budget("0"), "0 9 * * mon-fri", 8*time.Hour)
	cases := map[string]struct {
		budgets []v1.Budget
		now     string
		want    string
	}{
		"no budgets":                            {nil, "12:00:00", "never"},
		"a budget that always counts":           {[]v1.Budget{budget("10%")}, "12:00:00", "never"},
		"before it begins":                      {[]v1.Budget{office}, "08:00:00", "09:00:00"},
		"as it begins":                          {[]v1.Budget{office}, "09:00:00", "17:00:00"},
		"while it counts":                       {[]v1.Budget{office}, "12:30:00", "17:00:00"},
		"as it ends":                            {[]v1.Budget{office}, "17:00:00", "09:00:00 the day after"},
		"the first of two":                      {[]v1.Budget{office, scheduled(budget("5"), "0 11 * * *", time.Hour)}, "10:00:00", "11:00:00"},
		"hits that prolong each other":          {[]v1.Budget{scheduled(budget("0"), "0 9,10,11 * * *", 90*time.Minute)}, "09:30:00", "12:30:00"},
		"hits that prolong each other for ever": {[]v1.Budget{scheduled(budget("0"), "@hourly", time.Hour)}, "09:30:00", "never"},
		"a date that never comes":               {[]v1.Budget{scheduled(budget("0"), "0 0 30 2 *", time.Hour)}, "09:30:00", "never"},
		"a schedule that cannot be read":        {[]v1.Budget{scheduled(budget("0"), "tomorrow", time.Hour)}, "09:30:00", "never"},
		"a schedule without a duration":         {[]v1.Budget{{Nodes: "0", Schedule: office.Schedule}}, "09:30:00", "never"},
	}
	for name, tc := range cases {
		pool := poolWith(tc.budgets...)
		got := "never"
		if turn, ok := pool.NextTurn(clock(tc.now)); ok {
			if got = turn.Format(time.TimeOnly); turn.Day() != tuesday.Day() {
				got += " the day after"
			}
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// Between two turns nothing changes.
func TestNothingChangesBeforeTheNextTurn(t *testing.T) {
	t.Parallel()
	pool := poolWith(scheduled(budget("0"), "*/20 8-10 * * *", 25*time.Minute), scheduled(budget("3"), "45 9 * * *", 50*time.Minute), budget("10"))
	allowed := func(now time.Time) int {
		n, err := pool.AllowedDisruptions(v1.DisruptionEmpty, 50, now)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for minute := range 24 * 60 {
		now := tuesday.Add(time.Duration(minute) * time.Minute)
		turn, ok := pool.NextTurn(now)
		if !ok || !turn.After(now) {
			t.Fatalf("%s: turns at %s, %t", now, turn, ok)
		}
		if before := allowed(turn.Add(-time.Second)); before != allowed(now) {
			t.Errorf("%s: %d allowed, and %d just before %s", now, allowed(now), before, turn)
		}
	}
}
