package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tenon/core/decide"
	"tenon/internal/cli"
	"tenon/internal/journal"
	"tenon/internal/testing/randomcluster"
)

// A line that is cut off is warned of once by each command that reads the journal, which goes on with all others.
func TestACutOffLineIsWarnedOf(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "export.jsonl")
	text := `{"seq":1,"decision":{"at":"2026-11-25T10:00:00Z","by":"provisioner","woke":"a test"}}
{"seq":2,"decision":{"at":"2026-11-25T10:00
{"seq":3,"decision":{"at":"2026-11-25T10:00:02Z","by":"provisioner","woke":"a test"}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const warning = ": lines that cannot be read, such as one that was cut off: 1; all others are read\n"
	for name, tc := range map[string]struct {
		args []string
		out  string
		errs string
	}{
		"journal":       {[]string{"journal", "--from", file}, "a test", "warning: " + file + warning},
		"replay":        {[]string{"replay", file}, "decision 3", "warning: " + file + warning},
		"shadow report": {[]string{"shadow", "report", "--journal", file}, "", "warning: " + file + warning + "error: " + file + " has no report: a controller with --mode=shadow records one\n"},
	} {
		var out, errs bytes.Buffer
		cli.Run(t.Context(), tc.args, cli.Env{In: strings.NewReader(""), Out: &out, Err: &errs, LookupEnv: func(string) (string, bool) { return "", false }})
		if errs.String() != tc.errs || !strings.Contains(out.String(), tc.out) {
			t.Errorf("%s: wrote %q and %q", name, out.String(), errs.String())
		}
	}
}

// The journal is listed, filtered and exported, and what was exported is replayed.
func TestJournalAndReplay(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j, err := journal.Open(journal.Options{Folder: folder, Bytes: 50 << 20}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		s := randomcluster.World(seed, 6).Snapshot()
		d := decide.Decide(s, decide.Budget{})
		j.Decided(journal.Record{By: "provisioner", Woke: "a test", Snapshot: s, Decision: &d})
	}
	j.Intervened(journal.Intervention{At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), By: "alice", Verb: "pin", Kind: "node", Name: "n-1"})
	file := filepath.Join(t.TempDir(), "export.jsonl")
	run := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		status := cli.Run(t.Context(), args, cli.Env{In: strings.NewReader(""), Out: &out, Err: &errs, LookupEnv: func(string) (string, bool) { return "", false }})
		return status, out.String(), errs.String()
	}
	status, text, problem := run("journal", "--from", folder, "-o", "wide")
	if status != 0 || strings.Count(text, "(a test)") != 4 || strings.Count(text, "(tenon view)") != 1 {
		t.Fatalf("status %d: %s%s", status, text, problem)
	}
	status, lines, problem := run("journal", "--from", folder, "-o", "json")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil || status != 0 {
		t.Fatalf("status %d: %s %v", status, problem, err)
	}
	saved := filepath.Join(t.TempDir(), "s.json.gz")
	more := filepath.Join(t.TempDir(), "more.yaml")
	if err := os.WriteFile(more, []byte("{apiVersion: v1, kind: Pod, metadata: {name: more}, spec: {containers: [{name: a, resources: {requests: {cpu: 100m}}}]}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"OpenTelemetry logs":            {[]string{"journal", "--from", folder, "-o", "otlp"}, 0, `"eventName":"tenon.decision"`},
		"what users changed":            {[]string{"journal", "--from", folder, "--by", "hand"}, 0, "hand: pin node/n-1, by alice  (tenon view)"},
		"a change is no decision":       {[]string{"explain", "node", "n-1", "--decision", "6", "--from", folder}, 1, "6 in the journal is no decision: hand: pin node/n-1, by alice"},
		"names of decisions":            {[]string{"journal", "--from", folder, "-o", "name"}, 0, "decision/2\ndecision/3\ndecision/4\ndecision/5\n"},
		"a decision by its name":        {[]string{"replay", "decision/2", "--from", folder}, 0, "decision 2 of provisioner"},
		"documents of YAML":             {[]string{"journal", "--from", folder, "-o", "yaml", "--by", "hand"}, 0, "---\nat: \"2026-03-01T12:00:00Z\"\nby: hand\nid: 6\n"},
		"a field of each":               {[]string{"journal", "--from", folder, "-o", "jsonpath={.items[*].by}"}, 0, "provisioner provisioner provisioner provisioner hand"},
		"a template of what comes":      {[]string{"journal", "--from", folder, "-o", "jsonpath={.items[*].by}", "--follow"}, 1, "cannot --follow"},
		"another controller":            {[]string{"journal", "--from", folder, "--by", "disruption"}, 0, ""},
		"another object":                {[]string{"journal", "--from", folder, "--about", "no/such"}, 0, ""},
		"a time to come":                {[]string{"journal", "--from", folder, "--since", "2199-01-01T00:00:00Z"}, 0, ""},
		"all of a file":                 {[]string{"replay", file}, 0, "the same plan, byte for byte"},
		"a file in sum":                 {[]string{"replay", file, "--summary"}, 0, "4 decisions: 4 the same, 0 with another plan, 0 without a snapshot\n"},
		"a folder in sum, as JSON":      {[]string{"replay", folder, "--summary", "-o", "json"}, 0, `{"sum":{"same":4,"another":0,"withoutSnapshot":0}}`},
		"numbers and what is left":      {[]string{"replay", "2", "3", "--from", folder}, 0, "2 decisions: 2 the same"},
		"one of a folder":               {[]string{"replay", "2", "--from", folder, "--save-snapshot", saved}, 0, "decision 2 of provisioner"},
		"redacted":                      {[]string{"replay", "2", "--from", folder, "--save-snapshot", saved, "--redact"}, 0, "the same plan, byte for byte"},
		"redacted into nothing":         {[]string{"replay", "2", "--from", folder, "--redact"}, 1, "--redact is for the file"},
		"what if a pod more":            {[]string{"replay", "2", "--from", folder, "--with", more}, 2, "What if: with"},
		"a change on many decisions":    {[]string{"replay", file, "--with", more}, 1, "name one by its number"},
		"a change of what is not there": {[]string{"replay", "2", "--from", folder, "--without", "nodepool/none"}, 1, "there is no NodePool/none"},
		"one that is not there":         {[]string{"replay", "99", "--from", folder}, 1, "there is no decision 99"},
		"a time that cannot be read":    {[]string{"journal", "--since", "yesterday"}, 1, "is neither a time"},
		"a format that there is not":    {[]string{"journal", "--from", folder, "-o", "xml"}, 1, "unknown output format"},
		"a controller that is not on":   {[]string{"journal", "--from", "http://127.0.0.1:1"}, 1, "ask for the journal"},
		"a file that is not a journal":  {[]string{"replay", "journal.go"}, 1, "is not a journal"},
	} {
		status, text, problem := run(tc.args...)
		if status != tc.status || !strings.Contains(text+problem, tc.want) || tc.want == "" && text != "" {
			t.Errorf("%s: status %d, want %d with %q:\n%s%s", name, status, tc.status, tc.want, text, problem)
		}
	}
	if _, err := os.Stat(saved); err != nil {
		t.Error(err)
	}
	// A decision whose snapshot is gone, and one whose recorded plan is not the one that is made again.
	_, decision, _ := strings.Cut(lines, `"plan":"`)
	digest, _, _ := strings.Cut(decision, `"`)
	damaged := strings.Replace(lines, digest, strings.Repeat("0", len(digest)), 1) + `{"seq":99,"decision":{"at":"2026-11-01T00:00:00Z","by":"disruption","woke":"a test"}}` + "\n"
	if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	status, text, _ = run("replay", file, "--summary")
	if status != 2 || !strings.HasSuffix(text, "5 decisions: 3 the same, 1 with another plan, 1 without a snapshot\n") || strings.Count(text, "\n") != 3 {
		t.Errorf("status %d:\n%s", status, text)
	}
}

// TestAJournalIsFollowed checks that what comes of a decision later is told, each thing once, and that a journal that
// begins anew is told from its beginning.
func TestAJournalIsFollowed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "journal.jsonl")
	grow := func(lines string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const (
		first = `{"seq":1,"decision":{"at":"2026-11-01T00:00:00Z","by":"disruption","woke":"the usual time","tookMicros":1}}` + "\n"
		begun = `{"seq":2,"outcome":{"at":"2026-11-01T00:00:01Z","decision":1,"action":"disrupt","command":"c","result":"begun","nodeClaims":["a"]}}` + "\n"
		over  = `{"seq":3,"outcome":{"at":"2026-11-01T00:01:00Z","action":"disrupt","command":"c","result":"over","nodeClaims":["a"]}}` + "\n"
		anew  = `{"seq":1,"decision":{"at":"2026-11-02T00:00:00Z","by":"provisioner","woke":"a pod","tookMicros":1}}` + "\n"
	)
	grow(first + begun)
	out := &told{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		done <- cli.Run(ctx, []string{"journal", "--from", file, "--follow"}, cli.Env{In: strings.NewReader(""), Out: out, Err: out, LookupEnv: func(string) (string, bool) { return "", false }})
	}()
	out.has(t, "→ disrupt a begun")
	grow(first + begun + over)
	out.has(t, "1  2026-11-01T00:01:00Z  → disrupt a over")
	grow(anew)
	out.has(t, "1  2026-11-02T00:00:00Z  provisioner: nothing to do")
	cancel()
	if status := <-done; status != 0 {
		t.Errorf("status %d", status)
	}
	if text := out.text(); strings.Count(text, "begun") != 1 || strings.Count(text, "over") != 1 {
		t.Errorf("told more than once:\n%s", text)
	}
}

// told is what a command that goes on has written.
type told struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write implements io.Writer.
func (w *told) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.Write(p)
}

func (w *told) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

func (w *told) has(t *testing.T, want string) {
	t.Helper()
	for limit := time.After(time.Minute); !strings.Contains(w.text(), want); {
		select {
		case <-limit:
			t.Fatalf("%q is not told:\n%s", want, w.text())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
