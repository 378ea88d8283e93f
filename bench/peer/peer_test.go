package peer

import (
	"math"
	"testing"
	"time"

	"tenon/bench/corpus"
	"tenon/core/catalog"
)

// The reference's results for these workloads are known from elsewhere. The same results here show
// that the workloads are made right, and that the reference is driven right. It breaks ties
// between equal pods by their UIDs, which moves prices a little.
func TestKnownFleets(t *testing.T) {
	t.Parallel()
	fake, kwok := corpus.Fake(400), corpus.KWOK()
	cases := map[string]struct {
		mix       string
		pods      int
		types     *catalog.Catalog
		wantNodes int
		wantPrice float64
	}{
		"50 diverse":                 {corpus.Diverse, 50, fake, 10, 15.4},
		"500 diverse":                {corpus.Diverse, 500, fake, 100, 167},
		"1000 generic":               {corpus.Generic, 1000, fake, 3, 256},
		"5000 generic on KWOK types": {corpus.Generic, 5000, kwok, 14, 68.4},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Run(t.Context(), corpus.Mix(tc.mix, tc.pods, tc.types), 0)
			if err != nil {
				t.Fatal(err)
			}
			if got.Nodes != tc.wantNodes || math.Abs(got.Price/tc.wantPrice-1) > 0.02 {
				t.Errorf("%d nodes at %.2f, want %d at %.2f", got.Nodes, got.Price, tc.wantNodes, tc.wantPrice)
			}
			if got.Placed != tc.pods || got.Refused != 0 || got.Unseen != 0 || got.Stopped {
				t.Errorf("placed %d, refused %d, unseen %d, stopped %v", got.Placed, got.Refused, got.Unseen, got.Stopped)
			}
		})
	}
}

func TestExistingNodesAreUsed(t *testing.T) {
	t.Parallel()
	got, err := Run(t.Context(), corpus.Onto(50, 40), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.Placed != 50 || got.Nodes != 0 {
		t.Errorf("placed %d with %d new nodes, want 50 and none", got.Placed, got.Nodes)
	}
}

func TestStoppedRunsCountWhatWasNotSeen(t *testing.T) {
	t.Parallel()
	got, err := Run(t.Context(), corpus.Mix(corpus.Diverse, 2000, corpus.Fake(100)), time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Stopped || got.Unseen != 2000 {
		t.Errorf("stopped %v with %d unseen, want all 2000", got.Stopped, got.Unseen)
	}
}
