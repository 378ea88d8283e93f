package provisioner_test

import (
	"encoding/json"
	"testing"
	"time"

	"tenon/core/decide"
	"tenon/internal/ingest"
	"tenon/internal/testing/randomcluster"
)

// TestTheTimeChangesNoPurchase: two snapshots that differ only in their time have the same plan, so
// a remembered plan is as good as a new one.
func TestTheTimeChangesNoPurchase(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		c := randomcluster.World(seed, 25)
		now := ingest.Build(c.Listing(), c.Options())
		later := *now
		later.Now = now.Now.Add(3 * time.Hour)
		if a, b := planned(t, decide.Decide(now, decide.Budget{Steps: 100_000})), planned(t, decide.Decide(&later, decide.Budget{Steps: 100_000})); a != b {
			t.Errorf("seed %d: now %s\nlater %s", seed, a, b)
		}
	}
}

func planned(t *testing.T, d decide.Decision) string {
	t.Helper()
	text, err := json.Marshal(d.Plan)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
