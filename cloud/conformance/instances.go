package conformance

import (
	"cmp"
	"slices"

	"tenon/cloud"
	"tenon/core/order"
)

// several is how many instances the laws about lists buy.
const several = 3

func listsInstances(t *lawRun) {
	bought := map[string]cloud.Claim{}
	for range several {
		claim := t.claim(onDemand())
		bought[t.create(claim).ProviderID] = claim
	}
	t.Advance(t.Provider.Describe().VisibleWithin)
	t.checkListed(bought)
	t.Provider = t.Restart()
	t.checkListed(bought)
}

func (t *lawRun) checkListed(bought map[string]cloud.Claim) {
	found, err := t.Provider.List(t.ctx)
	if err != nil {
		t.fatalf("list: %w", err)
	}
	if !slices.IsSortedFunc(found, func(a, b cloud.Instance) int { return cmp.Compare(a.ProviderID, b.ProviderID) }) {
		t.errorf("the list is not in the order of the provider IDs")
	}
	listed := t.list()
	for _, id := range order.Keys(bought) {
		claim := bought[id]
		i, is := listed[id]
		switch {
		case !is:
			t.errorf("%s was bought and is not listed", id)
		case i.ClaimUID != claim.UID || i.ClaimName != claim.Name || i.Pool != claim.Pool || i.Class != claim.Class:
			t.errorf("%s was bought for %s %q, and is listed for %s %q of pool %q and class %s",
				id, claim.Name, claim.UID, i.ClaimName, i.ClaimUID, i.Pool, i.Class)
		}
	}
	if len(listed) != len(bought) {
		t.errorf("%d instances were bought, %d are listed", len(bought), len(listed))
	}
}

func getAgrees(t *lawRun) {
	for range several {
		created := t.createSettled(t.claim(onDemand()))
		got, err := t.Provider.Get(t.ctx, created.ProviderID)
		if err != nil {
			t.fatalf("get %s: %w", created.ProviderID, err)
		}
		listed := t.list()[created.ProviderID]
		for _, other := range []cloud.Instance{created, listed} {
			if !same(got, other) {
				t.errorf("get disagrees with create or list:\n%+v\n%+v", got, other)
			}
		}
	}
}

// same compares what does not change while an instance lives. Create knows from the claim what to expect of
// the node; a look at the machine may not.
func same(a, b cloud.Instance) bool {
	return a.ProviderID == b.ProviderID && a.ClaimUID == b.ClaimUID && a.ClaimName == b.ClaimName &&
		a.Pool == b.Pool && a.Class == b.Class && a.Offer == b.Offer && a.ImageID == b.ImageID && a.Launched.Equal(b.Launched)
}

func unknownIsNotFound(t *lawRun) {
	// An ID that the provider can read, and that no instance has any more.
	i := t.createSettled(t.claim(onDemand()))
	t.delete(i.ProviderID)
	for _, id := range []string{i.ProviderID, i.ProviderID + "0"} {
		if _, err := t.Provider.Get(t.ctx, id); !cloud.IsNotFound(err) {
			t.errorf("get %s, which is not there: error %v, want NotFound", id, err)
		}
		if err := t.Provider.Delete(t.ctx, id); !cloud.IsNotFound(err) {
			t.errorf("delete %s, which is not there: error %v, want NotFound", id, err)
		}
	}
}

// deletesOnce begins before the instance can be seen: it exists all the same.
func deletesOnce(t *lawRun) {
	i := t.create(t.claim(onDemand()))
	for attempt := range several {
		err := t.Provider.Delete(t.ctx, i.ProviderID)
		if attempt > 0 && t.EndsWithin == 0 && cloud.IsNotFound(err) {
			continue // it ended at once
		}
		if err != nil {
			t.errorf("delete, attempt %d, while the instance exists: %w", attempt+1, err)
		}
	}
	t.Advance(t.EndsWithin)
	for range several {
		if err := t.Provider.Delete(t.ctx, i.ProviderID); !cloud.IsNotFound(err) {
			t.errorf("delete after the end: error %v, want NotFound", err)
		}
	}
	t.Advance(t.Provider.Describe().VisibleWithin)
	t.checkGone(i.ProviderID)
}

func (t *lawRun) checkGone(id string) {
	if _, err := t.Provider.Get(t.ctx, id); !cloud.IsNotFound(err) {
		t.errorf("get %s after its end: error %v, want NotFound", id, err)
	}
	if i, listed := t.list()[id]; listed {
		t.errorf("%s is listed after its end, as %s", id, i.State)
	}
}

func deletesOnlyOne(t *lawRun) {
	stays := t.createSettled(t.claim(onDemand()))
	goes := t.createSettled(t.claim(onDemand()))
	if err := t.Provider.Delete(t.ctx, goes.ProviderID); err != nil {
		t.fatalf("delete %s: %w", goes.ProviderID, err)
	}
	t.Advance(t.Provider.Describe().VisibleWithin)
	if i, listed := t.list()[goes.ProviderID]; listed && i.State != cloud.Terminating {
		t.errorf("%s is deleted, and listed as %s", goes.ProviderID, i.State)
	}
	t.Advance(t.EndsWithin)
	t.checkGone(goes.ProviderID)
	if i, listed := t.list()[stays.ProviderID]; !listed || i.State == cloud.Terminating {
		t.errorf("%s was not deleted; it is listed: %t, as %s", stays.ProviderID, listed, i.State)
	}
}

func deathIsSeen(t *lawRun) {
	i := t.createSettled(t.claim(onDemand()))
	t.Kill(i.ProviderID)
	t.Advance(t.EndsWithin + t.Provider.Describe().VisibleWithin)
	t.checkGone(i.ProviderID)
	if err := t.Provider.Delete(t.ctx, i.ProviderID); !cloud.IsNotFound(err) {
		t.errorf("delete %s, which has died: error %v, want NotFound", i.ProviderID, err)
	}
}
