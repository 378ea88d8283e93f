package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tenon/core/decide"
	"tenon/core/snapshot"
	"tenon/internal/journal"
	"tenon/internal/view"
)

// recorded returns a journal with one decision and its snapshot.
func recorded(t *testing.T) *journal.Journal {
	t.Helper()
	j, err := journal.Open(journal.Options{Bytes: 1 << 20}, noon())
	if err != nil {
		t.Fatal(err)
	}
	s := &snapshot.Snapshot{Now: noon()}
	d := decide.Decide(s, decide.Budget{})
	j.Decided(journal.Record{By: "provisioner", Woke: "a test", Snapshot: s, Decision: &d})
	return j
}

// TestWhatIfIsAnswered checks which questions get an answer, and what reason the others get.
func TestWhatIfIsAnswered(t *testing.T) {
	t.Parallel()
	try := func(_ context.Context, s *snapshot.Snapshot, q Question) (any, error) {
		if q.Manifests == "broken" {
			return nil, errors.New("document 1: it is broken")
		}
		return map[string]any{"nodes": len(s.Nodes), "asked": q.Scale}, nil
	}
	const question = `{"manifests":"","scale":["deployment/web=5"]}`
	for name, tc := range map[string]struct {
		body, kind string
		from       journal.Source
		try        Try
		want       int
		says       string
	}{
		"a question":              {body: question, kind: "application/json", from: recorded(t), try: try, want: 200, says: `"asked":["deployment/web=5"]`},
		"what another site sends": {body: question, kind: "text/plain", from: recorded(t), try: try, want: 415, says: "JSON"},
		"no journal":              {body: question, kind: "application/json", try: try, want: 404, says: "no journal"},
		"nothing to ask":          {body: question, kind: "application/json", from: recorded(t), want: 404, says: "no journal"},
		"no text of JSON":         {body: `{"manifests":`, kind: "application/json", from: recorded(t), try: try, want: 400, says: "cannot be read"},
		"an unknown word":         {body: `{"delete":"all"}`, kind: "application/json", from: recorded(t), try: try, want: 400, says: "delete"},
		"too large":               {body: `{"manifests":"` + strings.Repeat("a", mostQuestion) + `"}`, kind: "application/json", from: recorded(t), try: try, want: 413, says: "256 KiB"},
		"broken manifests":        {body: `{"manifests":"broken"}`, kind: "application/json", from: recorded(t), try: try, want: 422, says: "document 1: it is broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := view.NewState(nil)
			d := New(Options{Fleet: state.Fleet, Problems: func() []string { return nil }, Journal: tc.from, Try: tc.try, Clock: noon})
			r := httptest.NewRequest(http.MethodPost, "/api/whatif", strings.NewReader(tc.body))
			r.Host = "localhost"
			r.Header.Set("Content-Type", tc.kind)
			w := httptest.NewRecorder()
			d.Handler().ServeHTTP(w, r)
			if w.Code != tc.want || !strings.Contains(w.Body.String(), tc.says) {
				t.Errorf("status %d, want %d: %s", w.Code, tc.want, w.Body)
			}
		})
	}
}

// TestOneQuestionAtATime checks that a second question is refused while one is being answered.
func TestOneQuestionAtATime(t *testing.T) {
	t.Parallel()
	begun, end := make(chan bool), make(chan bool)
	state := view.NewState(nil)
	d := New(Options{Fleet: state.Fleet, Problems: func() []string { return nil }, Journal: recorded(t), Clock: noon, Try: func(context.Context, *snapshot.Snapshot, Question) (any, error) {
		begun <- true
		<-end
		return json.RawMessage("{}"), nil
	}})
	ask := func() int {
		r := httptest.NewRequest(http.MethodPost, "/api/whatif", bytes.NewReader([]byte(`{}`)))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		d.Handler().ServeHTTP(w, r)
		return w.Code
	}
	first := make(chan int)
	go func() { first <- ask() }()
	<-begun
	if status := ask(); status != http.StatusTooManyRequests {
		t.Errorf("the second question: status %d", status)
	}
	close(end)
	if status := <-first; status != http.StatusOK {
		t.Errorf("the first question: status %d", status)
	}
}
