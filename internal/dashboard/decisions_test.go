package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tenon/core/decide"
	"tenon/core/snapshot"
	"tenon/internal/journal"
	"tenon/internal/testing/randomcluster"
	"tenon/internal/view"
)

const lines = `{"seq":1,"start":{"at":"2026-03-01T11:00:00Z","kept":"in memory"}}
{"seq":2,"decision":{"at":"2026-03-01T11:00:01Z","by":"provisioner","woke":"pods","tookMicros":1200,"snapshot":"s","cost":{"newPerHour":0.2,"lowerBoundPerHour":0.19,"fleetPerHourBefore":0,"fleetPerHourAfter":0.2},"launches":[{"nodes":1,"nodePool":"default","instanceType":"m5.large","zone":"a","capacityType":"spot","pricePerHour":0.2,"pods":3}],"unplaced":[{"pods":1,"names":["default/big"],"why":"no type has 900 CPU"}]}}
{"seq":3,"outcome":{"at":"2026-03-01T11:00:02Z","decision":2,"action":"launch","result":"failed","why":"no quota","nodeClaims":["default-1"]}}
{"seq":4,"decision":{"at":"2026-03-01T11:30:01Z","by":"disruption","tookMicros":900}}
`

// TestDecisionsAreServed checks what a browser gets of a journal: the newest decision first, each with
// its reasons, and clear answers where there is none.
func TestDecisionsAreServed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "journal.jsonl")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(from journal.Source, path string, status int, into any) string {
		t.Helper()
		state := view.NewState(nil)
		d := New(Options{Fleet: state.Fleet, Problems: func() []string { return nil }, Journal: from, Clock: noon})
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		d.Handler().ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("%s: status %d, want %d", path, w.Code, status)
		}
		text := w.Body.String()
		if into != nil {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Errorf("%s: %v in %s", path, err, text)
			}
		}
		return text
	}
	var list timeline
	ask(journal.File(file), "/api/decisions", 200, &list)
	if n := len(list.Decisions); !list.Journal || n != 2 || list.Decisions[0].ID != 4 || !list.Decisions[1].Failed ||
		list.Decisions[1].Text != "provisioner: 1 new node, 1 pod without a place; fleet 0.0000 → 0.2000 an hour" {
		t.Errorf("the list is %+v", list)
	}
	var some timeline
	if ask(journal.File(file), "/api/decisions?about=other-1&about=default-1", 200, &some); len(some.Decisions) != 1 || some.Decisions[0].ID != 2 {
		t.Errorf("about a claim: %+v", some)
	}
	var one journal.Entry
	text := ask(journal.File(file), "/api/decisions/2", 200, &one)
	if one.ID != 2 || one.Cost.LowerBound != 0.19 || one.Unplaced[0].Why != "no type has 900 CPU" || len(one.Outcomes) != 1 || !strings.Contains(text, `"result":"failed"`) {
		t.Errorf("the decision is %s", text)
	}
	cut := filepath.Join(t.TempDir(), "cut.jsonl")
	if err := os.WriteFile(cut, []byte(lines+`{"seq":5,"decision":{"at":"2026-`), 0o600); err != nil {
		t.Fatal(err)
	}
	var warned timeline
	if ask(journal.File(cut), "/api/decisions", 200, &warned); len(warned.Decisions) != 2 || warned.Problem != "" || !strings.Contains(warned.Warning, "cut off: 1") || list.Warning != "" {
		t.Errorf("with a line that was cut off: %+v", warned)
	}
	ask(journal.File(file), "/api/decisions/3", 404, nil)
	ask(journal.File(file), "/api/decisions/last", 400, nil)
	var none, bad timeline
	if ask(nil, "/api/decisions", 200, &none); none.Journal || none.Problem != "" {
		t.Errorf("without a journal: %+v", none)
	}
	if ask(journal.File(file+".gone"), "/api/decisions", 200, &bad); !bad.Journal || !strings.Contains(bad.Problem, "no such file") {
		t.Errorf("without its file: %+v", bad)
	}
}

// TestDecisionsAreMadeAgain checks the snapshot that a browser gets of a decision, and what it is told when the decision
// is made again.
func TestDecisionsAreMadeAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	kept, err := journal.Open(journal.Options{Folder: folder, Bytes: 1 << 20}, noon())
	if err != nil {
		t.Fatal(err)
	}
	s := randomcluster.World(1, 6).Snapshot()
	made := decide.Decide(s, decide.Budget{})
	number := kept.Decided(journal.Record{By: "provisioner", Snapshot: s, Decision: &made})
	state := view.NewState(nil)
	d := New(Options{Fleet: state.Fleet, Problems: func() []string { return nil }, Journal: kept, Clock: noon})
	ask := func(method, path, kind string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader("{}"))
		r.Host = "localhost"
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		d.Handler().ServeHTTP(w, r)
		return w
	}
	path := fmt.Sprintf("/api/decisions/%d/", number)
	if _, err := snapshot.Read(ask(http.MethodGet, path+"snapshot", "").Body); err != nil {
		t.Errorf("the snapshot: %v", err)
	}
	var again replayed
	if err := json.Unmarshal(ask(http.MethodPost, path+"replay", "application/json").Body.Bytes(), &again); err != nil || !again.Same || again.Nodes != len(made.Plan.Claims) {
		t.Errorf("made again: %+v, %v", again, err)
	}
	for _, refused := range []struct {
		method, path, kind string
		status             int
	}{
		{http.MethodPost, path + "replay", "text/plain", http.StatusUnsupportedMediaType},
		{http.MethodGet, path + "replay", "application/json", http.StatusNotFound},
		{http.MethodPost, "/api/decisions/99/replay", "application/json", http.StatusNotFound},
		{http.MethodGet, "/api/decisions/99/snapshot", "", http.StatusNotFound},
	} {
		if w := ask(refused.method, refused.path, refused.kind); w.Code != refused.status {
			t.Errorf("%s %s as %q: status %d, want %d", refused.method, refused.path, refused.kind, w.Code, refused.status)
		}
	}
}

// TestHistoryBeginsWithTheJournal checks that the price over time has what decisions recorded before the dashboard began.
func TestHistoryBeginsWithTheJournal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "journal.jsonl")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(lines, `"fleetPerHourBefore":0`, `"fleetPerHourBefore":0.5`)), 0o600); err != nil {
		t.Fatal(err)
	}
	state := view.NewState(nil)
	d := New(Options{Fleet: state.Fleet, Journal: journal.File(file), Clock: noon})
	ctx, cancel := context.WithCancel(t.Context())
	d.recall(ctx)
	cancel()
	d.Remember(ctx)
	got := d.history.all()
	if len(got) != 2 || got[0].Price != 0.5 || got[0].Idle != nil || got[1].Price != 0 || got[1].Idle == nil {
		t.Errorf("the history is %+v", got)
	}
}
