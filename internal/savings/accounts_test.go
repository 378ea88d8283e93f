package savings_test

import (
	"testing"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/savings"
	"tenon/internal/testing/harness"
)

func pool(r *harness.Harness, name string) *karpenterv1.NodePool {
	p := &karpenterv1.NodePool{}
	r.Get(name, p)
	return p
}

// move removes a node of web, which costs 3, and one of batch, which costs 1.
func move(r *harness.Harness, id string) command.Record {
	return command.Record{ID: id, Reason: plan.Underutilized, Begun: r.Clock.Now(), Savings: 200, Evictions: 8,
		Claims: []command.Member{{Claim: "web-1", Pool: "web", Price: 300}, {Claim: "batch-1", Pool: "batch", Price: 100}}}
}

// TestRestart: a move that was over before a restart is charged after it, and makes its pools
// cautious in proportion.
func TestRestart(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"), harness.Pool("batch"), harness.Pool("other"))
	record := move(r, "a")
	r.Must(savings.New(r.Kit).Over(t.Context(), record, 200, false))
	after := savings.New(r.Restart())
	r.Must(after.Over(t.Context(), record, 200, false)) // the new process does not know of the first report
	r.Clock.Step(5 * time.Minute)
	r.Must(after.Bought(t.Context(), "a", "web", 400))
	r.Must(after.Bought(t.Context(), "unknown", "other", 400))
	r.Clock.Step(10 * time.Minute)
	for name, want := range map[string]savings.Account{
		"web":   {Moves: 1, Predicted: 150, Realised: -150, Evictions: 6},
		"batch": {Moves: 1, Predicted: 50, Realised: -50, Evictions: 2},
		"other": {},
	} {
		got := savings.Of(pool(r, name)).As(r.Clock.Now())
		if got.Moves != want.Moves || got.Predicted != want.Predicted || got.Realised != want.Realised || got.Evictions != want.Evictions {
			t.Errorf("%s: %s", name, got)
		}
		caution := map[bool]int{true: 2000, false: 1000}[want.Moves > 0]
		if c := after.Caution(pool(r, name)); c != caution {
			t.Errorf("%s: caution %d, want %d", name, c, caution)
		}
	}
	p := pool(r, "web")
	delete(p.Annotations, savings.Annotation)
	r.Put(p)
	if c := after.Caution(pool(r, "web")); c != 1000 {
		t.Errorf("the account was closed, and yet caution is %d", c)
	}
}

// TestWhatCounts: commands for drift are not made to save money, and abandoned ones saved nothing.
func TestWhatCounts(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"), harness.Pool("batch"))
	ledger := savings.New(r.Kit)
	drift := move(r, "d")
	drift.Reason = plan.Drifted
	r.Must(ledger.Over(t.Context(), drift, -10, false))
	if p := pool(r, "web"); len(p.Annotations) > 0 {
		t.Errorf("annotations %v", p.Annotations)
	}
	r.Must(ledger.Over(t.Context(), move(r, "f"), 0, true))
	if a := savings.Of(pool(r, "web")).As(r.Clock.Now().Add(time.Hour)); a.Failed != 1 || a.Moves != 0 || a.Predicted != 0 {
		t.Errorf("%s", a)
	}
	gone := move(r, "g")
	gone.Claims[1].Pool = "gone"
	r.Must(ledger.Over(t.Context(), gone, 1, false))
}

// TestOvertaken: moves that are over at the same time all count, and errors are returned.
func TestOvertaken(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"), harness.Pool("batch"))
	ledger := savings.New(r.Kit)
	patches := 0
	r.Fail(func(c harness.Call) error {
		if c.IsWrite() {
			if patches++; patches%3 != 0 {
				return harness.Conflict(c)
			}
		}
		return nil
	})
	for _, id := range []string{"a", "b", "c"} {
		r.Must(ledger.Over(t.Context(), move(r, id), 200, false))
	}
	r.Fail(func(c harness.Call) error {
		if c.IsWrite() {
			return harness.ErrBroken
		}
		return nil
	})
	if err := ledger.Over(t.Context(), move(r, "d"), 200, false); err == nil {
		t.Error("nothing was written, and no error says so")
	}
	if a := savings.Of(pool(r, "web")); len(a.Open) != 3 {
		t.Errorf("%s", a)
	}
}

// TestNothingIsLost: odd amounts are divided without a remainder, and evenly among nodes without a
// price.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for _, prices := range [][2]model.Money{{1, 2}, {0, 0}, {7, 11}} {
		r := harness.New(t, memory.Options{}, harness.Pool("web"), harness.Pool("batch"))
		ledger := savings.New(r.Kit)
		record := move(r, "a")
		record.Savings, record.Evictions = 101, 7
		record.Claims[0].Price, record.Claims[1].Price = prices[0], prices[1]
		r.Must(ledger.Over(t.Context(), record, -33, false))
		later := r.Clock.Now().Add(time.Hour)
		a, b := savings.Of(pool(r, "web")).As(later), savings.Of(pool(r, "batch")).As(later)
		if a.Predicted+b.Predicted != 101 || a.Realised+b.Realised != -33 || a.Evictions+b.Evictions != 7 {
			t.Errorf("prices %v: %s and %s", prices, a, b)
		}
	}
}
