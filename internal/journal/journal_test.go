package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"tenon/core/decide"
	"tenon/core/plan"
	"tenon/internal/journal"
	"tenon/internal/testing/randomcluster"
)

var epoch = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)

func open(t *testing.T, folder string, bytes int64) *journal.Journal {
	t.Helper()
	j, err := journal.Open(journal.Options{Folder: folder, Bytes: bytes, Problem: func(err error) { t.Error(err) }}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// record records decisions about some random clusters.
func record(j *journal.Journal, seeds ...uint64) {
	for _, seed := range seeds {
		s := randomcluster.World(seed, 6).Snapshot()
		d := decide.Decide(s, decide.Budget{})
		number := j.Decided(journal.Record{By: "provisioner", Woke: "a test", Snapshot: s, Decision: &d})
		j.Told(journal.Outcome{At: s.Now, Decision: number, Action: journal.ActionLaunch, Result: journal.Made, NodeClaims: []string{"a"}})
	}
}

func entries(t *testing.T, from journal.Source) []journal.Entry {
	t.Helper()
	out, err := journal.Entries(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// replayed makes all decisions of a source again.
func replayed(t *testing.T, from journal.Source) int {
	t.Helper()
	made := 0
	for _, e := range entries(t, from) {
		s, err := journal.Snapshot(t.Context(), from, &e)
		if err != nil {
			t.Fatal(err)
		}
		if _, same := journal.Replay(&e, s); !same {
			t.Errorf("decision %d is another one when it is made again", e.ID)
		}
		made++
	}
	return made
}

// A decision is read back, and made again, from memory, from a folder, from a server and from an export.
func TestDecisionsAreReadFromEverySource(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j := open(t, folder, 50<<20)
	record(j, 1, 2, 3)
	server := httptest.NewServer(j.Handler())
	t.Cleanup(server.Close)
	export := filepath.Join(t.TempDir(), "export.jsonl")
	var file bytes.Buffer
	if err := journal.Export(t.Context(), &file, journal.Folder(folder), entries(t, j)[:2], nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(export, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	inMemory := open(t, "", 50<<20)
	record(inMemory, 1, 2, 3)
	for name, tc := range map[string]struct {
		from journal.Source
		want int
	}{
		"the process": {j, 3}, "memory": {inMemory, 3}, "a folder": {journal.Folder(folder), 3},
		"a server": {journal.Server(server.URL), 3}, "an export": {journal.File(export), 2},
	} {
		if got := replayed(t, tc.from); got != tc.want {
			t.Errorf("from %s %d decisions are made again, want %d", name, got, tc.want)
		}
		if first := entries(t, tc.from)[0]; len(first.Outcomes) != 1 || !first.Concerns("a") || first.Concerns("b") {
			t.Errorf("from %s the outcomes are %+v", name, first.Outcomes)
		}
	}
}

// A decision that equals the last one is a short line, without a snapshot.
func TestTheSameDecisionAgainIsShort(t *testing.T) {
	t.Parallel()
	j := open(t, "", 50<<20)
	record(j, 4, 4, 4)
	got := entries(t, j)
	if len(got) != 1 || got[0].Again != 2 || len(got[0].Outcomes) != 3 {
		t.Errorf("%d decisions, the first one %d times again with %d outcomes", len(got), got[0].Again, len(got[0].Outcomes))
	}
}

// A file that was cut off in the middle of a line loses that line alone, and the journal continues
// after it with the next number.
func TestALineThatIsCutOffLosesNothingElse(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	record(open(t, folder, 50<<20), 1, 2)
	for _, name := range []string{"decisions-000001.jsonl", "snapshots-000001.jsonl"} {
		path := filepath.Join(folder, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(text, text[:len(text)/3]...), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err = os.ReadFile(path); err != nil || bytes.HasSuffix(text, []byte("\n")) {
			t.Fatalf("%s is not cut off: %v", name, err)
		}
	}
	before := entries(t, journal.Folder(folder))
	again := open(t, folder, 50<<20)
	record(again, 3)
	if got := replayed(t, journal.Folder(folder)); got != 3 {
		t.Errorf("%d decisions are made again, want 3", got)
	}
	if last := entries(t, again)[2].ID; last <= before[1].ID {
		t.Errorf("the decision after the restart has number %d, the one before has %d", last, before[1].ID)
	}
}

// A journal keeps its size limit, removes the oldest parts first, and reports which decisions have
// lost their snapshots.
func TestAJournalStaysWithinItsSize(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{t.TempDir(), ""} {
		const limit = 120 << 10
		j := open(t, folder, limit)
		var seeds []uint64
		for seed := range uint64(60) {
			seeds = append(seeds, seed)
		}
		record(j, seeds...)
		if folder != "" {
			files, err := os.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			var size int64
			for _, f := range files {
				info, err := f.Info()
				if err != nil {
					t.Fatal(err)
				}
				size += info.Size()
			}
			if size > limit {
				t.Errorf("%d bytes, want %d at most", size, limit)
			}
		}
		got := entries(t, j)
		if _, err := journal.Snapshot(t.Context(), j, &got[0]); !errors.Is(err, journal.ErrNoSnapshot) {
			t.Errorf("the first snapshot is still there: %v", err)
		}
		if _, err := journal.Snapshot(t.Context(), j, &got[len(got)-1]); err != nil {
			t.Errorf("the last snapshot is gone: %v", err)
		}
	}
}

// Two snapshots that differ in their time alone share all but one or two parts.
func TestSnapshotsShareParts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j := open(t, folder, 50<<20)
	s := randomcluster.Fleet(3, 600).Snapshot()
	size := func() int64 {
		info, err := os.Stat(filepath.Join(folder, "snapshots-000001.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	var sizes []int64
	for i := range 2 {
		later := *s
		later.Now = s.Now.Add(time.Duration(i) * time.Hour)
		d := decide.Decide(&later, decide.Budget{})
		d.Plan.Held = make([]plan.Held, i) // so that the plan differs
		j.Decided(journal.Record{By: "provisioner", Snapshot: &later, Decision: &d})
		sizes = append(sizes, size())
	}
	if more := sizes[1] - sizes[0]; more*3 > sizes[0] {
		t.Errorf("the first snapshot takes %d bytes, the second one %d more", sizes[0], more)
	}
}

// The writer is another goroutine: a snapshot whose pods are overwritten meanwhile is kept as it was.
func TestPodsMayBeOverwritten(t *testing.T) {
	t.Parallel()
	j := open(t, "", 50<<20)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- j.Run(ctx) }()
	s := randomcluster.World(5, 6).Snapshot()
	d := decide.Decide(s, decide.Budget{})
	j.Decided(journal.Record{By: "provisioner", Snapshot: s, Decision: &d})
	clear(s.Pods)
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := replayed(t, j); got != 1 {
		t.Errorf("%d decisions are made again, want 1", got)
	}
}

// The journal is read from this machine under this machine's name alone, and written by no request.
func TestTheJournalIsServedToThisMachineAlone(t *testing.T) {
	t.Parallel()
	j := open(t, "", 50<<20)
	record(j, 1)
	for name, tc := range map[string]struct {
		method, remote, host, path string
		want                       int
	}{
		"this machine":              {http.MethodGet, "127.0.0.1:999", "localhost:8080", "/journal", http.StatusOK},
		"this machine, by IPv6":     {http.MethodGet, "[::1]:999", "[::1]:8080", "/journal?after=1", http.StatusOK},
		"another machine":           {http.MethodGet, "10.0.0.1:999", "localhost:8080", "/journal", http.StatusForbidden},
		"a proxy in the pod":        {http.MethodGet, "127.0.0.6:999", "10.1.2.3:8080", "/journal", http.StatusForbidden},
		"a page in a browser":       {http.MethodGet, "127.0.0.1:999", "evil.example:8080", "/journal", http.StatusForbidden},
		"a write":                   {http.MethodPost, "127.0.0.1:999", "localhost", "/journal", http.StatusMethodNotAllowed},
		"a number that is none":     {http.MethodGet, "127.0.0.1:999", "localhost", "/journal?after=x", http.StatusBadRequest},
		"a snapshot that is not in": {http.MethodGet, "127.0.0.1:999", "localhost", "/journal/snapshot/abc", http.StatusNotFound},
	} {
		request := httptest.NewRequest(tc.method, tc.path, nil)
		request.RemoteAddr, request.Host = tc.remote, tc.host
		answer := httptest.NewRecorder()
		j.Handler().ServeHTTP(answer, request)
		if answer.Code != tc.want {
			t.Errorf("%s: status %d, want %d: %s", name, answer.Code, tc.want, answer.Body)
		}
	}
}

// A file that is no journal is an error, and a snapshot of a later version is another.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(path, []byte("{\"kind\": \"Plan\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Entries(t.Context(), journal.File(path)); err == nil || !strings.Contains(err.Error(), "is not a journal") {
		t.Errorf("a plan is read as a journal: %v", err)
	}
	if _, err := journal.Entries(t.Context(), journal.File(path+".none")); err == nil {
		t.Error("a file that is not there is read as a journal")
	}
}

// A line is a JSON object on its own, whose number comes first: readers skip by it.
// slow is a clock on which everything takes a second; it records the requested waits.
type slow struct {
	clock.Clock
	now   time.Time
	waits chan time.Duration
}

func (s *slow) Now() time.Time {
	s.now = s.now.Add(time.Second)
	return s.now
}

func (s *slow) After(d time.Duration) <-chan time.Time {
	s.waits <- d
	return nil // for ever
}

// After a snapshot the writer pauses nineteen times as long as the snapshot took, and writes the rest at the end.
func TestTheWriterRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &slow{waits: make(chan time.Duration, 9)}
		j, err := journal.Open(journal.Options{Bytes: 50 << 20, Clock: c}, epoch)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- j.Run(ctx) }()
		synctest.Wait() // until it runs: entries before that are written at once
		record(j, 1)
		if rest := <-c.waits; rest != 19*time.Second {
			t.Errorf("the writer rests for %v", rest)
		}
		record(j, 2)
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if n := len(entries(t, j)); n != 2 || len(c.waits) != 0 {
			t.Errorf("%d decisions are in the journal, and the writer rested %d times more", n, len(c.waits))
		}
	})
}

func TestLinesBeginWithTheirNumber(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(journal.Line{Seq: 7, Outcome: &journal.Outcome{}})
	if err != nil || !bytes.HasPrefix(text, []byte(`{"seq":7,`)) {
		t.Errorf("a line is %s (%v)", text, err)
	}
}

// TestNoEffortIsNoBound checks a decision whose line was written without its effort.
func TestNoEffortIsNoBound(t *testing.T) {
	t.Parallel()
	s := randomcluster.World(1, 6).Snapshot()
	d := decide.Decide(s, decide.Budget{})
	if _, same := journal.Replay(&journal.Entry{Decision: journal.Decision{Plan: journal.Digest(&d.Plan)}}, s); !same {
		t.Error("the decision is another one when it is made again")
	}
}

// Texts of a journal have a currency behind every amount, in decisions and in outcomes.
func TestMoneyHasItsCurrency(t *testing.T) {
	t.Parallel()
	saved := 0.25
	e := journal.Entry{ID: 1, Decision: journal.Decision{
		At: epoch, By: "disruption", Cost: &journal.Cost{Before: 2, After: 1.5, Currency: "CNY"},
		Launches:    []journal.Launch{{Nodes: 1, InstanceType: "m5.large", CapacityType: "spot", Zone: "a", Pool: "p", Pods: 3, Price: 0.5}},
		Disruptions: []journal.Disruption{{Reason: "Empty", Decision: "delete", Nodes: []string{"n"}, Savings: 0.25}},
	}, Outcomes: []journal.Outcome{{Action: "disrupt", Result: journal.Over, NodeClaims: []string{"c"}, Realised: &saved}}}
	want := []string{
		"disruption: 1 new node, 1 node to give up; fleet 2.0000 → 1.5000 CNY an hour",
		"buy 1 × m5.large spot in a of pool p for 3 pods, 0.5000 CNY an hour each",
		"delete n (Empty): 0 evictions, saves 0.2500 CNY an hour",
		"→ disrupt c over, saves 0.2500 CNY an hour",
	}
	if diff := cmp.Diff(want, append([]string{e.Head()}, e.Details(true)...)); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
	j := open(t, "", 1<<20)
	j.PricedIn("CNY")
	record(j, 1)
	if got := entries(t, j)[0].Cost.Currency; got != "CNY" {
		t.Errorf("recorded in %q", got)
	}
}
