package measure

import (
	"context"
	"io"
	"testing"
	"time"

	"tenon/bench/peer"
	"tenon/bench/product"
	"tenon/bench/report"
	"tenon/core/model"
	"tenon/core/plan"
)

func TestSpeedIsJudgedWithReadingAndPrice(t *testing.T) {
	t.Parallel()
	theirs := peer.Result{Solve: 100 * time.Second, Price: 10}
	cases := map[string]struct {
		ingest, decide time.Duration
		price          float64
		want           report.Verdict
	}{
		"fast and cheap":          {100 * time.Millisecond, 900 * time.Millisecond, 10, report.Met},
		"fast and dearer":         {100 * time.Millisecond, 800 * time.Millisecond, 10.01, report.Missed},
		"slow":                    {0, 1100 * time.Millisecond, 5, report.Missed},
		"slow because of reading": {200 * time.Millisecond, 900 * time.Millisecond, 5, report.Missed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ours := product.Result{Ingest: tc.ingest, Decide: tc.decide, Plan: plan.Plan{Cost: plan.Cost{New: model.MoneyFromFloat(tc.price)}}}
			if got := speedRow("x", 1000, &ours, theirs, 100).Verdict; got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestScaleNeedsTimeMemoryAndEveryPod(t *testing.T) {
	t.Parallel()
	fine := ChildResult{IngestSeconds: 0.5, DecideSeconds: 1.4, Resident: 500 << 20, Nodes: 1, Price: 1, Bound: 1}
	slow, fat, short := fine, fine, fine
	slow.DecideSeconds = 1.6
	fat.Resident = 601 << 20
	short.Unplaced = 1
	cases := map[string]struct {
		child ChildResult
		want  report.Verdict
	}{"fine": {fine, report.Met}, "slow": {slow, report.Missed}, "fat": {fat, report.Missed}, "short": {short, report.Missed}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := Bench{Progress: io.Discard, Child: func(context.Context, string) (ChildResult, error) { return tc.child, nil }}
			rows, err := b.scale(t.Context())
			if err != nil || len(rows) != 2 {
				t.Fatalf("%d rows, %v", len(rows), err)
			}
			if rows[0].Verdict != tc.want {
				t.Errorf("%q, want %q", rows[0].Verdict, tc.want)
			}
		})
	}
}

func TestWidestGapsComeFirst(t *testing.T) {
	t.Parallel()
	b := Bench{gaps: []report.Gap{{Workload: "a", Ratio: 1.01}, {Workload: "b", Ratio: 1.2}, {Workload: "a", Ratio: 1.01}}}
	if got := b.widest(5); len(got) != 2 || got[0].Workload != "b" {
		t.Errorf("%v, want b and a", got)
	}
}

func TestHeapPeakIsSeen(t *testing.T) {
	stop := sampleHeap()
	held := make([]byte, 64<<20)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	if peak := stop(); peak < uint64(len(held)) {
		t.Errorf("%d bytes, want at least %d (last byte %d)", peak, len(held), held[len(held)-1])
	}
}
