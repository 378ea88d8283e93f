package sim_test

import (
	"testing"
	"time"

	"tenon/internal/journal"
	"tenon/sim"
)

// Every decision of a day with every fault is made again from the journal: the plans are the same to
// the byte, and what came of them is beside them.
func TestRecordedDecisionsAreMadeAgain(t *testing.T) {
	t.Parallel()
	days := 2
	if testing.Short() {
		days = 1
	}
	made, outcomes := 0, 0
	for seed := range uint64(days) {
		record, err := journal.Open(journal.Options{Folder: t.TempDir(), Bytes: 400 << 20, Problem: func(err error) { t.Error(err) }}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		run(t, sim.Options{Seed: seed, Faults: everything(t), Pods: 15, Product: sim.Recorded(0, 0, record)}, time.Hour)
		entries, err := journal.Entries(t.Context(), record)
		if err != nil {
			t.Fatal(err)
		}
		for i := range entries {
			e := &entries[i]
			outcomes += len(e.Outcomes)
			s, err := journal.Snapshot(t.Context(), record, e)
			if err != nil {
				t.Fatal(err)
			}
			if _, same := journal.Replay(e, s); !same {
				t.Errorf("seed %d: decision %d of %s is another one when it is made again", seed, e.ID, e.By)
			}
			made++
		}
	}
	t.Logf("%d decisions were made again; %d outcomes", made, outcomes)
	if least := 50 * days; made < least || outcomes == 0 {
		t.Errorf("%d decisions were made again, want %d at least; %d outcomes", made, least, outcomes)
	}
}
