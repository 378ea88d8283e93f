package sim_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/internal/journal"
	"tenon/sim"
	"tenon/sim/store"
)

var decisions = flag.Int("decisions", 100, "how many recorded decisions are made again at least")

// Every recorded decision of days with every fault is made again from the journal: the plans are the same to
// the byte, and what came of them is beside them. A thousand:
//
//	go test ./sim -run RecordedDecisions -decisions 1000 -v
func TestRecordedDecisionsAreMadeAgain(t *testing.T) {
	t.Parallel()
	least := *decisions
	if testing.Short() {
		least /= 10
	}
	made, outcomes := 0, 0
	for seed := uint64(0); made < least; seed++ {
		again, came := madeAgain(t, seed)
		if again == 0 {
			t.Fatalf("seed %d: no decision was recorded with its snapshot", seed)
		}
		made, outcomes = made+again, outcomes+came
	}
	t.Logf("%d decisions were made again; %d outcomes", made, outcomes)
	if outcomes == 0 {
		t.Error("no outcome was recorded")
	}
}

// madeAgain records the decisions of a seed, makes them again, and counts them and their outcomes.
func madeAgain(t *testing.T, seed uint64) (made, outcomes int) {
	t.Helper()
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
	return made, outcomes
}

// BenchmarkJournalHour measures how much an hour of a fleet of some hundred nodes adds to the journal, after the
// hour in which it is bought. A week is 168 times as much, of decisions: snapshots have a bound of their own.
//
//	go test ./sim -run - -bench JournalHour -benchtime 6x -cpu 1
func BenchmarkJournalHour(b *testing.B) {
	folder := b.TempDir()
	record, err := journal.Open(journal.Options{Folder: folder, Bytes: 1 << 30, Problem: func(err error) { b.Error(err) }}, time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	const steps, pause = 100_000, 15 * time.Minute
	s, err := sim.New(sim.Options{Seed: 7, Pods: 10_500, Effort: steps, Pause: pause, Product: sim.Recorded(steps, pause, record)})
	if err != nil {
		b.Fatal(err)
	}
	s.Run(time.Hour)
	lines, snapshots, nodes := bytesIn(b, folder, "decisions-*"), bytesIn(b, folder, "snapshots-*"), 0
	for b.Loop() {
		s.Run(time.Hour)
		nodes += len(store.All[*corev1.Node](s.Store))
	}
	b.ReportMetric(float64(bytesIn(b, folder, "decisions-*")-lines)/float64(b.N), "B-decisions/op")
	b.ReportMetric(float64(bytesIn(b, folder, "snapshots-*")-snapshots)/float64(b.N), "B-snapshots/op")
	b.ReportMetric(float64(nodes)/float64(b.N), "nodes")
}

func bytesIn(b *testing.B, folder, pattern string) int64 {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		b.Fatal(err)
	}
	var sum int64
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			b.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}
