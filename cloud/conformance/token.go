package conformance

import (
	"context"
	"sync"

	"tenon/cloud"
	"tenon/core/requirement"
)

func tokenBuysOnce(t *lawRun) {
	claim := t.claim(onDemand())
	first := t.create(claim)
	second := t.create(claim)
	t.Advance(t.Provider.Describe().VisibleWithin)
	third := t.create(claim)
	for _, again := range []cloud.Instance{second, third} {
		if again.ProviderID != first.ProviderID || again.Offer != first.Offer || again.ClaimUID != first.ClaimUID {
			t.errorf("the same claim got %s (%s), then %s (%s)", first.ProviderID, first.Offer, again.ProviderID, again.Offer)
		}
	}
	t.sold(1, "creating for one claim three times")
	if other := t.create(t.claim(onDemand())); other.ProviderID == first.ProviderID {
		t.errorf("two claims share %s", other.ProviderID)
	}
	t.sold(2, "creating for another claim")
}

// atOnce is how many calls are made at the same time.
const atOnce = 8

func tokenBuysOnceAtOnce(t *lawRun) {
	claim := t.claim(onDemand())
	ids := map[string]int{}
	for _, answer := range together(t.ctx, t.Provider, claim, atOnce) {
		if answer.err == nil {
			ids[answer.instance.ProviderID]++
		} else if cloud.NothingBought(answer.err) || cloud.IsNotFound(answer.err) {
			t.errorf("one of several calls at the same time says that nothing was bought: %w", answer.err)
		}
	}
	ids[t.create(claim).ProviderID]++
	if len(ids) != 1 {
		t.errorf("calls at the same time got different instances: %v", ids)
	}
	t.sold(1, "creating for one claim several times at once")
}

type launched struct {
	instance cloud.Instance
	err      error
}

func together(ctx context.Context, p cloud.Provider, claim cloud.Claim, calls int) []launched {
	answers := make([]launched, calls)
	var done sync.WaitGroup
	for i := range answers {
		done.Go(func() { answers[i].instance, answers[i].err = p.Create(ctx, claim) })
	}
	done.Wait()
	return answers
}

// lostAnswerBuysOnce leaves it open whether the provider asks again by itself.
func lostAnswerBuysOnce(t *lawRun) {
	claim := t.claim(onDemand())
	t.LoseAnswer()
	if _, err := t.Provider.Create(t.ctx, claim); err != nil && (cloud.NothingBought(err) || cloud.IsNotFound(err)) {
		t.errorf("the answer was lost, and the error says that nothing was bought: %w", err)
	}
	i := t.createSettled(claim)
	t.sold(1, "creating again after a lost answer")
	if _, listed := t.list()[i.ProviderID]; !listed {
		t.errorf("%s is not listed", i.ProviderID)
	}
}

// crashLeaksNothing loses everything that the process knew, after the purchase.
func crashLeaksNothing(t *lawRun) {
	claim := t.claim(onDemand())
	t.LoseAnswer()
	// Whether the answer reaches us does not matter: we crash before we write it down.
	_, _ = t.Provider.Create(t.ctx, claim)
	t.sold(1, "a purchase before a crash")
	t.Provider = t.Restart()
	t.Advance(t.Provider.Describe().VisibleWithin)
	var found []string
	for id, i := range t.list() {
		if i.ClaimUID == claim.UID {
			found = append(found, id)
		}
	}
	if len(found) != 1 {
		t.fatalf("after a crash, %d instances of the claim are listed: %v", len(found), found)
	}
	if i := t.create(claim); i.ProviderID != found[0] {
		t.errorf("after a crash the claim got %s, but %s was bought for it", i.ProviderID, found[0])
	}
	t.sold(1, "creating again after a crash")
}

func spentTokenBuysNothing(t *lawRun) {
	claim := t.claim(onDemand())
	i := t.createSettled(claim)
	if err := t.Provider.Delete(t.ctx, i.ProviderID); err != nil {
		t.fatalf("delete %s: %w", i.ProviderID, err)
	}
	t.checkSpent(claim, "while its instance is terminating")
	t.Advance(t.EndsWithin)
	t.checkSpent(claim, "after its instance has ended")
	t.Provider = t.Restart()
	t.checkSpent(claim, "after its instance has ended, and a crash")
}

func (t *lawRun) checkSpent(claim cloud.Claim, when string) {
	if again, err := t.Provider.Create(t.ctx, claim); !cloud.IsNotFound(err) {
		t.errorf("create %s gives %q, error %v; want NotFound", when, again.ProviderID, err)
	}
	t.sold(1, "creating "+when)
}

func tokenIsNeeded(t *lawRun) {
	claim := t.claim(is(requirement.KeyZone, values(t.catalog(), requirement.KeyZone)[0]))
	claim.UID = ""
	if i, err := t.Provider.Create(t.ctx, claim); err == nil {
		t.errorf("a claim without a UID got %s", i.ProviderID)
	}
	t.sold(0, "asking without a UID")
}
