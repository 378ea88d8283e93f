package verdict_test

import (
	"context"
	"testing"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/memory"
	"tenon/core/decide"
	"tenon/core/plan"
	"tenon/internal/controller/nodeclaim/verdict"
	"tenon/internal/evaluation"
	"tenon/internal/testing/harness"
	"tenon/internal/testing/randomcluster"
)

// Every claim of a random fleet gets the verdict of the evaluation, and after that nothing is
// written.
func TestEveryNodeHasAVerdict(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		s := randomcluster.Fleet(seed, 12).Snapshot()
		decision := decide.Decide(s, decide.Budget{Steps: 2_000_000, Disrupt: true})
		h := &fixture{Harness: harness.New(t, memory.Options{}), board: evaluation.NewNodes()}
		now := *s
		now.Now = h.Clock.Now()
		claims := map[string]plan.Prospect{}
		for _, o := range decision.Plan.Prospects {
			if _, twice := claims[o.Claim]; o.Claim == "" || twice {
				continue
			}
			claims[o.Claim] = o
			claim := h.Named(o.Claim, o.Pool)
			conditions := claim.Conditions(h.Clock.Now())
			for _, is := range karpenterv1.NodeClaimConditions().Dependents {
				conditions.SetTrue(is)
			}
			claim.Status.Conditions = conditions.List()
			h.Must(h.API.Status().Update(context.Background(), claim))
		}
		h.c = verdict.New(h.Kit, h.board)
		h.board.Put(&now, &decision)
		for range 4 {
			h.Clock.Step(10 * time.Second)
			h.run()
		}
		for name, o := range claims {
			if h.said(name) == "" {
				t.Errorf("seed %d: nothing is said of %s: %+v", seed, name, o)
			}
		}
		h.Calls()
		h.Clock.Step(2 * time.Minute)
		h.board.Put(&now, &decision)
		h.run()
		if n := h.writes(); n > 0 {
			t.Errorf("seed %d: %d writes although nothing changed", seed, n)
		}
	}
}
