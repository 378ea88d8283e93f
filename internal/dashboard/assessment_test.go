package dashboard

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"tenon/core/decide"
	"tenon/core/snapshot"
	"tenon/internal/journal"
	"tenon/internal/testing/randomcluster"
	"tenon/internal/view"
)

// TestTheFleetIsAssessed checks that the bound and what rules cost are told of the newest snapshot, that no new
// assessment is made before ten minutes have passed, and what is said without a journal.
func TestTheFleetIsAssessed(t *testing.T) {
	t.Parallel()
	now := noon()
	j, err := journal.Open(journal.Options{Bytes: 8 << 20}, now)
	if err != nil {
		t.Fatal(err)
	}
	record := func(s *snapshot.Snapshot) {
		decided := decide.Decide(s, decide.Budget{})
		j.Decided(journal.Record{By: "provisioner", Woke: "a test", Snapshot: s, Decision: &decided})
	}
	record(randomcluster.Fleet(1, 10).Snapshot())
	state := view.NewState(nil)
	options := Options{Fleet: state.Fleet, Problems: func() []string { return nil }, Journal: j, Clock: func() time.Time { return now }}
	d := New(options)
	ask := func(d *Dashboard) (out assessment) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "/api/assessment", nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		d.Handler().ServeHTTP(w, r)
		if err := json.Unmarshal(w.Body.Bytes(), &out); w.Code != 200 || err != nil {
			t.Fatalf("status %d, %v: %s", w.Code, err, w.Body)
		}
		return out
	}
	first := ask(d)
	if first.Decision == 0 || len(first.Rules) == 0 || first.Problem != "" {
		t.Errorf("the assessment is %+v", first)
	}
	record(randomcluster.Fleet(2, 10).Snapshot())
	now = now.Add(9 * time.Minute)
	if again := ask(d); again.Decision != first.Decision {
		t.Errorf("after 9 minutes it is about decision %d", again.Decision)
	}
	now = now.Add(2 * time.Minute)
	if later := ask(d); later.Decision <= first.Decision {
		t.Errorf("after 11 minutes it is about decision %d", later.Decision)
	}
	options.Journal = nil
	if none := ask(New(options)); none.Problem == "" {
		t.Errorf("without a journal: %+v", none)
	}
}

// TestFleetsHaveABound checks that the bound is told of a fleet whose pods have places in one that is bought anew.
func TestFleetsHaveABound(t *testing.T) {
	t.Parallel()
	bounds, ofPools := 0, 0
	for seed := range uint64(8) {
		made := assessmentOf(randomcluster.Fleet(seed, 3).Snapshot())
		if made.Bound > 0 {
			bounds++
		}
		for _, p := range made.Pools {
			if p.Bound > 0 {
				ofPools++
			}
		}
	}
	if bounds == 0 || ofPools == 0 {
		t.Errorf("%d fleets and %d pools have a bound", bounds, ofPools)
	}
}
